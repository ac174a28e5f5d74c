//! From the paths on the command line to files: `.gitignore` and hidden files respected, settings' `exclude` globs too,
//! files named explicitly always taken. What cannot be read is reported, and everything else is still found.

use crate::outcome::Fault;
use crate::paths::{display, real_path, tidy, without_dots};
use crate::provider::Overlay;
use crate::roles::role;
use cudalint_files::{Bounds, can_be_read};
use cudalint_findings::Incomplete;
use cudalint_syntax::FileKind;
use globset::{Glob, GlobSet, GlobSetBuilder};
use rustc_hash::FxHashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// A file to lint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The path as given, joined with what was found below it.
    pub path: PathBuf,
    /// The same file without links and relative parts: its identity.
    pub real: PathBuf,
    /// What it is by its name.
    pub kind: FileKind,
    /// Whether it was named itself.
    pub explicit: bool,
    /// Size in bytes.
    pub bytes: u64,
}

/// What a walk found.
#[derive(Debug, Default)]
pub struct Walked {
    /// Files, sorted by path; each real file once.
    pub files: Vec<Found>,
    /// What could not be read.
    pub faults: Vec<Fault>,
    /// Links that lead out of the project.
    pub incomplete: Vec<Incomplete>,
    /// Files named explicitly that are of no kind that cudalint reads.
    pub unread: Vec<PathBuf>,
    /// Files below folders that are no sources of C or C++, but texts that may name some, by their real paths.
    pub others: Vec<PathBuf>,
}

/// Finds the files of the given paths. Explicit files are taken whatever excludes them, unless `force_exclude`, and those
/// with a text of the overlay whether they are there or not.
pub fn walk(paths: &[PathBuf], overlay: &Overlay, excluded: &dyn Fn(&Path) -> bool, force_exclude: bool) -> Walked {
    let mut walked = Walked::default();
    for path in paths {
        let real = real_path(path);
        let held = overlay.get(&real).map(|text| text.len() as u64);
        match held.map_or_else(|| std::fs::metadata(path).map(Some), |_| Ok(None)) {
            Err(error) => walked.faults.push(Fault::unreadable(&display(path), &error)),
            Ok(Some(meta)) if meta.is_dir() => walk_folder(path, excluded, &mut walked),
            Ok(meta) => {
                if force_exclude && excluded(&real) {
                    continue;
                }
                match FileKind::of(path) {
                    Some(kind) => {
                        let bytes = held.or(meta.map(|meta| meta.len())).unwrap_or(0);
                        walked.files.push(Found { path: tidy(path), real, kind, explicit: true, bytes });
                    }
                    None => walked.unread.push(tidy(path)),
                }
            }
        }
    }
    // An explicit mention of a file stands above its mention below a folder.
    walked.files.sort_by(|a, b| b.explicit.cmp(&a.explicit).then_with(|| a.path.cmp(&b.path)));
    let mut seen = FxHashSet::default();
    walked.files.retain(|file| seen.insert(file.real.clone()));
    walked.files.sort_by(|a, b| a.path.cmp(&b.path));
    walked.faults.sort_by(|a, b| a.path.cmp(&b.path).then_with(|| a.message.cmp(&b.message)));
    walked.faults.dedup();
    walked
}

/// Whether a folder's name or content says that a tool has put other projects' files or its own there: `CMake`'s `FetchContent` and what it
/// tries compilers with, packages of npm and pip, an environment of Python.
fn is_filled_by_a_tool(folder: &Path) -> bool {
    const NAMES: [&str; 4] = ["CMakeFiles", "_deps", "node_modules", "site-packages"];
    folder.file_name().is_some_and(|name| NAMES.iter().any(|it| name == *it)) || folder.join("pyvenv.cfg").is_file()
}

fn walk_folder(folder: &Path, excluded: &dyn Fn(&Path) -> bool, walked: &mut Walked) {
    let base = real_path(folder);
    if let Some(file) = unreadable_ignores(folder) {
        walked.faults.push(not_looked_at(folder, file));
        return;
    }
    let parents = base.ancestors().skip(1).all(|above| unreadable_ignores(above).is_none());
    let skipped: Arc<Mutex<Walked>> = Arc::default();
    let noted = Arc::clone(&skipped);
    let bounds = Bounds::new(Some(marked(&base).unwrap_or(&base)), &[]);
    let entries = ignore::WalkBuilder::new(folder)
        .parents(parents)
        .filter_entry(move |entry| {
            let folder = entry.file_type().is_none_or(|kind| !kind.is_file());
            let concerns = folder || FileKind::of(entry.path()).is_some_and(|kind| kind != FileKind::Markdown);
            let outside = concerns
                && entry.depth() > 0
                && entry.path_is_symlink()
                && std::fs::canonicalize(entry.path()).is_ok_and(|real| !bounds.hold(&real));
            let ignores = if folder && !outside { unreadable_ignores(entry.path()) } else { None };
            // Nothing panics while it is held.
            if let Ok(mut noted) = noted.lock() {
                noted.faults.extend(ignores.map(|file| not_looked_at(entry.path(), file)));
                if outside {
                    let reason = "not read: this link leads out of the project".to_owned();
                    noted.incomplete.push(Incomplete { path: display(entry.path()), reason });
                }
            }
            let by_a_tool = folder && entry.depth() > 0 && is_filled_by_a_tool(entry.path());
            !outside && ignores.is_none() && !by_a_tool
        })
        .follow_links(true)
        .require_git(false)
        .git_global(false)
        .sort_by_file_name(Ord::cmp)
        .build();
    let mut pruned: Vec<PathBuf> = Vec::new();
    // Folders that are links, around what is looked at now.
    let mut links: Vec<PathBuf> = Vec::new();
    for entry in entries {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                if let Some(link) = leads_nowhere(&error, None) {
                    walked.incomplete.push(link);
                } else {
                    walked.faults.extend(fault_of(&error, None));
                }
                continue;
            }
        };
        let below = entry.path().strip_prefix(folder).unwrap_or(Path::new(""));
        let real = base.join(below);
        if below.as_os_str().is_empty() {
            continue;
        }
        // The walk goes on below an excluded folder; nothing of it is taken.
        if pruned.last().is_some_and(|folder| real.starts_with(folder)) {
            continue;
        }
        if excluded(&real) {
            pruned.push(real);
            continue;
        }
        while links.last().is_some_and(|folder| !real.starts_with(folder)) {
            links.pop();
        }
        if entry.path_is_symlink() && !entry.file_type().is_some_and(|kind| kind.is_file()) {
            links.push(real);
            continue;
        }
        let kind = FileKind::of(entry.path());
        let is_source = kind.is_some_and(|kind| matches!(kind, FileKind::Cuda | FileKind::CFamily));
        if !is_source && links.is_empty() && role(entry.path()).is_some() {
            walked.others.push(real.clone());
        }
        let Some(kind) = kind else { continue };
        if kind == FileKind::Markdown || !entry.file_type().is_some_and(|kind| kind.is_file()) {
            continue;
        }
        let bytes = entry.metadata().map_or(0, |meta| meta.len());
        // Only a link, or what is below one, has another real path than the joined one.
        let linked = entry.path_is_symlink() || !links.is_empty();
        let real = if linked { std::fs::canonicalize(&real).unwrap_or(real) } else { real };
        walked.files.push(Found { path: tidy(entry.path()), real, kind, explicit: false, bytes });
    }
    if let Ok(mut skipped) = skipped.lock() {
        walked.faults.append(&mut skipped.faults);
        walked.incomplete.append(&mut skipped.incomplete);
    }
}

/// Names that mark the root of a project.
const MARKS: [&str; 3] = ["cudalint.toml", ".git", "compile_commands.json"];

/// Whether something in a folder marks it as the root of a project.
pub(crate) fn is_marked(folder: &Path) -> bool {
    MARKS.iter().any(|mark| folder.join(mark).exists())
}

/// The nearest folder at or above one that marks a project.
pub fn marked(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|above| is_marked(above))
}

/// The name of a file in a folder that says what to ignore there and cannot be read: a pipe or a device would be waited for
/// or have no end.
fn unreadable_ignores(folder: &Path) -> Option<&'static str> {
    [".gitignore", ".ignore", ".git/info/exclude"].into_iter().find(|name| {
        let file = folder.join(name);
        std::fs::metadata(&file).is_ok_and(|meta| !meta.is_dir())
            && can_be_read(&file).is_err_and(|error| error.kind() == std::io::ErrorKind::Other)
    })
}

/// A folder that is left out for such a file.
fn not_looked_at(folder: &Path, file: &str) -> Fault {
    let message = format!("not looked at: its `{file}` is no regular file, or too large");
    Fault { path: display(folder), message, internal: false }
}

/// A link in a folder to a file that is not there, as data that a repository keeps elsewhere leaves behind: there is nothing to
/// read, and nobody named it.
fn leads_nowhere(error: &ignore::Error, path: Option<&Path>) -> Option<Incomplete> {
    match error {
        ignore::Error::WithPath { path, err } => leads_nowhere(err, Some(path)),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => leads_nowhere(err, path),
        // The folder that it leads back to is walked already.
        ignore::Error::Loop { ancestor, child } => {
            let reason = format!("not read: directory loop: this link leads back to {}", display(ancestor));
            Some(Incomplete { path: display(child), reason })
        }
        ignore::Error::Io(error) => {
            let reason = path.and_then(|path| why_nowhere(path, error))?;
            let path = path.filter(|path| FileKind::of(path).is_some_and(|kind| kind != FileKind::Markdown))?;
            Some(Incomplete { path: display(path), reason: format!("not read: {reason}") })
        }
        _ => None,
    }
}

/// Why a link has nothing to read behind it.
fn why_nowhere(path: &Path, error: &std::io::Error) -> Option<&'static str> {
    if !std::fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink()) {
        return None;
    }
    if error.kind() == std::io::ErrorKind::NotFound {
        return Some("dangling link: its target does not exist");
    }
    leads_to_itself(path).then_some("link that leads to itself")
}

/// Whether a link leads back to itself, be it by others.
fn leads_to_itself(path: &Path) -> bool {
    // As many as Linux follows.
    const MOST_LINKS: usize = 40;
    let mut seen = vec![without_dots(path)];
    while let Some(at) = seen.last()
        && let Ok(target) = std::fs::read_link(at)
    {
        let next = without_dots(&at.parent().unwrap_or(Path::new("")).join(target));
        if seen.contains(&next) || seen.len() > MOST_LINKS {
            return true;
        }
        seen.push(next);
    }
    false
}

/// Words for what went wrong on a walk; `None` for what concerns no file that would be linted.
fn fault_of(error: &ignore::Error, path: Option<&Path>) -> Option<Fault> {
    match error {
        ignore::Error::WithPath { path, err } => fault_of(err, Some(path)),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => fault_of(err, path),
        ignore::Error::Io(error) => {
            let path = path?;
            if why_nowhere(path, error).is_some() {
                return None;
            }
            Some(Fault::unreadable(&display(path), error))
        }
        // A glob in somebody's ignore file that does not parse is not ours to complain about.
        _ => None,
    }
}

/// Globs of a settings file, against paths below its folder. A glob without `/` matches at any depth.
#[derive(Clone, Debug, Default)]
pub struct Globs {
    folder: PathBuf,
    set: GlobSet,
}

impl Globs {
    /// Compiles globs; those that are none were reported when the settings were read.
    pub fn new(folder: &Path, globs: &[String]) -> Self {
        let mut set = GlobSetBuilder::new();
        for text in globs {
            let bare = text.trim_start_matches("./").trim_end_matches('/');
            let anywhere =
                if bare.contains('/') { bare.trim_start_matches('/').to_owned() } else { format!("**/{bare}") };
            if let Ok(glob) = Glob::new(&anywhere) {
                set.add(glob);
            }
        }
        Self { folder: folder.to_owned(), set: set.build().unwrap_or_default() }
    }

    /// Whether a real path is matched, or lies below a folder that is.
    pub fn matches(&self, real: &Path) -> bool {
        if self.set.is_empty() {
            return false;
        }
        let Ok(below) = real.strip_prefix(&self.folder) else { return false };
        below.ancestors().take_while(|part| !part.as_os_str().is_empty()).any(|part| self.set.is_match(part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_below_their_folder_only() {
        let globs = Globs::new(Path::new("/p"), &["third_party".to_owned(), "src/gen/*.cu".to_owned()]);
        assert!(globs.matches(Path::new("/p/third_party/x/a.cu")));
        assert!(globs.matches(Path::new("/p/a/third_party")));
        assert!(globs.matches(Path::new("/p/src/gen/a.cu")));
        assert!(!globs.matches(Path::new("/p/src/a.cu")));
        assert!(!globs.matches(Path::new("/q/third_party/a.cu")));
    }
}
