//! What a kernel leaves that was compiled with a promise of its parameters, against what it leaves without.

use crate::experiment::Judgement;
use crate::experiment::delay::memory;
use crate::experiment::place::Spot;
use crate::experiment::probed::{Probed, judge, not_reached, record, usable};
use crate::lab::Bench;
use crate::probe::{Delayed, Moment, Plan, Task, Watch};
use crate::scenario::CudaProgram;
use crate::tools::probe_log::plain_kernel;
use cudalint_findings::model::{FindingEntry, Verdict};

/// The flag that takes the promise away.
const WITHOUT: &str = "-D__restrict__=";

/// The launch at the place, in two builds.
pub(super) fn perform(
    finding: &FindingEntry,
    program: &CudaProgram,
    bench: &Bench<'_>,
) -> Result<Judgement, Judgement> {
    let spot = Spot::around_argument(finding, program);
    let build = |label: &str, more: &[String]| Probed::build(program, bench, label, &Watch::default(), more);
    let run = |probed: &Probed<'_, '_>, label: &str, delayed| {
        let seen = probed.run(label, &Plan { task: Task::Delay, delayed, ..Plan::default() });
        usable(&seen).map(|()| seen)
    };
    let promised = build("promise", &[])?;
    let seen = run(&promised, "numbers", None)?;
    let launches = spot.launches(&seen.trace);
    let launch = launches.first().ok_or_else(|| not_reached(&spot, &seen))?;
    let number = launch.work.ok_or_else(|| not_reached(&spot, &seen))?;
    let kernel = plain_kernel(&launch.kernel);
    // Nothing is delayed: memory is looked at behind the launch.
    let behind = Some(Delayed { work: 0, moment: Moment::Work(number), waits: true });
    let without = build("without", &[WITHOUT.to_owned()])?;
    let mut left = Vec::new();
    for (probed, of, label) in
        [(&promised, "promise", "kept"), (&without, "without", "kept"), (&without, "without", "again")]
    {
        let seen = run(probed, label, behind)?;
        match &seen.trace.early {
            Some(told) if told.problem.is_empty() => {}
            Some(told) => return Err(Judgement::without_run(Verdict::Unviable, told.problem.clone())),
            None => return Err(not_reached(&spot, &seen)),
        }
        left.push(memory::left(bench, &format!("{of}-{label}"))?);
    }
    let [promise, plain, again] = left.as_slice() else { return Err(not_reached(&spot, &seen)) };
    Ok(match memory::different(promise, plain, again, "without the promise") {
        Some(said) => {
            let text = format!("behind the launch of `{kernel}` at {}, {said}", spot.shown());
            let records = vec![record("memory differs", &spot, Some(kernel), text.clone())];
            judge(&promised, "kept", &seen, Verdict::Confirmed, text, records)
        }
        None => {
            let text =
                format!("`{kernel}` leaves the same with and without `__restrict__`, as this compiler builds it");
            judge(&promised, "kept", &seen, Verdict::NotObserved, text, Vec::new())
        }
    })
}
