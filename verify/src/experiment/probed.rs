//! A program with the probe in it: built once, run as often as an experiment needs.
// A judgement ends an experiment: it is made once, and its size does not matter.
#![allow(clippy::result_large_err)]

use super::Judgement;
use super::place::{Spot, harness_of};
use crate::lab::{Bench, Build, BuildFailure, Run, RunOutcome};
use crate::probe::{self, Plan, Watch};
use crate::scenario::CudaProgram;
use crate::tools::probe_log::Trace;
use camino::Utf8PathBuf;
use cudalint_findings::model::{EvidenceRecord, Verdict};

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
    program: Utf8PathBuf,
    arguments: Vec<String>,
    /// The harness, whose own calls see real statuses alone.
    harness: Option<String>,
    /// What its build was for.
    label: String,
}

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
        let broken = |error: std::io::Error| Judgement::of_build(&BuildFailure::Broken(error.to_string()));
        bench.write_all(&program.files).map_err(|problem| Judgement::without_run(Verdict::Unviable, problem))?;
        let mut flags = program.flags.clone();
        flags.extend_from_slice(more);
        let watch = Watch { headers: probe::headers::of(program), ..watch.clone() };
        flags.extend(probe::flags_for(bench, &watch).map_err(broken)?);
        let build = Build { label: label.to_owned(), units: vec![program.unit.clone()], flags };
        let built = bench.build(&build).map_err(|failure| Judgement::of_build(&failure))?;
        Ok(Self {
            bench,
            program: built,
            arguments: program.arguments.clone(),
            harness: harness_of(program),
            label: label.to_owned(),
        })
    }

    /// Runs it as planned. The label tells this run from others of the same build.
    pub fn run(&self, label: &str, plan: &Plan) -> Seen {
        let label = format!("{}-{label}", self.label);
        let plan = Plan { blind: self.harness.clone(), ..plan.clone() };
        let mut command = vec![self.program.to_string()];
        command.extend(self.arguments.iter().cloned());
        let run =
            self.bench.run(&Run::on_device(label.clone(), command, probe::environment(self.bench, &label, &plan)));
        let trace = probe::read(self.bench, &label, &self.program);
        Seen { run, trace }
    }

    /// The log of a run, relative to the outcome folder.
    pub fn log(&self, label: &str) -> String {
        self.bench.relative(&probe::log(self.bench, &format!("{}-{label}", self.label)))
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
    }
}

/// A record of what happened at a place.
pub(super) fn record(kind: &str, spot: &Spot, kernel: Option<String>, text: String) -> EvidenceRecord {
    EvidenceRecord::at(kind, &spot.path, spot.line, text).in_kernel(kernel)
}

/// The judgement of a program that did not come to a place.
pub(super) fn not_reached(spot: &Spot, seen: &Seen) -> Judgement {
    let last = seen.run.stderr.lines().last().map(|line| format!(": {line}")).unwrap_or_default();
    let reason = format!("the program does not come to {}; it ended with {}{last}", spot.shown(), ending(&seen.run));
    Judgement::of_run(Verdict::Unviable, reason, BACK_END, &seen.run, Vec::new())
}
