//! Two versions of a program, and what each leaves and takes.
// A judgement ends an experiment: it is made once, and its size does not matter.
#![allow(clippy::result_large_err)]

use crate::experiment::Judgement;
use crate::experiment::delay::memory::{self, Left};
use crate::experiment::place::Spot;
use crate::experiment::probed::{Probed, Seen, not_reached, usable};
use crate::lab::Bench;
use crate::probe::{Delayed, LeftOut, Plan, Task, Watch};
use crate::scenario::CudaProgram;
use crate::tools::probe_log::Time;
use cudalint_findings::model::Verdict;

/// The program as it is, and without the call at the place.
pub(super) fn both<'bench, 'lab>(
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
pub(super) fn left(
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
pub(super) fn time(probed: &Probed<'_, '_>, work: u64, spot: &Spot) -> Result<(Time, Seen), Judgement> {
    let seen = probed.run("time", &Plan { task: Task::Time, measured: Some(work), ..Plan::default() });
    usable(&seen)?;
    match seen.trace.time.clone() {
        Some(time) if time.problem.is_empty() && time.rounds > 0 => Ok((time, seen)),
        Some(time) => Err(Judgement::without_run(Verdict::Unviable, format!("nothing was measured: {}", time.problem))),
        None => Err(not_reached(spot, &seen)),
    }
}

/// Nanoseconds as microseconds.
pub(super) fn shown(nanoseconds: u64) -> String {
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
