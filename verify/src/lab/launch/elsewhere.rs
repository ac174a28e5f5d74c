//! The launcher where there are no process groups and signals.

use super::order::{Event, Order, Reply, ReplyEnd};
use super::output::keep_output;
use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// Starts the program and waits for its end. Systems without process groups get the direct child ended, no more.
pub(super) fn carry_out(order: &Order, mut input: impl Read + Send + 'static) -> Reply {
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
    let (sender, events) = channel();
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
