//! Fault injection in Python: the driver writes down what a script calls of NVIDIA's bindings, in the form of the probe's
//! log, and hands it a failure in the tuple that a call gives.

use super::places::MAX_PLACES;
use super::targets::targets;
use super::trial::{Runs, Trial};
use crate::experiment::place::{Source, Spot};
use crate::experiment::probed::{Seen, usable};
use crate::experiment::{Judgement, driver};
use crate::lab::{Bench, Run};
use crate::probe::{self, Plan, Task};
use crate::scenario::PythonProgram;
use crate::tools::probe_log::Event;
use camino::Utf8PathBuf;
use cudalint_findings::model::{FindingEntry, Range, Verdict};
use cudalint_findings::{Fault, Shows};
use cudalint_program::api::effects::Library;

/// Performs the experiment on a script.
pub(super) fn perform(finding: &FindingEntry, program: &PythonProgram, bench: &Bench<'_>) -> Judgement {
    if finding.claim.shows != (Shows::UnreadStatus { fault: Fault::Status }) {
        let reason = "in Python only the statuses of calls can be made to fail";
        return Judgement::without_run(Verdict::Unsupported, reason);
    }
    status(finding, program, bench).unwrap_or_else(|judgement| judgement)
}

fn status(finding: &FindingEntry, program: &PythonProgram, bench: &Bench<'_>) -> Result<Judgement, Judgement> {
    let script = Script::new(finding, program, bench)?;
    let baseline = script.run("baseline", &Plan::default());
    let spots = spots(finding, &script.path);
    let decided = usable(&baseline).and_then(|()| targets(&spots, &baseline)).map(|targets| {
        let trial = Trial {
            probed: &script,
            baseline,
            task: Task::Status,
            assumes: false,
            places: finding.claim.sites.len() + 1,
            in_project: false,
        };
        trial.judge(&targets)
    });
    let with_versions = |mut judgement: Judgement| {
        if let (Some(python), Some(_)) = (&bench.lab.machine.python, &judgement.evidence.command) {
            let versions = driver::back_end(python, &program.packages);
            judgement.evidence.back_end = format!("{}, {versions}", judgement.evidence.back_end);
        }
        judgement
    };
    decided.map(with_versions).map_err(with_versions)
}

/// The finding's places in the script, whose lines are those of the finding's file.
fn spots(finding: &FindingEntry, script: &Utf8PathBuf) -> Vec<Spot> {
    let source = Source::of_text(&cudalint_files::read_text(script.as_std_path()).unwrap_or_default());
    let others = finding.claim.sites.iter().filter(|site| site.path == finding.path);
    let ranges = std::iter::once(&finding.range).chain(others.map(|site| &site.range));
    ranges.take(MAX_PLACES).map(|range| spot(&finding.path, range, &source)).collect()
}

/// A place in a script. A statement has the lines of its range, and the name in the text counts where it is one of the
/// bindings' own: another name for a function is not the one that is written down.
fn spot(path: &str, range: &Range, source: &Source) -> Spot {
    let spot = Spot { lines: range.lines(), ..Spot::new(path, range, source) };
    let own = matches!(Library::of_name(&spot.name), Some(Library::Runtime | Library::Driver | Library::Nvrtc));
    if own { spot } else { Spot { name: String::new(), ordinal: (0, 0), ..spot } }
}

/// A script that the driver runs.
struct Script<'s, 'bench, 'lab> {
    bench: &'bench Bench<'lab>,
    command: driver::Command,
    /// The script.
    path: Utf8PathBuf,
    /// The file that it is for the user.
    shown: &'s str,
}

impl<'s, 'bench, 'lab> Script<'s, 'bench, 'lab> {
    fn new(finding: &'s FindingEntry, program: &PythonProgram, bench: &'bench Bench<'lab>) -> Result<Self, Judgement> {
        let command = driver::command(program, bench).map_err(|judgement| *judgement)?;
        Ok(Self { bench, command, path: bench.folder.join(&program.script), shown: &finding.path })
    }

    fn label(label: &str) -> String {
        format!("fault-{label}")
    }
}

impl Runs for Script<'_, '_, '_> {
    fn run(&self, label: &str, plan: &Plan) -> Seen {
        let label = Self::label(label);
        let (command, mut environment) = self.command.clone();
        environment.extend(probe::environment(self.bench, &label, plan));
        let run = self.bench.run(&Run::on_device(label.clone(), command, environment));
        let text = std::fs::read(probe::log(self.bench, &label)).unwrap_or_default();
        let mut trace = probe::trace(&String::from_utf8_lossy(&text));
        let named = |file: &mut String| {
            if *file == self.path.as_str() {
                self.shown.clone_into(file);
            }
        };
        for event in &mut trace.events {
            match event {
                Event::Call(call) => named(&mut call.file),
                Event::Words(words) => named(&mut words.file),
                Event::Launch(_) | Event::Touch(_) => {}
            }
        }
        if let Some(file) = trace.stop.as_mut().and_then(|stop| stop.file.as_mut()) {
            named(file);
        }
        Seen { run, trace }
    }

    fn log(&self, label: &str) -> String {
        self.bench.relative(&probe::log(self.bench, &Self::label(label)))
    }
}
