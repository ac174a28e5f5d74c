//! A whole run: findings in, outcomes out, as many at a time as the request says. Outcomes are written as they come, into
//! a folder that other programs can read at any moment and that a later run can go on with.

mod fixed;
mod folder;
mod plan;
mod scenario;

pub use fixed::FixedSource;

use crate::experiment::{self, Judgement};
use crate::harness;
use crate::lab::{Bench, Lab, Launcher, Limits, Phase, Times};
use crate::machine::Machine;
use crate::outcome::{Outcome, Replay};
use crate::scenario::{Candidate, Program};
use crate::stop::Stop;
use crate::subject::Subject;
use camino::{Utf8Path, Utf8PathBuf};
use cudalint_findings::model::{FindingEntry, Verdict};
use cudalint_program::ProjectOptions;
use folder::Folder;
use scenario::Worker;
use serde::Serialize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Bytes of stack of a worker: sources are parsed on it.
const STACK: usize = 32 << 20;

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
    /// Ends the run early.
    pub stop: Stop,
    /// What the caller wants to have recorded of its arguments.
    pub options: serde_json::Value,
    /// Compiler flags of the user's build for a file, by its path as a finding names it.
    pub flags_for: &'a (dyn Fn(&str) -> Vec<String> + Sync),
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
            stop: Stop::new(),
            options: serde_json::Value::Null,
            flags_for: &|_| Vec::new(),
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

/// Verifies findings.
///
/// # Errors
/// The outcome folder cannot be used, or is full. What a program, a compiler or a tool does is never one: it is an outcome.
pub fn verify(request: &Request<'_>, observer: &dyn Observer) -> Result<RunReport, Error> {
    let begun = Instant::now();
    let mut folder = Folder::open(&request.out, request.resume)?;
    let plan = plan::of(request);
    let earlier = if request.resume { folder.outcomes()? } else { Vec::new() };
    let taken_over = plan::taken_over(request, &plan, earlier);
    let notes = Mutex::new(Vec::new());
    folder.begin(request, &plan, &taken_over)?;

    // A failure ends this run, not its caller.
    let stop = request.stop.part();
    let lab = Lab::new(request.machine.clone(), folder.path.clone(), request.limits.clone(), request.launcher.clone())
        .with_stop(stop.clone());
    let queue: Vec<&plan::Task> =
        plan::spread(plan.iter().filter(|task| !taken_over.contains_key(&task.index)), |task| {
            request.findings.get(task.index).map_or("", |finding| &finding.path)
        });
    observer.begun(queue.len(), taken_over.len());
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(taken_over.clone());
    let failure = Mutex::new(None);
    let worker = Worker::new(request, &lab, &folder, observer);
    let work = || {
        while !stop.requested()
            && let Some(task) = queue.get(next.fetch_add(1, Ordering::Relaxed))
        {
            match worker.verify(task) {
                Ok(Some(outcome)) => {
                    observer.finished(&outcome);
                    lock(&outcomes).insert(task.index, outcome);
                }
                Ok(None) => {}
                Err(error) => {
                    // The first failure is the cause of the others.
                    lock(&failure).get_or_insert(error);
                    stop.request();
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..request.jobs.clamp(1, queue.len().max(1)) {
            let spawned = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
            if let Err(error) = spawned {
                lock(&notes).push(format!("fewer findings at one time than asked for: {error}"));
                break;
            }
        }
        // One worker at least, whatever the system gives.
        if !lock(&notes).is_empty() {
            work();
        }
    });
    folder.tidy(request.keep);
    if let Some(error) = lock(&failure).take() {
        return Err(error);
    }
    let outcomes: Vec<(usize, Outcome)> = std::mem::take(&mut *lock(&outcomes)).into_iter().collect();
    let mut notes = std::mem::take(&mut *lock(&notes));
    notes.extend(lab.notes());
    let fresh = || outcomes.iter().filter(|(index, _)| !taken_over.contains_key(index)).map(|(_, outcome)| outcome);
    let times = RunTimes {
        wall: begun.elapsed().as_secs_f64(),
        build: fresh().map(|outcome| outcome.build_seconds).sum(),
        run: fresh().map(|outcome| outcome.run_seconds).sum(),
        wait: fresh().map(|outcome| outcome.wait_seconds).sum(),
        jobs: request.jobs,
    };
    let report = RunReport {
        interrupted: outcomes.len() < plan.len(),
        outcomes,
        selected: plan.len(),
        taken_over: taken_over.len(),
        notes,
        times,
    };
    folder.end(request, &report)?;
    Ok(report)
}

/// A lock whose holder leaves no half a change behind.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What an outcome takes from its bench.
fn count(outcome: &mut Outcome, times: Times) {
    // To the millisecond: more is noise, and long fractions do not read back as they were.
    let rounded = |seconds: f64| (seconds * 1000.0).round() / 1000.0;
    outcome.build_seconds = rounded(times.build);
    outcome.run_seconds = rounded(times.run);
    outcome.wait_seconds = rounded(times.wait);
}

/// A path as a text of the outcome folder names it.
fn slashed(path: &Utf8Path) -> String {
    path.as_str().replace('\\', "/")
}
