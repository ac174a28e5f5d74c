//! The launcher where there are process groups and signals.

use super::{BECOME, Event, Order, Reply, ReplyEnd, keep_output, sandbox};
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How long processes that were killed may take to be gone. One that sits in a driver call dies when the call returns.
const DEATH: Duration = Duration::from_secs(5);
/// How long the output of a dead program may take to be read to its end.
const REST_OF_OUTPUT: Duration = Duration::from_secs(2);
/// How often starting is tried again when another thread of the lab still holds the program open for writing, as a
/// thread that is just starting a process does for a moment.
const BUSY_TRIES: u32 = 50;

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
    command.args(own).arg(BECOME).arg(&word).arg(order.file_bytes.to_string()).args(&order.command);
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
    let end = wait_for(program, started + order.limit, &events);
    let seconds = started.elapsed().as_secs_f64();
    let survivors = end_everything(program, end.is_none_or(|end| !end.finished()), order.grace, &events);
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
        Some(Ended::Stopped) => ReplyEnd::Stopped,
    };
    Reply { end, seconds, problem }
}

/// Why waiting ended.
#[derive(Clone, Copy, Debug)]
enum Ended {
    By(WaitStatus),
    TimedOut,
    Stopped,
}

impl Ended {
    /// Whether the program has ended.
    fn finished(self) -> bool {
        matches!(self, Self::By(_))
    }
}

/// Waits for the program's end, the time limit or a stop. None when the kernel knows of no such child.
fn wait_for(program: Pid, limit: Instant, events: &Receiver<Event>) -> Option<Ended> {
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
        match events.recv_timeout(limit.saturating_duration_since(Instant::now())) {
            Ok(Event::Child) => {}
            Ok(Event::Stop) | Err(RecvTimeoutError::Disconnected) => return Some(Ended::Stopped),
            Err(RecvTimeoutError::Timeout) => return Some(Ended::TimedOut),
        }
    }
}

/// Ends the program and every descendant: politely first where it still runs, then by force, until the kernel says that
/// no child is left. Gives whether one is.
fn end_everything(program: Pid, running: bool, grace: Duration, events: &Receiver<Event>) -> bool {
    if running {
        let _ = killpg(program, Signal::SIGTERM);
        for process in descendants() {
            let _ = kill(process, Signal::SIGTERM);
        }
        if reap_until(Instant::now() + grace, events) {
            return false;
        }
    }
    let deadline = Instant::now() + DEATH;
    while Instant::now() < deadline {
        // Stopped first, so that a program which starts others faster than they are found stands still.
        for signal in [Signal::SIGSTOP, Signal::SIGKILL] {
            for process in descendants() {
                let _ = kill(process, signal);
            }
        }
        // Where there is no /proc, the group is what can be named. Its number is not used once the program was waited
        // for, elsewhere: it could be another's by then.
        if running || cfg!(not(target_os = "linux")) {
            let _ = killpg(program, Signal::SIGKILL);
        }
        if reap_until(Instant::now() + Duration::from_millis(50), events) {
            return false;
        }
    }
    true
}

/// Takes in ended children until there is none (then true) or time is up.
fn reap_until(deadline: Instant, events: &Receiver<Event>) -> bool {
    loop {
        loop {
            match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::StillAlive) => break,
                Ok(_) | Err(Errno::EINTR) => {}
                Err(_) => return true,
            }
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return false;
        }
        // A stop is already under way: only time and children matter now. A closed channel would answer at once.
        if let Err(RecvTimeoutError::Disconnected) = events.recv_timeout(left) {
            std::thread::sleep(left.min(Duration::from_millis(5)));
        }
    }
}

/// All processes below this one, by the parents that `/proc` names. Without `/proc`, none: the group is ended all the same.
fn descendants() -> Vec<Pid> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let mut parents = Vec::new();
    for entry in entries.flatten() {
        let Some(process) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
        // `pid (name) state parent …`, where the name may hold anything: proc_pid_stat(5).
        let Ok(stat) = std::fs::read(entry.path().join("stat")) else { continue };
        let stat = String::from_utf8_lossy(&stat);
        let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse::<i32>().ok());
        if let Some(parent) = parent {
            parents.push((process, parent));
        }
    }
    let mut found = vec![std::process::id() as i32];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        next += 1;
        found.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(process, _)| *process));
    }
    found.into_iter().skip(1).map(Pid::from_raw).collect()
}

/// Why the program could not be started: what the inner step said behind the word.
fn failed_start(order: &Order, word: &str) -> Option<String> {
    let mut head = vec![0u8; 4096];
    let length = std::fs::File::open(&order.stderr).ok()?.read(&mut head).ok()?;
    let text = String::from_utf8_lossy(head.get(..length)?).into_owned();
    Some(text.strip_prefix(word)?.trim().to_owned())
}

/// The inner step: restricts this process and becomes the program. `arguments`: the word, the largest file in bytes, the
/// command.
pub(super) fn become_program(arguments: &[String]) -> ExitCode {
    let [word, bytes, command @ ..] = arguments else { return ExitCode::from(127) };
    let reason = match start(bytes, command) {
        Ok(never) => match never {},
        Err(reason) => reason,
    };
    drop(writeln!(std::io::stderr(), "{word} {reason}"));
    ExitCode::from(127)
}

/// Becomes the program; comes back only with the reason why not.
fn start(bytes: &str, command: &[String]) -> Result<std::convert::Infallible, String> {
    let (Ok(bytes), Some((program, arguments))) = (bytes.parse(), command.split_first()) else {
        return Err("an order of the launcher that is none".to_owned());
    };
    sandbox::restrict(bytes).map_err(|error| format!("cannot be restricted: {error}"))?;
    for _ in 0..BUSY_TRIES {
        let error = Command::new(program).args(arguments).exec();
        if error.raw_os_error() != Some(Errno::ETXTBSY as i32) {
            return Err(format!("{program}: {error}"));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Err(format!("{program}: someone is still writing it"))
}
