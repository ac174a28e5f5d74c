//! The launcher where there are process groups and signals.

use super::order::{Event, Order, Reply, ReplyEnd};
use super::output::keep_output;
use super::processes::end_everything;
use super::start::Start;
use super::usage::Usage;
use crate::lab::sandbox;
use nix::errno::Errno;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How long the output of a dead program may take to be read to its end.
const REST_OF_OUTPUT: Duration = Duration::from_secs(2);
/// How often is looked at what the program takes.
const LOOK: Duration = Duration::from_millis(100);

/// Starts the program and waits for its end.
pub(super) fn carry_out(order: &Order, mut input: impl Read + Send + 'static) -> Reply {
    // Before any thread is made: a process with threads cannot enter a user namespace.
    if let Err(error) = sandbox::drop_network(order.network) {
        return Reply::not_started(format!("the network cannot be taken away: {error}"));
    }
    if let Err(error) = sandbox::keep_orphans() {
        return Reply::not_started(format!("the launcher cannot keep its children: {error}"));
    }
    let (sender, events) = channel();
    let mut signals = match signal_hook::iterator::Signals::new([SIGCHLD, SIGTERM, SIGINT, SIGHUP]) {
        Ok(signals) => signals,
        Err(error) => return Reply::not_started(format!("the launcher cannot watch its children: {error}")),
    };
    let from_signals = sender.clone();
    std::thread::spawn(move || {
        for signal in signals.forever() {
            drop(from_signals.send(if signal == SIGCHLD { Event::Child } else { Event::Stop }));
        }
    });
    std::thread::spawn(move || {
        let mut rest = [0u8; 64];
        while !matches!(input.read(&mut rest), Ok(0) | Err(_)) {}
        drop(sender.send(Event::Stop));
    });
    // What a failed start says comes on standard error, behind a word that no program can guess.
    let word = format!("cudalint-{}-{:?}:", std::process::id(), Instant::now());
    let Some((launcher, own)) = order.launcher.split_first() else {
        return Reply::not_started("the launcher does not know its own command");
    };
    let started = Instant::now();
    let mut command = Command::new(launcher);
    command.args(own).args(Start::of(order, &word).arguments()).args(&order.command);
    command.current_dir(&order.folder).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return Reply::not_started(format!("{launcher}: {error}")),
    };
    let (done, outputs) = channel();
    let pipes: [(Option<Box<dyn Read + Send>>, _); 2] = [
        (child.stdout.take().map(|pipe| Box::new(pipe) as _), order.stdout.clone()),
        (child.stderr.take().map(|pipe| Box::new(pipe) as _), order.stderr.clone()),
    ];
    for (pipe, file) in pipes {
        let (done, bytes) = (done.clone(), order.output_bytes);
        std::thread::spawn(move || drop(done.send(pipe.and_then(|pipe| keep_output(pipe, &file, bytes)))));
    }
    let program = Pid::from_raw(child.id() as i32);
    let end = wait_for(program, started + order.limit, Usage::of(&order.bounds), &events);
    let seconds = started.elapsed().as_secs_f64();
    let survivors = end_everything(program, !matches!(end, Some(Ended::By(_))), order.grace, &events);
    let mut problem = survivors.then(|| "a process of it could not be ended".to_owned());
    for _ in 0..2 {
        if let Ok(failed) = outputs.recv_timeout(REST_OF_OUTPUT) {
            problem = problem.or(failed);
        }
    }
    let end = match end {
        Some(Ended::By(WaitStatus::Exited(_, 127))) => match failed_start(order, &word) {
            Some(reason) => ReplyEnd::NotStarted(reason),
            None => ReplyEnd::Exit(127),
        },
        Some(Ended::By(WaitStatus::Exited(_, status))) => ReplyEnd::Exit(status),
        Some(Ended::By(WaitStatus::Signaled(_, signal, _))) => ReplyEnd::Signal(signal as i32),
        Some(Ended::By(_)) | None => ReplyEnd::NotStarted("the launcher lost its child".to_owned()),
        Some(Ended::TimedOut) => ReplyEnd::TimedOut,
        Some(Ended::OverLimit(problem)) => ReplyEnd::OverLimit(problem),
        Some(Ended::Stopped) => ReplyEnd::Stopped,
    };
    Reply { end, seconds, problem }
}

/// Why waiting ended.
#[derive(Debug)]
enum Ended {
    By(WaitStatus),
    TimedOut,
    OverLimit(String),
    Stopped,
}

/// Waits for the program's end, one of its limits or a stop. None when the kernel knows of no such child.
fn wait_for(program: Pid, limit: Instant, mut usage: Usage<'_>, events: &Receiver<Event>) -> Option<Ended> {
    let mut look = Instant::now() + LOOK;
    loop {
        // All children are waited for: orphans come here too.
        loop {
            match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::StillAlive) => break,
                Ok(status) if status.pid() == Some(program) => return Some(Ended::By(status)),
                Ok(_) | Err(Errno::EINTR) => {}
                Err(_) => return None,
            }
        }
        match events.recv_timeout(limit.min(look).saturating_duration_since(Instant::now())) {
            Ok(Event::Child) | Err(RecvTimeoutError::Timeout) => {}
            Ok(Event::Stop) | Err(RecvTimeoutError::Disconnected) => return Some(Ended::Stopped),
        }
        if Instant::now() >= limit {
            return Some(Ended::TimedOut);
        }
        if Instant::now() >= look {
            if let Some(problem) = usage.beyond() {
                return Some(Ended::OverLimit(problem));
            }
            look = Instant::now() + LOOK;
        }
    }
}

/// Why the program could not be started: what the inner step said behind the word.
fn failed_start(order: &Order, word: &str) -> Option<String> {
    let mut head = vec![0u8; 4096];
    let length = std::fs::File::open(&order.stderr).ok()?.read(&mut head).ok()?;
    let text = String::from_utf8_lossy(head.get(..length)?).into_owned();
    Some(text.strip_prefix(word)?.trim().to_owned())
}
