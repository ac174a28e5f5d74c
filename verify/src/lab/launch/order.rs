//! What a launcher is told, what it answers, and what it waits for.

use crate::lab::sandbox::Network;
use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What a launcher shall do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::lab) struct Order {
    /// The launcher's own command line.
    pub launcher: Vec<String>,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Its working folder, absolute.
    pub folder: Utf8PathBuf,
    /// Where its standard output is written.
    pub stdout: Utf8PathBuf,
    /// Where its standard error is written.
    pub stderr: Utf8PathBuf,
    /// Bytes that are kept of each; more is read and thrown away.
    pub output_bytes: u64,
    /// How much it may take.
    pub bounds: Bounds,
    /// Whether the program is this executable, doing a child's work: then it keeps the variable that says so.
    pub own: bool,
    /// How long it may run.
    pub limit: Duration,
    /// How long it may take to end once it is asked to.
    pub grace: Duration,
    /// How the network is taken away.
    pub network: Network,
}

/// How much a program and all that it starts may take.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::lab) struct Bounds {
    /// Bytes of the largest file that it may write.
    pub file_bytes: u64,
    /// Bytes by which the folders may grow.
    pub disk_bytes: u64,
    /// Bytes of memory at one time.
    pub memory_bytes: u64,
    /// Processes at one time.
    pub processes: usize,
    /// Folders whose size is watched.
    pub folders: Vec<Utf8PathBuf>,
}

/// How the program ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::lab) enum ReplyEnd {
    Exit(i32),
    Signal(i32),
    TimedOut,
    /// It took more than its bounds allow: what, in words that follow its name.
    OverLimit(String),
    NotStarted(String),
    /// The lab went away, or asked for it.
    Stopped,
}

/// What became of an order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::lab) struct Reply {
    pub end: ReplyEnd,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// What went wrong beside: output that could not be kept, a process that would not die.
    pub problem: Option<String>,
}

impl Reply {
    pub(super) fn not_started(problem: impl Into<String>) -> Self {
        Self { end: ReplyEnd::NotStarted(problem.into()), seconds: 0.0, problem: None }
    }
}

/// What the launcher's main thread waits for.
#[derive(Debug)]
pub(super) enum Event {
    /// The lab closed its end, or a signal asked the launcher to end.
    Stop,
    /// A child changed its state.
    #[cfg(unix)]
    Child,
}
