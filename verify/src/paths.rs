//! Paths as they are compared.

use camino::{Utf8Path, Utf8PathBuf};

/// A path without `.`, and with `a/..` taken out by name.
pub(crate) fn clean(path: &Utf8Path) -> Utf8PathBuf {
    let mut clean = Utf8PathBuf::new();
    for part in path.components() {
        match part.as_str() {
            "." => {}
            ".." => {
                clean.pop();
            }
            part => clean.push(part),
        }
    }
    clean
}

/// A path from the root of the file system, cleaned.
pub(crate) fn absolute(path: &Utf8Path) -> Utf8PathBuf {
    let full = std::path::absolute(path).ok().and_then(|full| Utf8PathBuf::from_path_buf(full).ok());
    clean(full.as_deref().unwrap_or(path))
}
