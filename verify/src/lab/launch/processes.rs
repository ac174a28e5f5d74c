//! The processes below the launcher: found, and ended.

use super::order::Event;
use crate::lab::sandbox::parent_of;
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// How long processes that were killed may take to be gone. One that sits in a driver call dies when the call returns.
const DEATH: Duration = Duration::from_secs(5);

/// Ends the program and every descendant: politely first where it still runs, then by force, until the kernel says that
/// no child is left. Gives whether one is.
pub(super) fn end_everything(program: Pid, running: bool, grace: Duration, events: &Receiver<Event>) -> bool {
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
pub(super) fn descendants() -> Vec<Pid> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let parents: Vec<(i32, i32)> = numbers.filter_map(|process| Some((process, parent_of(process)?))).collect();
    let mut found = vec![std::process::id() as i32];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        next += 1;
        found.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(process, _)| *process));
    }
    found.into_iter().skip(1).map(Pid::from_raw).collect()
}
