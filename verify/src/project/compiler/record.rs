//! What is written down of a compiler's commands.

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

/// What became of a command of the build: a line of the log of compilers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compiled {
    /// The folder that the command was given in.
    pub folder: Utf8PathBuf,
    /// Its sources, absolute.
    pub sources: Vec<Utf8PathBuf>,
    /// Whether a program or library was linked.
    pub links: bool,
    /// What it wrote, absolute, where the command says it.
    pub output: Option<Utf8PathBuf>,
    /// What was put into it.
    pub with: With,
    /// What the compiler said against more.
    pub refused: Option<String>,
    /// Whether the compiler did it.
    pub done: bool,
}

/// What is put into a command of the build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum With {
    /// Nothing.
    Nothing,
    /// Lines and debug information.
    Lines,
    /// The probe as well.
    Probe,
}
