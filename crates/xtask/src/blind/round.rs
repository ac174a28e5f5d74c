//! What a round is: its plan, the list of projects, and what was drawn.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// How a round is run.
pub struct Plan {
    /// Holds a checkout `owner/name` of each project.
    pub folder: PathBuf,
    /// The projects.
    pub list: PathBuf,
    pub round: u32,
    /// The program; built when none is named.
    pub program: Option<PathBuf>,
    /// Where sheet and list go.
    pub out: PathBuf,
    /// What readers said; without it, findings are drawn.
    pub verdicts: Option<PathBuf>,
    /// Findings outside error handling that are drawn, at most.
    pub most: usize,
    /// Findings of error handling that are drawn, at most.
    pub errors: usize,
    /// Findings of one rule in one project that are drawn, at most: an idiom that a project repeats is one mistake or none.
    pub same: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    pub project: Vec<Project>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Project {
    /// `owner/name`, which is also its folder.
    pub repository: String,
    pub commit: String,
    pub kind: Kind,
    /// The round that it was used in; none yet when absent.
    pub round: Option<u32>,
    /// Folders whose findings do not count: copies of projects that were run before.
    #[serde(default, rename = "leave-out")]
    pub leave_out: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Student,
    Program,
    Application,
    Library,
}

impl Kind {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Student => "students' code",
            Self::Program => "programs",
            Self::Application => "applications",
            Self::Library => "libraries",
        }
    }
}

/// Rules about statuses, which are counted apart: they are right far more often, and there are far more of their findings.
pub const ERROR_HANDLING: [&str; 4] =
    ["async-error-never-observed", "defective-check-macro", "unchecked-api-call", "unchecked-launch"];

/// A finding that was drawn, as far as counting needs it.
#[derive(Deserialize, Serialize)]
pub struct Drawn {
    pub project: String,
    pub kind: Kind,
    pub rule: String,
    pub confidence: String,
    pub fingerprint: String,
}

impl Drawn {
    pub fn is_error_handling(&self) -> bool {
        ERROR_HANDLING.contains(&self.rule.as_str())
    }
}

/// What drawing leaves for counting.
#[derive(Default, Deserialize, Serialize)]
pub struct Draw {
    pub version: String,
    pub projects: usize,
    pub students: usize,
    /// Findings outside error handling, and of it, before any were drawn.
    pub others: usize,
    pub errors: usize,
    pub launches: u64,
    /// Launches of which the whole grid is executed with facts, and those of which the first block is.
    pub with_facts: u64,
    pub first_block: u64,
    pub accesses: u64,
    pub known_accesses: u64,
    pub drawn: Vec<Drawn>,
}
