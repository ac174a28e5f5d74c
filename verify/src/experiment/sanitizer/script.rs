//! Python scripts as they are run under a tool.

use crate::experiment::Judgement;
use crate::lab::Bench;
use crate::machine::Python;
use crate::scenario::PythonProgram;
use camino::Utf8Path;
use cudalint_findings::model::Verdict;

/// Runs a script so that a tool sees its arrays and lines.
const WATCHED: &str = include_str!("cudalint_watched.py");
const WATCHED_NAME: &str = "cudalint_watched.py";

/// A command and the variables that it needs.
type Command = (Vec<String>, Vec<(String, String)>);

/// Writes a script's files and gives the command that runs it: each `CuPy` array is an allocation of its own, and kernels
/// have line numbers.
///
/// # Errors
/// The judgement of a script that cannot be run here.
pub fn command(program: &PythonProgram, bench: &Bench<'_>) -> Result<Command, Box<Judgement>> {
    let unsupported = |reason: String| Box::new(Judgement::without_run(Verdict::Unsupported, reason));
    let Some(python) = &bench.lab.machine.python else { return Err(unsupported("there is no Python".to_owned())) };
    if let Some(problem) = missing_package(python, &program.packages) {
        return Err(unsupported(problem));
    }
    let broken =
        |path: &Utf8Path, error: std::io::Error| Judgement::without_run(Verdict::Unviable, format!("{path}: {error}"));
    for file in &program.files {
        bench.write(&file.path, &file.text).map_err(|error| broken(&file.path, error))?;
    }
    let watched = Utf8Path::new(WATCHED_NAME);
    let watched = bench.write(watched, WATCHED).map_err(|error| broken(watched, error))?;
    let script = bench.folder.join(&program.script);
    let command = vec![python.program.path.to_string(), watched.into_string(), script.into_string()];
    let set = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    Ok((command, vec![set("PYTHONIOENCODING", "utf-8"), set("NO_COLOR", "1"), set("PYTHONUNBUFFERED", "1")]))
}

/// Why a package that the script needs cannot be used.
fn missing_package(python: &Python, needed: &[String]) -> Option<String> {
    needed.iter().find_map(|name| {
        let package = python.packages.iter().find(|package| package.name == *name);
        match package.map(|package| (&package.problem, &package.version)) {
            Some((Some(problem), _)) => Some(format!("Python's {name} does not work: {problem}")),
            Some((None, Some(_))) => None,
            Some((None, None)) | None => Some(format!("Python has no {name}")),
        }
    })
}

/// The last line that says something.
pub(super) fn last_line(stderr: &str) -> String {
    stderr.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or("no words").to_owned()
}
