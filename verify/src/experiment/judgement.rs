//! What an experiment comes to.

use crate::lab::{BuildFailure, End, RunOutcome};
use cudalint_findings::model::{Evidence, EvidenceRecord, Verdict};

/// What an experiment says of one program.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// In one sentence, why.
    pub reason: String,
    /// What it rests on.
    pub evidence: Evidence,
    /// Whether the run came to the finding's place; none where nobody asked, or nothing tells.
    pub reached: Option<bool>,
}

impl Judgement {
    /// A judgement without a run.
    pub fn without_run(verdict: Verdict, reason: impl Into<String>) -> Self {
        let evidence = Evidence {
            back_end: "none".to_owned(),
            device: None,
            records: Vec::new(),
            command: None,
            log: None,
            reproducer: None,
        };
        Self { verdict, reason: reason.into(), evidence, reached: None }
    }

    /// The judgement of a program that could not be built.
    pub fn of_build(failure: &BuildFailure) -> Self {
        let (verdict, reason, log) = match failure {
            BuildFailure::Refused { error, log } => {
                (Verdict::Unviable, format!("the compiler refuses it: {error}"), Some(log.to_string()))
            }
            BuildFailure::TimedOut => (Verdict::Timeout, "the compiler took too long".to_owned(), None),
            BuildFailure::NoCompiler => (Verdict::Unsupported, "there is no CUDA compiler".to_owned(), None),
            BuildFailure::Broken(problem) => (Verdict::Unviable, problem.clone(), None),
            BuildFailure::Interrupted => (Verdict::Unsupported, "interrupted".to_owned(), None),
        };
        let mut judgement = Self::without_run(verdict, reason);
        judgement.evidence.log = log;
        judgement
    }

    /// The judgement of a project that could not be built by its own command.
    pub fn of_project(failure: &BuildFailure) -> Self {
        let mut judgement = Self::of_build(failure);
        match failure {
            BuildFailure::Refused { error, .. } => judgement.reason = format!("the project's build fails: {error}"),
            BuildFailure::TimedOut => "the project's build took too long".clone_into(&mut judgement.reason),
            BuildFailure::Broken(problem) => judgement.reason = format!("the project cannot be built: {problem}"),
            BuildFailure::NoCompiler | BuildFailure::Interrupted => {}
        }
        judgement
    }

    /// A judgement of a run, with the run's command, log and device.
    pub fn of_run(
        verdict: Verdict,
        reason: impl Into<String>,
        back_end: impl Into<String>,
        run: &RunOutcome,
        records: Vec<EvidenceRecord>,
    ) -> Self {
        let evidence = Evidence {
            back_end: back_end.into(),
            device: run.device.clone(),
            records,
            command: Some(run.command.clone()),
            log: Some(run.log.to_string()),
            reproducer: None,
        };
        Self { verdict, reason: reason.into(), evidence, reached: None }
    }

    /// A refuted finding after a second method was asked, which is named so. What the two do not agree on is not said, nor
    /// what the second was asked and could not answer.
    #[must_use]
    pub fn checked_by(self, name: &str, second: Self) -> Self {
        let first = self.reason.clone();
        let said = |words: &str| format!("{first}; {words}: {}", second.reason);
        match second.verdict {
            Verdict::Refuted | Verdict::NotObserved => Self { reason: said(name), ..self },
            // It is not there.
            Verdict::Unsupported => Self { reason: said(&format!("{name} cannot be asked")), ..self },
            Verdict::Unviable | Verdict::Timeout => {
                let reason = said(&format!("{name} was asked too, and decides nothing"));
                Self { verdict: Verdict::NotObserved, reason, ..self }
            }
            Verdict::Confirmed => {
                let mut both = self;
                both.reason = said(&format!("but {name} says otherwise"));
                both.verdict = Verdict::NotObserved;
                both.evidence.records.extend(second.evidence.records);
                both
            }
        }
    }

    /// The judgement of a run that says nothing because it was ended or never began; none for one that ended by itself.
    pub fn of_end(run: &RunOutcome, back_end: &str) -> Option<Self> {
        let (verdict, reason) = match &run.end {
            End::Exit(_) | End::Signal(_) | End::Enough => return None,
            End::TimedOut => (Verdict::Timeout, "the run took too long and was ended".to_owned()),
            End::OverLimit(problem) => (Verdict::Unviable, format!("the program {problem}")),
            End::NotStarted(problem) => (Verdict::Unsupported, problem.clone()),
            End::Interrupted => (Verdict::Unsupported, "interrupted".to_owned()),
        };
        Some(Self::of_run(verdict, reason, back_end, run, Vec::new()))
    }
}
