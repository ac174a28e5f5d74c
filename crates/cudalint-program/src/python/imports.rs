//! Which file an import means, and which C++ stands in the strings of a Python module.

use super::modules::join;
use crate::includes::normalize;
use crate::ir::ModuleId;
use crate::project::Project;
use cudalint_syntax::{FileKind, Language, Span};
use std::path::Path;

/// The folder around a path; none around the topmost that the paths of the project show.
fn above(path: &str) -> Option<&str> {
    match path.rsplit_once('/') {
        Some(("", _)) if path.len() > 1 => Some("/"),
        Some(("", _)) => None,
        Some((_, "..")) => None,
        Some((folder, _)) => Some(folder),
        None if path.is_empty() || path == ".." => None,
        None => Some(""),
    }
}

impl Project {
    /// The module that `import path` means in a Python file; `level` is the number of dots before it. The file is looked for
    /// in the folders above the importing one (and in a `src` folder of each), which is where Python's search path leads in
    /// practice: next to the script, the root of the package, the root of the project. Two different answers are none, except that
    /// a file outside packages is a script, whose own folder comes first. Fences see nothing and are seen by nobody.
    pub fn python_module(&self, from: ModuleId, path: &str, level: u32) -> Option<ModuleId> {
        if self.includes().is_alone(from.0) || (path.is_empty() && level == 0) {
            return None;
        }
        let modules = &self.python;
        let relative = path.replace('.', "/");
        let own = normalize(self.path(from));
        let folder = above(&own)?;
        if level > 0 {
            let mut package = folder;
            for _ in 1..level {
                package = above(package)?;
            }
            return if path.is_empty() { modules.package(package) } else { modules.at(&join(package, &relative)) };
        }
        let mut found = None;
        let mut at = Some(folder);
        while let Some(folder) = at {
            let here = modules.at(&join(folder, &relative));
            if here.is_some() && found.is_none() && modules.package(folder).is_none() && Some(folder) == above(&own) {
                return here;
            }
            for next in [here, modules.at(&join(&join(folder, "src"), &relative))].into_iter().flatten() {
                if found.is_some_and(|before| before != next) {
                    return None;
                }
                found = Some(next);
            }
            at = above(folder);
        }
        found
    }

    /// Whether a Python file imports a package, or a module of it.
    pub fn imports_package(&self, package: &str) -> bool {
        let mut imports = self.modules().flat_map(|id| &self.module(id).imports);
        imports.any(|import| import.level == 0 && import.path.split('.').next() == Some(package))
    }

    /// The file of C++ that a Python file reads by a path, of which only the end may be known (`whole` is false). A script runs in
    /// its own folder, or in one above it, where that is the only one with such a file; last comes the one file of the project
    /// whose path ends so.
    pub fn file_read(&self, from: ModuleId, path: &str, whole: bool) -> Option<ModuleId> {
        let is_program = matches!(FileKind::of(Path::new(path)), Some(FileKind::Cuda | FileKind::CFamily));
        if !is_program || self.includes().is_alone(from.0) || whole && path.starts_with('/') {
            return None;
        }
        // Of `folder + "x/kernels.cu"` nobody knows the name of the folder `…x`.
        let known = normalize(if whole { path } else { path.split_once('/')?.1 });
        let own = normalize(self.path(from));
        let programs: Vec<(String, ModuleId)> = self
            .modules()
            .filter(|id| {
                let module = self.module(*id);
                module.language == Language::Cuda && module.inside.is_none()
            })
            .map(|id| (normalize(self.path(id)), id))
            .collect();
        let only = |holds: &dyn Fn(&str) -> bool| {
            let mut found = programs.iter().filter(|(path, _)| holds(path)).map(|(_, id)| *id);
            found.next().filter(|_| found.next().is_none())
        };
        let folder = above(&own)?;
        let beside = normalize(&join(folder, &known));
        if let Some(found) = only(&|path| path == beside) {
            return Some(found);
        }
        let mut around: Vec<String> = Vec::new();
        let mut at = above(folder);
        while let Some(folder) = at {
            around.push(normalize(&join(folder, &known)));
            at = above(folder);
        }
        if programs.iter().any(|(path, _)| around.contains(path)) {
            return only(&|path| around.iter().any(|here| here == path));
        }
        let named = known.trim_start_matches("../");
        only(&|path| path.strip_suffix(named).is_some_and(|before| before.is_empty() || before.ends_with('/')))
    }

    /// The C++ in the strings of a Python module, in order.
    pub fn embedded(&self, host: ModuleId) -> impl Iterator<Item = ModuleId> + '_ {
        let module = self.module(host);
        let own = module.body.and_then(|body| Some(module.functions.get(body)?.span));
        let all = self.python.embedded.get(self.path(host)).map_or(&[][..], Vec::as_slice);
        // Of a document each fence has its own.
        all.iter().copied().filter(move |id| {
            let inside = self.module(*id).inside;
            inside.zip(own).is_some_and(|(inside, own)| own.contains(inside))
        })
    }

    /// The C++ in the string whose expression has this span.
    pub fn embedded_at(&self, host: ModuleId, span: Span) -> Option<ModuleId> {
        self.embedded(host).find(|id| self.module(*id).inside == Some(span))
    }
}
