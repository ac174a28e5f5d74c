//! The project that a file belongs to: the nearest folder above it that marks one, and the settings that hold there.

use crate::cache;
use crate::paths::display;
use crate::rule::Rule;
use crate::settings::{self, Loaded, SettingsError};
use crate::walk::is_marked;
use cudalint_files::read_text;
use cudalint_findings::Incomplete;
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::{Path, PathBuf};

/// Finds roots and settings of folders, each folder looked at once.
pub struct Roots<'a> {
    rules: &'a [&'static Rule],
    /// Settings that hold everywhere: of `--config` or `--isolated`.
    fixed: Option<Loaded>,
    by_folder: FxHashMap<PathBuf, Option<PathBuf>>,
    /// Folders that are taken for projects though nothing marks them.
    assumed: FxHashSet<PathBuf>,
    loaded: FxHashMap<PathBuf, Option<Loaded>>,
    /// Settings of others that cannot be read.
    pub incomplete: Vec<Incomplete>,
}

impl<'a> Roots<'a> {
    /// With `fixed` settings, no settings file is looked for.
    pub fn new(rules: &'a [&'static Rule], fixed: Option<Loaded>) -> Self {
        Self {
            rules,
            fixed,
            by_folder: FxHashMap::default(),
            assumed: FxHashSet::default(),
            loaded: FxHashMap::default(),
            incomplete: Vec::new(),
        }
    }

    /// Takes a folder that a run is about for a project where nothing marks one: an unpacked archive has no `.git`. The folders in it that
    /// look like projects are such, too, unless it looks like one itself; a folder of sources belongs to what stands around it.
    ///
    /// # Errors
    /// As [`Self::root`].
    pub fn assume(&mut self, given: &Path) -> Result<(), SettingsError> {
        if !given.is_dir() || self.root(given)?.is_some() {
            return Ok(());
        }
        if looks_like_project(given) {
            self.assumed.insert(given.to_owned());
        } else if let Some(above) = given.ancestors().skip(1).take(MAX_AROUND).find(|above| is_surely_project(above)) {
            self.assumed.insert(above.to_owned());
        } else {
            self.assumed.insert(given.to_owned());
            self.assumed.extend(projects_in(given));
        }
        self.by_folder.clear();
        Ok(())
    }

    /// The root of the project around a folder.
    ///
    /// # Errors
    /// When a `pyproject.toml` on the way is not well formed where it concerns cudalint.
    pub fn root(&mut self, folder: &Path) -> Result<Option<PathBuf>, SettingsError> {
        let mut passed = Vec::new();
        let mut found = None;
        for ancestor in folder.ancestors() {
            if let Some(known) = self.by_folder.get(ancestor) {
                found.clone_from(known);
                break;
            }
            passed.push(ancestor.to_owned());
            if is_marked(ancestor) || self.assumed.contains(ancestor) || self.configures(ancestor)? {
                found = Some(ancestor.to_owned());
                break;
            }
        }
        for folder in passed {
            self.by_folder.insert(folder, found.clone());
        }
        Ok(found)
    }

    /// The settings that hold in a folder: those of the nearest settings file at or above it.
    ///
    /// # Errors
    /// When that file cannot be read or is wrong.
    pub fn settings(&mut self, folder: &Path) -> Result<Loaded, SettingsError> {
        if let Some(fixed) = &self.fixed {
            return Ok(fixed.clone());
        }
        for ancestor in folder.ancestors() {
            if let Some(loaded) = self.settings_in(ancestor)? {
                return Ok(loaded);
            }
        }
        Ok(Loaded::default())
    }

    /// Whether a folder holds settings, also when they are not to be used.
    fn configures(&mut self, folder: &Path) -> Result<bool, SettingsError> {
        if self.fixed.is_none() {
            return Ok(self.settings_in(folder)?.is_some());
        }
        Ok(mentions(&folder.join("pyproject.toml")))
    }

    /// The settings file directly in a folder.
    fn settings_in(&mut self, folder: &Path) -> Result<Option<Loaded>, SettingsError> {
        if let Some(known) = self.loaded.get(folder) {
            return Ok(known.clone());
        }
        let mut found = None;
        // With fixed settings a broken file on the way does no harm: it is not read.
        if self.fixed.is_none() {
            for name in ["cudalint.toml", "pyproject.toml"] {
                let file = folder.join(name);
                if !file.is_file() {
                    continue;
                }
                match load(&file, self.rules) {
                    Ok(Some(settings)) => {
                        found = Some(Loaded { settings, file: Some(file) });
                        break;
                    }
                    Ok(None) => {}
                    // A file that does not mention cudalint is none of its settings, whatever is wrong with it.
                    Err(error) if name == "pyproject.toml" && !mentions(&file) => {
                        let reason = format!("line {}: {}; no settings are read from it", error.line, error.problem);
                        self.incomplete.push(Incomplete { path: display(&file), reason });
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        self.loaded.insert(folder.to_owned(), found.clone());
        Ok(found)
    }
}

/// How far below a given folder projects are looked for, and how far above it.
const MAX_BELOW: usize = 3;
const MAX_AROUND: usize = 2;

/// Folders that are looked at below a given one, at most.
const MAX_FOLDERS: usize = 4096;

/// Whether a folder has what stands at the top of a project, as far as names tell: words for people, and what builds it.
fn tops(folder: &Path) -> [bool; 2] {
    const DOCUMENTS: [&str; 3] = ["readme", "license", "copying"];
    const BUILDS: [&str; 9] = [
        "cmakelists.txt",
        "makefile",
        "setup.py",
        "setup.cfg",
        "pyproject.toml",
        "meson.build",
        "configure.ac",
        "build.bazel",
        ".gitignore",
    ];
    let mut found = [false; 2];
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().to_ascii_lowercase();
        found[0] |= DOCUMENTS.iter().any(|start| name.starts_with(start));
        found[1] |=
            BUILDS.contains(&&*name) || entry.path().extension().is_some_and(|kind| kind.eq_ignore_ascii_case("sln"));
    }
    found
}

fn looks_like_project(folder: &Path) -> bool {
    tops(folder).contains(&true)
}

/// As far as a folder can be told that nobody has named: a home folder may have a file of words, or one for `make`.
fn is_surely_project(folder: &Path) -> bool {
    tops(folder) == [true; 2]
}

/// The topmost folders below one that look like projects.
fn projects_in(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut level, mut left) = (Vec::new(), vec![folder.to_owned()], MAX_FOLDERS);
    for _ in 0..MAX_BELOW {
        let entries = level.iter().flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten().flatten());
        let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        // A cache of ours has a `.gitignore`, as projects have.
        let folders = folders.map(|entry| entry.path()).filter(|path| !path.ends_with(cache::NAME));
        let folders: Vec<PathBuf> = folders.take(left).collect();
        left -= folders.len();
        let (projects, others) = folders.into_iter().partition(|folder| looks_like_project(folder));
        found.extend::<Vec<PathBuf>>(projects);
        level = others;
    }
    found
}

/// The nearest settings file at or above a folder, whatever is in it.
pub fn nearest_file(folder: &Path) -> Option<PathBuf> {
    let files = |folder: &Path| [folder.join("cudalint.toml"), folder.join("pyproject.toml")];
    let speaks = |file: &PathBuf| file.is_file() && (file.ends_with("cudalint.toml") || mentions(file));
    folder.ancestors().find_map(|above| files(above).into_iter().find(speaks))
}

/// Whether a `pyproject.toml` speaks of cudalint.
fn mentions(file: &Path) -> bool {
    read_text(file).is_ok_and(|text| text.contains("[tool.cudalint"))
}

/// Reads a settings file; `None` for a `pyproject.toml` that does not mention cudalint.
///
/// # Errors
/// When it cannot be read or is wrong.
pub fn load(file: &Path, rules: &[&Rule]) -> Result<Option<settings::Settings>, SettingsError> {
    let text = read_text(file).map_err(|error| SettingsError {
        path: file.to_owned(),
        line: 1,
        range: 0..0,
        problem: format!("cannot be read: {error}"),
    })?;
    let shown = std::env::current_dir().ok().and_then(|here| file.strip_prefix(here).ok().map(Path::to_owned));
    settings::parse(shown.as_deref().unwrap_or(file), &text, rules)
}
