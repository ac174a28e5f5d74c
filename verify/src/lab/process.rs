//! Child processes, from the lab's side: each is started through a launcher and ends with its time, with the run, or by
//! itself.

use super::bench::Lab;
use super::environment::CHILD;
use super::job::End;
use super::launch::{Bounds, DEVICE, Order, Reply, ReplyEnd};
use super::sandbox::Network;
use super::slots::LOOK;
use camino::{Utf8Path, Utf8PathBuf};
use std::io::{Read, Write};
use std::process::{Child, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Between a polite request to end and the end.
const GRACE: Duration = Duration::from_millis(300);
/// What a launcher may take beyond its program's time before it is taken for lost.
const LAUNCHER: Duration = Duration::from_secs(15);
/// How long opening a GPU may take. The first process of a machine that was just started may wait for the driver.
const OPENING: Duration = Duration::from_secs(30);
/// After a wish to stop, a launcher has this long to end its program and say so.
const STOPPING: Duration = Duration::from_secs(7);

/// A process to start.
#[derive(Debug)]
pub(super) struct Task {
    /// The program, absolute or found on `PATH`, and its arguments.
    pub command: Vec<String>,
    /// Working folder.
    pub folder: Utf8PathBuf,
    /// All its variables.
    pub environment: Vec<(String, String)>,
    /// Where its standard output goes.
    pub stdout: Utf8PathBuf,
    /// Where its standard error goes.
    pub stderr: Utf8PathBuf,
    /// How long it may take.
    pub limit: Duration,
    /// Whether it uses a GPU.
    pub device: bool,
}

/// What became of it.
#[derive(Debug)]
pub(super) struct Done {
    /// How it ended.
    pub end: End,
    /// Wall-clock seconds.
    pub seconds: f64,
}

impl Lab {
    /// How programs that use a GPU lose the network: as others do, unless the GPU is then out of reach. A driver or a
    /// container may be set up so that it is; then its user would see nothing but failures that are not the program's.
    fn network_beside_device(&self) -> Network {
        *self.beside_device.get_or_init(|| {
            let network = self.network();
            if network == Network::Kept || self.reaches_device(network) || !self.reaches_device(Network::Kept) {
                return network;
            }
            self.note(
                "programs that use the GPU keep the network: without it, this system does not let them use the GPU"
                    .to_owned(),
            );
            for note in self.launcher.trial(Network::Kept).into_iter().flatten() {
                self.note(note);
            }
            Network::Kept
        })
    }

    /// Whether a process that loses the network this way can open a GPU.
    fn reaches_device(&self, network: Network) -> bool {
        let mut command = self.launcher.command();
        command.args([DEVICE, network.word()]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let Ok(mut child) = command.spawn() else { return false };
        let started = Instant::now();
        while started.elapsed() < OPENING && !self.stop.requested() {
            match child.try_wait() {
                Ok(Some(status)) => return status.success(),
                Ok(None) => std::thread::sleep(Duration::from_millis(5)),
                Err(_) => break,
            }
        }
        drop(child.kill());
        drop(child.wait());
        false
    }

    /// Starts a process and waits for its end, or until what it has written is enough.
    pub(super) fn execute(&self, task: &Task, enough: Option<&mut dyn FnMut() -> bool>) -> Done {
        if self.stop.requested() {
            return Done { end: End::Interrupted, seconds: 0.0 };
        }
        let order = Order {
            launcher: self.launcher.words(),
            command: task.command.clone(),
            folder: task.folder.clone(),
            stdout: task.stdout.clone(),
            stderr: task.stderr.clone(),
            output_bytes: self.limits.output_bytes,
            bounds: Bounds {
                file_bytes: self.limits.file_bytes,
                disk_bytes: self.limits.disk_bytes,
                memory_bytes: self.limits.memory_bytes,
                processes: self.limits.processes,
                folders: vec![task.folder.clone(), self.caches()],
            },
            own: task.environment.iter().any(|(name, _)| name == CHILD),
            limit: task.limit,
            grace: GRACE,
            network: if task.device { self.network_beside_device() } else { self.network() },
        };
        let started = Instant::now();
        let done = |end| Done { end, seconds: started.elapsed().as_secs_f64() };
        let mut command = self.launcher.command();
        command.env_clear().envs(task.environment.iter().map(|(name, value)| (name, value)));
        command.env(CHILD, "1");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => return done(End::NotStarted(format!("{}: {error}", self.launcher.program))),
        };
        let (answer, had_enough) = self.attend(&mut child, &order, enough);
        drop(child.wait());
        match answer {
            Some(reply) => {
                if let Some(problem) = reply.problem {
                    self.look_for_space(&problem);
                    self.note(format!("{}: {problem}", shown(&task.command)));
                }
                let end = match reply.end {
                    ReplyEnd::Exit(status) => End::Exit(status),
                    ReplyEnd::Signal(signal) => End::Signal(signal),
                    ReplyEnd::TimedOut => End::TimedOut,
                    ReplyEnd::OverLimit(problem) => End::OverLimit(problem),
                    ReplyEnd::NotStarted(reason) => End::NotStarted(reason),
                    ReplyEnd::Stopped if self.stop.requested() => End::Interrupted,
                    ReplyEnd::Stopped if had_enough => End::Enough,
                    // Signals of others: the program's own, it may be.
                    ReplyEnd::Stopped => End::NotStarted("someone else ended its launcher".to_owned()),
                };
                Done { end, seconds: reply.seconds }
            }
            None if self.stop.requested() => done(End::Interrupted),
            None if had_enough => done(End::Enough),
            None if started.elapsed() >= task.limit => done(End::TimedOut),
            None => done(End::NotStarted(format!("{}: the launcher did not answer", shown(&task.command)))),
        }
    }

    /// Gives the order and waits for the answer. A launcher that gives none in time is killed, and its program with it. Also
    /// tells whether the program was asked to end since what it had written was enough.
    fn attend(
        &self,
        child: &mut Child,
        order: &Order,
        mut enough: Option<&mut dyn FnMut() -> bool>,
    ) -> (Option<Reply>, bool) {
        let mut had_enough = false;
        let (Some(mut answer_pipe), mut order_pipe) = (child.stdout.take(), child.stdin.take()) else {
            return (None, false);
        };
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            let mut text = String::new();
            drop(answer_pipe.read_to_string(&mut text));
            drop(sender.send(text));
        });
        let Ok(mut line) = serde_json::to_string(order) else { return (None, false) };
        line.push('\n');
        let mut deadline = Instant::now() + order.limit + order.grace + LAUNCHER;
        if order_pipe.as_mut().is_none_or(|pipe| pipe.write_all(line.as_bytes()).is_err()) {
            order_pipe = None;
        }
        loop {
            match answers.recv_timeout(LOOK) {
                Ok(text) => return (serde_json::from_str(&text).ok(), had_enough),
                Err(RecvTimeoutError::Disconnected) => return (None, had_enough),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if order_pipe.is_some() && !self.stop.requested() {
                had_enough = enough.as_mut().is_some_and(|enough| enough());
            }
            if order_pipe.is_some() && (had_enough || self.stop.requested()) {
                order_pipe = None;
                deadline = deadline.min(Instant::now() + STOPPING);
            }
            if Instant::now() >= deadline {
                drop(child.kill());
                return (None, had_enough);
            }
        }
    }
}

/// A command as a person would type it.
pub(super) fn shown(command: &[String]) -> String {
    command.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// A word as a shell reads it.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// The first bytes of a file as text; empty when there is none.
pub(crate) fn head_of(path: &Utf8Path, bytes: u64) -> String {
    let mut head = Vec::new();
    if let Ok(file) = std::fs::File::open(path) {
        drop(file.take(bytes).read_to_end(&mut head));
    }
    String::from_utf8_lossy(&head).into_owned()
}
