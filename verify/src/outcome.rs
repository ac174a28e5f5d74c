//! What became of a finding, and what a run over all of them says to its caller.

use cudalint_findings::model::{Verdict, Verification};
use serde::{Deserialize, Serialize};

/// What became of a scenario. Written as it comes, so that a run can be resumed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Name of the scenario's folder.
    pub id: String,
    /// Fingerprint of the finding.
    pub fingerprint: String,
    /// Name of its rule.
    pub rule: String,
    /// Verdict and evidence.
    pub verification: Verification,
    /// In one sentence, why the verdict is what it is: what was built, what was seen, what was missing.
    pub reason: String,
    /// Seconds for building.
    pub build_seconds: f64,
    /// Seconds for running, tools included.
    pub run_seconds: f64,
    /// Seconds of waiting for a GPU or a compiler to be free.
    pub wait_seconds: f64,
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
