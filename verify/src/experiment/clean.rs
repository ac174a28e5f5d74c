//! A program that must be clean: it runs under each of compute-sanitizer's tools, and none reports anything.

use super::Judgement;
use super::driver;
use crate::lab::{Bench, Build, End, Run, Watcher};
use crate::scenario::Program;
use crate::tools::sanitizer::{Notice, Report};

/// The tools that a clean program is run under.
const TOOLS: [(Watcher, &str); 4] = [
    (Watcher::Memcheck, "memcheck"),
    (Watcher::Racecheck, "racecheck"),
    (Watcher::Initcheck, "initcheck"),
    (Watcher::Synccheck, "synccheck"),
];

/// What one tool said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolRun {
    /// `memcheck`.
    pub tool: &'static str,
    /// What it reported, or why it says nothing, in one line; none for a clean run that came to its end.
    pub problem: Option<String>,
}

/// Builds a program and runs it alone, then under each tool.
///
/// # Errors
/// Why there is no run that could say anything: no compiler, a program that is refused or that fails by itself.
pub fn perform(program: &Program, bench: &Bench<'_>) -> Result<Vec<ToolRun>, String> {
    let (command, environment): (Vec<String>, Vec<(String, String)>) = match program {
        Program::Cuda(program) => {
            for file in &program.files {
                bench.write(&file.path, &file.text).map_err(|error| format!("{}: {error}", file.path))?;
            }
            let build =
                Build { label: "program".to_owned(), units: vec![program.unit.clone()], flags: program.flags.clone() };
            let built = bench.build(&build).map_err(|failure| Judgement::of_build(&failure).reason)?;
            (std::iter::once(built.to_string()).chain(program.arguments.iter().cloned()).collect(), Vec::new())
        }
        // With each array in an allocation of its own, or a tool would see no overrun.
        Program::Python(program) => driver::command(program, bench).map_err(|judgement| judgement.reason)?,
        Program::Kernel(_) => return Err("a kernel alone is no program".to_owned()),
    };
    let run = |label: &str, watcher| {
        bench.run(&Run {
            label: label.to_owned(),
            command: command.clone(),
            environment: environment.clone(),
            watcher,
            device: true,
        })
    };
    let alone = run("alone", None);
    if alone.end != End::Exit(0) {
        let last = alone.stderr.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("");
        return Err(format!("the program fails by itself ({:?}): {last}", alone.end));
    }
    Ok(TOOLS
        .into_iter()
        .map(|(watcher, tool)| {
            let watched = run(tool, Some(watcher));
            let report = Report::read(watched.report.as_deref(), &format!("{}\n{}", watched.stdout, watched.stderr));
            let problem = match &watched.end {
                End::Exit(_) | End::Signal(_) => problem_of(&report),
                other => Some(format!("{other:?}")),
            };
            ToolRun { tool, problem }
        })
        .collect())
}

/// What is wrong with a report of a clean program.
fn problem_of(report: &Report) -> Option<String> {
    if let Some(refusal) = report.refusal() {
        return Some(format!("the tool cannot work here: {refusal}"));
    }
    if let Some(record) = report.records.iter().find(|record| !record.warning) {
        return Some(record.words());
    }
    // A program without GPU code is none of the tools' business.
    let no_cuda = report.notices.contains(&Notice::NoCuda);
    if report.program_failed() && !no_cuda {
        return Some("the program fails under the tool".to_owned());
    }
    (!report.complete && !no_cuda).then(|| "the tool did not come to its end".to_owned())
}
