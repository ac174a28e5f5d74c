//! compute-sanitizer's tools, and errors of API calls. The program is built once, with the probe in it: a run alone tells
//! which calls and launches it came to and with what status, and how it ends by itself; the run under the tool tells the
//! rest. What the tool says is matched against the finding, and that gives the verdict.

mod api;
mod host_bounds;
mod judge;
mod kernel;
mod raised;
mod tool;

pub use judge::{Judged, Reach, Seen, judge};

use super::place::Spot;
use super::probed::{self, Probed};
use super::run_alone::Tested;
use super::{Judgement, driver};
use crate::lab::{Bench, Build, End, Run};
use crate::matching::Target;
use crate::probe::{self, Plan, Watch};
use crate::project;
use crate::scenario::{CudaProgram, Program, PythonProgram};
use crate::tools::probe_log::{Place, Trace};
use crate::tools::sanitizer::{base_name, is_toolkit_file, same_path};
use crate::tools::traceback;
use cudalint_findings::Shows;
use cudalint_findings::claim::User;
use cudalint_findings::model::{EvidenceRecord, FindingEntry, Method, Verdict};
use std::sync::Arc;
use tool::{Prepared, watch, watch_prepared};

/// Performs the experiment on one program.
pub fn perform(finding: &FindingEntry, program: &Program, bench: &Bench<'_>) -> Judgement {
    match program {
        Program::Cuda(program) => of_cuda(finding, program, bench),
        Program::Python(program) => of_python(finding, program, bench),
        Program::Kernel(program) => kernel::perform(finding, program, bench),
    }
}

/// What memcheck says of a finding that is about bounds, and whose method is another.
pub(super) fn by_memcheck(finding: &FindingEntry, program: &Program, bench: &Bench<'_>) -> Judgement {
    if let Program::Python(PythonProgram { project: Some(_), .. }) = program {
        let reason = "a project's own run is looked at by its findings' own tools alone";
        return Judgement::without_run(Verdict::Unviable, reason);
    }
    let mut finding = finding.clone();
    finding.verification.method = Method::Memcheck;
    perform(&finding, program, bench)
}

/// A project's own run in Python, under the tool of the finding's method. The run came to the finding's place.
pub(super) fn in_project(
    finding: &FindingEntry,
    program: &PythonProgram,
    tested: &Tested,
    bench: &Bench<'_>,
) -> Judgement {
    let Tested { built, alone, back_end } = tested;
    if finding.verification.method == Method::ApiError {
        let seen = alone.reached.exceptions(&finding.path, &program.script);
        if let Some((reason, record)) = raised::refused(finding, &seen, &program.script) {
            return Judgement::of_run(Verdict::Confirmed, reason, back_end.clone(), &alone.run, vec![record]);
        }
    }
    let prepared = Prepared {
        command: Vec::new(),
        alone: alone.run.clone(),
        trace: None,
        log: alone.log.clone(),
        project: Some(Arc::clone(built)),
    };
    watch_prepared(&Target::new(finding), bench, &prepared, Reach::Reached)
}

fn of_cuda(finding: &FindingEntry, program: &CudaProgram, bench: &Bench<'_>) -> Judgement {
    let spot = Spot::primary(finding, program);
    let prepared = match prepare(program, bench) {
        Ok(prepared) => prepared,
        Err(judgement) => return api::refused_by_compiler(finding, bench, *judgement),
    };
    if finding.verification.method == Method::ApiError {
        return api::perform(finding, program, bench, &spot, &prepared);
    }
    if let Some(judgement) = host_fault(finding, &spot, &prepared) {
        return judgement;
    }
    // Threads that wait for others for ever are what synccheck looks for: it ends such a kernel by itself.
    let hangs = prepared.alone.end == End::TimedOut && finding.verification.method == Method::Synccheck;
    if let Some(judgement) = Judgement::of_end(&prepared.alone, "run alone").filter(|_| !hangs) {
        return judgement;
    }
    let mut reach = prepared.trace.as_ref().map_or(Reach::Unknown, |trace| reach(finding, &spot, trace));
    if let (Reach::Unknown, Some(_), Some(trace)) = (&reach, &prepared.project, &prepared.trace)
        && let Some(kernel) = project::unlaunched(finding, trace)
    {
        reach = Reach::Missed(format!("the run never came to a launch of `{kernel}`"));
    }
    if let (Some(_), Reach::Missed(reason)) = (&prepared.project, &reach) {
        // A run under a tool may take long, and would come no further.
        let mut judgement =
            Judgement::of_run(Verdict::Unviable, reason.clone(), probed::BACK_END, &prepared.alone, Vec::new());
        judgement.evidence.log = Some(prepared.log.clone());
        return Judgement { reached: Some(false), ..judgement };
    }
    let target = Target::new(finding).in_statement(spot.lines);
    let reached = (reach == Reach::Reached).then_some(true);
    Judgement { reached, ..watch_prepared(&target, bench, &prepared, reach) }
}

/// Builds a program with the probe in it and runs it alone; without the probe where the compiler refuses that.
fn prepare(program: &CudaProgram, bench: &Bench<'_>) -> Result<Prepared, Box<Judgement>> {
    if let Some(of) = &program.project {
        let built = project::built(bench, of, project::Put::Probe(&[]))
            .map_err(|failure| Box::new(Judgement::of_project(&failure)))?;
        let traced = project::alone(bench, &built);
        return Ok(Prepared {
            command: Vec::new(),
            alone: traced.run.clone(),
            trace: traced.trace.began.then(|| traced.trace.clone()),
            log: traced.log.clone(),
            project: Some(built),
        });
    }
    // Lines of device code, and of the host's frames.
    let lines = ["-lineinfo".to_owned()];
    match Probed::build(program, bench, "program", &Watch::default(), &lines) {
        Ok(probed) => {
            let seen = probed.run("alone", &Plan::default());
            let command = command(bench, "program", program);
            let trace = seen.trace.began.then_some(seen.trace);
            Ok(Prepared { command, alone: seen.run, trace, log: probed.log("alone"), project: None })
        }
        Err(judgement) if judgement.verdict == Verdict::Unviable => {
            let mut flags = program.flags.clone();
            flags.extend(["-lineinfo", "-g", "-Xcompiler", "-O0"].map(str::to_owned));
            let build = Build { label: "plain".to_owned(), units: vec![program.unit.clone()], flags };
            // Where the program alone is refused as well, that is the reason.
            bench.build(&build).map_err(|failure| Box::new(Judgement::of_build(&failure)))?;
            let command = command(bench, "plain", program);
            let alone = bench.run(&Run::on_device("alone", command.clone(), Vec::new()));
            Ok(Prepared { command, log: alone.log.to_string(), alone, trace: None, project: None })
        }
        Err(judgement) => Err(Box::new(judgement)),
    }
}

fn command(bench: &Bench<'_>, program: &str, of: &CudaProgram) -> Vec<String> {
    let mut command = vec![bench.folder.join(program).into_string()];
    command.extend(of.arguments.iter().cloned());
    command
}

/// memcheck: the host itself touches memory of the device, and the program ends by a signal at the finding's line.
fn host_fault(finding: &FindingEntry, spot: &Spot, prepared: &Prepared) -> Option<Judgement> {
    let signal = prepared.trace.as_ref()?.signal.as_ref()?;
    // Templates of the toolkit's headers stand between the user's launch and the runtime's.
    let own = |place: &&Place| place.line > 0 && !is_toolkit_file(&place.file);
    let place = signal.callers.iter().find(own)?;
    let words = format!("the program ends by signal {} ({})", signal.number, signal_name(signal.number));
    // In a call or launch the signal may be the library's, for other reasons than the finding's.
    let dereference = spot.name.is_empty() && matches!(finding.claim.shows, Shows::BadAddress { user: User::Host, .. });
    let at_place = spot.holds(&place.file, place.line) && matches!(signal.number, SEGMENTATION_FAULT | BUS_ERROR);
    let (verdict, reason, path) = if finding.verification.method == Method::Memcheck && dereference && at_place {
        (Verdict::Confirmed, format!("{words} at {}", spot.shown()), finding.path.clone())
    } else {
        let at = format!("{}:{}", place.file, place.line);
        (Verdict::Unviable, format!("{words} at {at}, before a tool could say anything"), place.file.clone())
    };
    let text = format!("{words} in `{}`", base_name(&place.function));
    let record = EvidenceRecord::at(signal_name(signal.number), &path, place.line, text);
    let mut judgement = Judgement::of_run(verdict, reason, probed::BACK_END, &prepared.alone, vec![record]);
    judgement.evidence.log = Some(prepared.log.clone());
    Some(judgement)
}

const SEGMENTATION_FAULT: i32 = 11;
const BUS_ERROR: i32 = 7;

fn signal_name(number: i32) -> &'static str {
    match number {
        4 => "SIGILL",
        6 => "SIGABRT",
        BUS_ERROR => "SIGBUS",
        8 => "SIGFPE",
        SEGMENTATION_FAULT => "SIGSEGV",
        _ => "a signal",
    }
}

/// Whether a run came to the finding's place, as far as its calls and launches tell.
fn reach(finding: &FindingEntry, spot: &Spot, trace: &Trace) -> Reach {
    let function = finding.function.as_deref().map(base_name);
    let launch = finding.claim.launch.as_ref();
    let launches = || trace.launches().filter(|launch| launch.real == 0);
    let of_kernel = launches().any(|seen| function.as_deref() == Some(base_name(&seen.kernel).as_str()));
    let at_launch = launch.is_some_and(|launch| {
        launches().any(|seen| {
            seen.place.iter().any(|place| place.line == launch.site.line() && same_path(&place.file, &launch.site.path))
        })
    });
    let at_spot = !spot.calls(trace).is_empty() || spot.launches(trace).iter().any(|seen| seen.real == 0);
    if of_kernel || at_launch || at_spot {
        return Reach::Reached;
    }
    let failed: Option<i64> = trace.launches().map(|launch| launch.real).find(|status| *status != 0);
    match (failed, trace.may_lack(&spot.path).is_some() || !trace.ended) {
        (Some(status), _) => Reach::Missed(format!("a launch failed with status {status}")),
        // Nothing reports a place without a call: a dereference, a device function of another kernel.
        (None, false) if !spot.name.is_empty() && probe::reports(&spot.name) => {
            Reach::Missed(format!("the run never came to {}", spot.shown()))
        }
        _ => Reach::Unknown,
    }
}

fn of_python(finding: &FindingEntry, program: &PythonProgram, bench: &Bench<'_>) -> Judgement {
    let (command, environment) = match driver::command(program, bench) {
        Ok(ready) => ready,
        Err(judgement) => return *judgement,
    };
    let alone = bench.run(&Run::on_device("alone", command.clone(), environment.clone()));
    if let Some(judgement) = Judgement::of_end(&alone, "run alone") {
        return judgement;
    }
    // A fault on the device ends a script with an exception, later: only the tool says where it came from.
    let reach = match alone.end {
        End::Exit(0) => Reach::Unknown,
        _ => Reach::Failed(driver::last_line(&alone.stderr)),
    };
    let script = bench.folder.join(&program.script);
    if finding.verification.method == Method::ApiError
        && let Some((reason, record)) = raised::refused(finding, &traceback::read(&alone.stderr), &script)
    {
        let back_end = bench
            .lab
            .machine
            .python
            .as_ref()
            .map_or_else(String::new, |python| driver::back_end(python, &program.packages));
        return Judgement::of_run(Verdict::Confirmed, reason, back_end, &alone, vec![record]);
    }
    watch(&Target::new(finding), bench, &command, &environment, reach, Some(&script))
}
