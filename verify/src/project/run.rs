//! Runs of a project that is built, each made once and read by all findings that need it.

use super::build::Built;
use super::processes::{logs, read};
use super::python::{self, Reached};
use crate::lab::{Bench, Decided, End, Lab, Run, RunOutcome, Watcher, head_of, quoted};
use crate::matching::{Target, shown_in, whole_records};
use crate::probe::{self, Plan};
use crate::tools::probe_log::{ProbedLaunch, Trace};
use crate::tools::sanitizer::base_name;
use camino::{Utf8Path, Utf8PathBuf};
use cudalint_findings::model::FindingEntry;
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

/// What the runs of projects are made for.
#[derive(Clone, Debug)]
pub(crate) struct Awaited {
    /// The project's folder.
    pub folder: Utf8PathBuf,
    /// A finding that is looked for in a run of it.
    pub finding: FindingEntry,
}

/// The name of all that is awaited, among what scenarios share.
const AWAITED: &str = "awaited";

/// Says what the runs of projects are made for, so that each ends when all of that is shown.
pub(crate) fn expect(lab: &Lab, awaited: Vec<Awaited>) {
    lab.put(AWAITED, Arc::new(awaited));
}

/// The findings that a run under a tool is made for, without those whose kernel the program does not launch.
fn awaited(bench: &Bench<'_>, built: &Built, watcher: Watcher, trace: &Trace) -> Vec<FindingEntry> {
    let all: Arc<Vec<Awaited>> = bench.once(AWAITED, |_| Arc::default());
    // Lines of a file that takes another's place are not the findings'.
    let own = |it: &&Awaited| {
        built.project.replaced.is_none()
            && it.folder == built.project.folder
            && Watcher::of_method(it.finding.verification.method) == watcher
            && unlaunched(&it.finding, trace).is_none()
    };
    all.iter().filter(own).map(|it| it.finding.clone()).collect()
}

/// The finding's kernel, where a run that is wholly written down launched others alone.
pub(crate) fn unlaunched(finding: &FindingEntry, trace: &Trace) -> Option<String> {
    let kernel = base_name(finding.claim.kernel.as_deref()?);
    let whole = trace.ended && trace.more.is_none() && trace.unseen.is_empty() && trace.launches().next().is_some();
    let other = |seen: &ProbedLaunch| !seen.kernel.is_empty() && base_name(&seen.kernel) != kernel;
    (whole && trace.launches().all(other)).then_some(kernel)
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
    let alone = alone(bench, built);
    let kernels = match alone.run.end {
        End::Exit(0) => bench.lab.focus.of(watcher).to_vec(),
        _ => Vec::new(),
    };
    bench.once(&format!("run {} under {watcher:?}", built.name), |bench| {
        let shared = bench.shared(&built.name).unwrap_or_else(|_| bench.clone());
        let of_tool = Run {
            label: label.to_owned(),
            command: built.command(),
            environment: built.environment.clone(),
            watcher: Some(watcher),
            device: true,
            kernels: kernels.clone(),
        };
        let awaited = awaited(bench, built, watcher, &alone.trace);
        let run = if awaited.is_empty() {
            shared.run(&of_tool)
        } else {
            shared.run_until(&of_tool, &shared.printed(label), &|printed| {
                let report = whole_records(&built.as_shown(printed));
                awaited.iter().all(|finding| shown_in(&Target::new(finding), &report))
            })
        };
        let printed = built.as_shown(&head_of(&shared.folder.join(format!("{label}.log")), TEXT));
        let report = run.report.as_deref().map(|text| built.as_shown(text));
        Arc::new(Watched { run: RunOutcome { report, ..with_shown_paths(built, run) }, printed })
    })
}

/// A run for one finding, with variables of its own, in the scenario's folder; until what it has written into a file there is
/// enough.
pub(crate) fn with_variables(
    bench: &Bench<'_>,
    built: &Built,
    label: &str,
    variables: Vec<(String, String)>,
    (file, decided): (&Utf8Path, &Decided<'_>),
) -> RunOutcome {
    let mut environment = built.environment.clone();
    environment.extend(variables);
    with_shown_paths(built, bench.run_until(&Run::on_device(label, built.command(), environment), file, decided))
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
