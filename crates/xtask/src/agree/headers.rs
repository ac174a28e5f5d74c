//! Where the files that programs include lie in the projects.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// All files of the projects that may be included, by their own names.
pub struct Headers(HashMap<String, Vec<PathBuf>>);

impl Headers {
    /// Reads the names below folders.
    pub fn below(folders: &[PathBuf]) -> Self {
        let mut all: HashMap<String, Vec<PathBuf>> = HashMap::new();
        let mut folders = folders.to_vec();
        while let Some(folder) = folders.pop() {
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            for entry in entries.flatten() {
                let Ok(kind) = entry.file_type() else { continue };
                let name = entry.file_name().to_string_lossy().into_owned();
                if kind.is_dir() && name != ".git" {
                    folders.push(entry.path());
                } else if kind.is_file() {
                    all.entry(name).or_default().push(entry.path());
                }
            }
        }
        Self(all)
    }

    /// The folder by which `#include "name"` finds a file: of several, the one that shares most of its path with `near`.
    pub fn folder(&self, name: &str, near: &Path) -> Option<PathBuf> {
        let wanted = Path::new(name);
        let file = wanted.file_name()?.to_str()?;
        let shared = |path: &PathBuf| path.components().zip(near.components()).take_while(|(a, b)| a == b).count();
        let found = self.0.get(file)?.iter().filter(|path| path.ends_with(wanted));
        let best = found.max_by_key(|path| (shared(path), std::cmp::Reverse(path.as_os_str().len())))?;
        best.ancestors().nth(wanted.components().count()).map(Path::to_owned)
    }
}
