//! The Python files of a project, by what imports call them, and the C++ in their strings.

use crate::includes::normalize;
use crate::ir::{Module, ModuleId};
use cudalint_syntax::Language;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The Python files of a project, and the C++ in their strings.
#[derive(Debug, Default)]
pub(crate) struct PythonModules {
    /// Modules by their path without `.py`; a package's by that of its folder with `/__init__`.
    files: FxHashMap<String, ModuleId>,
    /// C++ in strings, by the path of the file.
    pub(super) embedded: FxHashMap<Arc<str>, Vec<ModuleId>>,
}

impl PythonModules {
    /// Takes note of a module. One that stands alone is nobody's import.
    pub fn add(&mut self, id: ModuleId, path: &Arc<str>, module: &Module, alone: bool) {
        if module.inside.is_some() {
            self.embedded.entry(Arc::clone(path)).or_default().push(id);
        } else if module.language == Language::Python && !alone {
            let path = normalize(path);
            if let Some(stem) = path.strip_suffix(".py") {
                self.files.entry(stem.to_owned()).or_insert(id);
            }
        }
    }

    /// The module or package at a path without `.py`; a package hides a module of the same name, as in Python.
    pub(super) fn at(&self, path: &str) -> Option<ModuleId> {
        self.package(path).or_else(|| self.files.get(path).copied())
    }

    pub(super) fn package(&self, folder: &str) -> Option<ModuleId> {
        self.files.get(join(folder, "__init__").as_str()).copied()
    }
}

pub(super) fn join(folder: &str, rest: &str) -> String {
    match (folder, rest) {
        ("", rest) => rest.to_owned(),
        (folder, "") => folder.to_owned(),
        ("/", rest) => format!("/{rest}"),
        (folder, rest) => format!("{folder}/{rest}"),
    }
}
