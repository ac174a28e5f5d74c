//! Where programs are built and run: child processes in their own groups and folders, with limits of time, size and
//! network, a few at a time. Nothing here knows what a finding is.

mod ask;
mod build;
mod environment;
mod errors;
mod inputs;
mod launch;
mod process;
mod run;
mod sandbox;
mod slots;
mod watch;

pub(crate) use ask::{Answer, readable};
pub(crate) use environment::CHILD;
pub use launch::launch_main;
pub use process::Launcher;
pub(crate) use process::quoted;

use crate::machine::Machine;
use crate::stop::Stop;
use build::Shelf;
use camino::{Utf8Path, Utf8PathBuf};
use sandbox::Network;
use slots::{Ports, Slots, lock};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

/// How a run is limited.
#[derive(Clone, Debug)]
pub struct Limits {
    /// A program is ended after this; sooner when an earlier run of it was short.
    pub run: Duration,
    /// A compiler is ended after this.
    pub build: Duration,
    /// Bytes of the largest file that a child may write.
    pub file_bytes: u64,
    /// Programs built at one time.
    pub builds: usize,
    /// Programs run on one GPU at one time.
    pub runs_per_device: usize,
    /// Bytes of a program's output that are kept in a file, for each of its two streams.
    pub output_bytes: u64,
    /// Bytes that memcheck leaves free behind each allocation: an overrun into a neighbour is invisible.
    pub padding: u64,
    /// Records after which a watcher says no more.
    pub records: u32,
    /// A program whose run took some time, alone, may take this many times as long when run again.
    pub factor: f64,
    /// As `factor`, under a watcher.
    pub watched_factor: f64,
    /// No run is ended before this because an earlier one was short.
    pub least: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            run: Duration::from_secs(60),
            build: Duration::from_secs(300),
            file_bytes: 1 << 30,
            builds: processors,
            // A watched run is mostly work of the processor: starting, loading, reading back.
            runs_per_device: (processors * 3 / 4).max(4),
            output_bytes: 8 << 20,
            padding: 1 << 16,
            records: 1000,
            factor: 10.0,
            watched_factor: 50.0,
            least: Duration::from_secs(20),
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
    /// Ends everything that runs here.
    pub stop: Stop,
    launcher: Launcher,
    network: OnceLock<Network>,
    beside_device: OnceLock<Network>,
    builders: Slots,
    devices: Slots,
    ports: Ports,
    shelf: Shelf,
    /// Seconds that commands took when nothing watched them.
    baselines: Mutex<HashMap<Vec<String>, f64>>,
    notes: Mutex<Vec<String>>,
    full: Mutex<Option<String>>,
}

impl Lab {
    /// A lab over an existing, absolute folder.
    pub fn new(machine: Machine, folder: Utf8PathBuf, limits: Limits, launcher: Launcher) -> Self {
        Self {
            builders: Slots::new(vec![limits.builds.max(1)]),
            devices: Slots::new(slots::of_devices(&machine.devices, limits.runs_per_device)),
            machine,
            folder,
            limits,
            stop: Stop::new(),
            launcher,
            network: OnceLock::new(),
            beside_device: OnceLock::new(),
            ports: Ports::default(),
            shelf: Shelf::default(),
            baselines: Mutex::default(),
            notes: Mutex::default(),
            full: Mutex::default(),
        }
    }

    /// How its programs are started.
    pub fn launcher(&self) -> &Launcher {
        &self.launcher
    }

    /// The same, ended by this.
    #[must_use]
    pub fn with_stop(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
    }

    /// The same, with programs that keep the network.
    #[must_use]
    pub fn with_network(mut self) -> Self {
        self.network = OnceLock::from(Network::Kept);
        self
    }

    /// The bench of one scenario; makes its folder, `scenarios/<id>`.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn bench(&self, id: &str) -> std::io::Result<Bench<'_>> {
        let folder = self.folder.join("scenarios").join(id);
        std::fs::create_dir_all(&folder)?;
        Ok(Bench { lab: self, folder, ledger: Arc::default(), watch: None })
    }

    /// What the whole run should say once: a network that could not be taken away, output that could not be kept.
    pub fn notes(&self) -> Vec<String> {
        lock(&self.notes).clone()
    }

    /// Adds a note, once.
    fn note(&self, note: String) {
        let mut notes = lock(&self.notes);
        if !notes.contains(&note) {
            notes.push(note);
        }
    }

    /// What could not be written for want of space; then nothing that came of it counts.
    pub fn full(&self) -> Option<String> {
        lock(&self.full).clone()
    }

    /// Takes note of words that may say that there is no space.
    fn look_for_space(&self, words: &str) {
        if ["No space left on device", "Disk quota exceeded"].iter().any(|sign| words.contains(sign)) {
            lock(&self.full).get_or_insert_with(|| words.lines().next().unwrap_or_default().to_owned());
        }
    }

    /// How programs lose the network here; asked of the system once.
    fn network(&self) -> Network {
        *self.network.get_or_init(|| {
            let (network, refusal) = self.launcher.network();
            if let Some(refusal) = refusal {
                self.note(refusal);
            }
            network
        })
    }

    /// Where programs keep what they would otherwise keep in the home.
    fn caches(&self) -> Utf8PathBuf {
        self.folder.join("cache")
    }
}

/// One scenario's place in a lab: its own folder and the lab's means.
#[derive(Clone)]
pub struct Bench<'lab> {
    /// The lab.
    pub lab: &'lab Lab,
    /// The scenario's folder, absolute.
    pub folder: Utf8PathBuf,
    ledger: Arc<Mutex<Ledger>>,
    watch: Option<&'lab (dyn Fn(Phase) + Sync)>,
}

impl std::fmt::Debug for Bench<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Bench")
            .field("folder", &self.folder)
            .field("ledger", &self.ledger)
            .finish_non_exhaustive()
    }
}

/// What a bench and all benches below it have done.
#[derive(Debug, Default)]
struct Ledger {
    times: Times,
    products: Vec<Utf8PathBuf>,
}

/// What a bench is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Waiting for a compiler or a GPU to be free.
    Waiting,
    /// Compiling.
    Building,
    /// Running a program.
    Running,
}

/// Where a bench's time went, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Times {
    /// Compiling.
    pub build: f64,
    /// Running, tools included.
    pub run: f64,
    /// Waiting for a compiler or a GPU to be free, or for another scenario's build of the same program.
    pub wait: f64,
    /// Whether something was interrupted, so that nothing seen here counts.
    pub interrupted: bool,
}

/// A call of a compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Build {
    /// What this build is for: `program`, `twin`. The log is `<label>.build.log`, the program `<label>`.
    pub label: String,
    /// Files to compile: absolute, or relative to the scenario's folder.
    pub units: Vec<Utf8PathBuf>,
    /// Flags beside the output and the architecture (which a `-arch` or `-gencode` among them replaces).
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
    /// Its memcheck without `--padding`, for errors of calls: room behind an allocation lets a copy succeed that is too
    /// long for it.
    Calls,
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

impl RunOutcome {
    /// Whether the program did not end by itself with success.
    pub fn failed(&self) -> bool {
        self.end != End::Exit(0)
    }
}

impl<'lab> Bench<'lab> {
    /// Name of the folder, below a bench's own, for files that programs need while they run.
    pub(crate) const TEMPORARY: &'static str = "tmp";

    /// The same bench in a folder below its own, which is made; times are counted together.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn below(&self, name: &str) -> std::io::Result<Self> {
        let folder = self.folder.join(name);
        std::fs::create_dir_all(&folder)?;
        Ok(Self { folder, ..self.clone() })
    }

    /// The same, telling what it does.
    #[must_use]
    pub fn watched_by(mut self, watch: &'lab (dyn Fn(Phase) + Sync)) -> Self {
        self.watch = Some(watch);
        self
    }

    /// Where the time went so far.
    pub fn times(&self) -> Times {
        lock(&self.ledger).times
    }

    /// The programs that were built here, absolute.
    pub fn products(&self) -> Vec<Utf8PathBuf> {
        lock(&self.ledger).products.clone()
    }

    /// Says that what was done here is not all that should have been.
    pub(crate) fn interrupt(&self) {
        self.count(|times| times.interrupted = true);
    }

    fn enter(&self, phase: Phase) {
        if let Some(watch) = self.watch {
            watch(phase);
        }
    }

    fn count(&self, change: impl FnOnce(&mut Times)) {
        change(&mut lock(&self.ledger).times);
    }

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

    /// A path as evidence names it: relative to the outcome folder, with `/`.
    pub fn relative(&self, path: &Utf8Path) -> String {
        path.strip_prefix(&self.lab.folder).unwrap_or(path).to_string().replace('\\', "/")
    }

    /// A folder of the scenario's for short-lived files.
    fn temporary(&self) -> std::io::Result<Utf8PathBuf> {
        let folder = self.folder.join(Self::TEMPORARY);
        std::fs::create_dir_all(&folder)?;
        std::fs::create_dir_all(self.lab.caches())?;
        Ok(folder)
    }
}
