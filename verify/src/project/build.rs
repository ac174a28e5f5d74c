//! The build of a project: once a lab.

use super::compiler::{Compiled, With};
use super::tools::{self, CompilePlan};
use super::{programs, tree};
use crate::lab::stand_ins;
use crate::lab::{Answer, Bench, BuildFailure, End, RunOutcome, first_error};
use crate::machine::Program;
use crate::probe::{self, WatchedFunction};
use crate::scenario::{BUILD_FOLDER, Project};
use crate::spelled;
use camino::{Utf8Path, Utf8PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A project's build is ended after this.
const LIMIT: Duration = Duration::from_secs(3600);
/// What a question to nvcc may take.
const QUESTION: Duration = Duration::from_secs(30);

/// A project that is built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    /// Name of its folder below `projects`.
    pub name: String,
    /// What it is a build of.
    pub project: Project,
    /// Where its commands run: in the copy, or in the user's folder.
    pub folder: Utf8PathBuf,
    /// The copy, and what it is a copy of; the same where nothing was copied.
    pub copy: (Utf8PathBuf, Utf8PathBuf),
    /// The folder that findings' paths start from.
    pub root: Utf8PathBuf,
    /// What commands are run as, with the build folder in its place.
    pub commands: Vec<String>,
    /// Variables of its runs.
    pub environment: Vec<(String, String)>,
    /// What its compilers did, in the order in which they ended.
    pub compiled: Vec<Compiled>,
    /// Whether the probe was put in.
    pub probe: bool,
    /// The folder of the driver that comes into each Python of its runs.
    pub driver: Utf8PathBuf,
}

impl Built {
    /// What the build says of a file in one sentence, where that explains why nothing was seen of it.
    pub fn about(&self, path: &str) -> Option<String> {
        if self.compiled.is_empty() {
            return Some(
                "no compiler that the build called came through cudalint: it may have found everything made, or call \
                 nvcc by its whole path"
                    .to_owned(),
            );
        }
        let of_file = |compiled: &&Compiled| {
            compiled.sources.iter().any(|source| crate::tools::sanitizer::same_path(source.as_str(), path))
        };
        let found = self.compiled.iter().filter(of_file).find(|compiled| compiled.with != With::Probe)?;
        let why = found.refused.as_deref().unwrap_or("the compiler gives no reason");
        Some(format!("the probe could not be put into it: {why}"))
    }

    /// The sources whose calls and launches the probe may not see, as findings name them, with the reason.
    pub(super) fn unseen(&self) -> Vec<(String, String)> {
        if self.compiled.is_empty() {
            return self.about("").map(|why| (String::new(), why)).into_iter().collect();
        }
        // What names nothing of CUDA needs no probe; but a library that is linked without it launches unseen.
        let is_library = |compiled: &Compiled| {
            let name = compiled.output.as_ref().and_then(|output| output.file_name()).unwrap_or("");
            compiled.links && name.split('.').skip(1).any(|part| part == "so")
        };
        let without = self.compiled.iter().filter(|compiled| {
            compiled.done && compiled.with != With::Probe && (compiled.refused.is_some() || is_library(compiled))
        });
        let of_command = |compiled: &Compiled| {
            let why = match &compiled.refused {
                Some(words) => format!("the probe could not be put into all of it: {words}"),
                None => "a library of it is linked without the probe".to_owned(),
            };
            let none = (compiled.sources.is_empty() || compiled.refused.is_none()).then(String::new);
            let sources = compiled.sources.iter().map(|source| self.as_shown(source.as_str()));
            sources.chain(none).map(|source| (source, why.clone())).collect::<Vec<_>>()
        };
        without.flat_map(of_command).collect()
    }

    /// Which files are compiled, for the log.
    fn with_probe(&self) -> usize {
        self.compiled.iter().filter(|compiled| compiled.done && compiled.with == With::Probe).count()
    }
}

/// What is put into a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Put<'p> {
    /// The probe, which reports calls of these functions beside CUDA's.
    Probe(&'p [WatchedFunction]),
    /// Nothing but what the file with watchpoints that takes the place of another needs.
    Watchpoints,
    /// Lines alone.
    Lines,
    /// Nothing, where there is no CUDA compiler: the run's Python is watched alone.
    Nothing,
}

/// What is put into a build for findings in Python: what those in CUDA C++ share.
pub(crate) fn put_for_scripts(bench: &Bench<'_>) -> Put<'static> {
    if bench.lab.machine.nvcc.is_some() { Put::Probe(&[]) } else { Put::Nothing }
}

/// The project, built by the first who asks.
///
/// # Errors
/// Why there is no build, in words and with its log.
pub(crate) fn built(bench: &Bench<'_>, project: &Project, put: Put<'_>) -> Result<Arc<Built>, BuildFailure> {
    let name = name_of(project, put);
    bench.once(&format!("build {name}"), |bench| {
        let shared = bench.shared(&name).map_err(|error| BuildFailure::Broken(error.to_string()))?;
        match build(&shared, project, put, &name) {
            Err(BuildFailure::Refused { error, log }) if matches!(put, Put::Probe(_)) => {
                // The probe may stand in the way where the scripts were passed by.
                let without = build(&shared, project, Put::Lines, &name);
                without.map_err(|_| BuildFailure::Refused { error, log })
            }
            other => other,
        }
        .map(Arc::new)
    })
}

/// Name of a build's folder.
fn name_of(project: &Project, put: Put<'_>) -> String {
    let words = format!("{project:?} {put:?}");
    let last = project.folder.file_name().unwrap_or("project");
    let plain: String = last.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-' || *c == '_').take(40).collect();
    format!("{plain}-{}", crate::receipt::hash([words.as_str()]).get(..8).unwrap_or_default())
}

fn build(bench: &Bench<'_>, project: &Project, put: Put<'_>, name: &str) -> Result<Built, BuildFailure> {
    let nvcc = match &bench.lab.machine.nvcc {
        Some(nvcc) => Some(nvcc),
        None if put == Put::Nothing => None,
        None => return Err(BuildFailure::NoCompiler),
    };
    let broken = |problem: String| BuildFailure::Broken(problem);
    let io = |error: std::io::Error| BuildFailure::Broken(error.to_string());
    let own = bench.folder.join("build");
    // A file is replaced in a copy alone, wherever the build keeps what it makes.
    let (folder, copied) = if project.in_place() && project.replaced.is_none() {
        drop(std::fs::remove_dir_all(&own));
        std::fs::create_dir_all(&own).map_err(io)?;
        (project.folder.clone(), project.base.clone())
    } else {
        let copy = bench.folder.join("tree");
        tree::copy(&project.base, &copy, &bench.lab.folder).map_err(broken)?;
        drop(std::fs::remove_dir_all(&own));
        std::fs::create_dir_all(&own).map_err(io)?;
        let folder = copy.join(project.folder.strip_prefix(&project.base).unwrap_or(Utf8Path::new("")));
        if let Some((path, file)) = &project.replaced {
            let target = copy.join(path);
            drop(std::fs::remove_file(&target));
            std::fs::copy(file, &target).map_err(|error| BuildFailure::Broken(format!("{target}: {error}")))?;
        }
        (folder, copy)
    };
    let word = |command: &String| command.replace(BUILD_FOLDER, &crate::lab::quoted(own.as_str()));
    let log = bench.folder.join("compilers.jsonl");
    drop(std::fs::remove_file(&log));
    let with_probe = matches!(put, Put::Probe(_));
    let mut environment = match nvcc {
        Some(nvcc) => {
            tools::write(&bench.folder, &nvcc.path, bench.lab.launcher(), plan(bench, nvcc, put, &log)?)
                .map_err(io)?
                .environment
        }
        None => Vec::new(),
    };
    let driver = super::python::write(bench).map_err(io)?;
    environment.extend(super::python::environment(&driver, [&copied, &project.base]));
    let steps = project.clean.iter().map(|it| ("clean", it)).chain(project.build.iter().map(|it| ("program", it)));
    for (label, command) in steps {
        let done = bench.make(label, &word(command), &folder, &environment, LIMIT);
        // Nothing may be there that could be cleaned.
        if label != "clean" {
            ended(&done)?;
        }
    }
    let text = cudalint_files::read_text(log.as_std_path()).unwrap_or_default();
    let compiled: Vec<Compiled> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let built = Built {
        name: name.to_owned(),
        project: project.clone(),
        commands: if project.run.is_empty() {
            programs::commands(&compiled, &folder)
        } else {
            project.run.iter().map(word).collect()
        },
        folder,
        copy: (copied, project.base.clone()),
        root: project.root.clone(),
        environment,
        compiled,
        probe: with_probe,
        driver,
    };
    if built.commands.is_empty() {
        return Err(broken("what it makes is no program; `--run`, or `run` in `[verify]`, says what runs".to_owned()));
    }
    let about = format!("{} commands of compilers, {} with the probe\n", built.compiled.len(), built.with_probe());
    drop(std::fs::write(bench.folder.join("compilers.log"), about));
    Ok(built)
}

/// What the scripts are told that stand in the place of compilers.
fn plan(bench: &Bench<'_>, nvcc: &Program, put: Put<'_>, log: &Utf8Path) -> Result<CompilePlan, BuildFailure> {
    let probe_folder = bench.lab.folder.join("probe");
    let with_probe = matches!(put, Put::Probe(_));
    let headers = bench.lab.folder.join("stand_ins");
    Ok(CompilePlan {
        stand_ins: stand_ins::headers(&headers).then_some(headers),
        log: log.to_owned(),
        architecture: bench.lab.machine.architecture(),
        known: known_architectures(bench, &nvcc.path),
        probe: with_probe,
        object: if with_probe { Some(object(bench, &nvcc.path, &probe_folder)?) } else { None },
        wrapped: match put {
            Put::Probe(_) => spelled::probed_names().map(|name| (*name).to_owned()).collect(),
            Put::Watchpoints => spelled::watched_names().map(|name| (*name).to_owned()).collect(),
            Put::Lines | Put::Nothing => Vec::new(),
        },
        probe_folder,
        functions: if let Put::Probe(functions) = put { functions.to_vec() } else { Vec::new() },
        include: include_folder(&nvcc.path),
        libraries: crate::lab::library_folder(&nvcc.path),
        ..CompilePlan::default()
    })
}

/// What came of the build's command.
fn ended(done: &RunOutcome) -> Result<(), BuildFailure> {
    match &done.end {
        End::Exit(0) => Ok(()),
        End::Exit(status) => {
            let said = format!("{}\n{}", done.stderr, done.stdout);
            let silent = || format!("`{}` ends with status {status}", done.command);
            let error = first_error(&said).map_or_else(silent, |line| format!("`{}`: {line}", done.command));
            Err(BuildFailure::Refused { error, log: done.log.clone() })
        }
        End::Signal(signal) => Err(BuildFailure::Broken(format!("`{}` was ended by signal {signal}", done.command))),
        End::TimedOut => Err(BuildFailure::TimedOut),
        End::OverLimit(problem) => Err(BuildFailure::Broken(format!("`{}` {problem}", done.command))),
        End::NotStarted(reason) => Err(BuildFailure::Broken(reason.clone())),
        End::Interrupted | End::Enough => Err(BuildFailure::Interrupted),
    }
}

/// The half of the probe that is linked, compiled once a lab: with flags of its own, whatever those of the program are.
fn object(bench: &Bench<'_>, nvcc: &Utf8Path, folder: &Utf8Path) -> Result<Utf8PathBuf, BuildFailure> {
    bench.once("probe object", |bench| {
        let source = probe::source(folder).map_err(|error| BuildFailure::Broken(error.to_string()))?;
        let object = folder.join("cudalint_probe.o");
        let words = [
            nvcc.as_str(),
            "-c",
            source.as_str(),
            "-o",
            object.as_str(),
            "-Xcompiler",
            "-fPIC,-g,-O1,-fno-omit-frame-pointer",
        ];
        let words: Vec<String> = words.map(crate::lab::quoted).into();
        let done = bench.make("probe", &words.join(" "), &folder.to_owned(), &[], QUESTION * 10);
        ended(&done).map(|()| object)
    })
}

/// The architectures that nvcc compiles for; none where it does not say.
fn known_architectures(bench: &Bench<'_>, nvcc: &Utf8Path) -> Vec<u32> {
    bench.once("architectures", |bench| {
        let command = [nvcc.as_str(), "--list-gpu-arch"].map(str::to_owned);
        let answer: Answer = bench.lab.ask("nvcc --list-gpu-arch", &command, &[], QUESTION);
        let numbers = answer.stdout.split_whitespace().filter_map(|word| word.strip_prefix("compute_")?.parse().ok());
        if answer.failure().is_some() { Vec::new() } else { numbers.collect() }
    })
}

/// The toolkit's headers.
fn include_folder(nvcc: &Utf8Path) -> Option<Utf8PathBuf> {
    let real = nvcc.canonicalize_utf8().ok()?;
    let folder = real.parent()?.parent()?.join("include");
    folder.join("cuda_runtime.h").is_file().then_some(folder)
}
