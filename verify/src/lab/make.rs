//! Builds by commands of the user's own: `make`, `cmake --build`. They start compilers by themselves.

use super::bench::{Bench, Phase};
use super::environment;
use super::job::{End, RunOutcome};
use super::process::{Task, head_of, quoted};
use super::shelf::plain;
use camino::Utf8PathBuf;
use std::time::{Duration, Instant};

/// Bytes of each output stream that an outcome holds.
const TEXT: u64 = 4 << 20;

impl Bench<'_> {
    /// Runs a command that builds, as a shell reads it, in a folder. The log is `<label>.build.log`.
    pub(crate) fn make(
        &self,
        label: &str,
        command: &str,
        folder: &Utf8PathBuf,
        environment: &[(String, String)],
        limit: Duration,
    ) -> RunOutcome {
        let log = self.folder.join(format!("{}.build.log", plain(label)));
        let outcome = |end, stdout, stderr, seconds| RunOutcome {
            end,
            stdout,
            stderr,
            report: None,
            log: Utf8PathBuf::from(self.relative(&log)),
            command: command.to_owned(),
            device: None,
            seconds,
        };
        let not_made = |end| outcome(end, String::new(), String::new(), 0.0);
        let waiting = Instant::now();
        self.enter(Phase::Waiting);
        let slot = self.lab.builders.take(&self.lab.stop);
        self.count(|times| times.wait += waiting.elapsed().as_secs_f64());
        if slot.is_none() {
            self.count(|times| times.interrupted = true);
            return not_made(End::Interrupted);
        }
        let temporary = match self.temporary() {
            Ok(temporary) => temporary,
            Err(error) => return not_made(End::NotStarted(format!("{}: {error}", self.folder))),
        };
        let (stdout, stderr) = (temporary.join("make.stdout"), temporary.join("make.stderr"));
        let task = Task {
            // What is measured is the scenario's folder.
            command: vec![
                "sh".to_owned(),
                "-c".to_owned(),
                format!("cd {} || exit\n{command}", quoted(folder.as_str())),
            ],
            folder: self.folder.clone(),
            environment: environment::of_child(&temporary, &self.lab.caches(), environment),
            stdout: stdout.clone(),
            stderr: stderr.clone(),
            limit,
            device: false,
        };
        self.enter(Phase::Building);
        let done = self.lab.execute(&task, None);
        self.count(|times| {
            times.build += done.seconds;
            times.interrupted |= done.end == End::Interrupted;
        });
        let (out, err) = (head_of(&stdout, TEXT), head_of(&stderr, TEXT));
        let text = format!("$ cd {}\n$ {command}\n{out}{err}", quoted(folder.as_str()));
        if let Err(error) = std::fs::write(&log, text) {
            self.lab.look_for_space(&error.to_string());
        }
        outcome(done.end, out, err, done.seconds)
    }
}
