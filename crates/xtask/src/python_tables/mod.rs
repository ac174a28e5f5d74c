//! `python-tables FOLDER…`: the names that Numba's CUDA target and `CuPy` have, read from the packages' own sources and
//! written to the list that the product looks them up in.
//!
//! Each folder holds one unpacked version and is called `<package>-<version>`. Python sources are parsed; Cython ones
//! (`.pyx`, `.pxd`) are read line by line, which finds too many names rather than too few. A name that any version has
//! is in the list; a namespace that fills itself at run time is not.

mod module;

use cudalint_syntax::ParserPool;
use module::Module;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Where the search for namespaces begins.
const ROOTS: [&str; 3] = ["numba.cuda", "cupy", "cupyx"];
/// The namespaces that are listed: those that users' programs name. Of all others nothing is said.
const LISTED: [&str; 38] = [
    "cupy",
    "cupy.cuda",
    "cupy.cuda.compiler",
    "cupy.cuda.cub",
    "cupy.cuda.cublas",
    "cupy.cuda.cufft",
    "cupy.cuda.curand",
    "cupy.cuda.cusolver",
    "cupy.cuda.cusparse",
    "cupy.cuda.device",
    "cupy.cuda.function",
    "cupy.cuda.graph",
    "cupy.cuda.memory",
    "cupy.cuda.memory_hooks",
    "cupy.cuda.nccl",
    "cupy.cuda.nvtx",
    "cupy.cuda.pinned_memory",
    "cupy.cuda.profiler",
    "cupy.cuda.runtime",
    "cupy.cuda.stream",
    "cupy.cuda.texture",
    "cupy.fft",
    "cupy.linalg",
    "cupy.random",
    "cupyx",
    "cupyx.jit",
    "cupyx.jit.cg",
    "cupyx.jit.cub",
    "cupyx.jit.thrust",
    "cupyx.profiler",
    "numba.cuda",
    "numba.cuda.atomic",
    "numba.cuda.cg",
    "numba.cuda.const",
    "numba.cuda.fp16",
    "numba.cuda.libdevice",
    "numba.cuda.local",
    "numba.cuda.shared",
];

/// One version of a package.
struct Package {
    modules: BTreeMap<String, Module>,
}

/// Writes the list.
pub fn write(root: &Path, folders: &[PathBuf]) -> Result<(), String> {
    let mut versions = Vec::new();
    let mut lists: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut open: BTreeSet<String> = BTreeSet::new();
    let mut pool = ParserPool::new();
    for folder in folders {
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let (package, version) =
            name.rsplit_once('-').ok_or_else(|| format!("{}: not called <package>-<version>", folder.display()))?;
        versions.push(format!("{} {}", package.replace('_', "-"), version.trim_start_matches('v')));
        let package = Package::read(folder, &mut pool)?;
        if package.modules.is_empty() {
            return Err(format!("{}: holds no numba, cupy or cupyx", folder.display()));
        }
        package.list(&mut lists, &mut open);
    }
    versions.sort();
    let mut text =
        String::from("# Names of GPU packages for Python. Derived by `cargo xtask python-tables`; do not edit.\n");
    for version in versions {
        let _ = writeln!(text, "# version {version}");
    }
    for (path, names) in &lists {
        let closed = !open.iter().any(|open| path == open || path.starts_with(&format!("{open}.")));
        if closed && !names.is_empty() {
            let _ = writeln!(text, "{path}: {}", names.iter().map(String::as_str).collect::<Vec<_>>().join(" "));
        }
    }
    let target = root.join("crates/cudalint-program/src/python/tables.txt");
    fs::write(&target, text).map_err(|error| format!("{}: {error}", target.display()))
}

impl Package {
    fn read(folder: &Path, pool: &mut ParserPool) -> Result<Self, String> {
        let mut modules = BTreeMap::new();
        for (place, module) in [
            ("numba_cuda/numba/cuda", "numba.cuda"),
            ("numba/cuda", "numba.cuda"),
            ("cupy", "cupy"),
            ("cupyx", "cupyx"),
            ("cupy_backends", "cupy_backends"),
        ] {
            let start = folder.join(place);
            let mut open = VecDeque::from([(start, module.to_owned())]);
            while let Some((folder, module)) = open.pop_front() {
                let Ok(entries) = fs::read_dir(&folder) else { continue };
                let mut entries: Vec<_> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
                entries.sort();
                for entry in entries {
                    let stem = entry.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
                    if ["tests", "testing"].contains(&stem.as_str()) && entry.is_dir() {
                        continue;
                    }
                    // A compiled module is called after the Python that it was built for.
                    let stem = stem.split('.').next().unwrap_or_default().to_owned();
                    let path = if stem == "__init__" { module.clone() } else { format!("{module}.{stem}") };
                    if entry.is_dir() {
                        modules.entry(module.clone()).or_insert_with(Module::default).names.insert(stem);
                        open.push_back((entry, path));
                        continue;
                    }
                    let extension = entry.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
                    let known = ["py", "pyx", "pxd", "so"].contains(&extension);
                    if !known {
                        continue;
                    }
                    if path != module {
                        modules.entry(module.clone()).or_insert_with(Module::default).names.insert(stem.clone());
                    }
                    let found = modules.entry(path.clone()).or_insert_with(Module::default);
                    found.package |= stem == "__init__";
                    let text = || fs::read_to_string(&entry).map_err(|error| format!("{}: {error}", entry.display()));
                    match extension {
                        "py" => found.read_python(&text()?, &path, stem == "__init__", pool),
                        "so" => found.open = true,
                        _ => found.read_cython(&text()?),
                    }
                }
            }
        }
        Ok(Self { modules })
    }

    /// The public paths of this version and their names.
    fn list(&self, lists: &mut BTreeMap<String, BTreeSet<String>>, open: &mut BTreeSet<String>) {
        let mut queue: VecDeque<(String, String)> = ROOTS
            .iter()
            .filter(|root| self.modules.contains_key(**root))
            .map(|root| ((*root).to_owned(), (*root).to_owned()))
            .collect();
        let mut seen = BTreeSet::new();
        while let Some((public, actual)) = queue.pop_front() {
            if !seen.insert(public.clone()) || !LISTED.contains(&public.as_str()) {
                continue;
            }
            let Some(module) = self.modules.get(&actual) else { continue };
            let mut names = BTreeSet::new();
            if self.collect(&actual, &mut names, &mut BTreeSet::new()) {
                open.insert(public.clone());
            }
            if public == "numba.cuda" {
                names.extend(self.modules.values().flat_map(|module| module.vectors.iter().cloned()));
            }
            if module.package {
                for name in names.iter().filter(|name| !name.starts_with('_')) {
                    let below = format!("{public}.{name}");
                    match self.resolve(&actual, name, 0) {
                        Some(Target::Module(target)) if !target.starts_with("numba.cuda.tests") => {
                            queue.push_back((below, target));
                        }
                        Some(Target::Class(members)) if LISTED.contains(&below.as_str()) => {
                            lists.entry(below).or_default().extend(members);
                        }
                        // One version's names are not known, so the union is not complete.
                        None if LISTED.contains(&below.as_str()) => {
                            open.insert(below);
                        }
                        _ => {}
                    }
                }
            }
            if module.keywords.contains_key("jit") || public == "numba.cuda" {
                let mut keywords = BTreeSet::new();
                for (module, function) in [("numba.cuda.decorators", "jit"), ("numba.cuda.dispatcher", "__init__")] {
                    keywords.extend(
                        self.modules
                            .get(module)
                            .and_then(|module| module.keywords.get(function))
                            .into_iter()
                            .flatten()
                            .cloned(),
                    );
                }
                lists.entry("numba.cuda.jit()".to_owned()).or_default().extend(keywords);
            }
            lists.entry(public).or_default().extend(names.into_iter().filter(|name| !name.starts_with(['_', '*'])));
        }
    }

    /// All names of a module, star imports followed; the answer says whether the module is open.
    fn collect(&self, path: &str, names: &mut BTreeSet<String>, seen: &mut BTreeSet<String>) -> bool {
        if !seen.insert(path.to_owned()) {
            return false;
        }
        let Some(module) = self.modules.get(path) else { return true };
        names.extend(module.names.iter().cloned());
        let mut open = module.open;
        for star in &module.stars {
            let outside = !ROOTS.iter().any(|root| star == root || star.starts_with(&format!("{root}.")))
                && !star.starts_with("cupy_backends");
            match self.modules.get(star).and_then(|module| module.all.as_ref()) {
                Some(all) => names.extend(all.iter().cloned()),
                None => open |= outside || self.collect(star, names, seen),
            }
        }
        open
    }

    fn resolve(&self, path: &str, name: &str, hops: usize) -> Option<Target> {
        if hops > 6 {
            return None;
        }
        let module = self.modules.get(path)?;
        if let Some((from, imported)) = module.imports.get(name) {
            let Some(imported) = imported else {
                return self.modules.contains_key(from).then(|| Target::Module(from.clone()));
            };
            let submodule = format!("{from}.{imported}");
            // A class of the same name comes first: `fp16` was a class and is now a module.
            return match self.resolve(from, imported, hops + 1) {
                Some(target) => Some(target),
                None => self.modules.contains_key(&submodule).then_some(Target::Module(submodule)),
            };
        }
        if let Some(members) = module.classes.get(name) {
            return Some(Target::Class(members.clone()));
        }
        let submodule = format!("{path}.{name}");
        if self.modules.contains_key(&submodule) {
            return Some(Target::Module(submodule));
        }
        module.stars.iter().find_map(|star| self.resolve(star, name, hops + 1))
    }
}

enum Target {
    Module(String),
    Class(BTreeSet<String>),
}
