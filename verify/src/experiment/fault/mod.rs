//! Fault injection: the call whose status nobody reads is made to fail, and the program goes on as if nothing had
//! happened. The call is really made, and only what it reports is another, so that two runs differ in nothing but what the
//! program does with it. A checked twin, the same program with the test that is missing, must stop there: that shows
//! that the failure was there to be seen.
// A judgement ends an experiment: it is made once, and its size does not matter.
#![allow(clippy::result_large_err)]

mod checker;
pub mod compare;
mod definition;
mod script;
mod trial;

use super::Judgement;
use super::place::Spot;
use super::probed::{BACK_END, Probed, Seen, ending, usable};
use crate::lab::Bench;
use crate::probe::{self, Plan, Site, Task, Watch, WatchedFunction};
use crate::scenario::{CudaProgram, Origin, Program};
use crate::tools::probe_log::{Call, ProbedLaunch};
use cudalint_findings::model::{Confidence, EvidenceRecord, FindingEntry, Verdict};
use cudalint_findings::{Fault, Shows};
use trial::{Target, Trial};

/// Places of one finding that are tried, at most.
const MAX_PLACES: usize = 20;

/// Performs the experiment on one program.
pub fn perform(finding: &FindingEntry, program: &Program, bench: &Bench<'_>) -> Judgement {
    let program = match program {
        Program::Cuda(program) => program,
        Program::Python(program) => return script::perform(finding, program, bench),
        Program::Kernel(_) => {
            return Judgement::without_run(Verdict::Unsupported, "a kernel alone makes no calls that could fail");
        }
    };
    let Shows::UnreadStatus { fault } = finding.claim.shows else {
        return Judgement::without_run(Verdict::Unsupported, "the finding claims no status that nobody reads");
    };
    let injected = match fault {
        Fault::Status => status(finding, program, bench),
        Fault::Launch => launch(finding, program, bench),
        Fault::Asynchronous => asynchronous(finding, program, bench),
        Fault::DroppedCall | Fault::RepeatedCall | Fault::ClearedError => {
            checker::perform(finding, fault, program, bench)
        }
    };
    injected.unwrap_or_else(|judgement| judgement)
}

/// The call at the place reports a failure.
fn status(finding: &FindingEntry, program: &CudaProgram, bench: &Bench<'_>) -> Result<Judgement, Judgement> {
    let spots = spots(finding, program);
    let watch = Watch { functions: watched(&spots), ..Watch::default() };
    let probed = Probed::build(program, bench, "fault", &watch, &[])?;
    let baseline = probed.run("baseline", &Plan::default());
    usable(&baseline)?;
    let targets = targets(&spots, &baseline)?;
    let trial =
        Trial { probed: &probed, baseline, task: Task::Status, assumes: false, places: finding.claim.sites.len() + 1 };
    Ok(trial.judge(&targets))
}

/// The calls at the places, each to fail.
///
/// # Errors
/// The judgement where the first of them says nothing: the program does not come to it, it fails by itself, or what it
/// returns is no status.
fn targets(spots: &[Spot], baseline: &Seen) -> Result<Vec<Target>, Judgement> {
    let mut targets = Vec::new();
    for (index, spot) in spots.iter().enumerate() {
        let calls = spot.calls(&baseline.trace);
        match (own_failure(&calls), calls.iter().find(|call| call.kind == 3)) {
            (Some(call), _) if index == 0 => return Err(fails_by_itself(spot, &call.function, call.real, baseline)),
            (_, Some(call)) if index == 0 => {
                let reason = format!("`{}` returns a type whose failures are not known", call.function);
                return Err(Judgement::of_run(Verdict::Unviable, reason, BACK_END, &baseline.run, Vec::new()));
            }
            (None, None) if !calls.is_empty() => targets.push(Target {
                spot: spot.clone(),
                sites: sites_of_calls(&calls),
                what: calls.first().map(|call| call.function.clone()).unwrap_or_default(),
            }),
            _ if index == 0 => return Err(not_reached(spot, baseline)),
            _ => {}
        }
    }
    Ok(targets)
}

/// The launch at the place is refused: one that the runtime really refuses follows it, so that its error is where the
/// errors of refused launches are.
fn launch(finding: &FindingEntry, program: &CudaProgram, bench: &Bench<'_>) -> Result<Judgement, Judgement> {
    let probed = Probed::build(program, bench, "fault", &Watch::default(), &[])?;
    let baseline = probed.run("baseline", &Plan::default());
    usable(&baseline)?;
    let spots = spots(finding, program);
    let mut targets = Vec::new();
    for (index, spot) in spots.iter().enumerate() {
        let launches = spot.launches(&baseline.trace);
        if let (0, Some(failed)) = (index, launches.iter().find(|launch| launch.real != 0)) {
            return Err(fails_by_itself(spot, &failed.kernel, failed.real, &baseline));
        }
        let mut sites: Vec<(Site, i64)> =
            launches.iter().filter_map(|launch| Some((Site::Launch(launch.at?), INVALID_CONFIGURATION))).collect();
        sites.sort_unstable();
        sites.dedup();
        match launches.first() {
            Some(first) if !sites.is_empty() => {
                targets.push(Target { spot: spot.clone(), sites, what: kernel_name(first) });
            }
            _ if index == 0 => return Err(no_launch(spot, &baseline, bench)),
            _ => {}
        }
    }
    let assumes = assumes(finding);
    let trial = Trial { probed: &probed, baseline, task: Task::Launch, assumes, places: finding.claim.sites.len() + 1 };
    Ok(trial.judge(&targets))
}

/// The kernel launched last at the place fails while it runs: calls that wait for the device report it.
fn asynchronous(finding: &FindingEntry, program: &CudaProgram, bench: &Bench<'_>) -> Result<Judgement, Judgement> {
    let probed = Probed::build(program, bench, "fault", &Watch::default(), &[])?;
    let baseline = probed.run("baseline", &Plan::default());
    usable(&baseline)?;
    let spot = Spot::primary(finding, program);
    let launches = spot.launches(&baseline.trace);
    let Some(last) = launches.last() else { return Err(no_launch(&spot, &baseline, bench)) };
    let Some(at) = last.at else { return Err(no_launch(&spot, &baseline, bench)) };
    if last.real != 0 {
        return Err(fails_by_itself(&spot, &last.kernel, last.real, &baseline));
    }
    let turn = baseline.trace.launches().take_while(|launch| launch.sequence <= last.sequence);
    let turn = turn.filter(|launch| launch.at == Some(at)).count() as u64;
    let target = Target { spot, sites: vec![(Site::Launch(at), LAUNCH_FAILURE)], what: kernel_name(last) };
    // In a program around one function, the waiting may be left to callers that are not there.
    let assumes = assumes(finding) && program.origin != Origin::AsWritten;
    let trial = Trial { probed: &probed, baseline, task: Task::Asynchronous, assumes, places: 1 };
    Ok(trial.judge_turn(&[target], turn))
}

/// `cudaErrorInvalidConfiguration`: what a launch of too many threads leaves behind.
const INVALID_CONFIGURATION: i64 = 9;
/// `cudaErrorLaunchFailure`: what calls report when a kernel has failed.
const LAUNCH_FAILURE: i64 = 719;

/// The finding's places, the primary one first.
fn spots(finding: &FindingEntry, program: &CudaProgram) -> Vec<Spot> {
    let mut spots = vec![Spot::primary(finding, program)];
    spots.extend(Spot::sites(finding, program));
    spots.truncate(MAX_PLACES);
    spots
}

/// The functions at these places that are not CUDA's own.
fn watched(spots: &[Spot]) -> Vec<WatchedFunction> {
    let mut functions: Vec<WatchedFunction> = Vec::new();
    for spot in spots.iter().filter(|spot| !spot.name.is_empty() && !probe::reports(&spot.name)) {
        let lines = spot.lines.0..=spot.lines.1;
        match functions.iter_mut().find(|function| function.name == spot.name) {
            Some(function) => function.lines.extend(lines),
            None => functions.push(WatchedFunction {
                name: spot.name.clone(),
                is_template: spot.is_template,
                lines: lines.collect(),
            }),
        }
    }
    functions
}

/// A call among these that failed without help.
fn own_failure<'trace>(calls: &[&'trace Call]) -> Option<&'trace Call> {
    calls.iter().copied().find(|call| call.real != 0)
}

fn sites_of_calls(calls: &[&Call]) -> Vec<(Site, i64)> {
    let mut sites: Vec<(Site, i64)> =
        calls.iter().map(|call| (Site::Call(call.id), failure_of(&call.function))).collect();
    sites.sort_unstable();
    sites.dedup();
    sites
}

/// A status by which a function says that it failed, in the words of its library.
fn failure_of(function: &str) -> i64 {
    let begins = |name: &str| function.starts_with(name);
    if begins("cudaMalloc") || function == "cudaHostAlloc" || begins("cuMemAlloc") {
        return 2; // out of memory
    }
    if begins("cuda") || begins("cu") && function.chars().nth(2).is_some_and(|c| c.is_ascii_uppercase()) {
        return if function.contains("Synchronize") { LAUNCH_FAILURE } else { 1 };
    }
    // Each library's "internal error".
    match function {
        _ if begins("nvrtc") => 11,
        _ if begins("cublas") => 14,
        _ if begins("cufft") => 5,
        _ if begins("curand") => 999,
        _ if begins("cusparse") || begins("cusolver") => 7,
        _ if begins("nccl") => 3,
        _ => 1,
    }
}

fn assumes(finding: &FindingEntry) -> bool {
    finding.confidence != Confidence::Definite
}

/// A kernel's name without return type and parameters.
pub(super) fn kernel_name(launch: &ProbedLaunch) -> String {
    plain_kernel(&launch.kernel)
}

/// `void ns::scale<float>(float*, int)` as `ns::scale<float>`.
pub(super) fn plain_kernel(demangled: &str) -> String {
    let mut depth = 0_usize;
    let mut end = demangled.len();
    let mut start = 0;
    for (at, c) in demangled.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            '(' if depth == 0 && !demangled[at..].starts_with("(anonymous namespace)") => {
                end = at;
                break;
            }
            ' ' if depth == 0 && !demangled[..at].ends_with("(anonymous") => start = at + 1,
            _ => {}
        }
    }
    demangled.get(start..end).unwrap_or(demangled).to_owned()
}

/// A record of what happened at a place.
pub(super) fn record(kind: &str, spot: &Spot, kernel: Option<String>, text: String) -> EvidenceRecord {
    EvidenceRecord {
        kind: kind.to_owned(),
        cell: None,
        kernel,
        path: Some(spot.path.clone()),
        line: Some(spot.line),
        block: None,
        thread: None,
        text,
    }
}

/// The judgement of a program that did not come to a place.
pub(super) fn not_reached(spot: &Spot, seen: &Seen) -> Judgement {
    let last = seen.run.stderr.lines().last().map(|line| format!(": {line}")).unwrap_or_default();
    let reason = format!("the program does not come to {}; it ended with {}{last}", spot.shown(), ending(&seen.run));
    Judgement::of_run(Verdict::Unviable, reason, BACK_END, &seen.run, Vec::new())
}

fn no_launch(spot: &Spot, seen: &Seen, bench: &Bench<'_>) -> Judgement {
    if bench.lab.machine.addr2line.is_none() && seen.trace.launches().next().is_some() {
        let reason = "there is no `addr2line` to tell where launches stand";
        return Judgement::of_run(Verdict::Unsupported, reason, BACK_END, &seen.run, Vec::new());
    }
    not_reached(spot, seen)
}

/// The judgement of a place at which something failed without help.
fn fails_by_itself(spot: &Spot, what: &str, status: i64, seen: &Seen) -> Judgement {
    let reason = format!(
        "`{what}` fails at {} by itself in this program (status {status}), so that nothing can be told",
        spot.shown()
    );
    Judgement::of_run(Verdict::Unviable, reason, BACK_END, &seen.run, Vec::new())
}
