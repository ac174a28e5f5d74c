//! The inner step: a process that restricts itself and becomes the program.

use super::order::Order;
use crate::lab::environment::CHILD;
use crate::lab::sandbox::{self, Rights};
use nix::errno::Errno;
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use std::time::Duration;

/// First argument of the step.
pub(super) const BECOME: &str = "become";
/// How often starting is tried again when another thread of the lab still holds the program open for writing, as a
/// thread that is just starting a process does for a moment.
const BUSY_TRIES: u32 = 50;

/// What the step is told, as its second argument; the program's command follows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Start {
    /// What stands before the reason when the program cannot be started.
    word: String,
    rights: Rights,
    /// Whether the program is this executable, doing a child's work.
    own: bool,
}

impl Start {
    pub fn of(order: &Order, word: &str) -> Self {
        let rights = Rights { file_bytes: order.bounds.file_bytes, processes: order.bounds.processes };
        Self { word: word.to_owned(), rights, own: order.own }
    }

    /// The step's arguments but for the command.
    pub fn arguments(&self) -> [String; 2] {
        [BECOME.to_owned(), serde_json::to_string(self).unwrap_or_default()]
    }

    /// Becomes the program; comes back only with the reason why not.
    fn start(&self, command: &[String]) -> Result<std::convert::Infallible, String> {
        let Some((program, arguments)) = command.split_first() else { return Err("an empty command".to_owned()) };
        sandbox::restrict(&self.rights).map_err(|error| format!("cannot be restricted: {error}"))?;
        close_inherited();
        for _ in 0..BUSY_TRIES {
            let mut command = Command::new(program);
            command.args(arguments);
            if !self.own {
                command.env_remove(CHILD);
            }
            let error = command.exec();
            if error.raw_os_error() != Some(Errno::ETXTBSY as i32) {
                return Err(format!("{program}: {error}"));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Err(format!("{program}: someone is still writing it"))
    }
}

/// The step's main function. `arguments` are those after its name.
pub(super) fn become_program(arguments: &[String]) -> ExitCode {
    let Some((start, command)) = arguments.split_first() else { return ExitCode::from(127) };
    let Ok(start) = serde_json::from_str::<Start>(start) else { return ExitCode::from(127) };
    let reason = match start.start(command) {
        Ok(never) => match never {},
        Err(reason) => reason,
    };
    drop(writeln!(std::io::stderr(), "{} {reason}", start.word));
    ExitCode::from(127)
}

/// Closes what whoever started cudalint has left open beside the three usual streams: a socket or a file that the program
/// has no business with.
fn close_inherited() {
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else { return };
    let open: Vec<i32> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|file| *file > 2)
        .collect();
    for file in open {
        let _ = nix::unistd::close(file);
    }
}
