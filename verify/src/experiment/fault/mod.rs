//! Fault injection: the call whose status nobody reads is made to fail, and the program goes on as if nothing had
//! happened. The call is really made, and only what it reports is another, so that two runs differ in nothing but what the
//! program does with it. A checked twin, the same program with the test that is missing, must stop there: that shows
//! that the failure was there to be seen.
// A judgement ends an experiment: it is made once, and its size does not matter.
#![allow(clippy::result_large_err)]

mod checker;
pub mod compare;
mod definition;
mod log;
mod places;
mod script;
mod skipped;
mod targets;
mod trial;

use super::Judgement;
use super::place::Spot;
use super::probed::{Probed, no_launch, usable};
use crate::lab::Bench;
use crate::probe::{self, Plan, Site, Task, Watch, WatchedFunction};
use crate::scenario::{CudaProgram, Origin, Program};
use crate::tools::probe_log::plain_kernel;
use cudalint_findings::model::{Confidence, FindingEntry, Verdict};
use cudalint_findings::{Fault, Shows};
use places::{LAUNCH_FAILURE, spots};
use targets::{fails_by_itself, targets};
use trial::{Target, Trial};

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
        Fault::Log => log::perform(finding, program, bench),
        Fault::Skipped => skipped::perform(finding, program, bench),
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
    let trial = Trial {
        probed: &probed,
        baseline,
        task: Task::Status,
        assumes: false,
        places: finding.claim.sites.len() + 1,
        in_project: program.project.is_some(),
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
                targets.push(Target { spot: spot.clone(), sites, what: plain_kernel(&first.kernel), own: None });
            }
            _ if index == 0 => return Err(no_launch(spot, &baseline, bench)),
            _ => {}
        }
    }
    let assumes = assumes(finding);
    let trial = Trial {
        probed: &probed,
        baseline,
        task: Task::Launch,
        assumes,
        places: finding.claim.sites.len() + 1,
        in_project: program.project.is_some(),
    };
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
    let target =
        Target { spot, sites: vec![(Site::Launch(at), LAUNCH_FAILURE)], what: plain_kernel(&last.kernel), own: None };
    // In a program around one function, the waiting may be left to callers that are not there.
    let assumes = assumes(finding) && !matches!(program.origin, Origin::AsWritten | Origin::Project);
    let trial = Trial {
        probed: &probed,
        baseline,
        task: Task::Asynchronous,
        assumes,
        places: 1,
        in_project: program.project.is_some(),
    };
    Ok(trial.judge_turn(&[target], turn))
}

/// `cudaErrorInvalidConfiguration`: what a launch of too many threads leaves behind.
const INVALID_CONFIGURATION: i64 = 9;
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

fn assumes(finding: &FindingEntry) -> bool {
    finding.confidence != Confidence::Definite
}
