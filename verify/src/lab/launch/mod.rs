//! The launcher: a small process between the lab and each program that it starts. It is this same executable, started
//! again with a hidden word, since what must happen between `fork` and `exec` cannot be done safely in a process with
//! threads.
//!
//! It takes one line of JSON, the [`Order`], on standard input, and answers with one line, the [`Reply`], on standard
//! output. While standard input stays open the program may run; when the lab closes it, or dies in whatever way, the
//! program and all its descendants are ended. Those that left the program's process group, or its session, come back to
//! the launcher as orphans, so that nothing outlives it: it ends them until the kernel says that it has no child.

#[cfg(not(unix))]
mod elsewhere;
mod order;
mod output;
#[cfg(unix)]
mod processes;
#[cfg(unix)]
mod start;
#[cfg(unix)]
mod unix;
#[cfg(unix)]
mod usage;

#[cfg(not(unix))]
use elsewhere::carry_out;
pub(super) use order::{Bounds, Order, Reply, ReplyEnd};
#[cfg(unix)]
use unix::carry_out;

use super::sandbox::{self, Network};
use std::io::{BufRead, Write};
use std::process::ExitCode;

/// First argument of the step that tries a way of starting a program.
pub(super) const TRY: &str = "try";
/// First argument of the step that tries it and opens a GPU then.
pub(super) const DEVICE: &str = "device";
/// What a trial says when the environment of a process above it can be read.
pub(super) const EXPOSED: &str = "exposed";

/// The launcher's main function. `arguments` are those after the hidden word.
pub fn launch_main(arguments: impl IntoIterator<Item = String>) -> ExitCode {
    let arguments: Vec<String> = arguments.into_iter().collect();
    match arguments.first().map(String::as_str) {
        #[cfg(unix)]
        Some(start::BECOME) => start::become_program(&arguments[1..]),
        Some(TRY) => try_out(arguments.get(1).map(String::as_str), false),
        Some(DEVICE) => try_out(arguments.get(1).map(String::as_str), true),
        _ => {
            let reply = take_order();
            let text = serde_json::to_string(&reply).unwrap_or_default();
            let mut out = std::io::stdout().lock();
            let written = writeln!(out, "{text}").and_then(|()| out.flush());
            // Threads that wait for input end with the process.
            if written.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
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

/// Restricts this process as a program is. Says on standard output why that fails, or why no GPU can be opened then, or
/// that the environment of a process above can be read all the same; nothing when all is well.
fn try_out(way: Option<&str>, device: bool) -> ExitCode {
    let network = way.and_then(Network::of_word).unwrap_or(Network::Kept);
    let restricted = sandbox::drop_network(network).and_then(|()| sandbox::restrict(&sandbox::Rights::default()));
    let tried = restricted.map_err(|error| error.to_string());
    match tried.and_then(|()| if device { open_device() } else { Ok(()) }) {
        Ok(()) => {
            if sandbox::reads_ancestors() {
                drop(writeln!(std::io::stdout(), "{EXPOSED}"));
            }
            ExitCode::SUCCESS
        }
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
