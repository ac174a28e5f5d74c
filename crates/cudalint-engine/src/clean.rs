//! Removing caches.

use crate::cache::Folder;
use crate::engine::Engine;
use crate::outcome::UsageError;
use crate::paths::real_path;
use crate::request::{CacheChoice, Request};
use crate::root::Roots;
use crate::settings::SettingsError;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What became of caches.
#[derive(Debug, Default)]
pub struct Cleaned {
    /// Those that were removed.
    pub removed: Vec<PathBuf>,
    /// Those that could not be, or not wholly, and why.
    pub left: Vec<(PathBuf, String)>,
}

impl Engine {
    /// Removes the caches of the projects around paths, and of those below them; of a request with a folder for its cache that folder.
    ///
    /// # Errors
    /// When arguments or a settings file are wrong.
    pub fn clean(&self, request: &Request) -> Result<Cleaned, UsageError> {
        let mut folders: BTreeMap<PathBuf, Folder> = BTreeMap::new();
        let mut add = |folder: Folder| folders.insert(folder.path().to_owned(), folder);
        if let CacheChoice::Folder(folder) = &request.cache {
            add(Folder::given(folder)?);
        } else {
            let wrong = |error: SettingsError| UsageError(error.to_string());
            let mut roots = Roots::new(self.rules(), self.fixed(&request.configuration)?);
            let here = [PathBuf::from(".")];
            for path in if request.paths.is_empty() { &here[..] } else { &request.paths } {
                let real = real_path(path);
                let folder = if real.is_dir() { &*real } else { real.parent().unwrap_or(Path::new("/")) };
                roots.assume(folder).map_err(wrong)?;
                if let Some(root) = roots.root(folder).map_err(wrong)? {
                    let named = roots.settings(&root).map_err(wrong)?.settings.cache_dir;
                    Folder::of_project(&root, named.as_deref().map(Path::new)).map(&mut add);
                }
                for cache in below(folder) {
                    add(cache);
                }
            }
        }
        let mut cleaned = Cleaned::default();
        for (path, folder) in folders {
            match folder.remove() {
                Ok(true) => cleaned.removed.push(path),
                Ok(false) => {}
                Err(error) => cleaned.left.push((path, error.to_string())),
            }
        }
        Ok(cleaned)
    }
}

/// The caches below a folder. Links are not followed.
fn below(folder: &Path) -> Vec<Folder> {
    let (mut found, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        if let Some(cache) = Folder::marked(&folder) {
            found.push(cache);
            continue;
        }
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        open.extend(folders.map(|entry| entry.path()).filter(|path| !path.ends_with(".git")));
    }
    found
}
