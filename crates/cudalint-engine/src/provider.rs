//! Where texts come from: the disk, with single files overlaid by what an editor or a pipe holds.

use cudalint_findings::{CellStart, Sources};
use cudalint_syntax::{FileKind, FileText};
use rustc_hash::FxHashMap;
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;

/// Adds the text of a file to those that findings point into. Positions in a notebook are those in its cells.
pub fn add_text(texts: &mut Sources, path: &str, bytes: &[u8]) {
    if FileKind::of(Path::new(path)) == Some(FileKind::Notebook)
        && let Ok(file) = FileText::from_bytes(FileKind::Notebook, bytes.to_vec())
    {
        let cells = file.cells.iter().map(|cell| CellStart { start: cell.start, index: cell.index }).collect();
        texts.insert_notebook(path.into(), file.source.shared(), cells);
        return;
    }
    texts.insert(path.into(), String::from_utf8_lossy(bytes).as_ref().into());
}

/// Reads a file that somebody else may have put there: a regular one, never one that waits for a writer or has no end, and no
/// more of it than a source may have, whatever its size says.
///
/// # Errors
/// When it cannot be read, is no regular file, is one that the kernel makes up, or is too large.
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let large = |bytes| io::Error::other(cudalint_syntax::SourceProblem::TooLarge { bytes });
    let most = cudalint_syntax::MAX_SOURCE_BYTES;
    let regular = |meta: &std::fs::Metadata| match meta.is_file() {
        true if meta.len() > most as u64 => Err(large(meta.len() as usize)),
        true => Ok(()),
        false => Err(io::Error::other("not a regular file")),
    };
    // Before it is opened: opening a pipe waits. And again of what was opened, which may be another by then.
    let meta = std::fs::metadata(path)?;
    regular(&meta)?;
    if meta.len() == 0 && std::fs::canonicalize(path).is_ok_and(|real| is_made_up(&real)) {
        return Err(io::Error::other("not a regular file"));
    }
    let file = std::fs::File::open(path)?;
    regular(&file.metadata()?)?;
    let mut bytes = Vec::with_capacity(meta.len() as usize + 1);
    file.take(most as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > most { Err(large(bytes.len())) } else { Ok(bytes) }
}

/// As [`read_file`], as text.
///
/// # Errors
/// As [`read_file`], and when it is not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read_file(path)?).map_err(|_| io::Error::other("not UTF-8"))
}

/// Whether a real path is one of the files that the kernel makes up when they are read.
fn is_made_up(real: &Path) -> bool {
    cfg!(unix) && ["/proc", "/sys", "/dev"].iter().any(|folder| real.starts_with(folder))
}

/// Gives the bytes of files by their real paths. The engine's only way to source texts.
pub trait Provider: Sync {
    /// The bytes of a file.
    fn read(&self, real: &Path) -> io::Result<Vec<u8>>;

    /// The real path of a file, when there is one: how an `#include` becomes a file.
    fn resolve(&self, path: &Path) -> Option<PathBuf>;
}

/// The disk, below texts that are held in memory.
#[derive(Debug, Default)]
pub struct Disk {
    /// Texts that stand in for files, by real path.
    pub overlay: FxHashMap<PathBuf, Vec<u8>>,
    /// Real paths of folders that includes led to: the same few are asked for again and again.
    folders: Mutex<FxHashMap<PathBuf, Option<PathBuf>>>,
}

impl Disk {
    /// The real path of a folder.
    fn folder(&self, folder: &Path) -> Option<PathBuf> {
        // Nothing panics while it is held; what a lost lock would say is as good from the disk.
        if let Ok(known) = self.folders.lock()
            && let Some(real) = known.get(folder)
        {
            return real.clone();
        }
        let real = std::fs::canonicalize(folder).ok();
        if let Ok(mut known) = self.folders.lock() {
            known.insert(folder.to_owned(), real.clone());
        }
        real
    }
}

impl Provider for Disk {
    fn read(&self, real: &Path) -> io::Result<Vec<u8>> {
        if let Some(bytes) = self.overlay.get(real) {
            return Ok(bytes.clone());
        }
        read_file(real)
    }

    fn resolve(&self, path: &Path) -> Option<PathBuf> {
        if self.overlay.contains_key(path) {
            return Some(path.to_owned());
        }
        // Most that are asked for are not there, which is sooner said than where they are.
        let meta = std::fs::symlink_metadata(path).ok()?;
        if meta.is_file()
            && let (Some(folder), Some(name)) = (path.parent().and_then(|folder| self.folder(folder)), path.file_name())
        {
            return Some(folder.join(name));
        }
        if !path.is_file() {
            return None;
        }
        std::fs::canonicalize(path).ok()
    }
}

/// Texts in memory and nothing else.
#[derive(Debug, Default)]
pub struct Memory {
    /// Bytes by path.
    pub files: FxHashMap<PathBuf, Vec<u8>>,
}

impl Provider for Memory {
    fn read(&self, real: &Path) -> io::Result<Vec<u8>> {
        self.files.get(real).cloned().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    fn resolve(&self, path: &Path) -> Option<PathBuf> {
        let mut real = PathBuf::new();
        for part in path.components() {
            match part {
                Component::CurDir => {}
                Component::ParentDir if real.file_name().is_some() => {
                    real.pop();
                }
                part => real.push(part),
            }
        }
        self.files.contains_key(&real).then_some(real)
    }
}
