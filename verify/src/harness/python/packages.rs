//! The packages that a script needs.

use cudalint_program::python::PythonNames;

/// Packages whose absence makes a run say nothing.
const PACKAGES: [(&str, &str); 4] = [("numba", "numba"), ("cupy", "cupy"), ("cupyx", "cupy"), ("pycuda", "pycuda")];

/// The GPU packages that a file imports.
pub(super) fn imported_packages(names: &PythonNames) -> Vec<String> {
    let mut found: Vec<String> = names
        .imports
        .values()
        .filter_map(|path| match path.split('.').next().unwrap_or(path) {
            // As an imported path it is no package's module `cuda`.
            "cuda" => Some("cuda-python"),
            module => package(module),
        })
        .map(str::to_owned)
        .collect();
    found.sort();
    found.dedup();
    found
}

/// The package that brings a module.
pub(super) fn package(module: &str) -> Option<&'static str> {
    PACKAGES.iter().find(|(name, _)| *name == module).map(|(_, package)| *package)
}
