//! The project that a file belongs to: the nearest folder above it that marks one, and the settings that hold there.

use crate::paths::display;
use crate::rule::Rule;
use crate::settings::{self, Loaded, SettingsError};
use crate::walk::is_marked;
use cudalint_files::read_text;
use cudalint_findings::Incomplete;
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};

/// Finds roots and settings of folders, each folder looked at once.
pub struct Roots<'a> {
    rules: &'a [&'static Rule],
    /// Settings that hold everywhere: of `--config` or `--isolated`.
    fixed: Option<Loaded>,
    by_folder: FxHashMap<PathBuf, Option<PathBuf>>,
    loaded: FxHashMap<PathBuf, Option<Loaded>>,
    /// Settings of others that cannot be read.
    pub incomplete: Vec<Incomplete>,
}

impl<'a> Roots<'a> {
    /// With `fixed` settings, no settings file is looked for.
    pub fn new(rules: &'a [&'static Rule], fixed: Option<Loaded>) -> Self {
        Self { rules, fixed, by_folder: FxHashMap::default(), loaded: FxHashMap::default(), incomplete: Vec::new() }
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
            if is_marked(ancestor) || self.configures(ancestor)? {
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
