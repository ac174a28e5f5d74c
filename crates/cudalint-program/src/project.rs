//! The project index: all modules, their texts, and the names that cross files.
//!
//! A name that is used in one module is looked for there first, then in the files that the module's file includes (at
//! any depth), then in those that include it, and last in neighbouring files (one in the other's folder or below): there
//! only when some include is out of sight, so that the name may come from it, and only when one single thing has that
//! name. Several candidates in one step are no answer. A repository may hold many programs, and what one of them calls
//! `run` says nothing of another.
//!
//! Python's names are not among these: a Python module is found by its file's path, as an import does, and its names are
//! looked up in it alone.

use crate::api::ApiId;
use crate::includes::{IncludeGraph, IncludingFile};
use crate::ir::{FunctionId, Module, ModuleId};
use crate::kept::KeptFiles;
use crate::mentions::{self, AllMentions, Mentions};
use crate::name::Name;
use crate::python::LocalPackages;
use crate::python::modules::PythonModules;
use crate::tables::Tables;
use blake3::Hash;
use cudalint_syntax::preprocessor::Meaning;
use cudalint_syntax::{BuildMacros, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::{Arc, OnceLock};
use typed_index_collections::TiVec;

/// What a module was made of, and the names that stand in its file.
pub(crate) type MadeOf = (Hash, Arc<[Name]>);

/// A module on its way into a project.
#[derive(Debug, Default)]
pub(crate) struct Source {
    /// Path of its file as given by the user, with `/` between its parts.
    pub path: Arc<str>,
    /// Text of the whole file.
    pub text: Arc<str>,
    /// The module.
    pub module: Arc<Module>,
    /// What it was made of, where that is asked for, and the names that stand in its file.
    pub made_of: Option<MadeOf>,
    /// Whether it stands for itself: a fence of a document sees no other module, and none sees it.
    pub alone: bool,
}

/// How the files of a project are read: what the build and the settings say of them. Whoever reads a program takes these,
/// so that all read the same one.
#[derive(Clone, Debug, Default)]
pub struct ProjectOptions {
    /// `-I` folders, written as the files' paths are.
    pub include_folders: Vec<String>,
    /// The macros that the build defines.
    pub build: Arc<BuildMacros>,
    /// Macros in front of declarations that mean nothing to the analysis.
    pub declaration_macros: Vec<String>,
    /// GPU packages that the project itself defines.
    pub local_packages: LocalPackages,
    /// Folders, written as the files' paths are, whose build makes memory of the heap the device's, too.
    pub sharing_folders: Vec<String>,
    /// Folders whose build makes code for devices alone on which the lanes of a warp run in step.
    pub in_step_folders: Vec<String>,
    /// Folders whose build files may define macros.
    pub defining_folders: Vec<DefiningFolder>,
    /// Whether the trees stay when the program is made: those who edit text go by them.
    pub keep_trees: bool,
    /// What was made of files before, for who makes the program of the same files again and again.
    pub kept: Option<Arc<KeptFiles>>,
}

/// A folder whose build files define macros for the files in it and below it, in some of their builds.
#[derive(Clone, Debug, Default)]
pub struct DefiningFolder {
    /// The folder, written as the files' paths are.
    pub folder: String,
    /// The macros.
    pub names: FxHashSet<String>,
}

/// Whether a file stands in a folder or below it, both written alike.
pub(crate) fn is_below(path: &str, folder: &str) -> bool {
    matches!(folder, "" | ".") || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// All modules of a run.
#[derive(Debug, Default)]
pub struct Project {
    pub(crate) modules: TiVec<ModuleId, Arc<Module>>,
    /// See [`Self::made_of`].
    pub(crate) made_of: TiVec<ModuleId, Option<MadeOf>>,
    sources: TiVec<ModuleId, (Arc<str>, Arc<str>)>,
    includes: IncludeGraph,
    /// By name, the modules that define a macro.
    macros: FxHashMap<Name, Vec<u32>>,
    build: Arc<BuildMacros>,
    /// Whether some module says that it is for AMD's compiler.
    pub(crate) has_hip: bool,
    /// See [`ProjectOptions::sharing_folders`].
    pub(crate) sharing_folders: Vec<String>,
    /// See [`ProjectOptions::in_step_folders`].
    in_step_folders: Vec<String>,
    pub(crate) tables: Tables,
    pub(crate) python: PythonModules,
    /// Where host code hands symbols to the runtime: stretches of text, found when first asked for.
    symbols: OnceLock<Vec<(ModuleId, Span)>>,
    /// Found when first asked for.
    mentions: OnceLock<AllMentions>,
}

impl Project {
    /// Joins modules. Their positions in the list become their ids.
    pub(crate) fn build(sources: Vec<Source>, options: &ProjectOptions) -> Self {
        let files: Vec<IncludingFile> = sources
            .iter()
            .map(|source| IncludingFile {
                path: source.path.to_string(),
                includes: source.module.includes.iter().map(|i| (i.target.to_string(), i.system)).collect(),
                alone: source.alone,
            })
            .collect();
        let includes = IncludeGraph::build(&files, &options.include_folders);
        let mut macros: FxHashMap<Name, Vec<u32>> = FxHashMap::default();
        for (file, source) in sources.iter().enumerate() {
            for definition in &source.module.macros {
                match macros.get_mut(&definition.name) {
                    Some(files) => files.push(file as u32),
                    None => drop(macros.insert(definition.name.clone(), vec![file as u32])),
                }
            }
        }
        let mut project = Self { includes, macros, build: Arc::clone(&options.build), ..Self::default() };
        project.sharing_folders.clone_from(&options.sharing_folders);
        project.in_step_folders.clone_from(&options.in_step_folders);
        for source in sources {
            let id = project.modules.next_key();
            project.has_hip |= source.module.for_hip;
            project.tables.add(id, &source.module);
            project.python.add(id, &source.path, &source.module, source.alone);
            project.modules.push(source.module);
            project.made_of.push(source.made_of);
            project.sources.push((source.path, source.text));
        }
        project.join_methods_apart();
        project.sort_crowds();
        project
    }

    /// Whether a module is only built for devices on which the lanes of a warp run in step: those before `sm_70`.
    pub fn has_lanes_in_step(&self, id: ModuleId) -> bool {
        self.in_step_folders.iter().any(|folder| is_below(self.path(id), folder))
            || self.needs_old_toolkit(id)
            || self.calls_what_is_gone(id)
    }

    /// Whether a file includes what the CUDA SDK had before CUDA 5, which knows no device of today, and the project has no such file.
    fn needs_old_toolkit(&self, id: ModuleId) -> bool {
        const GONE: [&str; 2] = ["cutil.h", "cutil_inline.h"];
        let text = self.source(id);
        let includes = |name: &str| {
            text.match_indices(name).any(|(at, _)| {
                let line = text[..at].rsplit('\n').next().unwrap_or("").trim_start();
                line.strip_prefix('#').is_some_and(|rest| rest.trim_start().starts_with("include"))
            })
        };
        let has = |name: &str| self.sources.iter().any(|(path, _)| path.rsplit('/').next() == Some(name));
        GONE.into_iter().any(|name| includes(name) && !has(name))
    }

    /// The ids of all modules, in order.
    pub fn modules(&self) -> impl Iterator<Item = ModuleId> + use<> {
        (0..self.modules.len() as u32).map(ModuleId)
    }

    /// A module.
    pub fn module(&self, id: ModuleId) -> &Module {
        &self.modules[id]
    }

    /// What a module was made of, where somebody keeps modules: two that say the same are the same. With it are the names that
    /// stand in its file, which are all that it may ask other modules for.
    pub fn made_of(&self, id: ModuleId) -> Option<(Hash, &[Name])> {
        self.made_of.get(id)?.as_ref().map(|(hash, names)| (*hash, &**names))
    }

    /// What the build and the settings say, to be compared with another time.
    pub fn built(&self) -> impl std::fmt::Debug + use<'_> {
        (&self.build, &self.sharing_folders, &self.in_step_folders)
    }

    /// The modules that define a macro of this name, by number.
    pub fn macro_files(&self, name: &str) -> &[u32] {
        self.macros.get(name).map_or(&[], Vec::as_slice)
    }

    /// Whether some module defines a record of this name.
    pub fn has_record(&self, name: &str) -> bool {
        self.tables.records.contains_key(name)
    }

    /// How many declarations of the project give this name to a variable at namespace scope.
    pub fn globals_named(&self, name: &str) -> usize {
        self.tables.globals.get(name).map_or(0, Vec::len)
    }

    /// The path of a module's file as given by the user.
    pub fn path(&self, id: ModuleId) -> &Arc<str> {
        &self.sources[id].0
    }

    /// The whole text of a module's file.
    pub fn source(&self, id: ModuleId) -> &Arc<str> {
        &self.sources[id].1
    }

    /// Text of a span of a module's file; empty when out of range.
    pub fn text(&self, id: ModuleId, span: Span) -> &str {
        self.sources[id].1.get(span.range()).unwrap_or("")
    }

    /// Whether some file hands a symbol of this name to the runtime: `cudaMemcpyToSymbol(name, …)`.
    pub fn is_symbol_of_host(&self, name: &str) -> bool {
        let near = self.symbols.get_or_init(|| {
            let all = self.modules().flat_map(|id| symbol_arguments(self.source(id)).map(move |span| (id, span)));
            all.collect()
        });
        near.iter().any(|(id, span)| self.text(*id, *span).contains(name))
    }

    /// Expressions of all modules that name a function, or whatever else has this name.
    pub fn mentions(&self, name: &Name) -> Option<&Mentions> {
        let all = || mentions::of(self.modules.iter_enumerated().map(|(id, module)| (id, &**module)));
        self.mentions.get_or_init(all).get(name)
    }

    /// Whether a module may see a macro of this name, whatever it stands for and under whatever conditions.
    pub fn has_macro(&self, id: ModuleId, name: &str) -> bool {
        if matches!(self.build.meaning(name), Meaning::Defined(_)) {
            return true;
        }
        let Some(files) = self.macros.get(name) else { return false };
        let (own, graph) = (id.0, &self.includes);
        let reach = graph.reach(own);
        let is_near = |file: &u32| reach.missing || reach.included.has(*file) || reach.context.has(*file);
        files.iter().any(|file| *file == own || !graph.is_alone(own) && is_near(file))
    }

    /// Which file includes which.
    pub fn includes(&self) -> &IncludeGraph {
        &self.includes
    }

    /// All kernels with a body, in order of modules, C++ and Python.
    pub fn kernels(&self) -> impl Iterator<Item = (ModuleId, FunctionId)> + '_ {
        self.modules.iter().enumerate().flat_map(|(module, it)| {
            it.functions
                .iter()
                .enumerate()
                .filter(|(_, f)| f.space.global && f.body.is_some())
                .map(move |(function, _)| (ModuleId(module as u32), FunctionId(function as u32)))
        })
    }
}

/// The texts after calls that take a symbol: it is among their first arguments.
fn symbol_arguments(text: &str) -> impl Iterator<Item = Span> {
    const NEAR: usize = 200;
    // The quick test first: few files do it.
    let text_of_calls = if text.contains("Symbol") || text.contains("GetGlobal") { text } else { "" };
    ApiId::mentions(text_of_calls, |api| api.reaches_symbol()).map(move |(at, _)| {
        let mut end = (at + NEAR).min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        Span::new(at, end)
    })
}
