//! The files around a subject: folders of headers that it includes from elsewhere in the tree, sources that define what
//! it only declares, and the file with the `main` of its program.

use super::units::program_of;
use crate::paths::absolute;
use camino::{Utf8Path, Utf8PathBuf};
use cudalint_program::includes::is_system_header;
use cudalint_program::ir::{Expr, Function, FunctionRole, Module, ModuleId};
use cudalint_program::visit;
use std::collections::{BTreeMap, BTreeSet};

/// Folders that are listed for one search.
const MAX_FOLDERS: usize = 600;
/// Folders between a file and the highest one that is searched.
const MAX_UP: usize = 8;
/// Folders below one of those that are searched.
const MAX_DOWN: usize = 3;

/// Finds the folder from which an include that is neither beside its file nor in a known folder can be read: below the
/// nearest folder around the file that has it. None for what stands nowhere below `root`.
pub(super) fn folder_of_include(file: &Utf8Path, target: &str, root: &Utf8Path) -> Option<Utf8PathBuf> {
    // Headers of the C++ library have no extension.
    if target.is_empty() || target.starts_with('/') || !target.contains('.') {
        return None;
    }
    // Somebody may work in a folder of the repository that has the headers.
    let root = root.ancestors().find(|above| above.join(".git").exists()).unwrap_or(root);
    let mut left = MAX_FOLDERS;
    let mut searched: Option<&Utf8Path> = None;
    for folder in file.ancestors().skip(1).take(MAX_UP) {
        if let Some(found) = search(folder, target, searched, &mut left) {
            return Some(found);
        }
        searched = Some(folder);
        if folder == root || folder.join(".git").exists() || left == 0 {
            break;
        }
    }
    None
}

/// Searches a folder and those below it, but for one that was searched before.
fn search(top: &Utf8Path, target: &str, except: Option<&Utf8Path>, left: &mut usize) -> Option<Utf8PathBuf> {
    let mut round = vec![top.to_owned()];
    for depth in 0..=MAX_DOWN {
        let mut next = Vec::new();
        for folder in round {
            if folder.join(target).is_file() {
                return Some(folder);
            }
            if depth < MAX_DOWN && *left > 0 {
                *left -= 1;
                next.extend(folders(&folder).into_iter().filter(|inner| Some(inner.as_path()) != except));
            }
        }
        round = next;
    }
    None
}

/// The folders directly below one, sorted, those of tools and builds left out.
fn folders(folder: &Utf8Path) -> Vec<Utf8PathBuf> {
    const SKIPPED: [&str; 6] = ["node_modules", "target", "build", "__pycache__", "CMakeFiles", "venv"];
    let mut found: Vec<Utf8PathBuf> = entries(folder)
        .into_iter()
        .filter(|path| {
            let name = path.file_name().unwrap_or("");
            !name.starts_with('.') && !SKIPPED.contains(&name) && path.is_dir()
        })
        .collect();
    found.sort();
    found
}

fn entries(folder: &Utf8Path) -> Vec<Utf8PathBuf> {
    let Ok(entries) = folder.read_dir_utf8() else { return Vec::new() };
    entries.filter_map(Result::ok).map(|entry| entry.path().to_owned()).collect()
}

/// What one source file defines, needs and includes, as far as its words say.
#[derive(Clone, Debug, Default)]
struct Parts {
    defines: BTreeSet<String>,
    needs: BTreeSet<String>,
    includes: BTreeSet<Utf8PathBuf>,
    /// What it includes, as written, and whether in angle brackets.
    targets: Vec<(String, bool)>,
}

/// Folders above and below a file's own that are looked at for its program.
const MAX_HIGHER: usize = 3;
const MAX_LOWER: usize = 2;
/// Source files that are looked at.
const MAX_SIBLINGS: usize = 80;
/// Bytes of a file that is looked at.
const MAX_SIBLING_BYTES: u64 = 2 << 20;

/// The program that a source file belongs to: files near it, told by what they define, need and include.
#[derive(Clone, Debug, Default)]
pub(super) struct Neighbours {
    parts: BTreeMap<Utf8PathBuf, Parts>,
}

impl Neighbours {
    /// Reads the sources of a file's folder and of those below it; where none of them has a `main`, those of the folder
    /// above too, up to `root`.
    pub fn read(file: &Utf8Path, root: &Utf8Path) -> Self {
        let mut found = Self::default();
        for folder in file.ancestors().skip(1).take(MAX_HIGHER) {
            found.add(folder);
            if folder == root || found.parts.values().any(|part| part.defines.contains("main")) {
                break;
            }
        }
        found
    }

    /// Reads the sources of a folder and of those below it.
    fn add(&mut self, top: &Utf8Path) {
        let mut round = vec![top.to_owned()];
        for _ in 0..=MAX_LOWER {
            let mut next = Vec::new();
            for folder in round {
                let mut files = entries(&folder);
                files.sort();
                let sources = files.into_iter().filter(|path| {
                    matches!(path.extension(), Some("cu" | "c" | "cc" | "cpp" | "cxx" | "cuh" | "h" | "hpp"))
                        && path.metadata().is_ok_and(|it| it.is_file() && it.len() <= MAX_SIBLING_BYTES)
                });
                for path in sources {
                    if self.parts.len() >= MAX_SIBLINGS {
                        return;
                    }
                    if let Some(found) = (!self.parts.contains_key(&path)).then(|| program_of(&path)).flatten() {
                        let found = found.project.module(ModuleId(0));
                        let targets: Vec<(String, bool)> =
                            found.includes.iter().map(|it| (it.target.to_string(), it.system)).collect();
                        let read = Parts {
                            defines: defined(found),
                            needs: needed(found),
                            includes: targets.iter().map(|(target, _)| absolute(&folder.join(target))).collect(),
                            targets,
                        };
                        self.parts.insert(path, read);
                    }
                }
                next.extend(folders(&folder));
            }
            round = next;
        }
    }

    /// Folders of headers that these files include and that stand elsewhere below `root`.
    pub fn include_folders(&self, files: &[Utf8PathBuf], root: &Utf8Path) -> BTreeSet<Utf8PathBuf> {
        let mut found = BTreeSet::new();
        for file in files {
            let Some(part) = self.parts.get(file) else { continue };
            for (target, system) in &part.targets {
                let beside = file.parent().is_some_and(|folder| folder.join(target).is_file());
                let of_system = *system && is_system_header(target);
                if !(beside || of_system) {
                    found.extend(folder_of_include(file, target, root));
                }
            }
        }
        found
    }

    /// A file with what it includes of the folder, as one translation unit.
    fn unit(&self, file: &Utf8Path) -> Parts {
        let mut whole = Parts::default();
        let mut stack = vec![file.to_owned()];
        let mut seen = BTreeSet::new();
        while let Some(path) = stack.pop() {
            if let Some(part) = self.parts.get(&path).filter(|_| seen.insert(path.clone())) {
                whole.defines.extend(part.defines.iter().cloned());
                whole.needs.extend(part.needs.iter().cloned());
                whole.includes.insert(path);
                stack.extend(part.includes.iter().cloned());
            }
        }
        whole
    }

    /// The other files of the program that begins with `file`: those that define what it needs, and so on.
    pub fn linked_with(&self, file: &Utf8Path) -> Vec<Utf8PathBuf> {
        let first = self.unit(file);
        let mut defined = first.defines.clone();
        let mut needed: Vec<String> = first.needs.iter().filter(|name| !defined.contains(*name)).cloned().collect();
        let mut covered = first.includes;
        let mut files = Vec::new();
        while let Some(name) = needed.pop() {
            if defined.contains(&name) {
                continue;
            }
            let source = self.parts.iter().find(|(path, part)| {
                part.defines.contains(&name)
                    && !part.defines.contains("main")
                    && !covered.contains(*path)
                    && matches!(path.extension(), Some("cu" | "c" | "cc" | "cpp" | "cxx"))
            });
            let Some((path, _)) = source else { continue };
            let unit = self.unit(path);
            needed.extend(unit.needs.iter().cloned());
            defined.extend(unit.defines.iter().cloned());
            covered.extend(unit.includes.iter().cloned());
            files.push(path.clone());
        }
        files.sort();
        files
    }

    /// Files of the folder that include `file`, at any depth, those with a `main` first.
    pub fn includers(&self, file: &Utf8Path) -> Vec<Utf8PathBuf> {
        let mut found: Vec<(bool, Utf8PathBuf)> = self
            .parts
            .iter()
            .filter(|(path, _)| {
                path.as_path() != file && matches!(path.extension(), Some("cu" | "cc" | "cpp" | "cxx" | "c"))
            })
            .filter(|(path, _)| self.unit(path).includes.contains(file))
            .map(|(path, part)| (!part.defines.contains("main"), path.clone()))
            .collect();
        found.sort();
        found.into_iter().map(|(_, path)| path).collect()
    }

    /// Files of the folder with a `main` whose program has `file` in it.
    pub fn mains_with(&self, file: &Utf8Path) -> Vec<Utf8PathBuf> {
        let mains = self.parts.iter().filter(|(_, part)| part.defines.contains("main")).map(|(path, _)| path);
        mains
            .filter(|path| path.as_path() != file)
            .filter(|path| {
                self.unit(path).includes.contains(file)
                    || self
                        .linked_with(path)
                        .iter()
                        .any(|other| other == file || self.unit(other).includes.contains(file))
            })
            .cloned()
            .collect()
    }

    /// Whether a file of the folder defines a function.
    pub fn defines(&self, name: &str) -> bool {
        self.parts.values().any(|part| part.defines.contains(name))
    }

    /// Whether a file of the folder defines `main`.
    pub fn has_main(&self, file: &Utf8Path) -> bool {
        self.parts.get(file).is_some_and(|part| part.defines.contains("main"))
    }
}

fn is_free(function: &Function) -> bool {
    matches!(function.role, FunctionRole::Free) && !function.name.is_empty()
}

fn defined(module: &Module) -> BTreeSet<String> {
    let functions = module.functions.iter().filter(|function| is_free(function) && function.body.is_some());
    functions.filter(|function| !function.is_static || function.name == "main").map(|it| it.name.to_string()).collect()
}

/// Names that are called and not defined here.
fn needed(module: &Module) -> BTreeSet<String> {
    let own: BTreeSet<&str> =
        module.functions.iter().filter(|it| it.body.is_some()).map(|function| function.name.as_str()).collect();
    let mut names = BTreeSet::new();
    for function in &module.functions {
        let Some(block) = &function.body else { continue };
        visit::walk(module, function, block, |item| {
            if let visit::Item::Expr(id) = item
                && let Some(Expr::Call { callee, .. }) = module.exprs.get(id).map(|node| &node.kind)
                && let Some(Expr::Name { path, .. }) = module.exprs.get(*callee).map(|node| &node.kind)
                && let Some(name) = path.last()
                && !own.contains(name.as_str())
            {
                names.insert(name.to_string());
            }
            true
        });
    }
    names
}
