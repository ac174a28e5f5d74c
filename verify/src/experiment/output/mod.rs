//! What a program computes, against what it would compute without the defect: memory that a call leaves is read back, a
//! launch is compared with one of more threads, and the addresses of shared arrays with each other. Which of these is done
//! depends on what stands at the finding's place. Of Python scripts the driver compares what statements do.
// A judgement ends an experiment: it is made once, and its size does not matter.
#![allow(clippy::result_large_err)]

mod memory;
mod script;

use super::Judgement;
use super::fault::{not_reached, plain_kernel, record};
use super::place::{Source, Spot, is_word};
use super::probed::{BACK_END, Probed, Seen, usable};
use crate::lab::Bench;
use crate::probe::{Plan, Site, Task, Watch, WatchedPair};
use crate::scenario::{CudaProgram, Program};
use crate::tools::probe_log::{Cover, ProbedLaunch};
use cudalint_findings::model::{EvidenceRecord, FindingEntry, Verdict};

/// Performs the experiment on one program.
pub fn perform(finding: &FindingEntry, program: &Program, bench: &Bench<'_>) -> Judgement {
    let program = match program {
        Program::Cuda(program) => program,
        Program::Python(program) => return script::perform(finding, program, bench),
        Program::Kernel(_) => {
            return Judgement::without_run(Verdict::Unsupported, "only the memory of whole programs can be compared");
        }
    };
    let source = Source::find(&finding.path, program);
    let declares = source.line(finding.range.start.line).contains("__shared__");
    let judged = if declares {
        shared_arrays(finding, program, bench, &source)
    } else {
        memory_or_launch(finding, program, bench)
    };
    judged.unwrap_or_else(|judgement| judgement)
}

/// A value that the witness states.
fn binding(finding: &FindingEntry, name: &str) -> Option<i64> {
    let witness = finding.witness.as_ref()?;
    witness.bindings.iter().find(|(bound, _)| bound == name).map(|(_, value)| *value)
}

fn judge(
    probed: &Probed<'_, '_>,
    label: &str,
    seen: &Seen,
    verdict: Verdict,
    reason: String,
    records: Vec<EvidenceRecord>,
) -> Judgement {
    let mut judgement = Judgement::of_run(verdict, reason, BACK_END, &seen.run, records);
    judgement.evidence.log = Some(probed.log(label));
    judgement
}

/// A call that sets or copies memory, else a launch.
fn memory_or_launch(finding: &FindingEntry, program: &CudaProgram, bench: &Bench<'_>) -> Result<Judgement, Judgement> {
    let spot = Spot::around_argument(finding, program);
    let probed = Probed::build(program, bench, "output", &Watch::default(), &[])?;
    let seen = probed.run("memory", &Plan { task: Task::Memory, ..Plan::default() });
    usable(&seen)?;
    let calls = spot.calls(&seen.trace);
    if let Some((call, memory)) = calls.iter().find_map(|call| Some((*call, call.memory.as_ref()?))) {
        let said = match binding(finding, "value") {
            Some(_) => memory::value(call, memory),
            None => memory::extent(call, memory),
        };
        let (verdict, text) = said;
        let reason = format!("{}: {text}", spot.shown());
        let records = match verdict {
            Verdict::Confirmed | Verdict::Refuted => vec![record("memory read back", &spot, None, text)],
            _ => Vec::new(),
        };
        return Ok(judge(&probed, "memory", &seen, verdict, reason, records));
    }
    if let Some(launch) = spot.launches(&seen.trace).first() {
        return Ok(coverage(finding, &probed, &spot, launch));
    }
    match calls.first() {
        Some(call) => {
            let reason = format!("what `{}` leaves in memory cannot be compared", call.function);
            Err(judge(&probed, "memory", &seen, Verdict::Unsupported, reason, Vec::new()))
        }
        None => Err(not_reached(&spot, &seen)),
    }
}

/// The launch, beside one of more threads on the same memory.
fn coverage(finding: &FindingEntry, probed: &Probed<'_, '_>, spot: &Spot, launch: &ProbedLaunch) -> Judgement {
    let threads = binding(finding, "elements").and_then(|elements| u64::try_from(elements).ok()).unwrap_or(0);
    let sites = launch.at.map(|at| (Site::Launch(at), 0)).into_iter().collect();
    let seen = probed.run("cover", &Plan { task: Task::Cover, sites, turn: 1, threads, ..Plan::default() });
    if let Err(judgement) = usable(&seen) {
        return judgement;
    }
    let Some(cover) = seen.trace.covers.first() else { return not_reached(spot, &seen) };
    let (verdict, text) = covered(cover);
    let reason = format!("{}: {text}", spot.shown());
    let records = match verdict {
        Verdict::Confirmed => vec![record("memory differs", spot, Some(plain_kernel(&cover.kernel)), text)],
        _ => Vec::new(),
    };
    judge(probed, "cover", &seen, verdict, reason, records)
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
    program: &CudaProgram,
    bench: &Bench<'_>,
    source: &Source,
) -> Result<Judgement, Judgement> {
    let unviable = |reason: &str| Judgement::without_run(Verdict::Unviable, reason);
    let spot = Spot::primary(finding, program);
    let second = source.text(&finding.range);
    let first = finding.related.first().map(|related| source.text(&related.range)).unwrap_or_default();
    let is_name = |text: &str| {
        text.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && text.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    if !is_name(&first) || !is_name(&second) {
        return Err(unviable("the finding does not name two arrays"));
    }
    let uses = finding.witness.iter().flat_map(|witness| &witness.path).map(|step| step.line);
    let line = uses
        .filter(|line| *line > finding.range.start.line)
        .find(|line| {
            let text = source.line(*line);
            text.match_indices(&second).any(|(at, _)| is_word(text, at, second.len()))
        })
        .ok_or_else(|| unviable("the finding names no line that uses the array"))?;
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
