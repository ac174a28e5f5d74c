//! A barrier that no two threads need: the kernel leaves the same without it, racecheck sees no race there, and it takes less time.

use super::versions::{both, left, shown, time};
use crate::experiment::Judgement;
use crate::experiment::delay::memory;
use crate::experiment::place::Spot;
use crate::experiment::probed::{judge, no_launch, record, usable};
use crate::lab::{Bench, Build, Run, Watcher, head_of};
use crate::probe::{self, Delayed, LeftOut, Moment, Plan, Task, Watch};
use crate::scenario::CudaProgram;
use crate::tools::probe_log::{Trace, plain_kernel};
use crate::tools::sanitizer::{Category, SanitizerReport, base_name};
use cudalint_findings::model::{FindingEntry, Verdict};

/// Thousandths of the time with the barrier that a kernel may take without it, where the barrier is said to cost something.
const LESS: u64 = 970;
/// Bytes of racecheck's text that are read.
const TEXT: u64 = 16 << 20;

pub(super) fn perform(
    finding: &FindingEntry,
    program: &CudaProgram,
    bench: &Bench<'_>,
) -> Result<Judgement, Judgement> {
    let spot = Spot::primary(finding, program);
    // Another barrier is a member of an object: nothing in its place would compile.
    if !spot.name.starts_with("__") {
        let reason = format!("{}: only barriers that are functions are left out", spot.shown());
        return Err(Judgement::without_run(Verdict::Unviable, reason));
    }
    let [with, without] = both(&spot, false, program, bench)?;
    let seen = with.run("numbers", &Plan { task: Task::Delay, ..Plan::default() });
    usable(&seen)?;
    let (number, kernel) = launch_of(finding, program, &seen.trace).ok_or_else(|| no_launch(&spot, &seen, bench))?;
    // Nothing is delayed: memory is looked at behind the launch.
    let behind = Delayed { work: 0, moment: Moment::Work(number), waits: true };
    let (needed, _) = left(&without, ("without", "kept"), behind, &spot, bench)?;
    let (as_is, seen) = left(&with, ("with", "kept"), behind, &spot, bench)?;
    let (again, _) = left(&with, ("with", "again"), behind, &spot, bench)?;
    if let Some(said) = memory::different(&needed, &as_is, &again, "with the barrier") {
        let text = format!("behind the launch of `{kernel}` without the barrier at {}, {said}", spot.shown());
        let records = vec![record("memory differs", &spot, Some(kernel), text.clone())];
        return Ok(judge(&with, "kept", &seen, Verdict::Refuted, text, records));
    }
    if let Some(race) = race(&spot, &kernel, true, program, bench)? {
        let text = format!("without the barrier at {} racecheck sees {race}", spot.shown());
        // One that is there with the barrier too is not what the barrier is for.
        if let Some(with_it) = self::race(&spot, &kernel, false, program, bench)? {
            let text = format!("{text}, and with the barrier {with_it}: what the barrier orders cannot be told");
            return Ok(judge(&with, "kept", &seen, Verdict::NotObserved, text, Vec::new()));
        }
        let records = vec![record("race", &spot, Some(kernel), text.clone())];
        return Ok(judge(&with, "kept", &seen, Verdict::Refuted, text, records));
    }
    let (slow, seen) = time(&with, number, &spot)?;
    let (fast, _) = time(&without, number, &spot)?;
    let text = format!(
        "without the barrier at {} `{kernel}` leaves the same in memory, racecheck sees no race, and it takes {} where it takes {} with the barrier (the shortest of {})",
        spot.shown(),
        shown(fast.least),
        shown(slow.least),
        slow.rounds
    );
    Ok(if fast.least.saturating_mul(1000) < slow.least.saturating_mul(LESS) {
        let records = vec![record("time", &spot, Some(kernel), text.clone())];
        judge(&with, "time", &seen, Verdict::Confirmed, text, records)
    } else {
        let text = format!("{text}: no more than measurements differ by");
        judge(&with, "time", &seen, Verdict::NotObserved, text, Vec::new())
    })
}

/// The number and the kernel of the launch that the finding names, else of the first of its kernel.
fn launch_of(finding: &FindingEntry, program: &CudaProgram, trace: &Trace) -> Option<(u64, String)> {
    let at = finding.claim.launch.as_ref().map(|launch| {
        let source = crate::experiment::place::Source::find(&launch.site.path, program);
        Spot::new(&launch.site.path, &launch.site.range, &source)
    });
    let own = finding.claim.kernel.as_deref().map(base_name);
    let mut here = at.map(|spot| spot.launches(trace)).unwrap_or_default();
    if here.is_empty() {
        let is_own = |kernel: &str| own.as_ref().is_some_and(|own| base_name(&plain_kernel(kernel)) == *own);
        here = trace.launches().filter(|launch| is_own(&launch.kernel)).collect();
    }
    here.iter().find_map(|launch| Some((launch.work?, plain_kernel(&launch.kernel))))
}

/// What racecheck sees in the kernel with its barrier or without it; nothing where there is no racecheck.
fn race(
    spot: &Spot,
    kernel: &str,
    leaves_out: bool,
    program: &CudaProgram,
    bench: &Bench<'_>,
) -> Result<Option<String>, Judgement> {
    if bench.lab.machine.compute_sanitizer.is_none() {
        return Ok(None);
    }
    let left_out = LeftOut { name: spot.name.clone(), is_status: false, line: spot.line };
    let label = if leaves_out { "raced" } else { "raced-with" };
    let watch =
        Watch { without: leaves_out.then_some(left_out), headers: probe::headers::of(program), ..Watch::default() };
    let broken = |error: std::io::Error| Judgement::without_run(Verdict::Unviable, error.to_string());
    let mut flags = program.flags.clone();
    flags.extend(probe::flags_for(bench, &watch).map_err(broken)?);
    let build = Build { label: label.to_owned(), units: vec![program.unit.clone()], flags };
    let built = bench.build(&build).map_err(|failure| Judgement::of_build(&failure))?;
    let command = std::iter::once(built.to_string()).chain(program.arguments.iter().cloned()).collect();
    let run = bench.run(&Run { watcher: Some(Watcher::Racecheck), ..Run::on_device(label, command, Vec::new()) });
    if let Some(judgement) = Judgement::of_end(&run, "compute-sanitizer racecheck") {
        return Err(judgement);
    }
    let printed = head_of(&bench.folder.join(format!("{label}.log")), TEXT);
    let report = SanitizerReport::read(run.report.as_deref(), &printed);
    if let Some(refusal) = report.refusal() {
        return Err(Judgement::without_run(Verdict::Unsupported, format!("racecheck cannot work here: {refusal}")));
    }
    let own = base_name(kernel);
    let found = report.records.iter().find(|record| {
        matches!(record.category, Category::Race { .. })
            && record.kernel.as_ref().is_none_or(|kernel| kernel.base == own)
    });
    Ok(found.map(crate::tools::sanitizer::Record::words))
}
