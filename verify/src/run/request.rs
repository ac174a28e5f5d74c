//! What a run is asked, who watches it, and what it gives.

use crate::experiment::{self, Judgement};
use crate::harness;
use crate::lab::{Bench, Launcher, Limits, Phase};
use crate::machine::Machine;
use crate::outcome::{Outcome, Replay};
use crate::scenario::{Candidate, Program, Project};
use crate::stop::Stop;
use crate::subject::Subject;
use camino::{Utf8Path, Utf8PathBuf};
use cudalint_findings::model::{FindingEntry, Verdict};
use cudalint_program::ProjectOptions;
use serde::Serialize;

/// A finding's file with its fix applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedSource {
    /// The whole text.
    pub text: String,
    /// Findings that it has and the source did not have, in one line each.
    pub new_findings: Vec<String>,
}

/// Gives the source of a finding's file with its fix applied; none where there is no fix.
pub type FixedSources<'a> = dyn Fn(&FindingEntry) -> Option<FixedSource> + Sync + 'a;

/// What to verify, on what, and how.
pub struct Request<'a> {
    /// The findings.
    pub findings: &'a [FindingEntry],
    /// The folder that their relative paths start from.
    pub root: Utf8PathBuf,
    /// What can be used.
    pub machine: Machine,
    /// How programs are started.
    pub launcher: Launcher,
    /// How they are limited.
    pub limits: Limits,
    /// Findings at one time.
    pub jobs: usize,
    /// The outcome folder; made when it is missing.
    pub out: Utf8PathBuf,
    /// Whether outcomes of an earlier run into this folder are taken over.
    pub resume: bool,
    /// Rules, and fingerprints or their beginnings (eight characters at least), to verify; all when empty.
    pub only: Vec<String>,
    /// Whether programs that were built, and what they wrote, are kept.
    pub keep: bool,
    /// The record of proof: what it holds is taken over while its sources are the same, and what this run shows is added.
    pub ledger: Option<Utf8PathBuf>,
    /// Ends the run early.
    pub stop: Stop,
    /// What the caller wants to have recorded of its arguments.
    pub options: serde_json::Value,
    /// Compiler flags of the user's build for a file, by its path as a finding names it.
    pub flags_for: &'a (dyn Fn(&str) -> Vec<String> + Sync),
    /// The project that a file is built in, by its path as a finding names it, where the user says or its folder shows how.
    pub project_for: &'a (dyn Fn(&str) -> Option<Project> + Sync),
    /// What linting reads a file with, by its path; `None` where only the flags say it.
    pub options_for: &'a (dyn Fn(&str) -> Option<ProjectOptions> + Sync),
    /// Evaluates a witness again on the CPU.
    pub replay: &'a (dyn Fn(&FindingEntry) -> Replay + Sync),
    /// Where fixes are verified too.
    pub fixed: Option<&'a FixedSources<'a>>,
    /// Finds the programs of a finding.
    pub candidates: &'a (dyn Fn(&FindingEntry, &Subject) -> Vec<Candidate> + Sync),
    /// Performs the experiment on one of them.
    pub perform: &'a (dyn Fn(&FindingEntry, &Program, &Bench<'_>) -> Judgement + Sync),
}

impl<'a> Request<'a> {
    /// A request with all else as usual: every finding, as many at a time as there are processors, no flags, no replay.
    pub fn new(findings: &'a [FindingEntry], machine: Machine, launcher: Launcher, out: Utf8PathBuf) -> Self {
        Self {
            findings,
            root: Utf8PathBuf::from("."),
            machine,
            launcher,
            limits: Limits::default(),
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            out,
            resume: false,
            only: Vec::new(),
            keep: false,
            ledger: None,
            stop: Stop::new(),
            options: serde_json::Value::Null,
            flags_for: &|_| Vec::new(),
            project_for: &|_| None,
            options_for: &|_| None,
            replay: &|_| Replay::Unknown,
            fixed: None,
            candidates: &harness::candidates,
            perform: &experiment::perform,
        }
    }
}

/// Sees a run go on. Called from many threads.
pub trait Observer: Sync {
    /// So many findings will be looked at; so many more have outcomes of an earlier run.
    fn begun(&self, _findings: usize, _taken_over: usize) {}
    /// A scenario began.
    fn started(&self, _id: &str, _rule: &str) {}
    /// A scenario does this now.
    fn phase(&self, _id: &str, _phase: Phase) {}
    /// A scenario has its outcome, which is already on disk.
    fn finished(&self, _outcome: &Outcome) {}
}

/// Sees nothing.
impl Observer for () {}

/// What a run gave.
#[derive(Clone, Debug, PartialEq)]
pub struct RunReport {
    /// The outcomes there are, in the order of the findings; with the place of each among the request's findings.
    pub outcomes: Vec<(usize, Outcome)>,
    /// Findings that were to be verified.
    pub selected: usize,
    /// Outcomes that an earlier run had.
    pub taken_over: usize,
    /// Whether the run was ended early; outcomes are missing then.
    pub interrupted: bool,
    /// What the user should know once: that programs kept the network, that output was lost.
    pub notes: Vec<String>,
    /// Where the time went.
    pub times: RunTimes,
}

impl RunReport {
    /// Puts verdicts and evidence into the findings that were requested.
    pub fn fill(&self, findings: &mut [FindingEntry]) {
        for (index, outcome) in &self.outcomes {
            if let Some(finding) = findings.get_mut(*index) {
                finding.verification = outcome.verification.clone();
            }
        }
    }

    /// The verdicts, in the order of the outcomes.
    pub fn verdicts(&self) -> Vec<Verdict> {
        self.outcomes.iter().filter_map(|(_, outcome)| outcome.verification.verdict).collect()
    }
}

/// Where a run's time went, in seconds, without what was taken over. The parts are sums over all jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct RunTimes {
    /// From begin to end.
    pub wall: f64,
    /// Compiling.
    pub build: f64,
    /// Running programs, tools included.
    pub run: f64,
    /// Waiting for a compiler or a GPU to be free.
    pub wait: f64,
    /// Findings at one time.
    pub jobs: usize,
}

/// Why a run gives no report. All that it started has ended.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The outcome folder cannot be made, read or written.
    #[error("{path}: {source}")]
    Folder {
        /// The file or folder.
        path: Utf8PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// It holds something else.
    #[error("{0}: not empty, and no outcome folder of cudalint; name another with --out")]
    NotOurs(Utf8PathBuf),
    /// It is a link.
    #[error("{0}: a symbolic link, and files are removed and written there; name the folder itself with --out")]
    Link(Utf8PathBuf),
    /// Another run writes into it.
    #[error("{0}: another run of cudalint is writing here; wait for its end, or name another folder with --out")]
    Locked(Utf8PathBuf),
    /// An outcome cannot be written; those before it can be resumed from.
    #[error(
        "{path}: the outcome cannot be written: {source}; the run was ended, go on with --resume once that is mended"
    )]
    Unwritten {
        /// The file.
        path: Utf8PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A scenario could not work for want of space.
    #[error("no space left: {0}; the run was ended, go on with --resume once there is space")]
    NoSpace(String),
}

/// A path as a text of the outcome folder names it.
pub(super) fn slashed(path: &Utf8Path) -> String {
    path.as_str().replace('\\', "/")
}
