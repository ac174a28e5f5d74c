//! The seam to the layers below: which of their functions a run calls, and with what. Nothing else of the engine does.

use crate::load::Piece;
use cudalint_program::cuda::{self, LowerInput};
use cudalint_program::ir::{Module, ModuleId};
use cudalint_program::macro_index::{MacroFile, MacroIndex};
use cudalint_program::python::{self, LocalPackages, LowerPython, PythonNames};
use cudalint_program::{Name, Project, ProjectOptions, Source};
use cudalint_replay::facts::Facts;
use cudalint_replay::runs::{self, ModuleLaunches, ModuleRuns};
use cudalint_replay::status::{StatusTable, Survey};
use cudalint_replay::{ProjectScan, ReplayOptions, Walked};
use cudalint_syntax::{Define, Language, ParsedRegion, ParserPool};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// One stretch in one language on its way into a project. The position in the list of all units is its module's id.
pub(crate) struct Unit<'a> {
    pub path: &'a Arc<str>,
    pub piece: &'a Piece,
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
            .map(|unit| MacroFile { path: unit.path, directives: &unit.piece.directives, alone: unit.piece.is_alone() })
            .collect();
        Self { macros: MacroIndex::build(&files, &options.include_folders, &options.build), options }
    }

    /// Lowers the unit of C++ at a position of the list; the names that stand in it come with it.
    pub fn lower(
        &self,
        unit: usize,
        parsed: &ParsedRegion,
        piece: &Piece,
        pool: &mut ParserPool,
    ) -> (Module, FxHashSet<Name>) {
        let macros = self.macros.visible(unit);
        let Piece { stretch, directives } = piece;
        let input = LowerInput { text: &stretch.text, parsed, directives, macros: &macros, pool };
        let (mut module, names) = cuda::lower_with_names(input);
        module.inside = stretch.string();
        if let Some(body) = &stretch.body {
            cuda::shape_cupy_body(&mut module, Arc::clone(body));
        }
        (module, names)
    }

    /// Joins the modules of all units.
    pub fn project(self, units: &[Unit<'_>], modules: Vec<Module>) -> Project {
        let sources = units
            .iter()
            .zip(modules)
            .map(|(unit, module)| Source {
                path: Arc::clone(unit.path),
                text: Arc::clone(&unit.piece.stretch.text),
                module,
                alone: unit.piece.is_alone(),
            })
            .collect();
        Project::build(sources, &self.options)
    }
}

/// Lowers a stretch of Python; of a notebook with where its cells begin. What it says of GPU packages is read where the packages
/// that the project defines itself are given.
pub(crate) fn lower_python(
    parsed: &ParsedRegion,
    text: &str,
    cells: Vec<usize>,
    local: Option<&LocalPackages>,
) -> Module {
    let names = parsed.root().zip(local).map(|(root, local)| Box::new(PythonNames::read(root, text, local)));
    Module { cells, python_names: names, ..python::lower(LowerPython { text, parsed }) }
}

/// The module of a stretch that could not be lowered.
pub(crate) fn nothing(piece: &Piece) -> Module {
    let stretch = &piece.stretch;
    Module { language: stretch.region.language, inside: stretch.string(), ..Module::default() }
}

/// What every look at a module needs to know of the whole project.
pub(crate) fn scan(project: &Project) -> ProjectScan {
    ProjectScan::new(project)
}

/// The error handling of one module by itself. What a status is, and what becomes of one that nobody looks at, is another
/// matter in Python: there most calls raise.
pub(crate) fn survey(project: &Project, id: ModuleId) -> Survey {
    if project.module(id).language == Language::Python {
        return Survey::default();
    }
    cudalint_replay::status::survey(project, id)
}

/// Joins the surveys of all modules.
pub(crate) fn statuses(project: &Project, surveys: &[Survey]) -> StatusTable {
    StatusTable::join(project, surveys)
}

/// What the walks from one module's functions see.
pub(crate) fn walk(project: &Project, scan: &ProjectScan, id: ModuleId) -> Walked {
    cudalint_replay::walk_module(project, scan, id, &ReplayOptions::default())
}

/// Joins the walks of all modules: calls are followed from file to file, and an event belongs to the file that it is
/// written in. The result has one entry for each module.
pub(crate) fn merge(project: &Project, walks: Vec<Walked>) -> Vec<Facts> {
    cudalint_replay::merge(project, walks)
}

/// The launches that all walks met, by the modules of their kernels.
pub(crate) fn launches<'a>(project: &Project, facts: &'a [Facts]) -> Vec<ModuleLaunches<'a>> {
    runs::collect(project, facts)
}

/// Executes the kernels of one module.
pub(crate) fn run_kernels(project: &Project, id: ModuleId, launches: &ModuleLaunches<'_>) -> ModuleRuns {
    runs::execute(project, id, launches)
}

/// Adds what came of all kernels to the facts.
pub(crate) fn hand_out(facts: &mut [Facts], runs: Vec<ModuleRuns>) {
    runs::hand_out(facts, runs);
}

/// Adds the error handling to the walks' facts.
pub(crate) fn add_statuses(all: &mut [Facts], mut statuses: StatusTable) {
    for (index, facts) in all.iter_mut().enumerate() {
        if let Some(status) = statuses.take(ModuleId(index as u32)) {
            facts.status = status.functions;
            facts.checkers = status.checkers;
        }
    }
}

/// Adds what a module's text says without being run.
pub(crate) fn complete(project: &Project, id: ModuleId, facts: &mut Facts) {
    cudalint_replay::structure::add_structure(project, id, facts);
}
