//! What is asked of a lab, and what it gives: builds, runs, how they are limited, how they end.

use camino::Utf8PathBuf;
use cudalint_findings::model::Method;
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
    /// Bytes by which all files of a scenario and the caches may grow while one program runs.
    pub disk_bytes: u64,
    /// Bytes of memory that a program and all that it starts may hold at one time.
    pub memory_bytes: u64,
    /// Processes that a program may have at one time.
    pub processes: usize,
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
            disk_bytes: 4 << 30,
            memory_bytes: machine_memory().map_or(8 << 30, |bytes| bytes / 2),
            processes: 1000,
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

/// The memory of this machine, or of the container, where that has less; none where the system does not say.
fn machine_memory() -> Option<u64> {
    let number = |file: &str| std::fs::read_to_string(file).ok()?.trim().parse::<u64>().ok();
    let about = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = about.lines().find_map(|line| {
        let kibibytes = line.strip_prefix("MemTotal:")?.trim().strip_suffix("kB")?;
        kibibytes.trim().parse::<u64>().ok().map(|kibibytes| kibibytes << 10)
    });
    let of_container = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"].map(number);
    of_container.into_iter().flatten().chain(total).min()
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

impl Watcher {
    /// That of a method.
    pub fn of_method(method: Method) -> Self {
        match method {
            Method::Racecheck => Self::Racecheck,
            Method::Initcheck => Self::Initcheck,
            Method::Synccheck => Self::Synccheck,
            Method::Leakcheck => Self::Leakcheck,
            Method::ApiError => Self::Calls,
            _ => Self::Memcheck,
        }
    }
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
    /// Parts of the names of the kernels that the watcher looks at; of all where there is none.
    pub kernels: Vec<String>,
}

impl Run {
    /// A run on a GPU that nothing watches.
    pub fn on_device(label: impl Into<String>, command: Vec<String>, environment: Vec<(String, String)>) -> Self {
        Self { label: label.into(), command, environment, watcher: None, device: true, kernels: Vec::new() }
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, with this status.
    Exit(i32),
    /// By this signal.
    Signal(i32),
    /// What it had written was enough, and it was ended.
    Enough,
    /// It took too long and was ended.
    TimedOut,
    /// It took more memory, processes or space than it is given and was ended: what, in words that follow its name.
    OverLimit(String),
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
