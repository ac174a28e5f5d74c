//! Folders that a project's `CMake` has taken out: `# add_subdirectory(extra)`.

use crate::others::Other;
use crate::roles::Role;
use std::path::Path;

const NAME: &str = "CMakeLists.txt";
const CALL: &str = "add_subdirectory";

/// Folders whose own `CMakeLists.txt` is no project by itself, and which those above add in comments alone.
pub(crate) fn switched_off(texts: &[Other]) -> Vec<&Path> {
    let lists = || texts.iter().filter(|text| text.role == Role::Build && text.path.ends_with(NAME));
    let is_off = |own: &&Other| {
        let folder = own.folder();
        let above = || lists().filter(|other| other.folder() != folder && folder.starts_with(other.folder()));
        let adds = |other: &Other, text: &str| {
            let below = folder.strip_prefix(other.folder()).ok().and_then(Path::to_str);
            below.is_some_and(|below| added(text).any(|path| means(path, below)))
        };
        let in_comment = |other: &Other| adds(other, other.commented());
        // One that a variable names alone may be any.
        let is_open = |path: &str| path.rsplit('/').next().is_some_and(|last| last.contains('$'));
        let live = |other: &Other| adds(other, &other.text) || added(&other.text).any(is_open);
        !own.text.contains("project(") && above().any(in_comment) && !above().any(live)
    };
    lists().filter(is_off).map(Other::folder).collect()
}

/// The folders that a text adds, as they are written.
fn added(text: &str) -> impl Iterator<Item = &str> {
    text.split(CALL).skip(1).filter_map(|rest| {
        let inside = rest.trim_start().strip_prefix('(')?.trim_start();
        let path = inside.split([')', ' ', '\t', '\r', '\n']).next()?;
        Some(path.trim_matches('"').trim_end_matches('/'))
    })
}

/// Whether a path as written leads to a folder: from where the text is, or from where a variable says.
fn means(path: &str, below: &str) -> bool {
    match path.strip_prefix("${").and_then(|rest| rest.split_once("}/")) {
        Some((_, rest)) => below.strip_suffix(rest).is_some_and(|before| before.is_empty() || before.ends_with('/')),
        None => path == below,
    }
}
