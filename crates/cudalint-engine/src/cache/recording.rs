//! What a run asks the disk about sources, and what it is told.

use crate::provider::Provider;
use cudalint_findings::names;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The disk, with all answers written down.
pub(crate) struct Recording<'p> {
    disk: &'p dyn Provider,
    log: Mutex<Log>,
}

#[derive(Default)]
struct Log {
    /// Files, by their real paths, with what [`answer`] says of them.
    reads: FxHashMap<PathBuf, String>,
    /// Paths with the files that they lead to.
    resolved: FxHashMap<PathBuf, Option<PathBuf>>,
    /// Whether two answers to one question differ: a file was changed on the way.
    torn: bool,
}

/// The log as it is kept, in order.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    reads: Vec<(String, String)>,
    resolved: Vec<(String, Option<String>)>,
}

/// What reading a file gave: the hash of its bytes, or what was wrong.
fn answer(read: &io::Result<Vec<u8>>) -> String {
    match read {
        Ok(bytes) => blake3::hash(bytes).to_hex().to_string(),
        Err(error) => format!("{:?}: {error}", error.kind()),
    }
}

impl<'p> Recording<'p> {
    /// Nothing was asked yet.
    pub fn new(disk: &'p dyn Provider) -> Self {
        Self { disk, log: Mutex::default() }
    }

    /// What was asked, as text in one line; none where files changed meanwhile.
    pub fn text(&self) -> Option<String> {
        let log = self.log.lock().ok().filter(|log| !log.torn)?;
        let mut kept = Kept {
            reads: log.reads.iter().map(|(path, answer)| (names::text(path), answer.clone())).collect(),
            resolved: log
                .resolved
                .iter()
                .map(|(path, to)| (names::text(path), to.as_deref().map(names::text)))
                .collect(),
        };
        kept.reads.sort();
        kept.resolved.sort();
        serde_json::to_string(&kept).ok()
    }
}

impl Provider for Recording<'_> {
    fn read(&self, real: &Path) -> io::Result<Vec<u8>> {
        let read = self.disk.read(real);
        let answer = answer(&read);
        // Nothing panics while it is held; without it nothing is kept.
        if let Ok(mut log) = self.log.lock() {
            match log.reads.get(real) {
                None => drop(log.reads.insert(real.to_owned(), answer)),
                Some(before) => log.torn |= *before != answer,
            }
        }
        read
    }

    fn resolve(&self, path: &Path) -> Option<PathBuf> {
        let resolved = self.disk.resolve(path);
        if let Ok(mut log) = self.log.lock() {
            match log.resolved.get(path) {
                None => drop(log.resolved.insert(path.to_owned(), resolved.clone())),
                Some(before) => log.torn |= *before != resolved,
            }
        }
        resolved
    }
}

/// The bytes of files by their real paths.
pub(super) type Texts = FxHashMap<PathBuf, Vec<u8>>;

/// Asks again all that a log asks: the bytes of all files where every answer is the same.
pub(super) fn holds(log: &str, disk: &dyn Provider) -> Option<Texts> {
    let kept: Kept = serde_json::from_str(log).ok()?;
    let same = |(path, to): &(String, Option<String>)| {
        disk.resolve(&names::path(path)).as_deref().map(names::text).as_ref() == to.as_ref()
    };
    if !kept.resolved.par_iter().all(same) {
        return None;
    }
    let read = |(path, before): &(String, String)| {
        let path = names::path(path);
        let read = disk.read(&path);
        (answer(&read) == *before).then(|| (path, read.unwrap_or_default()))
    };
    kept.reads.par_iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::provider::Memory;

    #[test]
    fn a_log_holds_while_every_answer_is_the_same() {
        let mut disk = Memory::default();
        disk.files.insert("a.cu".into(), b"int a;".to_vec());
        let log = {
            let recording = Recording::new(&disk);
            assert!(recording.read(Path::new("a.cu")).is_ok() && recording.read(Path::new("gone.cu")).is_err());
            assert!(recording.resolve(Path::new("x/../a.cu")).is_some());
            assert!(recording.resolve(Path::new("first/a.cuh")).is_none());
            recording.text().unwrap()
        };
        assert_eq!(holds(&log, &disk).unwrap()[Path::new("a.cu")], b"int a;");
        for (path, bytes) in [("a.cu", b"int b;"), ("gone.cu", b"int a;"), ("first/a.cuh", b"int a;")] {
            let mut changed = Memory { files: disk.files.clone() };
            changed.files.insert(path.into(), bytes.to_vec());
            assert!(holds(&log, &changed).is_none(), "{path}");
        }
        assert!(holds(&log, &Memory::default()).is_none() && holds("", &disk).is_none());
    }

    /// Gives another text each time.
    #[derive(Default)]
    struct Changing(Mutex<u8>);

    impl Provider for Changing {
        fn read(&self, _: &Path) -> io::Result<Vec<u8>> {
            let mut count = self.0.lock().unwrap();
            *count += 1;
            Ok(vec![*count])
        }

        fn resolve(&self, _: &Path) -> Option<PathBuf> {
            None
        }
    }

    #[test]
    fn what_changes_on_the_way_is_not_kept() {
        let disk = Changing::default();
        let recording = Recording::new(&disk);
        let _ = recording.read(Path::new("a.cu"));
        assert!(recording.text().is_some());
        let _ = recording.read(Path::new("a.cu"));
        assert!(recording.text().is_none());
    }
}
