//! Runs of a project that is built, each made once and read by all findings that need it.

use super::build::Built;
use super::processes::{logs, read};
use super::python::{self, Reached};
use crate::lab::{Bench, End, Run, RunOutcome, Watcher, head_of, quoted};
use crate::probe::{self, Plan};
use crate::tools::probe_log::Trace;
use std::sync::Arc;

/// Bytes of a tool's text that are read.
const TEXT: u64 = 16 << 20;

/// A run with the probe's log.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Traced {
    /// How it ended and what it printed.
    pub run: RunOutcome,
    /// What its programs did.
    pub trace: Trace,
    /// The log, relative to the outcome folder.
    pub log: String,
    /// What its Python programs came to, in the run that nothing disturbs.
    pub reached: Reached,
}

/// A run under a tool.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Watched {
    /// How it ended, with the tool's report, whose paths are findings'.
    pub run: RunOutcome,
    /// What the tool printed.
    pub printed: String,
}

/// The run that nothing disturbs.
pub(crate) fn alone(bench: &Bench<'_>, built: &Built) -> Arc<Traced> {
    traced(bench, built, &Plan::default(), false)
}

/// A run as planned. `again`: another than the one that was made, to see what changes by itself.
pub(crate) fn traced(bench: &Bench<'_>, built: &Built, plan: &Plan, again: bool) -> Arc<Traced> {
    let words = format!("{plan:?} {again}");
    let number = crate::receipt::hash([words.as_str()]);
    let plain = *plan == Plan::default();
    let label = match (plain, again) {
        (true, false) => "alone".to_owned(),
        (true, true) => "alone-again".to_owned(),
        _ => format!("run-{}", number.get(..8).unwrap_or_default()),
    };
    bench.once(&format!("run {} {label}", built.name), |bench| {
        let shared = bench.shared(&built.name).unwrap_or_else(|_| bench.clone());
        for file in logs(&probe::log(&shared, &label)) {
            drop(std::fs::remove_file(file));
        }
        let mut environment = built.environment.clone();
        environment.extend(probe::environment(&shared, &label, plan));
        environment.push(("CUDALINT_PROBE_EACH".to_owned(), "1".to_owned()));
        let reached = shared.folder.join(format!("{label}.reached"));
        for file in logs(&reached) {
            drop(std::fs::remove_file(file));
        }
        if plain && !again {
            environment.push((python::REACHED.to_owned(), reached.to_string()));
        }
        let run = shared.run(&Run::on_device(label.clone(), built.command(), environment));
        let (trace, log) = read(&shared, built, &probe::log(&shared, &label), &label);
        let run = with_shown_paths(built, run);
        let reached = Reached::read(&logs(&reached), |text| built.as_shown(text));
        Arc::new(Traced { run, trace, log: shared.relative(&log), reached })
    })
}

/// A run under a tool.
pub(crate) fn under(bench: &Bench<'_>, built: &Built, watcher: Watcher, label: &str) -> Arc<Watched> {
    // A kernel whose fault nobody catches ends the program: then the tool looks at all of them.
    let kernels = match alone(bench, built).run.end {
        End::Exit(0) => bench.lab.focus.of(watcher).to_vec(),
        _ => Vec::new(),
    };
    bench.once(&format!("run {} under {watcher:?}", built.name), |bench| {
        let shared = bench.shared(&built.name).unwrap_or_else(|_| bench.clone());
        let run = shared.run(&Run {
            label: label.to_owned(),
            command: built.command(),
            environment: built.environment.clone(),
            watcher: Some(watcher),
            device: true,
            kernels: kernels.clone(),
        });
        let printed = built.as_shown(&head_of(&shared.folder.join(format!("{label}.log")), TEXT));
        let report = run.report.as_deref().map(|text| built.as_shown(text));
        Arc::new(Watched { run: RunOutcome { report, ..with_shown_paths(built, run) }, printed })
    })
}

/// A run for one finding, with variables of its own, in the scenario's folder.
pub(crate) fn with_variables(
    bench: &Bench<'_>,
    built: &Built,
    label: &str,
    variables: Vec<(String, String)>,
) -> RunOutcome {
    let mut environment = built.environment.clone();
    environment.extend(variables);
    with_shown_paths(built, bench.run(&Run::on_device(label, built.command(), environment)))
}

impl Built {
    /// What runs the project, as a command of one program.
    pub fn command(&self) -> Vec<String> {
        let simple = |command: &str| !command.contains(|c: char| "|&;<>()$`\\\"'\n*?[#~=%".contains(c));
        let commands = match self.commands.as_slice() {
            // The program itself is what a tool starts then, and no shell.
            [one] if simple(one) => format!("exec {one}"),
            several => several.join("\n"),
        };
        vec!["sh".to_owned(), "-c".to_owned(), format!("cd {} && {commands}", quoted(self.folder.as_str()))]
    }
}

/// What a person is shown of a run: the command without the variables by which the build finds compilers, and its words as
/// of the user's folder.
fn with_shown_paths(built: &Built, run: RunOutcome) -> RunOutcome {
    let mut variables: Vec<String> =
        built.environment.iter().map(|(name, value)| format!("{name}={}", quoted(value))).collect();
    // The blank behind the last.
    variables.push(String::new());
    let command = run.command.strip_prefix(&variables.join(" ")).unwrap_or(&run.command).to_owned();
    RunOutcome { command, stdout: built.as_shown(&run.stdout), stderr: built.as_shown(&run.stderr), ..run }
}
