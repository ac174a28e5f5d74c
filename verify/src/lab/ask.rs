//! Questions to tools: a version, an import in Python. Short, without a place on a GPU, with an end.

use super::bench::Lab;
use super::environment;
use super::job::End;
use super::process::{Task, head_of, shown};
use std::time::Duration;

/// Bytes of each output stream that an answer holds.
const TEXT: u64 = 1 << 20;

/// What a tool answered.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    /// How it ended.
    pub end: End,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// Wall-clock seconds.
    pub seconds: f64,
}

impl Answer {
    /// Why it is no answer, in one line; none when the tool ended by itself and well.
    pub fn failure(&self) -> Option<String> {
        let said = || {
            let line = |text: &str| text.lines().map(str::trim).rfind(|line| !line.is_empty()).map(readable);
            line(&self.stderr).or_else(|| line(&self.stdout)).map_or_else(String::new, |line| format!(": {line}"))
        };
        match &self.end {
            End::Exit(0) => None,
            End::Exit(status) => Some(format!("ends with status {status}{}", said())),
            End::Signal(signal) => Some(format!("was ended by signal {signal}{}", said())),
            End::TimedOut => Some(format!("took longer than {:.0} s and was ended", self.seconds)),
            End::NotStarted(reason) => Some(format!("cannot be started: {reason}")),
            End::OverLimit(problem) => Some(problem.clone()),
            End::Interrupted | End::Enough => Some("was interrupted".to_owned()),
        }
    }
}

/// The beginning of a tool's words, without what a terminal would obey.
pub(crate) fn readable(words: &str) -> String {
    let plain = words.trim().chars().map(|c| if c.is_control() || c == char::REPLACEMENT_CHARACTER { '?' } else { c });
    let mut text: String = plain.take(201).collect();
    if text.chars().count() > 200 {
        text.pop();
        text.push('…');
    }
    text
}

impl Lab {
    /// Runs a command in a folder of its own below `asks`, named `name`, and ends it when it takes too long.
    pub(crate) fn ask(&self, name: &str, command: &[String], set: &[(String, String)], limit: Duration) -> Answer {
        let folder = self.folder.join("asks").join(super::shelf::plain(name));
        let made = std::fs::create_dir_all(&folder).and_then(|()| std::fs::create_dir_all(self.caches()));
        if let Err(error) = made {
            let end = End::NotStarted(format!("{}: {folder}: {error}", shown(command)));
            return Answer { end, stdout: String::new(), stderr: String::new(), seconds: 0.0 };
        }
        let (stdout, stderr) = (folder.join("stdout"), folder.join("stderr"));
        let task = Task {
            command: command.to_vec(),
            environment: environment::of_child(&folder, &self.caches(), set),
            folder,
            stdout: stdout.clone(),
            stderr: stderr.clone(),
            limit,
            device: false,
        };
        let done = self.execute(&task, None);
        Answer { end: done.end, stdout: head_of(&stdout, TEXT), stderr: head_of(&stderr, TEXT), seconds: done.seconds }
    }
}
