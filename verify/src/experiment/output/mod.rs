//! What a program computes, against what it would compute without the defect: memory that a call leaves is read back, a
//! launch is compared with one of more threads, and the addresses of shared arrays with each other. Which of these is done
//! the finding's claim says. Of Python scripts the driver compares what statements do.
// A judgement ends an experiment: it is made once, and its size does not matter.
#![allow(clippy::result_large_err)]

mod memory;
mod promise;
mod script;

use super::Judgement;
use super::place::Spot;
use super::probed::{Probed, judge, not_reached, record, usable};
use crate::lab::Bench;
use crate::probe::{Plan, Site, Task, Watch, WatchedPair};
use crate::scenario::{CudaProgram, Program};
use crate::tools::probe_log::{Cover, plain_kernel};
use cudalint_findings::Shows;
use cudalint_findings::claim::Difference;
use cudalint_findings::model::{self, FindingEntry, Verdict};

/// Performs the experiment on one program.
pub fn perform(finding: &FindingEntry, program: &Program, bench: &Bench<'_>) -> Judgement {
    let program = match program {
        Program::Cuda(program) => program,
        Program::Python(program) => return script::perform(finding, program, bench),
        Program::Kernel(_) => {
            return Judgement::without_run(Verdict::Unsupported, "only the memory of whole programs can be compared");
        }
    };
    let judged = match &finding.claim.shows {
        Shows::Memory { difference: Difference::SameAddress { names, used } } => {
            shared_arrays(finding, (names, used.line()), program, bench)
        }
        Shows::Memory { difference: Difference::Coverage { elements, .. } } => {
            coverage_at(finding, *elements, program, bench)
        }
        Shows::Memory { difference: Difference::Promise { .. } } => promise::perform(finding, program, bench),
        Shows::Memory { difference } => memory(finding, difference, program, bench),
        _ => Err(Judgement::without_run(Verdict::Unsupported, "the finding claims nothing of what memory holds")),
    };
    judged.unwrap_or_else(|judgement| judgement)
}

/// A call that sets or copies memory.
fn memory(
    finding: &FindingEntry,
    difference: &Difference<model::Site>,
    program: &CudaProgram,
    bench: &Bench<'_>,
) -> Result<Judgement, Judgement> {
    let spot = Spot::around_argument(finding, program);
    let probed = Probed::build(program, bench, "output", &Watch::default(), &[])?;
    let seen = probed.run("memory", &Plan { task: Task::Memory, ..Plan::default() });
    usable(&seen)?;
    let calls = spot.calls(&seen.trace);
    if let Some((call, memory)) = calls.iter().find_map(|call| Some((*call, call.memory.as_ref()?))) {
        let (verdict, text) = memory::compared(difference, call, memory);
        let reason = format!("{}: {text}", spot.shown());
        let records = match verdict {
            Verdict::Confirmed | Verdict::Refuted => vec![record("memory read back", &spot, None, text)],
            _ => Vec::new(),
        };
        return Ok(judge(&probed, "memory", &seen, verdict, reason, records));
    }
    match calls.first() {
        Some(call) => {
            let reason = format!("what `{}` leaves in memory cannot be compared", call.function);
            Err(judge(&probed, "memory", &seen, Verdict::Unsupported, reason, Vec::new()))
        }
        None => Err(not_reached(&spot, &seen)),
    }
}

/// A launch at the place that is for so many elements, beside one of more threads on the same memory.
fn coverage_at(
    finding: &FindingEntry,
    elements: u64,
    program: &CudaProgram,
    bench: &Bench<'_>,
) -> Result<Judgement, Judgement> {
    let spot = Spot::around_argument(finding, program);
    let probed = Probed::build(program, bench, "output", &Watch::default(), &[])?;
    let seen = probed.run("memory", &Plan { task: Task::Memory, ..Plan::default() });
    usable(&seen)?;
    let launches = spot.launches(&seen.trace);
    let launch = *launches.first().ok_or_else(|| not_reached(&spot, &seen))?;
    let sites = launch.at.map(|at| (Site::Launch(at), 0)).into_iter().collect();
    let seen = probed.run("cover", &Plan { task: Task::Cover, sites, turn: 1, threads: elements, ..Plan::default() });
    usable(&seen)?;
    let cover = seen.trace.covers.first().ok_or_else(|| not_reached(&spot, &seen))?;
    let (verdict, text) = covered(cover);
    let reason = format!("{}: {text}", spot.shown());
    let records = match verdict {
        Verdict::Confirmed => vec![record("memory differs", &spot, Some(plain_kernel(&cover.kernel)), text)],
        _ => Vec::new(),
    };
    Ok(judge(&probed, "cover", &seen, verdict, reason, records))
}

/// What a comparison of launches says. Only memory beyond the elements that the launch has threads for counts: what differs
/// elsewhere has another cause.
fn covered(cover: &Cover) -> (Verdict, String) {
    if !cover.problem.is_empty() {
        return (Verdict::Unviable, format!("launches of `{}` were not compared: {}", cover.kernel, cover.problem));
    }
    let [blocks, _, _] = cover.grid;
    let [width, _, _] = cover.block;
    let threads = blocks.saturating_mul(width);
    let beyond = cover.different.iter().find(|difference| difference.first >= threads);
    match beyond {
        Some(difference) => (
            Verdict::Confirmed,
            format!(
                "the launch of {threads} threads leaves {} bytes from byte {} on of an allocation of {} bytes as they were; with {} blocks instead of {blocks} they are written",
                difference.bytes,
                difference.first,
                difference.allocation,
                cover.wider.first().copied().unwrap_or(0),
            ),
        ),
        None if cover.different.is_empty() => (
            Verdict::NotObserved,
            format!(
                "the launch of {threads} threads and one of more threads leave the same {} bytes{}",
                cover.compared,
                if cover.unstable > 0 { ", as far as they do not change from run to run" } else { "" }
            ),
        ),
        None => (
            Verdict::NotObserved,
            format!("a launch of more threads changes memory that the {threads} threads of this one reach as well"),
        ),
    }
}

/// Two arrays in dynamic shared memory: a thread notes both addresses where it uses the second one.
fn shared_arrays(
    finding: &FindingEntry,
    ([first, second], line): (&[String; 2], u32),
    program: &CudaProgram,
    bench: &Bench<'_>,
) -> Result<Judgement, Judgement> {
    let spot = Spot::primary(finding, program);
    let pair = WatchedPair { first: first.clone(), second: second.clone(), line };
    let watch = Watch { pair: Some(pair), ..Watch::default() };
    let probed = Probed::build(program, bench, "output", &watch, &[])?;
    let seen = probed.run("pair", &Plan { task: Task::Pair, ..Plan::default() });
    usable(&seen)?;
    let Some(pair) = seen.trace.pairs.iter().find(|pair| pair.line == line) else {
        return Err(not_reached(&Spot { line, ..spot }, &seen));
    };
    let [one, other] = pair.addresses;
    let kernel = plain_kernel(&pair.kernel);
    let (verdict, text) = if one == other {
        let text = format!("in `{kernel}`, `{first}` and `{second}` both begin at byte {one} of shared memory");
        (Verdict::Confirmed, text)
    } else {
        let text =
            format!("in `{kernel}`, `{first}` begins at byte {one} of shared memory and `{second}` at byte {other}");
        (Verdict::Refuted, text)
    };
    let records = vec![record("addresses", &spot, Some(kernel), format!("{text} (noted at line {line})"))];
    Ok(judge(&probed, "pair", &seen, verdict, format!("{}: {text}", spot.shown()), records))
}
