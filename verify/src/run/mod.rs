//! A whole run: findings in, outcomes out, as many at a time as the request says. Outcomes are written as they come, into
//! a folder that other programs can read at any moment and that a later run can go on with.

mod fixed;
mod folder;
mod ledger;
mod mending;
mod plan;
mod programs;
mod request;
mod scenario;

pub use plan::{SHORT, names};
pub use request::{Error, FixedSource, FixedSources, Observer, Request, RunReport, RunTimes};

use crate::lab::{Focus, Lab, Watcher, lock};
use crate::outcome::Outcome;
use crate::project::{self, Awaited};
use crate::tools::sanitizer::base_name;
use cudalint_findings::model::Method;
use folder::Folder;
use programs::Worker;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Bytes of stack of a worker: sources are parsed on it.
const STACK: usize = 32 << 20;

/// Verifies findings.
///
/// # Errors
/// The outcome folder cannot be used, or is full. What a program, a compiler or a tool does is never one: it is an outcome.
pub fn verify(request: &Request<'_>, observer: &dyn Observer) -> Result<RunReport, Error> {
    let begun = Instant::now();
    let mut folder = Folder::open(&request.out, request.resume)?;
    let plan = plan::of(request);
    let earlier = if request.resume { folder.outcomes()? } else { Vec::new() };
    let mut taken_over = plan::taken_over(request, &plan, earlier);
    let proofs = request.ledger.as_deref().map_or_else(|| Ok(Vec::new()), ledger::read)?;
    for task in plan.iter().filter(|_| !proofs.is_empty()) {
        if !taken_over.contains_key(&task.index)
            && let Some(finding) = request.findings.get(task.index)
            && let Some(proof) = ledger::proof_of(request, &proofs, finding)
        {
            taken_over.insert(task.index, Outcome { id: task.id.clone(), basis: task.basis.clone(), ..proof });
        }
    }
    let notes = Mutex::new(Vec::new());
    folder.begin(request, &plan, &taken_over)?;

    // A failure ends this run, not its caller.
    let stop = request.stop.part();
    let lab = Lab::new(request.machine.clone(), folder.path.clone(), request.limits.clone(), request.launcher.clone())
        .with_stop(stop.clone())
        .with_focus(focus(request, &plan));
    project::expect(&lab, awaited(request, &plan, &taken_over));
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
    if let Some(file) = &request.ledger {
        ledger::write(request, file, proofs, &outcomes)?;
    }
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

/// What runs of projects are made for: the findings under tools that no earlier run has judged.
fn awaited(request: &Request<'_>, plan: &[plan::Task], taken_over: &BTreeMap<usize, Outcome>) -> Vec<Awaited> {
    let open = plan.iter().filter(|task| !taken_over.contains_key(&task.index));
    open.filter_map(|task| request.findings.get(task.index))
        .filter(|finding| TOOLS.contains(&finding.verification.method))
        .filter_map(|finding| {
            let folder = (request.project_for)(&finding.path)?.folder;
            Some(Awaited { folder, finding: finding.clone() })
        })
        .collect()
}

/// Methods by which a tool watches a program's own run.
const TOOLS: [Method; 6] =
    [Method::Memcheck, Method::Racecheck, Method::Initcheck, Method::Synccheck, Method::Leakcheck, Method::ApiError];

/// The kernels that tools look at where one run serves all findings.
fn focus(request: &Request<'_>, plan: &[plan::Task]) -> Focus {
    let mut focus = Focus::default();
    for finding in plan.iter().filter_map(|task| request.findings.get(task.index)) {
        let method = finding.verification.method;
        if TOOLS.contains(&method) {
            focus.add(Watcher::of_method(method), finding.claim.kernel.as_deref().map(base_name).as_deref());
        }
    }
    focus
}
