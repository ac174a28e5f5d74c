//! What became of a finding, and what a run over all of them says to its caller.

use cudalint_findings::model::{Evidence, Verdict, Verification};
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
    /// Path and line of the finding.
    #[serde(default)]
    pub place: String,
    /// What each program gave that was tried, in order.
    #[serde(default)]
    pub attempts: Vec<Attempt>,
    /// What the witness gives when it is evaluated again on the CPU; none where nobody did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<Replay>,
    /// What the fixed source gave, where that was asked for and there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed: Option<FixedOutcome>,
    /// Hash of all that the outcome depends on: the finding, its source, cudalint, the machine's tools. A resumed run
    /// takes over outcomes whose basis is still the same.
    #[serde(default)]
    pub basis: String,
    /// The longest that a run was allowed, in seconds.
    #[serde(default)]
    pub limit_seconds: f64,
}

/// What one program of a scenario gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// How the program came about: `as written`, `around the file`, `cut out`; `none` where there is none.
    pub program: String,
    /// Its folder, relative to the outcome folder; none where there is no program.
    pub folder: Option<String>,
    /// Verdict.
    pub verdict: Verdict,
    /// In one sentence, why.
    pub reason: String,
    /// Whether the project's own run came to the finding's place; none for other programs, and where nothing tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reached: Option<bool>,
}

/// What a witness gives when it is evaluated again on the CPU. It says whether the finding follows from the source, and
/// nothing of what a GPU does: it never changes a verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Replay {
    /// The defect again.
    Agrees,
    /// Something else, in words.
    Disagrees(String),
    /// There is no witness, or nothing in it that can be evaluated alone.
    Unknown,
}

impl Replay {
    /// As a part of a sentence; none where there is nothing to say.
    pub fn words(&self) -> Option<String> {
        match self {
            Self::Agrees => Some("its witness, evaluated again on the CPU, shows the defect".to_owned()),
            Self::Disagrees(reason) => {
                Some(format!("its witness, evaluated again on the CPU, does not hold: {reason}"))
            }
            Self::Unknown => None,
        }
    }
}

/// What became of a finding's fix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FixedOutcome {
    /// Whether the fix holds: what was confirmed before is not seen any more, nothing that was not there before is, and
    /// linting says nothing new. None where no run of the fixed source could tell.
    pub holds: Option<bool>,
    /// In one sentence, why.
    pub reason: String,
    /// The same experiment's verdict on the fixed source; none where it was not performed.
    pub verdict: Option<Verdict>,
    /// What that verdict rests on.
    pub evidence: Option<Evidence>,
    /// Findings in the fixed source that the source did not have, in one line each.
    pub new_findings: Vec<String>,
    /// The fixed source, relative to the outcome folder.
    pub source: String,
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
