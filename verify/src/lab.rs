//! Where programs are built and run: child processes in their own groups and folders, with limits of time, size and
//! network, a few at a time. Nothing here knows what a finding is.

use crate::machine::Machine;
use camino::{Utf8Path, Utf8PathBuf};
use std::time::Duration;

/// How a run is limited.
#[derive(Clone, Debug)]
pub struct Limits {
    /// A program is ended after this.
    pub run: Duration,
    /// A compiler is ended after this.
    pub build: Duration,
    /// Bytes of the largest file that a child may write.
    pub file_bytes: u64,
    /// Programs built at one time.
    pub builds: usize,
    /// Programs run on one GPU at one time.
    pub runs_per_device: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            run: Duration::from_secs(60),
            build: Duration::from_secs(300),
            file_bytes: 1 << 30,
            builds: std::thread::available_parallelism().map_or(1, usize::from),
            runs_per_device: 4,
        }
    }
}

/// Builds and runs programs.
#[derive(Debug)]
pub struct Lab {
    /// What can be used.
    pub machine: Machine,
    /// The outcome folder, absolute.
    pub folder: Utf8PathBuf,
    /// How runs are limited.
    pub limits: Limits,
}

/// One scenario's place in a lab: its own folder and the lab's means.
#[derive(Clone, Debug)]
pub struct Bench<'lab> {
    /// The lab.
    pub lab: &'lab Lab,
    /// The scenario's folder, absolute.
    pub folder: Utf8PathBuf,
}

/// A call of a compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Build {
    /// What this build is for: `program`, `twin`. The log is `<label>.build.log`, the program `<label>`.
    pub label: String,
    /// Files to compile: absolute, or relative to the scenario's folder.
    pub units: Vec<Utf8PathBuf>,
    /// Flags beside the output and the architecture.
    pub flags: Vec<String>,
}

/// Why there is no program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildFailure {
    /// The compiler refused it.
    Refused {
        /// Its first error, in one line.
        error: String,
        /// Its output, relative to the outcome folder.
        log: Utf8PathBuf,
    },
    /// The compiler took too long and was ended.
    TimedOut,
    /// There is no compiler.
    NoCompiler,
    /// No space, no permission, a compiler that crashed: in one line.
    Broken(String),
    /// The run was interrupted.
    Interrupted,
}

/// A tool that watches a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Watcher {
    /// compute-sanitizer's memcheck, with `--padding`.
    Memcheck,
    /// Its racecheck.
    Racecheck,
    /// Its initcheck.
    Initcheck,
    /// Its synccheck.
    Synccheck,
    /// Its memcheck with `--leak-check full`.
    Leakcheck,
}

/// A run of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// What this run is for: `memcheck`, `baseline`, `injected`. Logs are `<label>.stdout`, `<label>.stderr`, `<label>.xml`.
    pub label: String,
    /// The program and its arguments; a relative program is one of the scenario's folder.
    pub command: Vec<String>,
    /// Variables set beside the few that are passed on.
    pub environment: Vec<(String, String)>,
    /// Watched by.
    pub watcher: Option<Watcher>,
    /// Whether it needs a GPU: such a run waits for one to be free.
    pub device: bool,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, with this status.
    Exit(i32),
    /// By this signal.
    Signal(i32),
    /// It took too long and was ended.
    TimedOut,
    /// It could not be started: in one line.
    NotStarted(String),
    /// The whole run was interrupted.
    Interrupted,
}

/// What a run gave.
#[derive(Clone, Debug, PartialEq)]
pub struct RunOutcome {
    /// How it ended.
    pub end: End,
    /// Standard output: the first mebibyte.
    pub stdout: String,
    /// Standard error: the first mebibyte.
    pub stderr: String,
    /// The watcher's report, where there is one.
    pub report: Option<String>,
    /// Its file, else that of standard error, relative to the outcome folder.
    pub log: Utf8PathBuf,
    /// The command as a person would type it.
    pub command: String,
    /// The GPU it had.
    pub device: Option<String>,
    /// Wall-clock seconds, waiting for a GPU excluded.
    pub seconds: f64,
}

impl Bench<'_> {
    /// Writes a text below the scenario's folder and gives its absolute path.
    ///
    /// # Errors
    /// Those of the file system, and paths that lead out of the folder.
    pub fn write(&self, path: &Utf8Path, text: &str) -> std::io::Result<Utf8PathBuf> {
        let file = self.folder.join(path);
        if !file.starts_with(&self.folder) || path.components().any(|part| part.as_str() == "..") {
            return Err(std::io::Error::other(format!("{path}: leads out of the scenario's folder")));
        }
        if let Some(parent) = file.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(&file, text)?;
        Ok(file)
    }

    /// Builds a program with nvcc and gives its absolute path. The same units with the same flags are built once a lab.
    pub fn build(&self, _build: &Build) -> Result<Utf8PathBuf, BuildFailure> {
        Err(BuildFailure::NoCompiler)
    }

    /// Runs a program.
    pub fn run(&self, _run: &Run) -> RunOutcome {
        RunOutcome {
            end: End::NotStarted("not built yet".to_owned()),
            stdout: String::new(),
            stderr: String::new(),
            report: None,
            log: Utf8PathBuf::new(),
            command: String::new(),
            device: None,
            seconds: 0.0,
        }
    }

    /// A path as evidence names it: relative to the outcome folder, with `/`.
    pub fn relative(&self, path: &Utf8Path) -> String {
        path.strip_prefix(&self.lab.folder).unwrap_or(path).to_string().replace('\\', "/")
    }
}
