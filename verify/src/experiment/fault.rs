//! Fault injection: the call whose status nobody reads is made to fail, and the program goes on as if nothing had
//! happened. The call is really made, and only what it reports is another, so that two runs differ in nothing but what the
//! program does with it. A checked twin, the same program with the test that is missing, must stop there: that shows
//! that the failure was there to be seen.
// A judgement ends an experiment: it is made once, and its size does not matter.
#![allow(clippy::result_large_err)]

mod checker;
pub mod compare;
mod definition;

use super::Judgement;
use super::place::Spot;
use super::probed::{BACK_END, Probed, Seen, ending, usable};
use crate::lab::Bench;
use crate::probe::{self, Plan, Site, Task, Watch, WatchedFunction};
use crate::scenario::{CudaProgram, Origin, Program};
use crate::tools::probe_log::{Call, Event, Launch};
use compare::{Reaction, reaction};
use cudalint_findings::model::{EvidenceRecord, Fault, FindingEntry, Verdict};

/// Places of one finding that are tried, at most.
const MAX_PLACES: usize = 20;

/// Performs the experiment on one program.
pub fn perform(finding: &FindingEntry, program: &Program, bench: &Bench<'_>) -> Judgement {
    let Program::Cuda(program) = program else {
        return Judgement::without_run(Verdict::Unsupported, "only CUDA C++ programs can be given a failing call");
    };
    let injected = match finding.verification.fault {
        Some(Fault::Status) => status(finding, program, bench),
        Some(Fault::Launch) => launch(finding, program, bench),
        Some(Fault::Asynchronous) => asynchronous(finding, program, bench),
        Some(Fault::Checker) => checker::perform(finding, program, bench),
        None => Err(Judgement::without_run(
            Verdict::Unsupported,
            "the finding does not say what to make fail (`verification.fault`)",
        )),
    };
    injected.unwrap_or_else(|judgement| judgement)
}

/// A place that is made to fail.
#[derive(Clone, Debug)]
struct Target {
    spot: Spot,
    /// What fails there, each with the status that it reports.
    sites: Vec<(Site, i64)>,
    /// `cudaMalloc`, or the kernel.
    what: String,
}

/// The call at the place reports a failure.
fn status(finding: &FindingEntry, program: &CudaProgram, bench: &Bench<'_>) -> Result<Judgement, Judgement> {
    let spots = spots(finding, program);
    let watch = Watch { functions: watched(&spots), ..Watch::default() };
    let probed = Probed::build(program, bench, "fault", &watch, &[])?;
    let baseline = probed.run("baseline", &Plan::default());
    usable(&baseline)?;
    let mut targets = Vec::new();
    for (index, spot) in spots.iter().enumerate() {
        let calls = spot.calls(&baseline.trace);
        match (own_failure(&calls), calls.iter().find(|call| call.kind == 3)) {
            (Some(call), _) if index == 0 => return Err(fails_by_itself(spot, &call.function, call.real, &baseline)),
            (_, Some(call)) if index == 0 => {
                let reason = format!("`{}` returns a type whose failures are not known", call.function);
                return Err(Judgement::of_run(Verdict::Unviable, reason, BACK_END, &baseline.run, Vec::new()));
            }
            (None, None) if !calls.is_empty() => targets.push(Target {
                spot: spot.clone(),
                sites: sites_of_calls(&calls),
                what: calls.first().map(|call| call.function.clone()).unwrap_or_default(),
            }),
            _ if index == 0 => return Err(not_reached(spot, &baseline)),
            _ => {}
        }
    }
    let trial = Trial {
        finding,
        probed: &probed,
        baseline,
        task: Task::Status,
        assumes: false,
        places: finding.related.len() + 1,
    };
    Ok(trial.judge(&targets))
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
    let trial =
        Trial { finding, probed: &probed, baseline, task: Task::Launch, assumes, places: finding.related.len() + 1 };
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
    let trial = Trial { finding, probed: &probed, baseline, task: Task::Asynchronous, assumes, places: 1 };
    Ok(trial.judge_turn(&[target], turn))
}

/// What is common to all faults: failing runs against one without, and the twin.
struct Trial<'a, 'bench, 'lab> {
    finding: &'a FindingEntry,
    probed: &'a Probed<'bench, 'lab>,
    baseline: Seen,
    task: Task,
    /// Whether the finding rests on something that this program may not do, so that a reaction does not refute it.
    assumes: bool,
    /// Places that the finding names.
    places: usize,
}

impl Trial<'_, '_, '_> {
    fn judge(&self, targets: &[Target]) -> Judgement {
        self.judge_turn(targets, 0)
    }

    /// All places fail in one run; when that changes something, each by itself, to name the one that reacts.
    fn judge_turn(&self, targets: &[Target], turn: u64) -> Judgement {
        let all: Vec<(Site, i64)> = targets.iter().flat_map(|target| target.sites.iter().copied()).take(64).collect();
        let plan = Plan { task: self.task, sites: all, turn, ..Plan::default() };
        let failing = self.probed.run("injected", &plan);
        let (Some(primary), true) = (targets.first(), failing.trace.began) else {
            return Judgement::of_end(&failing.run, BACK_END).unwrap_or_else(|| {
                Judgement::of_run(Verdict::Unviable, "nothing failed", BACK_END, &failing.run, Vec::new())
            });
        };
        // A run that was ended says nothing, not even that it would not have ended.
        if let Some(judgement) = Judgement::of_end(&failing.run, BACK_END) {
            return judgement;
        }
        if !handed(&failing, primary) {
            let reason = format!("the run in which {} was to fail did not come to it", primary.spot.shown());
            return Judgement::of_run(Verdict::Unviable, reason, BACK_END, &failing.run, Vec::new());
        }
        match self.reaction("injected", &failing) {
            Reaction::Silent => self.confirm(targets, &plan, &failing),
            Reaction::Unclear(why) => {
                let reason = format!("nothing can be told about {}: {why}", primary.spot.shown());
                self.judgement(Verdict::NotObserved, reason, &failing, "injected", Vec::new())
            }
            Reaction::Reacts(_) | Reaction::Prints(_) if targets.len() > 1 => self.one_by_one(targets, turn),
            Reaction::Reacts(how) | Reaction::Prints(how) => self.noticed(primary, turn, &how, &failing),
        }
    }

    /// Compares with the undisturbed run, and with a second one when the first comparison is not silent.
    fn reaction(&self, label: &str, failing: &Seen) -> Reaction {
        let found = match reaction(&[&self.baseline], failing) {
            Reaction::Silent => return Reaction::Silent,
            _ => {
                let again = self.probed.run(&format!("baseline-{label}"), &Plan::default());
                reaction(&[&self.baseline, &again], failing)
            }
        };
        match found {
            // Whether a kernel's own words come out before the program ends is a matter of time.
            Reaction::Prints(how) if self.task == Task::Asynchronous => Reaction::Unclear(how),
            Reaction::Prints(how) => Reaction::Reacts(how),
            other => other,
        }
    }

    fn one_by_one(&self, targets: &[Target], turn: u64) -> Judgement {
        let mut last = None;
        for (index, target) in targets.iter().enumerate() {
            let plan = Plan { task: self.task, sites: target.sites.clone(), turn, ..Plan::default() };
            let label = format!("injected-{}", index + 1);
            let failing = self.probed.run(&label, &plan);
            match self.reaction(&label, &failing) {
                Reaction::Silent => last = Some((plan, failing)),
                Reaction::Unclear(why) => {
                    let reason = format!("nothing can be told about {}: {why}", target.spot.shown());
                    return self.judgement(Verdict::NotObserved, reason, &failing, &label, Vec::new());
                }
                Reaction::Reacts(how) | Reaction::Prints(how) => return self.noticed(target, turn, &how, &failing),
            }
        }
        match last {
            Some((plan, failing)) => self.confirm(targets, &plan, &failing),
            None => Judgement::without_run(Verdict::Unviable, "no place was reached"),
        }
    }

    /// The program noticed a failure. Where it only looked at the last error later, the status itself was dropped all the
    /// same: neither confirmed nor refuted.
    fn noticed(&self, target: &Target, turn: u64, how: &str, failing: &Seen) -> Judgement {
        let shown = target.spot.shown();
        let what = &target.what;
        let record = self.record("reaction", target, format!("when `{what}` failed at {shown}: {how}"));
        if self.task == Task::Status {
            let plan = Plan { task: self.task, sites: target.sites.clone(), turn, silent: true, ..Plan::default() };
            let quiet = self.probed.run("quiet", &plan);
            if self.reaction("quiet", &quiet) == Reaction::Silent {
                let reason = format!(
                    "the status of `{what}` at {shown} is dropped, but its failure is noticed later through the last error: {how}"
                );
                return self.judgement(Verdict::NotObserved, reason, failing, "injected", vec![record]);
            }
        }
        let verdict = if self.assumes { Verdict::NotObserved } else { Verdict::Refuted };
        let assumption = if self.assumes { " (what the finding assumes did not hold in this program)" } else { "" };
        let reason = format!("the program notices that `{what}` failed at {shown}: {how}{assumption}");
        self.judgement(verdict, reason, failing, "injected", vec![record])
    }

    /// The program was silent: its checked twin must not be.
    fn confirm(&self, targets: &[Target], plan: &Plan, failing: &Seen) -> Judgement {
        let Some(primary) = targets.first() else {
            return Judgement::without_run(Verdict::Unviable, "no place was reached");
        };
        let twin_plan = Plan { sites: primary.sites.clone(), checked: true, ..plan.clone() };
        let twin = self.probed.run("twin", &twin_plan);
        let Some(stop) = &twin.trace.stop else {
            let reason = format!(
                "the checked twin did not stop at {}: it ended with {}",
                primary.spot.shown(),
                ending(&twin.run)
            );
            return self.judgement(Verdict::NotObserved, reason, &twin, "twin", Vec::new());
        };
        let right_place = match (&stop.file, stop.line) {
            (Some(file), Some(line)) => primary.spot.holds(file, line),
            _ => stop.at.iter().all(|at| primary.sites.iter().any(|(site, _)| *site == Site::Launch(*at))),
        };
        if !right_place {
            let reason = format!("the checked twin stopped elsewhere than at {}", primary.spot.shown());
            return self.judgement(Verdict::NotObserved, reason, &twin, "twin", Vec::new());
        }
        let steps = failing.trace.events.len();
        let mut records: Vec<EvidenceRecord> = targets
            .iter()
            .map(|target| {
                let fails = match self.task {
                    Task::Asynchronous => format!(
                        "the kernel `{}` launched at {} failed while it ran ({})",
                        target.what,
                        target.spot.shown(),
                        words(target.sites.first())
                    ),
                    Task::Launch => format!(
                        "the launch of `{}` at {} left the error of a refused launch behind",
                        target.what,
                        target.spot.shown()
                    ),
                    _ => {
                        format!("`{}` at {} reported {}", target.what, target.spot.shown(), words(target.sites.first()))
                    }
                };
                let text = format!(
                    "{fails}, and the program went on: the same {steps} calls and launches, the same output, {}",
                    ending(&failing.run)
                );
                self.record("injected failure", target, text)
            })
            .collect();
        let text = format!("the checked twin stops at {} with status {}", primary.spot.shown(), stop.code);
        records.push(self.record("checked twin", primary, text));
        let tried = if self.places > targets.len() {
            format!(" ({} of {} places were reached)", targets.len(), self.places)
        } else {
            String::new()
        };
        let reason = format!(
            "when `{}` fails at {}, the program goes on as if nothing had happened, and its checked twin stops{tried}",
            primary.what,
            primary.spot.shown()
        );
        self.judgement(Verdict::Confirmed, reason, failing, "injected", records)
    }

    fn record(&self, kind: &str, target: &Target, text: String) -> EvidenceRecord {
        let launches = matches!(self.task, Task::Launch | Task::Asynchronous);
        record(kind, &target.spot, launches.then(|| target.what.clone()), text)
    }

    fn judgement(
        &self,
        verdict: Verdict,
        reason: String,
        seen: &Seen,
        label: &str,
        records: Vec<EvidenceRecord>,
    ) -> Judgement {
        let mut judgement = Judgement::of_run(verdict, reason, BACK_END, &seen.run, records);
        judgement.evidence.log = Some(self.probed.log(label));
        debug_assert!(verdict != Verdict::Confirmed || self.finding.verification.fault.is_some());
        judgement
    }
}

/// `cudaErrorInvalidConfiguration`: what a launch of too many threads leaves behind.
const INVALID_CONFIGURATION: i64 = 9;
/// `cudaErrorLaunchFailure`: what calls report when a kernel has failed.
const LAUNCH_FAILURE: i64 = 719;

/// The finding's places, the primary one first.
fn spots(finding: &FindingEntry, program: &CudaProgram) -> Vec<Spot> {
    let mut spots = vec![Spot::primary(finding, program)];
    spots.extend(Spot::related(finding, program));
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

/// A status in words, as far as they are the same for the runtime and the driver.
fn words(site: Option<&(Site, i64)>) -> String {
    match site.map_or(0, |(_, code)| *code) {
        1 => "an invalid value (1)".to_owned(),
        2 => "that no memory is left (2)".to_owned(),
        LAUNCH_FAILURE => "that a kernel failed (719)".to_owned(),
        code => format!("status {code}"),
    }
}

/// Whether a run came to a place and was handed a failure there.
fn handed(seen: &Seen, target: &Target) -> bool {
    seen.trace.events.iter().any(|event| match event {
        Event::Call(call) => {
            call.handed != call.real && target.sites.iter().any(|(site, _)| *site == Site::Call(call.id))
        }
        Event::Launch(launch) => {
            launch.handed != launch.real
                && target.sites.iter().any(|(site, _)| launch.at.is_some_and(|at| *site == Site::Launch(at)))
        }
        Event::Words(_) => false,
    })
}

fn assumes(finding: &FindingEntry) -> bool {
    finding.witness.as_ref().is_some_and(|witness| !witness.assumptions.is_empty())
}

/// A kernel's name without return type and parameters.
pub(super) fn kernel_name(launch: &Launch) -> String {
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
