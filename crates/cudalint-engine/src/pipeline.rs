//! The seam to the layers below: which of their functions a run calls, and with what. Nothing else of the engine does.

use cudalint_program::condition::Defines;
use cudalint_program::cuda::{self, LowerInput};
use cudalint_program::ir::{Module, ModuleId};
use cudalint_program::macro_index::{MacroFile, MacroIndex};
use cudalint_program::python::{LocalPackages, PythonNames};
use cudalint_program::{Project, ProjectOptions, Source};
use cudalint_replay::facts::Facts;
use cudalint_replay::status::{StatusTable, Survey};
use cudalint_replay::{ProjectScan, ReplayOptions, Walked};
use cudalint_syntax::{Define, Directives, Node, ParsedRegion, ParserPool};
use std::sync::Arc;

/// One CUDA C++ region on its way into a project. The position in the list of all units is its module's id.
pub(crate) struct Unit<'a> {
    pub path: &'a Arc<str>,
    pub text: &'a Arc<str>,
    pub directives: &'a Directives,
    /// A fence of a document stands for itself.
    pub alone: bool,
}

/// What lowering knows of other units.
pub(crate) struct Front {
    macros: MacroIndex<Define>,
    options: ProjectOptions,
}

impl Front {
    /// Reads the macros of all units.
    pub fn new(units: &[Unit<'_>], options: ProjectOptions) -> Self {
        let files: Vec<MacroFile<'_>> = units
            .iter()
            .map(|unit| MacroFile { path: unit.path, directives: unit.directives, alone: unit.alone })
            .collect();
        let defines = Defines::new(options.defines.iter().map(String::as_str));
        Self { macros: MacroIndex::build(&files, &options.include_folders, &defines), options }
    }

    /// Lowers the unit at a position of the list.
    pub fn lower(
        &self,
        unit: usize,
        parsed: &ParsedRegion,
        text: &str,
        directives: &Directives,
        pool: &mut ParserPool,
    ) -> Module {
        let macros = self.macros.visible(unit);
        cuda::lower(LowerInput { text, parsed, directives, macros: &macros, pool })
    }

    /// Joins the modules of all units.
    pub fn project(self, units: &[Unit<'_>], modules: Vec<Module>) -> Project {
        let sources = units
            .iter()
            .zip(modules)
            .map(|(unit, module)| Source {
                path: Arc::clone(unit.path),
                text: Arc::clone(unit.text),
                module,
                alone: unit.alone,
            })
            .collect();
        Project::build(sources, &self.options)
    }
}

/// The names of a Python file.
pub(crate) fn python_names(root: Node<'_>, text: &str, local: &LocalPackages) -> PythonNames {
    PythonNames::read(root, text, local)
}

/// What every look at a module needs to know of the whole project.
pub(crate) fn scan(project: &Project) -> ProjectScan {
    ProjectScan::new(project)
}

/// What one module says by itself: its error handling, and what the walks from its functions saw.
#[derive(Default)]
pub(crate) struct Seen {
    survey: Survey,
    walked: Walked,
}

/// Looks at one module.
pub(crate) fn look(project: &Project, scan: &ProjectScan, id: ModuleId) -> Seen {
    Seen {
        survey: cudalint_replay::status::survey(project, id),
        walked: cudalint_replay::walk_module(project, scan, id, &ReplayOptions::default()),
    }
}

/// Joins what was seen in all modules: calls are followed from file to file, and an event belongs to the file that it
/// is written in. The result has one entry for each module.
pub(crate) fn join(project: &Project, seen: Vec<Seen>) -> Vec<Facts> {
    let (surveys, walks): (Vec<Survey>, Vec<Walked>) = seen.into_iter().map(|seen| (seen.survey, seen.walked)).unzip();
    let statuses = StatusTable::join(project, &surveys);
    let mut all = cudalint_replay::merge(project, walks);
    for (index, facts) in all.iter_mut().enumerate() {
        if let Some(status) = statuses.module(ModuleId(index as u32)) {
            facts.status.clone_from(&status.functions);
            facts.checkers.clone_from(&status.checkers);
        }
    }
    all
}

/// Adds what a module's text says without being run.
pub(crate) fn complete(project: &Project, id: ModuleId, facts: &mut Facts) {
    cudalint_replay::structure::add_structure(project, id, facts);
}
