//! Runs of programs, watched or not, on a GPU or without one.

use super::bench::{Bench, Phase};
use super::enough::{Decided, Enough};
use super::job::{End, Run, RunOutcome};
use super::process::{Done, Task, head_of, quoted, shown};
use super::slots::lock;
use super::{environment, watch};
use camino::{Utf8Path, Utf8PathBuf};
use std::time::{Duration, Instant};

/// Bytes of each output stream that a run's outcome holds.
const TEXT: u64 = 1 << 20;
/// Bytes of a watcher's report that are read.
const REPORT: u64 = 64 << 20;

impl Bench<'_> {
    /// Runs a program.
    pub fn run(&self, run: &Run) -> RunOutcome {
        self.carry_out(run, None)
    }

    /// Runs a program, until what it, or what watches it, has written into a file of the scenario's folder is enough.
    pub(crate) fn run_until(&self, run: &Run, file: &Utf8Path, decided: &Decided<'_>) -> RunOutcome {
        self.carry_out(run, Some(Enough::new(self.folder.join(file), decided)))
    }

    /// The file of what a watcher prints in a run with this label, while it runs.
    pub(crate) fn printed(&self, label: &str) -> Utf8PathBuf {
        Files::of(&self.folder, label).text
    }

    fn carry_out(&self, run: &Run, mut enough: Option<Enough<'_>>) -> RunOutcome {
        let waiting = Instant::now();
        let slot = if run.device {
            let there = self.lab.machine.devices.len();
            if there == 0 {
                return self.not_started(run, "there is no GPU");
            }
            if there < self.devices {
                let reason = format!("the finding is about {} GPUs, and there are {there}", self.devices);
                return self.not_started(run, &reason);
            }
            self.enter(Phase::Waiting);
            let slot = self.lab.devices.take(&self.lab.stop);
            self.count(|times| times.wait += waiting.elapsed().as_secs_f64());
            if slot.is_none() {
                self.count(|times| times.interrupted = true);
                return RunOutcome { end: End::Interrupted, ..self.not_started(run, "") };
            }
            slot
        } else {
            None
        };
        let device = slot.as_ref().and_then(|slot| self.lab.machine.devices.get(slot.kind));
        let shown = if self.devices > 1 && device.is_some() {
            // Where several matter, which of them is the first does not.
            let all = self.lab.machine.devices.iter().take(self.devices);
            all.map(|device| visible(Some(device.index))).collect::<Vec<_>>().join(",")
        } else {
            visible(device.map(|device| device.index))
        };
        let mut set = vec![("CUDA_VISIBLE_DEVICES".to_owned(), shown)];
        set.extend(run.environment.iter().cloned());
        let Some(own) = self.own_command(run) else { return self.not_started(run, "an empty command") };
        let files = Files::of(&self.folder, &run.label);
        // What an earlier try left must not be read as this run's.
        for file in [&files.stdout, &files.stderr, &files.report, &files.text] {
            drop(std::fs::remove_file(file));
        }
        let port = run.watcher.map(|_| self.lab.ports.take());
        let mut command = Vec::new();
        if let Some((watcher, port)) = run.watcher.zip(port.as_ref()) {
            let Some(sanitizer) = &self.lab.machine.compute_sanitizer else {
                return self.not_started(run, "there is no compute-sanitizer");
            };
            let limits = &self.lab.limits;
            let (report, text) = (name(&files.report), name(&files.text));
            command = watch::command(&sanitizer.path, watcher, limits, port.number, report, text);
            command.extend(watch::filter(&run.kernels));
        }
        command.extend(own.iter().cloned());
        let temporary = match self.temporary() {
            Ok(temporary) => temporary,
            Err(error) => return self.not_started(run, &format!("{}: {error}", self.folder)),
        };
        let identity = self.lab.shelf.identity(&own);
        let task = Task {
            command,
            folder: self.folder.clone(),
            environment: environment::of_child(&temporary, &self.lab.caches(), &set),
            stdout: files.stdout.clone(),
            stderr: files.stderr.clone(),
            limit: self.limit(run, &identity),
            device: run.device,
        };
        self.enter(Phase::Running);
        let mut ends = || enough.as_mut().is_some_and(Enough::ends);
        let done = self.lab.execute(&task, Some(&mut ends));
        self.count(|times| {
            times.run += done.seconds;
            times.interrupted |= done.end == End::Interrupted;
        });
        if run.watcher.is_none() && matches!(done.end, End::Exit(_) | End::Signal(_)) {
            let mut baselines = lock(&self.lab.baselines);
            let longest = baselines.entry(identity).or_default();
            *longest = longest.max(done.seconds);
        }
        self.outcome(run, done, &files, &task.command, device.map(|device| device.name.clone()))
    }

    /// The program and its arguments, where a program of the scenario's folder stands with its whole path.
    fn own_command(&self, run: &Run) -> Option<Vec<String>> {
        let mut own = run.command.clone();
        let program = own.first_mut()?;
        let inside = self.folder.join(program.as_str());
        if inside.is_file() {
            *program = inside.into_string();
        }
        Some(own)
    }

    /// How long a run may take: a multiple of an unwatched run of the same command, where there was one.
    fn limit(&self, run: &Run, identity: &[String]) -> Duration {
        let limits = &self.lab.limits;
        let factor = if run.watcher.is_some() { limits.watched_factor } else { limits.factor };
        match lock(&self.lab.baselines).get(identity) {
            Some(seconds) => {
                let multiple = Duration::try_from_secs_f64(seconds * factor).unwrap_or(limits.run);
                multiple.max(limits.least).min(limits.run)
            }
            None => limits.run,
        }
    }

    fn outcome(&self, run: &Run, done: Done, files: &Files, command: &[String], device: Option<String>) -> RunOutcome {
        let report = run.watcher.and_then(|_| {
            [&files.report, &files.text]
                .into_iter()
                .map(|file| head_of(file, REPORT))
                .find(|text| !text.trim().is_empty())
        });
        let log = if run.watcher.is_some() && files.report.is_file() {
            &files.report
        } else if report.is_some() {
            &files.text
        } else {
            &files.stderr
        };
        let mut words: Vec<String> =
            run.environment.iter().map(|(name, value)| format!("{name}={}", quoted(value))).collect();
        words.push(shown(&self.shortened(command)));
        RunOutcome {
            end: done.end,
            stdout: head_of(&files.stdout, TEXT),
            stderr: head_of(&files.stderr, TEXT),
            report,
            log: Utf8PathBuf::from(self.relative(log)),
            command: words.join(" "),
            device,
            seconds: done.seconds,
        }
    }

    /// A command with programs and files of the scenario's folder named from there, as `./program`.
    pub(super) fn shortened(&self, command: &[String]) -> Vec<String> {
        let shorten = |word: &String| match Utf8Path::new(word).strip_prefix(&self.folder) {
            Ok(inside) => format!("./{inside}"),
            Err(_) => word.clone(),
        };
        command.iter().map(shorten).collect()
    }

    fn not_started(&self, run: &Run, reason: &str) -> RunOutcome {
        RunOutcome {
            end: End::NotStarted(reason.to_owned()),
            stdout: String::new(),
            stderr: String::new(),
            report: None,
            log: Utf8PathBuf::from(self.relative(&Files::of(&self.folder, &run.label).stderr)),
            command: shown(&run.command),
            device: None,
            seconds: 0.0,
        }
    }
}

/// What a run writes.
#[derive(Debug)]
struct Files {
    stdout: Utf8PathBuf,
    stderr: Utf8PathBuf,
    /// The watcher's report.
    report: Utf8PathBuf,
    /// What the watcher says beside.
    text: Utf8PathBuf,
}

impl Files {
    fn of(folder: &Utf8Path, label: &str) -> Self {
        let file = |end: &str| folder.join(format!("{}.{end}", super::shelf::plain(label)));
        Self { stdout: file("stdout"), stderr: file("stderr"), report: file("xml"), text: file("log") }
    }
}

/// A file's name within its folder, which is the child's working folder.
fn name(file: &Utf8Path) -> &str {
    file.file_name().unwrap_or_default()
}

/// The value of `CUDA_VISIBLE_DEVICES` for a GPU, or for none. A number counts among those that this process was given.
fn visible(index: Option<u32>) -> String {
    let Some(index) = index else { return "-1".to_owned() };
    let given = std::env::var("CUDA_VISIBLE_DEVICES").unwrap_or_default();
    match given.split(',').map(str::trim).nth(index as usize) {
        Some(name) if !name.is_empty() => name.to_owned(),
        _ => index.to_string(),
    }
}
