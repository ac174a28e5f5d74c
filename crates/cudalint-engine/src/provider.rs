//! Where texts come from: the disk, with single files overlaid by what an editor or a pipe holds.

use crate::paths::without_dots;
use cudalint_files::read_file;
use cudalint_findings::{CellStart, Sources};
use cudalint_syntax::{FileKind, FileText};
use rustc_hash::FxHashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

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

/// Gives the bytes of files by their real paths. The engine's only way to source texts.
pub trait Provider: Sync {
    /// The bytes of a file.
    fn read(&self, real: &Path) -> io::Result<Vec<u8>>;

    /// The real path of a file, when there is one: how an `#include` becomes a file.
    fn resolve(&self, path: &Path) -> Option<PathBuf>;
}

/// Texts that stand in for files, by real path: what an editor or a pipe holds of them. A file need not be there at all.
#[derive(Clone, Debug, Default)]
pub struct Overlay {
    files: FxHashMap<PathBuf, Arc<[u8]>>,
}

impl Overlay {
    /// Puts a text in the place of a file.
    pub fn insert(&mut self, real: PathBuf, bytes: Arc<[u8]>) {
        self.files.insert(real, bytes);
    }

    /// Whether no text stands in for a file.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The text of a file by its real path.
    pub fn get(&self, real: &Path) -> Option<&[u8]> {
        self.files.get(real).map(AsRef::as_ref)
    }

    /// The real path of a file that has a text here, however the path is written.
    fn resolve(&self, path: &Path) -> Option<PathBuf> {
        if self.files.is_empty() {
            return None;
        }
        let plain = without_dots(path);
        self.files.contains_key(&plain).then_some(plain)
    }
}

/// The disk, below texts that are held in memory.
#[derive(Debug, Default)]
pub struct Disk {
    /// Texts that stand in for files.
    pub overlay: Overlay,
    /// Real paths of folders that includes led to: the same few are asked for again and again.
    folders: Mutex<FxHashMap<PathBuf, Option<PathBuf>>>,
}

impl Disk {
    /// The disk below these texts.
    pub fn new(overlay: Overlay) -> Self {
        Self { overlay, ..Self::default() }
    }

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
            return Ok(bytes.to_vec());
        }
        read_file(real)
    }

    fn resolve(&self, path: &Path) -> Option<PathBuf> {
        if let Some(real) = self.overlay.resolve(path) {
            return Some(real);
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
        let real = without_dots(path);
        self.files.contains_key(&real).then_some(real)
    }
}
