//! `cargo xtask blind`: a round over projects that were never run. Findings are drawn at random and read in the source; what
//! their readers say of them becomes a precision with its interval.
//!
//! The list says in which round a project is used. Drawing runs the program over each, and writes, into a folder outside of
//! the repository (a sheet is full of other people's lines), a sheet for the reader and the list of what was drawn. Once there is
//! a verdict for each, counting prints the tables and the row of `docs/real-code.md`.

mod count;
mod draw;
mod sheet;

use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

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
struct List {
    project: Vec<Project>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Project {
    /// `owner/name`, which is also its folder.
    repository: String,
    commit: String,
    kind: Kind,
    /// The round that it was used in; none yet when absent.
    round: Option<u32>,
    /// Folders whose findings do not count: copies of projects that were run before.
    #[serde(default, rename = "leave-out")]
    leave_out: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Student,
    Program,
    Application,
    Library,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Self::Student => "students' code",
            Self::Program => "programs",
            Self::Application => "applications",
            Self::Library => "libraries",
        }
    }
}

/// Rules about statuses, which are counted apart: they are right far more often, and there are far more of their findings.
const ERROR_HANDLING: [&str; 4] =
    ["async-error-never-observed", "defective-check-macro", "unchecked-api-call", "unchecked-launch"];

/// A finding that was drawn, as far as counting needs it.
#[derive(Deserialize, Serialize)]
struct Drawn {
    project: String,
    kind: Kind,
    rule: String,
    confidence: String,
    fingerprint: String,
}

impl Drawn {
    fn is_error_handling(&self) -> bool {
        ERROR_HANDLING.contains(&self.rule.as_str())
    }
}

/// What drawing leaves for counting.
#[derive(Default, Deserialize, Serialize)]
struct Draw {
    version: String,
    projects: usize,
    students: usize,
    /// Findings outside error handling, and of it, before any were drawn.
    others: usize,
    errors: usize,
    launches: u64,
    /// Launches of which the whole grid is executed with facts, and those of which the first block is.
    with_facts: u64,
    first_block: u64,
    accesses: u64,
    known_accesses: u64,
    drawn: Vec<Drawn>,
}

/// Draws a round's findings, or counts what was said of them.
///
/// # Errors
/// When a file cannot be read or written, a project is not at its commit, or a drawn finding has no verdict.
pub fn run(root: &Path, plan: &Plan) -> Result<(), String> {
    std::fs::create_dir_all(&plan.out).map_err(|error| format!("{}: {error}", plan.out.display()))?;
    let out = plan.out.canonicalize().map_err(|error| format!("{}: {error}", plan.out.display()))?;
    if root.canonicalize().is_ok_and(|root| out.starts_with(root)) {
        return Err(format!("{} is in the repository, which no line of another project may come into", out.display()));
    }
    let kept = out.join("drawn.json");
    if let Some(verdicts) = &plan.verdicts {
        let draw = serde_json::from_str(&read(&kept)?).map_err(|error| format!("{}: {error}", kept.display()))?;
        return count::print(plan.round, &draw, &read(verdicts)?);
    }
    let list: List = toml::from_str(&read(&plan.list)?).map_err(|error| format!("{}: {error}", plan.list.display()))?;
    let (draw, findings) = draw::draw(root, plan, &list.project)?;
    write(&out.join("sheet.md"), &sheet::sheet(&plan.folder, &findings))?;
    write(&kept, &serde_json::to_string_pretty(&draw).map_err(|error| error.to_string())?)?;
    println!(
        "{} projects, {} findings outside error handling, {} of it; {} drawn: {}",
        draw.projects,
        draw.others,
        draw.errors,
        draw.drawn.len(),
        out.join("sheet.md").display()
    );
    Ok(())
}

fn read(path: &Path) -> Result<String, String> {
    cudalint_files::read_text(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}
