//! A program with the probe in it: built once, run as often as an experiment needs.
// A judgement ends an experiment: it is made once, and its size does not matter.
#![allow(clippy::result_large_err)]

use super::Judgement;
use super::place::{Spot, harness_of};
use crate::lab::{Bench, Build, BuildFailure, Run, RunOutcome};
use crate::probe::{self, Plan, Watch};
use crate::project::{self, Built};
use crate::scenario::CudaProgram;
use crate::tools::probe_log::Trace;
use camino::Utf8PathBuf;
use cudalint_findings::model::{EvidenceRecord, Verdict};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

/// What writes the records of these experiments.
pub const BACK_END: &str = concat!("cudalint probe ", env!("CARGO_PKG_VERSION"));

/// A run of a program and what its probe wrote down.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// How it ended and what it printed.
    pub run: RunOutcome,
    /// What it did.
    pub trace: Trace,
}

/// A built program with the probe in it.
#[derive(Debug)]
pub struct Probed<'bench, 'lab> {
    bench: &'bench Bench<'lab>,
    of: Of,
    /// The harness, whose own calls see real statuses alone.
    harness: Option<String>,
    /// What its build was for.
    label: String,
}

/// What is run.
#[derive(Debug)]
enum Of {
    /// A program of the scenario's own, with its arguments.
    Program(Utf8PathBuf, Vec<String>),
    /// A project, whose runs all findings share; with the log of each run, by its label.
    Project(Arc<Built>, RefCell<HashMap<String, String>>),
}

/// Flags that a project's build need not be given: it has lines, and assertions as the user wants them.
const AS_BUILT: [&str; 2] = ["-lineinfo", "-UNDEBUG"];

impl<'bench, 'lab> Probed<'bench, 'lab> {
    /// Builds a program with the probe, and with more flags.
    ///
    /// # Errors
    /// The judgement of a program that cannot be built.
    pub fn build(
        program: &CudaProgram,
        bench: &'bench Bench<'lab>,
        label: &str,
        watch: &Watch,
        more: &[String],
    ) -> Result<Self, Judgement> {
        let of = match &program.project {
            Some(project) => Of::Project(Self::of_project(project, bench, watch, more)?, RefCell::default()),
            None => Self::of_program(program, bench, label, watch, more)?,
        };
        Ok(Self { bench, of, harness: harness_of(program), label: label.to_owned() })
    }

    fn of_program(
        program: &CudaProgram,
        bench: &Bench<'_>,
        label: &str,
        watch: &Watch,
        more: &[String],
    ) -> Result<Of, Judgement> {
        let broken = |error: std::io::Error| Judgement::of_build(&BuildFailure::Broken(error.to_string()));
        bench.write_all(&program.files).map_err(|problem| Judgement::without_run(Verdict::Unviable, problem))?;
        let mut flags = program.flags.clone();
        flags.extend_from_slice(more);
        let watch = Watch { headers: probe::headers::of(program), ..watch.clone() };
        flags.extend(probe::flags_for(bench, &watch).map_err(broken)?);
        if program.unit.extension() == Some("c") {
            // The probe's header is C++: much of C is CUDA C++ as well, and where it is not, there is no probe.
            flags.extend(["-x", "cu"].map(str::to_owned));
        }
        let build = Build { label: label.to_owned(), units: vec![program.unit.clone()], flags };
        let built = bench.build(&build).map_err(|failure| Judgement::of_build(&failure))?;
        Ok(Of::Program(built, program.arguments.clone()))
    }

    fn of_project(
        of: &crate::scenario::Project,
        bench: &Bench<'_>,
        watch: &Watch,
        more: &[String],
    ) -> Result<Arc<Built>, Judgement> {
        if watch.pair.is_some() || more.iter().any(|flag| !AS_BUILT.contains(&flag.as_str())) {
            let reason = "a project is built in one way, and this experiment needs another";
            return Err(Judgement::without_run(Verdict::Unviable, reason));
        }
        let built = project::built(bench, of, project::Put::Probe(&watch.functions))
            .map_err(|it| Judgement::of_project(&it))?;
        if built.probe {
            return Ok(built);
        }
        Err(Judgement::without_run(Verdict::Unviable, "the project can be built without the probe only"))
    }

    /// Runs it as planned. The label tells this run from others of the same build; one that begins with `baseline-` is
    /// another of what was run before.
    pub fn run(&self, label: &str, plan: &Plan) -> Seen {
        let again = label.starts_with("baseline-");
        let label = format!("{}-{label}", self.label);
        let plan = Plan { blind: self.harness.clone(), ..plan.clone() };
        match &self.of {
            Of::Program(program, arguments) => {
                let mut command = vec![program.to_string()];
                command.extend(arguments.iter().cloned());
                let environment = probe::environment(self.bench, &label, &plan);
                let run = self.bench.run(&Run::on_device(label.clone(), command, environment));
                Seen { run, trace: probe::read(self.bench, &label, program) }
            }
            Of::Project(built, logs) => {
                let traced = project::traced(self.bench, built, &plan, again);
                logs.borrow_mut().insert(label, traced.log.clone());
                Seen { run: traced.run.clone(), trace: traced.trace.clone() }
            }
        }
    }

    /// The log of a run, relative to the outcome folder.
    pub fn log(&self, label: &str) -> String {
        let label = format!("{}-{label}", self.label);
        let shared = match &self.of {
            Of::Program(..) => None,
            Of::Project(_, logs) => logs.borrow().get(&label).cloned(),
        };
        shared.unwrap_or_else(|| self.bench.relative(&probe::log(self.bench, &label)))
    }
}

/// The judgement of a run that says nothing: it did not end, never began, or left no log.
///
/// # Errors
/// That judgement.
pub fn usable(seen: &Seen) -> Result<(), Judgement> {
    if let Some(judgement) = Judgement::of_end(&seen.run, BACK_END) {
        return Err(judgement);
    }
    if !seen.trace.began {
        let reason = "the program ran without writing the probe's log";
        return Err(Judgement::of_run(Verdict::Unviable, reason, BACK_END, &seen.run, Vec::new()));
    }
    Ok(())
}

/// The words for how a program ended.
pub fn ending(run: &RunOutcome) -> String {
    match &run.end {
        crate::lab::End::Exit(status) => format!("exit status {status}"),
        crate::lab::End::Signal(signal) => format!("signal {signal}"),
        crate::lab::End::TimedOut => "no end within the time".to_owned(),
        crate::lab::End::OverLimit(problem) => format!("no end of its own: it {problem}"),
        crate::lab::End::NotStarted(problem) => format!("no start: {problem}"),
        crate::lab::End::Interrupted => "an interruption".to_owned(),
        crate::lab::End::Enough => "no end of its own: it had shown enough".to_owned(),
    }
}

/// A record of what happened at a place.
pub(super) fn record(kind: &str, spot: &Spot, kernel: Option<String>, text: String) -> EvidenceRecord {
    EvidenceRecord::at(kind, &spot.path, spot.line, text).in_kernel(kernel)
}

/// The judgement of a program that did not come to a place.
pub(super) fn not_reached(spot: &Spot, seen: &Seen) -> Judgement {
    let last = seen.run.stderr.lines().last().map(|line| format!(": {line}")).unwrap_or_default();
    let (shown, ended) = (spot.shown(), ending(&seen.run));
    let lacks = seen.trace.may_lack(&spot.path);
    let reason = match &lacks {
        Some(why) => format!("the program is not seen to come to {shown}, but {why}; it ended with {ended}{last}"),
        None => format!("the program does not come to {shown}; it ended with {ended}{last}"),
    };
    let judgement = Judgement::of_run(Verdict::Unviable, reason, BACK_END, &seen.run, Vec::new());
    Judgement { reached: lacks.is_none().then_some(false), ..judgement }
}

/// What was found in a run with the probe, and its log.
pub fn judge(
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

/// The judgement of a program that is not seen to launch at a place.
pub fn no_launch(spot: &Spot, seen: &Seen, bench: &Bench<'_>) -> Judgement {
    if bench.lab.machine.addr2line.is_none() && seen.trace.launches().next().is_some() {
        let reason = "there is no `addr2line` to tell where launches stand";
        return Judgement::of_run(Verdict::Unsupported, reason, BACK_END, &seen.run, Vec::new());
    }
    not_reached(spot, seen)
}
