//! The thread that lints. It is given one snapshot at a time, the newest there is when it has nothing to do.

use crate::facts::{Collector, Facts};
use crossbeam_channel::{Receiver, Sender, unbounded};
use cudalint_engine::{Engine, Outcome, Request, Stop, guarded};
use cudalint_findings::{Finding, Incomplete, Sources};
use rustc_hash::FxHashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is to be linted.
#[derive(Debug)]
pub struct Job {
    /// The project's anchor.
    pub project: PathBuf,
    /// The change that the snapshot holds.
    pub change: u64,
    pub request: Request,
    /// Whether what is known of kernels is asked for.
    pub facts: bool,
    /// The texts of notebooks, with their cells: places in them are told by these.
    pub notebooks: Sources,
    /// Whether the user wants anything linted.
    pub enabled: bool,
}

/// What was said of a project.
#[derive(Debug, Default)]
pub struct Results {
    /// The change that it holds for.
    pub change: u64,
    pub findings: Vec<Finding>,
    /// What was not read or analysed as a whole.
    pub incomplete: Vec<Incomplete>,
    /// The texts that findings point into.
    pub sources: Sources,
    /// Real paths of all files that were read.
    pub read: FxHashSet<PathBuf>,
    /// Why nothing was linted.
    pub failed: Option<String>,
    /// What is known of kernels, where it was asked for.
    pub facts: Option<Facts>,
}

/// A job that is over.
#[derive(Debug)]
pub struct Done {
    pub project: PathBuf,
    pub results: Arc<Results>,
    /// Whether it was ended early: then the results say nothing.
    pub stopped: bool,
}

/// The thread, seen from the other side.
#[derive(Debug)]
pub struct Worker {
    jobs: Sender<Job>,
    /// What it is doing, and how to end that.
    doing: Option<(PathBuf, Stop)>,
}

impl Worker {
    /// Starts the thread; what it has done comes out of the channel.
    ///
    /// # Errors
    /// When the system starts no threads.
    pub fn start(engine: Engine) -> Result<(Self, Receiver<Done>), String> {
        let (jobs, inbox) = unbounded::<Job>();
        let (outbox, done) = unbounded();
        let pool = cudalint_engine::threads(None).map_err(|error| error.0)?;
        std::thread::Builder::new()
            .name("lint".to_owned())
            .spawn(move || {
                for job in inbox {
                    let done = pool.install(|| perform(&engine, job));
                    if outbox.send(done).is_err() {
                        return;
                    }
                }
            })
            .map_err(|error| format!("a thread cannot be started: {error}"))?;
        Ok((Self { jobs, doing: None }, done))
    }

    pub const fn is_idle(&self) -> bool {
        self.doing.is_none()
    }

    /// Hands it a job.
    pub fn give(&mut self, job: Job) {
        self.doing = Some((job.project.clone(), job.request.stop.clone()));
        // The thread ends with the session alone.
        let _ = self.jobs.send(job);
    }

    /// Takes note that the job is over.
    pub fn rest(&mut self) {
        self.doing = None;
    }

    /// Ends a job on a project that has changed since: nobody wants to know.
    pub fn stop(&self, is_outdated: impl Fn(&Path) -> bool) {
        if let Some((project, stop)) = &self.doing
            && is_outdated(project)
        {
            stop.ask();
        }
    }
}

fn perform(engine: &Engine, job: Job) -> Done {
    let Job { project, change, request, facts, notebooks, enabled } = job;
    let collector = Collector::new(notebooks);
    let lint = || match (enabled, facts) {
        (false, _) => Ok(None),
        (true, false) => engine.check(&request, &|_| {}).map(Some),
        (true, true) => engine.look(&request, &|context| collector.look(context)).map(Some),
    };
    let results = match guarded(lint) {
        Ok(Ok(outcome)) => outcome.map(results).unwrap_or_default(),
        Ok(Err(error)) => Results { failed: Some(error.0), ..Results::default() },
        Err(said) => {
            Results { failed: Some(format!("internal fault: please report it ({said})")), ..Results::default() }
        }
    };
    // Of a run that was ended early nobody knows what it would have asked for.
    if let Some(kept) = request.kept.as_ref().filter(|_| !request.stop.is_asked()) {
        kept.sweep();
    }
    let results = Results { change, facts: facts.then(|| collector.finish()), ..results };
    Done { project, results: Arc::new(results), stopped: request.stop.is_asked() }
}

fn results(outcome: Outcome) -> Results {
    let Outcome { report, read, .. } = outcome;
    Results {
        findings: report.findings,
        incomplete: report.incomplete,
        sources: report.sources,
        read: read.into_iter().collect(),
        ..Results::default()
    }
}
