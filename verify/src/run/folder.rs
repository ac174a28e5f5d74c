//! The outcome folder:
//!
//! ```text
//! run.json                      what was asked, and how the run ended
//! machine.json                  the machine it ran on
//! outcomes.jsonl                one outcome a line, as they came
//! scenarios/<id>/outcome.json   the outcome; here as soon as it is known, never half of it
//! scenarios/<id>/1-as-written/  each program that was tried: sources, logs, reports
//! projects/<name>/              builds and runs of projects, which findings share: logs, reports
//! ```
//!
//! Beside these, `builds` and `cache` are for the run itself and go with it; `lock` tells another run that one is here.

use super::plan::Task;
use super::request::{Error, Request, RunReport, slashed};
use crate::lab::{Bench, Lab, lock};
use crate::outcome::Outcome;
use camino::{Utf8Path, Utf8PathBuf};
use cudalint_files::read_file;
use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io::Write;
use std::sync::Mutex;

/// What an outcome folder is known by.
const RUN: &str = "run.json";
const MACHINE: &str = "machine.json";
const OUTCOMES: &str = "outcomes.jsonl";
const SCENARIOS: &str = "scenarios";
const OUTCOME: &str = "outcome.json";
const LOCK: &str = "lock";
/// Folders that are needed during a run only.
const BUILDS: &str = "builds";
const CACHE: &str = "cache";

/// Bytes up to which a file that a program wrote is kept.
const SMALL: u64 = 16 << 20;
/// Folders below a scenario's.
const DEPTH: usize = 8;

/// An outcome folder that this run alone writes.
#[derive(Debug)]
pub(super) struct Folder {
    /// Absolute.
    pub path: Utf8PathBuf,
    outcomes: Mutex<Option<File>>,
    lock: File,
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Closing is not enough: a process that another thread is just starting still has the file for a moment.
        drop(self.lock.unlock());
    }
}

impl Folder {
    /// Takes the folder for this run. What an earlier run left stays when it is resumed, and is moved to `<folder>.old`
    /// when not.
    pub fn open(path: &Utf8Path, resume: bool) -> Result<Self, Error> {
        let failed = |path: &Utf8Path| {
            let path = path.to_owned();
            move |source| Error::Folder { path, source }
        };
        // Without a slash at the end, which would name the folder behind a link.
        let path: Utf8PathBuf = path.components().collect();
        refuse_link(&path)?;
        if path.is_dir() && !is_ours(&path).map_err(failed(&path))? {
            return Err(Error::NotOurs(path));
        }
        std::fs::create_dir_all(&path).map_err(failed(&path))?;
        let path = path.canonicalize_utf8().map_err(failed(&path))?;
        let lock_path = path.join(LOCK);
        let lock_file =
            File::options().create(true).truncate(false).write(true).open(&lock_path).map_err(failed(&lock_path))?;
        match lock_file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Error::Locked(path)),
            // A file system without locks: a folder for one run at a time is the user's care then.
            Err(TryLockError::Error(_)) => {}
        }
        let folder = Self { path, outcomes: Mutex::default(), lock: lock_file };
        if !resume {
            folder.put_aside()?;
        }
        Ok(folder)
    }

    /// Moves what an earlier run left beside.
    fn put_aside(&self) -> Result<(), Error> {
        let failed = |source| Error::Folder { path: self.path.clone(), source };
        if !self.path.join(RUN).is_file() {
            return Ok(());
        }
        let old = Utf8PathBuf::from(format!("{}.old", self.path));
        refuse_link(&old)?;
        if old.is_dir() {
            if !is_ours(&old).map_err(failed)? {
                return Err(Error::NotOurs(old));
            }
            std::fs::remove_dir_all(&old).map_err(failed)?;
        }
        std::fs::create_dir(&old).map_err(|source| Error::Folder { path: old.clone(), source })?;
        for entry in self.path.read_dir_utf8().map_err(failed)?.flatten() {
            if entry.file_name() != LOCK {
                std::fs::rename(entry.path(), old.join(entry.file_name())).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// The outcomes that an earlier run left. One that cannot be read is no outcome.
    pub fn outcomes(&self) -> Result<Vec<Outcome>, Error> {
        let scenarios = self.path.join(SCENARIOS);
        if !scenarios.is_dir() {
            return Ok(Vec::new());
        }
        let entries = scenarios.read_dir_utf8().map_err(|source| Error::Folder { path: scenarios.clone(), source })?;
        let texts = entries.flatten().filter_map(|entry| read_file(entry.path().join(OUTCOME).as_std_path()).ok());
        Ok(texts.filter_map(|text| serde_json::from_slice(&text).ok()).collect())
    }

    /// Writes what is known at the beginning, and the outcomes that are taken over.
    pub fn begin(
        &mut self,
        request: &Request<'_>,
        plan: &[Task],
        taken: &BTreeMap<usize, Outcome>,
    ) -> Result<(), Error> {
        let machine = serde_json::to_value(&request.machine).unwrap_or_default();
        self.write(MACHINE, &machine)?;
        let mut about = about(request, plan.len());
        about["state"] = "running".into();
        self.write(RUN, &about)?;
        let path = self.path.join(OUTCOMES);
        let mut lines = String::new();
        for outcome in taken.values() {
            lines.push_str(&serde_json::to_string(outcome).unwrap_or_default());
            lines.push('\n');
        }
        let opened = std::fs::write(&path, lines).and_then(|()| File::options().append(true).open(&path));
        let file = opened.map_err(|source| Error::Folder { path, source })?;
        *lock(&self.outcomes) = Some(file);
        Ok(())
    }

    /// Removes what is left of a scenario that has no outcome, and makes its folder.
    pub fn fresh(&self, id: &str) -> Result<Utf8PathBuf, Error> {
        let path = self.path.join(SCENARIOS).join(id);
        let cleared = match std::fs::remove_dir_all(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => std::fs::create_dir_all(&path),
        };
        cleared.map_err(|source| Error::Folder { path: path.clone(), source })?;
        Ok(path)
    }

    /// Writes an outcome: whole, or not at all.
    pub fn record(&self, outcome: &Outcome) -> Result<(), Error> {
        let path = self.path.join(SCENARIOS).join(&outcome.id).join(OUTCOME);
        let failed = |path: &Utf8Path, source| Error::Unwritten { path: path.to_owned(), source };
        let value = serde_json::to_value(outcome).map_err(|error| failed(&path, error.into()))?;
        write_whole(&path, &value).map_err(|error| failed(&path, error))?;
        let line = format!("{value}\n");
        if let Some(file) = &mut *lock(&self.outcomes) {
            file.write_all(line.as_bytes()).map_err(|error| failed(&self.path.join(OUTCOMES), error))?;
        }
        Ok(())
    }

    /// Writes how the run ended.
    pub fn end(&self, request: &Request<'_>, report: &RunReport) -> Result<(), Error> {
        let mut about = about(request, report.selected);
        about["state"] = if report.interrupted { "interrupted" } else { "finished" }.into();
        about["outcomes"] = report.outcomes.len().into();
        about["taken_over"] = report.taken_over.into();
        about["notes"] = report.notes.clone().into();
        about["times"] = serde_json::to_value(report.times).unwrap_or_default();
        self.write(RUN, &about)
    }

    /// Removes what only the run itself needed.
    pub fn tidy(&self, keep: bool) {
        drop(std::fs::remove_dir_all(self.path.join(CACHE)));
        if !keep {
            drop(std::fs::remove_dir_all(self.path.join(BUILDS)));
            // Of projects, logs and reports stay.
            for project in self.path.join(Lab::PROJECTS).read_dir_utf8().into_iter().flatten().flatten() {
                for made in ["tree", "build", "tools", Bench::TEMPORARY] {
                    drop(std::fs::remove_dir_all(project.path().join(made)));
                }
            }
        }
    }

    fn write(&self, name: &str, value: &serde_json::Value) -> Result<(), Error> {
        let path = self.path.join(name);
        write_whole(&path, value).map_err(|source| Error::Folder { path, source })
    }
}

/// Removes from a scenario's folder what nobody needs any more: short-lived files, and unless they are to be kept, what was
/// built (the programs given, and all other object files) and large files, but no reports.
pub(super) fn tidy_scenario(folder: &Utf8Path, programs: &[Utf8PathBuf], keep: bool) {
    if !keep {
        for program in programs {
            drop(std::fs::remove_file(program));
        }
    }
    sweep(folder, DEPTH, keep);
}

fn sweep(folder: &Utf8Path, depth: usize, keep: bool) {
    let Ok(entries) = folder.read_dir_utf8() else { return };
    for entry in entries.flatten() {
        let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
        if kind.is_dir() {
            if entry.file_name() == Bench::TEMPORARY {
                drop(std::fs::remove_dir_all(path));
            } else if depth > 0 {
                sweep(path, depth - 1, keep);
            }
        } else if !keep && kind.is_file() && (is_object(path) || is_large(path)) {
            drop(std::fs::remove_file(path));
        }
    }
}

/// Whether a file is a program, a library or an object: by its first bytes.
fn is_object(path: &Utf8Path) -> bool {
    use std::io::Read;
    let mut head = [0u8; 4];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut head));
    read.is_ok() && (head == *b"\x7fELF" || head == *b"!<ar" || head[..2] == *b"MZ" || head == [0xcf, 0xfa, 0xed, 0xfe])
}

fn is_large(path: &Utf8Path) -> bool {
    let report = matches!(path.extension(), Some("xml" | "log" | "stdout" | "stderr" | "json"));
    !report && path.metadata().is_ok_and(|metadata| metadata.len() > SMALL)
}

/// A link leads where the user does not see that files are removed and written.
fn refuse_link(path: &Utf8Path) -> Result<(), Error> {
    if path.is_symlink() { Err(Error::Link(path.to_owned())) } else { Ok(()) }
}

/// Whether a folder is an outcome folder, or empty.
fn is_ours(path: &Utf8Path) -> std::io::Result<bool> {
    let marked = read_file(path.join(RUN).as_std_path()).ok().and_then(|text| serde_json::from_slice(&text).ok());
    if marked.is_some_and(|run: serde_json::Value| run["tool"] == "cudalint") {
        return Ok(true);
    }
    let names = path.read_dir_utf8()?.map(|entry| Ok(entry?.file_name().to_owned()));
    let names = names.collect::<std::io::Result<Vec<String>>>()?;
    // A run that ended before it had written anything leaves its lock.
    Ok(names.iter().all(|name| name == LOCK))
}

/// What a run is known by.
fn about(request: &Request<'_>, selected: usize) -> serde_json::Value {
    serde_json::json!({
        "tool": "cudalint",
        "version": env!("CARGO_PKG_VERSION"),
        "root": slashed(&request.root),
        "findings": selected,
        "jobs": request.jobs,
        "only": request.only,
        "run_limit_seconds": request.limits.run.as_secs_f64(),
        "build_limit_seconds": request.limits.build.as_secs_f64(),
        "options": request.options,
    })
}

/// Writes a file so that a reader sees all of it or nothing.
fn write_whole(path: &Utf8Path, value: &serde_json::Value) -> std::io::Result<()> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    let half = Utf8PathBuf::from(format!("{path}.part"));
    std::fs::write(&half, text)?;
    std::fs::rename(&half, path).inspect_err(|_| drop(std::fs::remove_file(&half)))
}
