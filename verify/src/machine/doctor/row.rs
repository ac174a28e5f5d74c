//! A row of a diagnosis.

use serde::Serialize;

/// What stands in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It is there and works.
    Ok,
    /// There is none.
    Missing,
    /// It is there and does not work.
    Broken,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// What it is for: `GPU`, `CUDA C++`, `tools`, `Python`.
    pub group: String,
    /// Its name.
    pub name: String,
    /// What became of it.
    pub state: State,
    /// Version, place, limits; or why it is of no use. Several facts are parted by semicolons.
    pub detail: String,
    /// What a person can do, in one sentence; none where nothing is to be done.
    pub remedy: Option<String>,
    /// Whether the command installs it.
    pub installed_by_command: bool,
}
