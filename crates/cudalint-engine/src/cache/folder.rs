//! The folder of a cache: entries that are written whole or not at all, and not more of them than it may hold.

use crate::outcome::UsageError;
use blake3::Hash;
use cudalint_files::{read_file, read_text};
use std::io::Write as _;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

/// What the folder in a project is called.
pub(crate) const NAME: &str = ".cudalint_cache";

/// The file that tells programs which copy folders that this one need not be copied, and everybody whose it is.
const TAG: (&str, &str) = (
    "CACHEDIR.TAG",
    "Signature: 8a477f597d28d172789f06886806bc55\n# This folder is cudalint's cache; `cudalint clean` removes it.\n",
);
/// Nothing in it is for git.
const IGNORES: (&str, &str) = (".gitignore", "# Written by cudalint.\n*\n");

/// Names of entries end in this, those of entries that are being written begin with that.
const ENDING: &str = "entry";
const UNFINISHED: &str = ".unfinished-";

/// How much the entries of a folder may hold, and one of them.
const MAX_BYTES: u64 = 256 << 20;
const MAX_ENTRY: usize = 48 << 20;
/// How long an entry stays that nobody uses.
const MAX_AGE: Duration = Duration::from_secs(30 * DAY);
/// How long one that is being written may take.
const MAX_WRITING: Duration = Duration::from_secs(DAY);
const DAY: u64 = 24 * 60 * 60;

/// A folder for entries, which need not be there yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Folder(PathBuf);

/// Whose a folder is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Missing,
    Empty,
    Ours,
    Others,
}

fn state(folder: &Path) -> State {
    match std::fs::metadata(folder) {
        Err(_) => State::Missing,
        Ok(meta) if !meta.is_dir() => State::Others,
        Ok(_) if read_text(&folder.join(TAG.0)).is_ok_and(|text| text == TAG.1) => State::Ours,
        // Another run may just be about to write the first file.
        Ok(_) => {
            let all_ours = std::fs::read_dir(folder)
                .is_ok_and(|mut entries| entries.all(|entry| entry.is_ok_and(|entry| is_ours(&entry.path()))));
            if all_ours { State::Empty } else { State::Others }
        }
    }
}

/// Whether a file is called as those of a cache are.
fn is_ours(file: &Path) -> bool {
    let name = file.file_name().and_then(std::ffi::OsStr::to_str).unwrap_or("");
    is_entry(file) || [TAG.0, IGNORES.0].contains(&name) || name.starts_with(UNFINISHED)
}

fn is_entry(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ending == ENDING)
}

impl Folder {
    /// The folder in a project's root, or the one below it that its settings name. None where something else has its name, or
    /// where it leads out of the project: a project that came from elsewhere does not say where else files are written and removed.
    pub fn of_project(root: &Path, named: Option<&Path>) -> Option<Self> {
        let folder = root.join(named.unwrap_or(Path::new(NAME)));
        let below = folder.strip_prefix(root).ok()?;
        let mut part = root.to_owned();
        for name in below.components() {
            part.push(name);
            let leads_away = !matches!(name, Component::Normal(_) | Component::CurDir);
            if leads_away || part.symlink_metadata().is_ok_and(|meta| meta.is_symlink()) {
                return None;
            }
        }
        (state(&folder) != State::Others).then_some(Self(folder))
    }

    /// The folder that a user names.
    ///
    /// # Errors
    /// When it holds something else.
    pub fn given(folder: &Path) -> Result<Self, UsageError> {
        if state(folder) == State::Others {
            return Err(UsageError(format!(
                "--cache-dir {}: it holds something else: name a folder that is new or empty",
                folder.display()
            )));
        }
        Ok(Self(folder.to_owned()))
    }

    /// A folder that says that it is a cache of ours.
    pub fn marked(folder: &Path) -> Option<Self> {
        (state(folder) == State::Ours).then(|| Self(folder.to_owned()))
    }

    fn entry(&self, name: &Hash) -> PathBuf {
        let hex = name.to_hex();
        // Half of it is enough to tell entries apart, which say themselves what they are.
        self.0.join(&hex[..32]).with_extension(ENDING)
    }

    /// The bytes of an entry.
    pub fn read(&self, name: &Hash) -> Option<Vec<u8>> {
        read_file(&self.entry(name)).ok()
    }

    /// Notes that an entry is of use: the next to be removed are those that have been of none for the longest time.
    pub fn used(&self, name: &Hash) {
        // Once a day is enough, so that most runs write nothing.
        let old = |file: &std::fs::File| age(&file.metadata().ok()?).filter(|age| age.as_secs() > DAY);
        if let Ok(file) = std::fs::File::open(self.entry(name))
            && old(&file).is_some()
        {
            let _ = file.set_modified(SystemTime::now());
        }
    }

    /// Writes an entry, where that can be done.
    pub fn write(&self, name: &Hash, text: &str) {
        if text.len() > MAX_ENTRY || self.prepare().is_err() {
            return;
        }
        if self.write_whole(&self.entry(name), text).is_ok() {
            self.remove_old();
        }
    }

    /// In the place of what was there, in one step: who reads meanwhile sees the one or the other.
    fn write_whole(&self, file: &Path, text: &str) -> std::io::Result<()> {
        let mut new = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(&self.0)?;
        new.write_all(text.as_bytes())?;
        new.persist(file)?;
        Ok(())
    }

    /// Makes the folder, with what tells others that they need not look into it.
    fn prepare(&self) -> std::io::Result<()> {
        if state(&self.0) != State::Ours {
            std::fs::create_dir_all(&self.0)?;
            for (name, text) in [TAG, IGNORES] {
                self.write_whole(&self.0.join(name), text)?;
            }
        }
        Ok(())
    }

    /// The files that are ours, but for those that say so: path, size and age.
    fn entries(&self) -> Vec<(PathBuf, u64, Duration)> {
        let entries = std::fs::read_dir(&self.0).into_iter().flatten().flatten();
        let known = entries.filter_map(|entry| {
            let path = entry.path();
            let meta = entry.metadata().ok().filter(std::fs::Metadata::is_file)?;
            let says_so = [TAG.0, IGNORES.0].iter().any(|name| path.ends_with(name));
            (is_ours(&path) && !says_so).then(|| (path, meta.len(), age(&meta).unwrap_or_default()))
        });
        known.collect()
    }

    /// Removes entries that are too old, and the oldest of those that are too many.
    fn remove_old(&self) {
        let mut entries = self.entries();
        entries.sort_by_key(|(_, _, age)| *age);
        let mut bytes = 0;
        for (path, size, age) in entries {
            bytes += size;
            if bytes > MAX_BYTES || age > (if is_entry(&path) { MAX_AGE } else { MAX_WRITING }) {
                bytes -= size;
                let _ = std::fs::remove_file(path);
            }
        }
    }

    /// Removes it with all that is ours; whether there was something. What others have put there stays.
    ///
    /// # Errors
    /// When something cannot be removed.
    pub fn remove(&self) -> std::io::Result<bool> {
        if state(&self.0) != State::Ours {
            return Ok(false);
        }
        for (path, ..) in self.entries() {
            std::fs::remove_file(path)?;
        }
        // The one that says whose it is comes last: a removal that was cut short can be done again.
        for (name, _) in [IGNORES, TAG] {
            std::fs::remove_file(self.0.join(name))?;
        }
        std::fs::remove_dir(&self.0)?;
        Ok(true)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

/// How long ago a file was written; none for one of the future.
fn age(meta: &std::fs::Metadata) -> Option<Duration> {
    SystemTime::now().duration_since(meta.modified().ok()?).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn hash(text: &str) -> Hash {
        blake3::hash(text.as_bytes())
    }

    #[test]
    fn entries_are_read_as_written_and_old_ones_removed() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::of_project(place.path(), None).unwrap();
        assert_eq!(folder.read(&hash("a")), None);
        folder.write(&hash("a"), "one");
        folder.write(&hash("a"), "another");
        folder.write(&hash("b"), "two");
        assert_eq!(folder.read(&hash("a")).unwrap(), b"another");
        let old = std::fs::File::options().append(true).open(folder.entry(&hash("a"))).unwrap();
        old.set_modified(SystemTime::now() - MAX_AGE - Duration::from_secs(60)).unwrap();
        folder.write(&hash("c"), "three");
        assert_eq!(folder.read(&hash("a")), None);
        assert!(folder.read(&hash("b")).is_some() && folder.read(&hash("c")).is_some());
    }

    #[test]
    fn the_oldest_go_where_there_are_too_many() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::of_project(place.path(), None).unwrap();
        for (name, days) in [("a", 3), ("b", 2), ("c", 1)] {
            folder.write(&hash(name), name);
            let file = std::fs::File::options().append(true).open(folder.entry(&hash(name))).unwrap();
            // Sparse: nothing is written for it.
            file.set_len(MAX_BYTES / 2 - 10).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(days * DAY)).unwrap();
        }
        folder.used(&hash("a"));
        folder.write(&hash("d"), "four");
        let left = |name| folder.entry(&hash(name)).exists();
        assert!(left("a") && left("c") && left("d") && !left("b"));
    }

    #[test]
    fn only_what_is_ours_is_used_and_removed() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        std::fs::create_dir(at(NAME)).unwrap();
        std::fs::write(at(NAME).join("thesis.tex"), "").unwrap();
        assert!(Folder::of_project(place.path(), None).is_none() && Folder::given(&at(NAME)).is_err());
        let folder = Folder::of_project(place.path(), Some(Path::new("build/cache"))).unwrap();
        assert!(!folder.remove().unwrap());
        folder.write(&hash("a"), "one");
        std::fs::write(at("build/cache/thesis.tex"), "").unwrap();
        assert!(folder.remove().is_err());
        assert!(at("build/cache/thesis.tex").exists() && folder.read(&hash("a")).is_none());
        let folder = Folder::given(&at("new")).unwrap();
        folder.write(&hash("a"), "one");
        assert!(folder.remove().unwrap() && !at("new").exists());
    }

    #[cfg(unix)]
    #[test]
    fn links_in_a_project_lead_nowhere() {
        let place = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), place.path().join(NAME)).unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), place.path().join("build")).unwrap();
        assert!(Folder::of_project(place.path(), None).is_none());
        assert!(Folder::of_project(place.path(), Some(Path::new("build/cache"))).is_none());
        for leading_out in ["/tmp/cache", "../cache", "a/../../cache"] {
            assert!(Folder::of_project(place.path(), Some(Path::new(leading_out))).is_none(), "{leading_out}");
        }
    }
}
