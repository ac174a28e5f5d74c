//! One finding on its way to an outcome: its source is read, its programs are tried, its fix is put on trial.

use super::plan::Task;
use super::programs::{Source, Tried, Worker};
use super::request::{Error, slashed};
use super::{fixed, folder};
use crate::experiment::Judgement;
use crate::lab::{Bench, Times, lock};
use crate::outcome::{Attempt, Outcome, Replay};
use crate::subject::Subject;
use camino::Utf8Path;
use cudalint_findings::model::{FindingEntry, Method, Position, Verdict, Verification};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

impl<'run> Worker<'run> {
    /// Verifies one finding and writes its outcome. None when the run was interrupted before there was one.
    pub fn verify(&self, task: &Task) -> Result<Option<Outcome>, Error> {
        let Some(finding) = self.request.findings.get(task.index) else { return Ok(None) };
        self.observer.started(&task.id, &finding.rule);
        self.folder.fresh(&task.id)?;
        let report = |phase| self.observer.phase(&task.id, phase);
        let bench = self.lab.bench(&task.id).map_err(|source| {
            let path = self.folder.path.join(&task.id);
            Error::Folder { path, source }
        })?;
        let mut bench = bench.watched_by(&report);
        bench.devices = finding.claim.devices.max(1) as usize;
        // A fault of ours in one experiment is that finding's outcome, not the end of the run.
        let mut outcome = match catch_unwind(AssertUnwindSafe(|| self.outcome(task, finding, &bench))) {
            Ok(outcome) => outcome,
            Err(fault) => {
                let words =
                    fault.downcast_ref::<String>().map(String::as_str).or_else(|| fault.downcast_ref().copied());
                let reason = format!("internal fault: {}", words.unwrap_or("no words"));
                self.with_judgement(task, finding, Judgement::without_run(Verdict::Unviable, reason))
            }
        };
        if let Some(problem) = self.lab.full() {
            return Err(Error::NoSpace(problem));
        }
        let times = bench.times();
        if times.interrupted {
            return Ok(None);
        }
        count(&mut outcome, times);
        folder::tidy_scenario(&bench.folder, &bench.products(), self.request.keep);
        self.folder.record(&outcome)?;
        Ok(Some(outcome))
    }

    fn outcome(&self, task: &Task, finding: &'run FindingEntry, bench: &Bench<'_>) -> Outcome {
        let replay = match (self.request.replay)(finding) {
            Replay::Unknown => None,
            replay => Some(replay),
        };
        if finding.verification.method == Method::None {
            let judgement = Judgement::without_run(Verdict::Unsupported, "no run can show findings of this rule");
            let attempt = Attempt {
                program: "none".to_owned(),
                folder: None,
                verdict: judgement.verdict,
                reason: judgement.reason.clone(),
                reached: None,
            };
            let outcome = self.with_judgement(task, finding, judgement);
            return Outcome { attempts: vec![attempt], ..with_replay(outcome, replay) };
        }
        let subject = match self.source(&finding.path) {
            Ok(subject) => subject,
            Err(reason) => {
                let judgement = Judgement::without_run(Verdict::Unviable, reason);
                return with_replay(self.with_judgement(task, finding, judgement), replay);
            }
        };
        if subject.is_for_hip(finding) {
            let judgement = Judgement::without_run(Verdict::Unsupported, "the program is written for devices of AMD");
            return with_replay(self.with_judgement(task, finding, judgement), replay);
        }
        // What runs counts the lines of a notebook's text; people count those of its cells.
        let (of_finding, flat) = subject.of_finding(finding);
        let tried = self.try_programs(&flat, of_finding, bench, None, None);
        let fixed = fixed::verify(self, finding, of_finding, &tried, bench);
        let tried = in_cells(tried, &subject);
        let outcome = self.with_judgement(task, finding, tried.judgement);
        with_replay(Outcome { attempts: tried.attempts, fixed, ..outcome }, replay)
    }

    /// The source of a finding, read by the first who asks.
    fn source(&self, path: &'run str) -> Source {
        let cell = Arc::clone(lock(&self.sources).entry(path).or_default());
        cell.get_or_init(|| {
            let flags = (self.request.flags_for)(path);
            let root = &self.request.root;
            match (self.request.options_for)(path) {
                Some(options) => Subject::read_as(root, path, &flags, &options),
                None => Subject::read(root, path, &flags),
            }
            .map(Arc::new)
        })
        .clone()
    }

    fn with_judgement(&self, task: &Task, finding: &FindingEntry, judgement: Judgement) -> Outcome {
        Outcome {
            id: task.id.clone(),
            fingerprint: finding.fingerprint.clone(),
            rule: finding.rule.clone(),
            verification: Verification {
                method: finding.verification.method,
                verdict: Some(judgement.verdict),
                evidence: Some(judgement.evidence),
            },
            reason: judgement.reason,
            build_seconds: 0.0,
            run_seconds: 0.0,
            wait_seconds: 0.0,
            place: match (slashed(Utf8Path::new(&finding.path)), finding.range.start) {
                (path, Position { cell: Some(cell), line, .. }) => format!("{path}:cell {}:{line}", cell + 1),
                (path, Position { line, .. }) => format!("{path}:{line}"),
            },
            attempts: Vec::new(),
            replay: None,
            fixed: None,
            basis: task.basis.clone(),
            limit_seconds: self.request.limits.run.as_secs_f64(),
        }
    }
}

/// What was tried, with places in a notebook's text as cells and lines.
fn in_cells(mut tried: Tried, subject: &Subject) -> Tried {
    tried.judgement.reason = subject.by_cells(&tried.judgement.reason);
    for attempt in &mut tried.attempts {
        attempt.reason = subject.by_cells(&attempt.reason);
    }
    for record in &mut tried.judgement.evidence.records {
        subject.place_record(record);
    }
    tried
}

/// Adds what the CPU says; in words where no GPU has said anything.
fn with_replay(mut outcome: Outcome, replay: Option<Replay>) -> Outcome {
    let decided =
        matches!(outcome.verification.verdict, Some(Verdict::Confirmed | Verdict::NotObserved | Verdict::Refuted));
    if let (false, Some(words)) = (decided, replay.as_ref().and_then(Replay::words)) {
        outcome.reason = format!("{}; {words}", outcome.reason);
    }
    outcome.replay = replay;
    outcome
}

/// What an outcome takes from its bench.
fn count(outcome: &mut Outcome, times: Times) {
    // To the millisecond: more is noise, and long fractions do not read back as they were.
    let rounded = |seconds: f64| (seconds * 1000.0).round() / 1000.0;
    outcome.build_seconds = rounded(times.build);
    outcome.run_seconds = rounded(times.run);
    outcome.wait_seconds = rounded(times.wait);
}
