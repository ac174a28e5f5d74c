//! What a program computes, against what it would compute without the defect.

use super::Judgement;
use crate::lab::Bench;
use crate::scenario::Program;
use cudalint_findings::model::{FindingEntry, Verdict};

/// Performs the experiment on one program.
pub fn perform(_finding: &FindingEntry, _program: &Program, _bench: &Bench<'_>) -> Judgement {
    Judgement::without_run(Verdict::Unsupported, "this method is not built yet")
}
