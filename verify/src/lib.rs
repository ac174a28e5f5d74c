//! Shows findings on a GPU: so far only the data of it. A [`Scenario`] is one finding with the program that would show
//! it; an [`Outcome`] is what became of it; [`exit_status`] is what a run over all of them says to its caller.

use cudalint_findings::{Method, Verdict, Verification};
use std::time::Duration;

/// How the program of a scenario comes about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramSource {
    /// The user's file can be built and run by itself.
    AsWritten {
        /// Path of the file.
        path: String,
    },
    /// A program written from the witness; it is kept and stands alone.
    Harness {
        /// Path relative to the outcome folder.
        path: String,
    },
}

/// One finding with a program that would show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// Fingerprint of the finding.
    pub fingerprint: String,
    /// Name of its rule.
    pub rule: String,
    /// How a run would show it.
    pub method: Method,
    /// The program.
    pub program: ProgramSource,
    /// The run is ended after this: a multiple of a baseline run, at least a fixed minimum.
    pub time_limit: Duration,
}

/// What became of a scenario. Written as it comes, so that a run can be resumed.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The scenario.
    pub scenario: Scenario,
    /// Verdict and evidence.
    pub verification: Verification,
    /// Seconds for building.
    pub build_seconds: f64,
    /// Seconds for running, tools included.
    pub run_seconds: f64,
}

/// The exit status of a run: 1 when something was confirmed, 3 when there was something to verify and nothing could be
/// decided, else 0. Bad arguments and input are the program's 2.
pub fn exit_status(verdicts: &[Verdict]) -> u8 {
    let decided = |verdict: &Verdict| matches!(verdict, Verdict::Confirmed | Verdict::NotObserved | Verdict::Refuted);
    if verdicts.contains(&Verdict::Confirmed) {
        1
    } else if !verdicts.is_empty() && !verdicts.iter().any(decided) {
        3
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::{Verdict, exit_status};

    #[test]
    fn one_confirmed_finding_decides() {
        assert_eq!(exit_status(&[Verdict::Timeout, Verdict::Confirmed]), 1);
    }

    #[test]
    fn nothing_to_verify_and_nothing_seen_are_both_success() {
        assert_eq!(exit_status(&[]), 0);
        assert_eq!(exit_status(&[Verdict::NotObserved, Verdict::Unviable]), 0);
    }

    #[test]
    fn nothing_decided_is_a_status_of_its_own() {
        assert_eq!(exit_status(&[Verdict::Unsupported, Verdict::Unviable]), 3);
    }
}
