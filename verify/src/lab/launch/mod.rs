//! The launcher: a small process between the lab and each program that it starts. It is this same executable, started
//! again with a hidden word, since what must happen between `fork` and `exec` cannot be done safely in a process with
//! threads.
//!
//! It takes one line of JSON, the [`Order`], on standard input, and answers with one line, the [`Reply`], on standard
//! output. While standard input stays open the program may run; when the lab closes it, or dies in whatever way, the
//! program and all its descendants are ended. Those that left the program's process group, or its session, come back to
//! the launcher as orphans, so that nothing outlives it: it ends them until the kernel says that it has no child.

#[cfg(unix)]
mod unix;

use super::sandbox::{self, Network};
use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, Read, Write};
use std::process::ExitCode;
use std::time::Duration;

/// First argument of the step that restricts itself and becomes the program.
#[cfg(unix)]
const BECOME: &str = "become";
/// First argument of the step that tries a way of dropping the network.
pub(super) const TRY: &str = "try";
/// First argument of the step that tries it and opens a GPU then.
pub(super) const DEVICE: &str = "device";

/// What a launcher shall do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Order {
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
    /// Bytes of the largest file that it may write.
    pub file_bytes: u64,
    /// How long it may run.
    pub limit: Duration,
    /// How long it may take to end once it is asked to.
    pub grace: Duration,
    /// How the network is taken away.
    pub network: Network,
}

/// How the program ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum ReplyEnd {
    Exit(i32),
    Signal(i32),
    TimedOut,
    NotStarted(String),
    /// The lab went away, or asked for it.
    Stopped,
}

/// What became of an order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Reply {
    pub end: ReplyEnd,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// What went wrong beside: output that could not be kept, a process that would not die.
    pub problem: Option<String>,
}

impl Reply {
    fn not_started(problem: impl Into<String>) -> Self {
        Self { end: ReplyEnd::NotStarted(problem.into()), seconds: 0.0, problem: None }
    }
}

/// The launcher's main function. `arguments` are those after the hidden word.
pub fn launch_main(arguments: impl IntoIterator<Item = String>) -> ExitCode {
    let arguments: Vec<String> = arguments.into_iter().collect();
    match arguments.first().map(String::as_str) {
        #[cfg(unix)]
        Some(BECOME) => unix::become_program(&arguments[1..]),
        Some(TRY) => try_network(arguments.get(1).map(String::as_str), false),
        Some(DEVICE) => try_network(arguments.get(1).map(String::as_str), true),
        _ => {
            let reply = take_order();
            let text = serde_json::to_string(&reply).unwrap_or_default();
            let mut out = std::io::stdout().lock();
            let told = writeln!(out, "{text}").and_then(|()| out.flush());
            // Threads that wait for input end with the process.
            if told.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
    }
}

/// Reads the order and carries it out.
fn take_order() -> Reply {
    let mut input = std::io::BufReader::new(std::io::stdin());
    let mut line = String::new();
    if let Err(error) = input.read_line(&mut line) {
        return Reply::not_started(format!("the launcher cannot read its order: {error}"));
    }
    let order: Order = match serde_json::from_str(&line) {
        Ok(order) => order,
        Err(error) => return Reply::not_started(format!("the launcher does not understand its order: {error}")),
    };
    carry_out(&order, input)
}

/// Says on standard output why a way of dropping the network fails, or why no GPU can be opened then; nothing when it
/// works.
fn try_network(way: Option<&str>, device: bool) -> ExitCode {
    let network = way.and_then(Network::of_word).unwrap_or(Network::Kept);
    let tried = sandbox::drop_network(network).map_err(|error| error.to_string());
    match tried.and_then(|()| if device { open_device() } else { Ok(()) }) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            drop(writeln!(std::io::stdout(), "{error}"));
            ExitCode::FAILURE
        }
    }
}

/// Opens the first GPU.
fn open_device() -> Result<(), String> {
    match cudalint_gpu::driver::Driver::start() {
        None => Err("there is no NVIDIA driver".to_owned()),
        Some(driver) => driver.and_then(|driver| driver.open(0)).map(drop).map_err(|failure| failure.to_string()),
    }
}

/// What the launcher's main thread waits for.
#[derive(Debug)]
enum Event {
    /// The lab closed its end, or a signal asked the launcher to end.
    Stop,
    /// A child changed its state.
    #[cfg(unix)]
    Child,
}

/// Copies what a program writes into a file, to so many bytes, and reads on when the file is full, so that the program
/// does not stop at a full pipe. Gives what went wrong with the file.
fn keep_output(mut from: impl Read, to: &camino::Utf8Path, bytes: u64) -> Option<String> {
    let (mut file, mut problem) = match std::fs::File::create(to) {
        Ok(file) => (Some(file), None),
        Err(error) => (None, Some(format!("{to}: {error}"))),
    };
    let mut left = bytes;
    let mut buffer = vec![0u8; 1 << 16];
    loop {
        let length = match from.read(&mut buffer) {
            Ok(0) => return problem,
            Ok(length) => length,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => return problem,
        };
        let kept = buffer.get(..length.min(usize::try_from(left).unwrap_or(usize::MAX))).unwrap_or_default();
        left -= kept.len() as u64;
        if let Some(open) = &mut file
            && !kept.is_empty()
            && let Err(error) = open.write_all(kept)
        {
            problem = Some(format!("{to}: {error}"));
            file = None;
        }
    }
}

#[cfg(unix)]
use unix::carry_out;

/// Starts the program and waits for its end. Systems without process groups get the direct child ended, no more.
#[cfg(not(unix))]
fn carry_out(order: &Order, mut input: impl Read + Send + 'static) -> Reply {
    use std::process::{Command, Stdio};
    use std::time::Instant;
    let Some((program, arguments)) = order.command.split_first() else {
        return Reply::not_started("an empty command");
    };
    let started = Instant::now();
    let mut command = Command::new(program);
    command.args(arguments).current_dir(&order.folder).stdin(Stdio::null());
    let mut child = match command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn() {
        Ok(child) => child,
        Err(error) => return Reply::not_started(format!("{program}: {error}")),
    };
    let (sender, events) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut rest = [0u8; 64];
        while !matches!(input.read(&mut rest), Ok(0) | Err(_)) {}
        drop(sender.send(Event::Stop));
    });
    let keepers = [
        child.stdout.take().map(|pipe| (Box::new(pipe) as Box<dyn Read + Send>, order.stdout.clone())),
        child.stderr.take().map(|pipe| (Box::new(pipe) as Box<dyn Read + Send>, order.stderr.clone())),
    ]
    .into_iter()
    .flatten()
    .map(|(pipe, file)| {
        let bytes = order.output_bytes;
        std::thread::spawn(move || keep_output(pipe, &file, bytes))
    })
    .collect::<Vec<_>>();
    let end = loop {
        match child.try_wait() {
            Ok(Some(status)) => break ReplyEnd::Exit(status.code().unwrap_or(-1)),
            Ok(None) => {}
            Err(error) => break ReplyEnd::NotStarted(format!("{program}: {error}")),
        }
        if started.elapsed() >= order.limit {
            break ReplyEnd::TimedOut;
        }
        if let Ok(Event::Stop) = events.recv_timeout(Duration::from_millis(20)) {
            break ReplyEnd::Stopped;
        }
    };
    drop(child.kill());
    drop(child.wait());
    let seconds = started.elapsed().as_secs_f64();
    let problem = keepers.into_iter().filter_map(|keeper| keeper.join().ok().flatten()).next();
    Reply { end, seconds, problem }
}
