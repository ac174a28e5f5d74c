//! A program that must be clean: it runs under each of compute-sanitizer's tools, and none reports anything.

use super::{Judgement, counters, driver};
use crate::lab::{Bench, Build, End, Run, Watcher};
use crate::scenario::Program;
use crate::tools::sanitizer::{Category, Notice, Record, SanitizerReport};
use cudalint_findings::claim::Cost;

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
    /// What it said of a program that is clean, where that is more than nothing.
    pub said: Option<String>,
}

/// Builds a program and runs it alone, then under each tool, and counts what it must not cost too much of.
///
/// # Errors
/// Why there is no run that could say anything: no compiler, a program that is refused or that fails by itself.
pub fn perform(program: &Program, bench: &Bench<'_>, costs: &[Cost]) -> Result<Vec<ToolRun>, String> {
    let (command, environment): (Vec<String>, Vec<(String, String)>) = match program {
        Program::Cuda(program) => {
            bench.write_all(&program.files)?;
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
            kernels: Vec::new(),
        })
    };
    let alone = run("alone", None);
    if alone.end != End::Exit(0) {
        let last = alone.stderr.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("");
        return Err(format!("the program fails by itself ({:?}): {last}", alone.end));
    }
    let mut all: Vec<ToolRun> = TOOLS
        .into_iter()
        .map(|(watcher, tool)| {
            let watched = run(tool, Some(watcher));
            let report =
                SanitizerReport::read(watched.report.as_deref(), &format!("{}\n{}", watched.stdout, watched.stderr));
            let problem = match &watched.end {
                End::Exit(_) | End::Signal(_) => problem_of(&report),
                other => Some(format!("{other:?}")),
            };
            ToolRun { tool, problem, said: None }
        })
        .collect();
    if let Program::Cuda(program) = program {
        all.extend(costs.iter().map(|of| match counters::of_clean(program, bench, *of) {
            Ok((true, said)) => ToolRun { tool: "counters", problem: None, said: Some(said) },
            Ok((false, problem)) | Err(problem) => ToolRun { tool: "counters", problem: Some(problem), said: None },
        }));
    }
    Ok(all)
}

/// Whether a package asked the driver for a function that this driver does not have: an answer, and no error of the program.
fn asks_for_a_function(record: &Record) -> bool {
    matches!(&record.category, Category::ApiError { function, .. } if function.starts_with("cuGetProcAddress"))
}

/// What is wrong with a report of a clean program.
fn problem_of(report: &SanitizerReport) -> Option<String> {
    if let Some(refusal) = report.refusal() {
        return Some(format!("the tool cannot work here: {refusal}"));
    }
    if let Some(record) = report.records.iter().find(|record| !record.warning && !asks_for_a_function(record)) {
        return Some(record.words());
    }
    // A program without GPU code is none of the tools' business.
    let no_cuda = report.notices.contains(&Notice::NoCuda);
    if report.program_failed() && !no_cuda {
        return Some("the program fails under the tool".to_owned());
    }
    (!report.complete && !no_cuda).then(|| "the tool did not come to its end".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{SanitizerReport, problem_of};

    fn told(function: &str) -> Option<String> {
        let output = format!(
            "========= COMPUTE-SANITIZER\n========= Program hit CUDA_ERROR_INVALID_VALUE (error 1) due to \"invalid \
             argument\" on CUDA API call to {function}.\n=========\n========= ERROR SUMMARY: 1 error\n"
        );
        problem_of(&SanitizerReport::read(None, &output))
    }

    #[test]
    fn a_question_for_a_function_is_no_error_of_the_program() {
        assert_eq!(told("cuGetProcAddress_v2"), None);
        assert!(told("cuMemcpyHtoD_v2").is_some_and(|problem| problem.contains("cuMemcpyHtoD_v2")));
    }
}
