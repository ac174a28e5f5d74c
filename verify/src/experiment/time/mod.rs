//! What code costs that does nothing: the program is built twice, as it is and without the flagged call, and both leave the same
//! in memory. What each takes is measured. Of Python scripts a launch is repeated with its arrays on the device.
// A judgement ends an experiment: it is made once, and its size does not matter.
#![allow(clippy::result_large_err)]

mod barrier;
mod script;
mod versions;
mod wait;

use super::Judgement;
use crate::lab::Bench;
use crate::scenario::Program;
use cudalint_findings::Shows;
use cudalint_findings::claim::Cost;
use cudalint_findings::model::{FindingEntry, Verdict};

/// Performs the experiment on one program.
pub fn perform(finding: &FindingEntry, program: &Program, bench: &Bench<'_>) -> Judgement {
    let unsupported = |reason: &str| Judgement::without_run(Verdict::Unsupported, reason);
    let Shows::Cost { of } = finding.claim.shows else {
        return unsupported("the finding claims nothing that takes time");
    };
    let program = match program {
        Program::Cuda(program) => program,
        Program::Python(program) if of == Cost::Transfers => return script::perform(finding, program, bench),
        Program::Python(_) | Program::Kernel(_) => {
            return unsupported("of this, time is measured in whole programs of CUDA C++ only");
        }
    };
    if program.project.is_some() {
        return Judgement::without_run(Verdict::Unviable, "no time is measured in the project's own build");
    }
    let judged = match of {
        Cost::Barrier => barrier::perform(finding, program, bench),
        Cost::Wait => wait::perform(finding, program, bench),
        Cost::Sectors | Cost::Passes | Cost::Double | Cost::Threads | Cost::Transfers => {
            return unsupported("this is no question of time in a program of CUDA C++");
        }
    };
    judged.unwrap_or_else(|judgement| judgement)
}
