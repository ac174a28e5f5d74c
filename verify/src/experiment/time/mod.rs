//! What code costs that does nothing: the program is built twice, as it is and without the flagged call, and both leave the same
//! in memory. What each takes is measured. Of Python scripts a launch is repeated with its arrays on the device.
// A judgement ends an experiment: it is made once, and its size does not matter.
#![allow(clippy::result_large_err)]

mod barrier;
mod script;
mod wait;

use super::Judgement;
use super::delay::memory::{self, Left};
use super::place::Spot;
use super::probed::{Probed, Seen, not_reached, usable};
use crate::lab::Bench;
use crate::probe::{Delayed, LeftOut, Plan, Task, Watch};
use crate::scenario::{CudaProgram, Program};
use crate::tools::probe_log::Time;
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

/// The program as it is, and without the call at the place.
fn both<'bench, 'lab>(
    spot: &Spot,
    is_status: bool,
    program: &CudaProgram,
    bench: &'bench Bench<'lab>,
) -> Result<[Probed<'bench, 'lab>; 2], Judgement> {
    let without = LeftOut { name: spot.name.clone(), is_status, line: spot.line };
    let build = |label: &str, without| {
        let watch = Watch { without, ..Watch::default() };
        Probed::build(program, bench, label, &watch, &[])
    };
    Ok([build("with", None)?, build("without", Some(without))?])
}

/// What memory holds in a run in which something is looked at.
fn left(
    probed: &Probed<'_, '_>,
    name: (&str, &str),
    delayed: Delayed,
    spot: &Spot,
    bench: &Bench<'_>,
) -> Result<(Left, Seen), Judgement> {
    let (of, label) = name;
    let seen = probed.run(label, &Plan { task: Task::Delay, delayed: Some(delayed), ..Plan::default() });
    usable(&seen)?;
    match &seen.trace.early {
        Some(told) if told.problem.is_empty() => {}
        Some(told) => return Err(Judgement::without_run(Verdict::Unviable, told.problem.clone())),
        None => return Err(not_reached(spot, &seen)),
    }
    Ok((memory::left(bench, &format!("{of}-{label}"))?, seen))
}

/// What the work of a number takes.
fn time(probed: &Probed<'_, '_>, work: u64, spot: &Spot) -> Result<(Time, Seen), Judgement> {
    let seen = probed.run("time", &Plan { task: Task::Time, measured: Some(work), ..Plan::default() });
    usable(&seen)?;
    match seen.trace.time.clone() {
        Some(time) if time.problem.is_empty() && time.rounds > 0 => Ok((time, seen)),
        Some(time) => Err(Judgement::without_run(Verdict::Unviable, format!("nothing was measured: {}", time.problem))),
        None => Err(not_reached(spot, &seen)),
    }
}

/// Nanoseconds as microseconds.
fn shown(nanoseconds: u64) -> String {
    format!("{:.1} µs", nanoseconds as f64 / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn times_are_told_in_microseconds() {
        assert_eq!(shown(340_160), "340.2 µs");
        assert_eq!(shown(90), "0.1 µs");
    }
}
