//! Python scripts as they are run: by a driver that lets tools see their arrays and lines, and that looks at statements
//! itself where no tool does. What the driver does is said in its files.

use super::Judgement;
use crate::lab::{Bench, head_of};
use crate::machine::Python;
use crate::project;
use crate::scenario::{Project, PythonProgram};
use crate::script_driver::{self, MAIN};
use camino::Utf8PathBuf;
use cudalint_findings::Shows;
use cudalint_findings::claim::Difference;
use cudalint_findings::model::{Access, FindingEntry, Verdict};
use serde::de::DeserializeOwned;
use std::fmt::Write as _;

/// The folder of what the driver sees, below the scenario's.
const SEEN: &str = "seen";
/// Bytes of one of its logs that are read.
const MAX_LOG: u64 = 256 << 20;

/// A command and the variables that it needs.
pub type Command = (Vec<String>, Vec<(String, String)>);

/// What the driver looks at by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// First and last lines of the statements.
    pub lines: Vec<(u32, u32)>,
    /// Line and column (both from 1) where the flagged expression begins.
    pub place: (u32, u32),
    /// Threads whose accesses come first: `bx,by,bz,tx,ty,tz`, parted by semicolons.
    pub threads: String,
    /// Threads of a launch and the elements that they are for, where these are the question.
    pub cover: Option<(u64, u64)>,
    /// The block of which all accesses to the shared array at the place are logged, where that is the question.
    pub block: Option<[u64; 3]>,
}

/// Writes a script's files and gives the command that runs it: each `CuPy` array is an allocation of its own, and kernels
/// have line numbers.
///
/// # Errors
/// The judgement of a script that cannot be run here.
pub fn command(program: &PythonProgram, bench: &Bench<'_>) -> Result<Command, Box<Judgement>> {
    with_look(program, bench, None)
}

/// The same, and the driver looks at statements itself.
///
/// # Errors
/// The judgement of a script that cannot be run here.
pub fn looking(program: &PythonProgram, bench: &Bench<'_>, look: &Look) -> Result<Command, Box<Judgement>> {
    with_look(program, bench, Some(look))
}

fn with_look(program: &PythonProgram, bench: &Bench<'_>, look: Option<&Look>) -> Result<Command, Box<Judgement>> {
    if let Some(of) = &program.project {
        return in_project(program, of, bench, look);
    }
    let unsupported = |reason: String| Box::new(Judgement::without_run(Verdict::Unsupported, reason));
    let Some(python) = &bench.lab.machine.python else { return Err(unsupported("there is no Python".to_owned())) };
    if let Some(problem) = missing_package(python, &program.packages) {
        return Err(unsupported(problem));
    }
    write(program, bench)?;
    let mut command = vec![python.program.path.to_string(), bench.folder.join(MAIN).into_string()];
    if let Some(look) = look {
        command.extend(words(bench, look)?);
    }
    command.push(bench.folder.join(&program.script).into_string());
    Ok((command, environment(program)))
}

/// Writes the driver and the program's own files.
fn write(program: &PythonProgram, bench: &Bench<'_>) -> Result<(), Box<Judgement>> {
    let broken = |problem: String| Box::new(Judgement::without_run(Verdict::Unviable, problem));
    for (path, text) in script_driver::files() {
        bench.write(path, text).map_err(|error| broken(format!("{path}: {error}")))?;
    }
    bench.write_all(&program.files).map_err(broken)
}

/// What the driver is told to look at.
fn words(bench: &Bench<'_>, look: &Look) -> Result<[String; 7], Box<Judgement>> {
    let seen = bench.folder.join(SEEN);
    drop(std::fs::remove_dir_all(&seen));
    if let Err(error) = std::fs::create_dir_all(&seen) {
        return Err(Box::new(Judgement::without_run(Verdict::Unviable, format!("{seen}: {error}"))));
    }
    let mut lines = String::new();
    for (first, last) in &look.lines {
        let _ = write!(lines, "{}{first}-{last}", if lines.is_empty() { "" } else { "," });
    }
    let place = format!("{}:{}", look.place.0, look.place.1);
    let threads = if look.threads.is_empty() { "-".to_owned() } else { look.threads.clone() };
    let cover = look.cover.map_or_else(|| "-".to_owned(), |(threads, elements)| format!("{threads}:{elements}"));
    let block = look.block.map_or_else(|| "-".to_owned(), |[x, y, z]| format!("{x},{y},{z}"));
    Ok(["--look".to_owned(), seen.into_string(), lines, place, threads, cover, block])
}

/// The commands of a project, with the driver in each Python that they start.
fn in_project(
    program: &PythonProgram,
    of: &Project,
    bench: &Bench<'_>,
    look: Option<&Look>,
) -> Result<Command, Box<Judgement>> {
    let built = project::built(bench, of, project::put_for_scripts(bench))
        .map_err(|failure| Box::new(Judgement::of_project(&failure)))?;
    let Some(look) = look else { return Ok((built.command(), built.environment.clone())) };
    write(program, bench)?;
    let mut told: Vec<String> = words(bench, look)?.into();
    let in_copy = program.script.strip_prefix(&built.copy.1).map(|inside| built.copy.0.join(inside));
    let paths: Vec<String> =
        in_copy.into_iter().chain([program.script.clone()]).map(Utf8PathBuf::into_string).collect();
    told.push(paths.join(PATH_MARK));
    // The driver looks for what belongs to this finding beside itself.
    let mut environment = built.environment.clone();
    for (name, value) in &mut environment {
        if name == "PYTHONPATH" {
            *value = value.replacen(built.driver.as_str(), bench.folder.as_str(), 1);
        }
    }
    let told = serde_json::to_string(&told).unwrap_or_default();
    environment.push(("CUDALINT_LOOK".to_owned(), told));
    Ok((built.command(), environment))
}

/// What parts paths in variables.
const PATH_MARK: &str = if cfg!(windows) { ";" } else { ":" };

/// The variables that a script is run with.
pub fn environment(program: &PythonProgram) -> Vec<(String, String)> {
    let set = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let mut found = vec![set("PYTHONIOENCODING", "utf-8"), set("NO_COLOR", "1"), set("PYTHONUNBUFFERED", "1")];
    if let Some(folder) = &program.beside {
        // Behind what the user has set, as a module beside a script comes before both.
        let own = std::env::var("PYTHONPATH").ok().filter(|own| !own.is_empty());
        let both = |own| format!("{own}{PATH_MARK}{folder}");
        found.push(set("PYTHONPATH", &own.map_or_else(|| folder.to_string(), both)));
    }
    found
}

/// One of the logs of a driver that looked at statements: where it is, and what it says; empty where it wrote none.
pub fn log(bench: &Bench<'_>, name: &str) -> (Utf8PathBuf, String) {
    let path = bench.folder.join(SEEN).join(name);
    let text = head_of(&path, MAX_LOG);
    (path, text)
}

/// The entries of one of these logs, each a line of JSON; another line is passed over.
pub fn entries<T: DeserializeOwned>(bench: &Bench<'_>, name: &str) -> (Utf8PathBuf, Vec<T>) {
    let (path, text) = log(bench, name);
    (path, text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

/// The finding's own lines, and those of its claim's accesses or, without these, of its other sites in the file.
pub fn look_at(finding: &FindingEntry) -> Look {
    let accesses = finding.claim.accesses();
    let mut found = vec![finding.range.lines()];
    if accesses.is_empty() {
        found.extend(finding.claim.sites.iter().filter(|it| it.path == finding.path).map(|it| it.range.lines()));
    }
    found.extend(accesses.iter().map(|access| (access.site.line(), access.site.line())));
    found.dedup();
    let place = (finding.range.start.line, finding.range.start.column);
    Look { lines: found, place, threads: witnesses(finding), cover: cover(finding), block: None }
}

/// The witness's threads, whose accesses must not be lost: `bx,by,bz,tx,ty,tz`, parted by semicolons.
pub fn witnesses(finding: &FindingEntry) -> String {
    let numbers = |access: &Access| {
        let numbers: Vec<String> = access.block.iter().chain(&access.thread).map(u64::to_string).collect();
        numbers.join(",")
    };
    finding.claim.accesses().iter().map(numbers).collect::<Vec<_>>().join(";")
}

/// Threads and elements, where a finding claims that there are too few threads.
pub fn cover(finding: &FindingEntry) -> Option<(u64, u64)> {
    match finding.claim.shows {
        Shows::Memory { difference: Difference::Coverage { threads, elements } } => Some((threads, elements)),
        _ => None,
    }
}

/// Why a package that the script needs cannot be used.
pub fn missing_package(python: &Python, needed: &[String]) -> Option<String> {
    needed.iter().find_map(|name| {
        let package = python.packages.iter().find(|package| package.name == *name);
        match package.map(|package| (&package.problem, &package.version)) {
            Some((Some(problem), _)) => Some(format!("Python's {name} does not work: {problem}")),
            Some((None, Some(_))) => None,
            Some((None, None)) | None => {
                Some(format!("Python has no {name} (`cudalint doctor` says what there is and what installs it)"))
            }
        }
    })
}

/// `Python 3.12.3, numba 0.68.0`.
pub fn back_end(python: &Python, needed: &[String]) -> String {
    let mut text = format!("Python {}", python.program.version);
    for package in python.packages.iter().filter(|package| needed.contains(&package.name)) {
        if let Some(version) = &package.version {
            let _ = write!(text, ", {} {version}", package.name);
        }
    }
    text
}

/// The last line that says something.
pub fn last_line(stderr: &str) -> String {
    stderr.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or("no words").to_owned()
}
