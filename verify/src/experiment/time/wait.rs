//! A call that waits for what a copy behind it waits for, too: work is delayed, and the copy brings the same without the call. What
//! the call costs where there is nothing to wait for is measured.

use super::versions::{both, left, shown, time};
use crate::experiment::Judgement;
use crate::experiment::delay::memory;
use crate::experiment::place::Spot;
use crate::experiment::probed::{judge, not_reached, record, usable};
use crate::lab::Bench;
use crate::probe::{Delayed, Moment, Plan, Task};
use crate::scenario::CudaProgram;
use crate::tools::probe_log::{Event, Trace};
use cudalint_findings::model::{FindingEntry, Verdict};

pub(super) fn perform(
    finding: &FindingEntry,
    program: &CudaProgram,
    bench: &Bench<'_>,
) -> Result<Judgement, Judgement> {
    let spot = Spot::primary(finding, program);
    let sites = Spot::sites(finding, program);
    let Some(copy) = sites.first() else {
        return Err(Judgement::without_run(Verdict::Unviable, "the finding names no copy that waits, too"));
    };
    let [with, without] = both(&spot, true, program, bench)?;
    let seen = with.run("numbers", &Plan { task: Task::Delay, ..Plan::default() });
    usable(&seen)?;
    let Some((work, place)) = numbers(&seen.trace, &spot, copy) else { return Err(not_reached(copy, &seen)) };
    let delayed = Delayed { work, moment: Moment::Work(place), waits: false };
    let (needed, seen) = left(&without, ("without", "delayed"), delayed, copy, bench)?;
    let early = seen.trace.early.as_ref().is_some_and(|told| !told.done);
    let (as_is, _) = left(&with, ("with", "delayed"), delayed, copy, bench)?;
    let (again, _) = left(&with, ("with", "again"), delayed, copy, bench)?;
    if let Some(said) = memory::different(&needed, &as_is, &again, "with the call") {
        let text = format!("without `{}` at {}, {said}", spot.name, spot.shown());
        let records = vec![record("memory differs", &spot, None, text.clone())];
        return Ok(judge(&without, "delayed", &seen, Verdict::Refuted, text, records));
    }
    if !early {
        let text = format!("something else waits for the work before the program comes to {}", copy.shown());
        return Ok(judge(&without, "delayed", &seen, Verdict::NotObserved, text, Vec::new()));
    }
    let (measured, seen) = time(&with, place, copy)?;
    let text = format!(
        "with the work before it delayed, `{}` at {} brings the same without `{}` at {}; where there is nothing to wait for, it takes {} alone and {} behind that call (the middle of {})",
        copy.name,
        copy.shown(),
        spot.name,
        spot.shown(),
        shown(measured.median),
        shown(measured.waiting),
        measured.rounds
    );
    Ok(if measured.waiting > measured.median {
        let records = vec![record("time", &spot, None, text.clone())];
        judge(&with, "time", &seen, Verdict::Confirmed, text, records)
    } else {
        judge(&with, "time", &seen, Verdict::NotObserved, text, Vec::new())
    })
}

/// The work that is started last before the wait, and the copy behind it, by their numbers.
fn numbers(trace: &Trace, wait: &Spot, copy: &Spot) -> Option<(u64, u64)> {
    let sequences = |spot: &Spot| -> Vec<u64> { spot.calls(trace).iter().map(|call| call.sequence).collect() };
    let (waits, copies) = (sequences(wait), sequences(copy));
    let (mut work, mut before) = (None, None);
    for event in &trace.events {
        match event {
            Event::Launch(launch) => work = launch.work.or(work),
            Event::Call(call) => {
                if let (true, Some(number), Some(before)) = (copies.contains(&call.sequence), call.work, before) {
                    return Some((before, number));
                }
                if waits.contains(&call.sequence) {
                    before = work;
                }
                work = call.work.or(work);
            }
            Event::Touch(_) | Event::Words(_) => {}
        }
    }
    None
}
