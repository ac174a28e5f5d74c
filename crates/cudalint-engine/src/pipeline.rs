//! The seam to the layers below: which of their functions a run calls, and with what. Nothing else of the engine does.

use cudalint_program::condition::Defines;
use cudalint_program::cuda::{self, LowerInput};
use cudalint_program::ir::{Module, ModuleId};
use cudalint_program::macro_index::{MacroFile, MacroIndex};
use cudalint_program::python::{LocalPackages, PythonNames};
use cudalint_program::{Project, ProjectOptions, Source};
use cudalint_replay::facts::Facts;
use cudalint_replay::status::StatusTable;
pub(crate) use cudalint_replay::status::Survey;
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

/// What one module says of error handling by itself.
pub(crate) fn survey(project: &Project, id: ModuleId) -> Survey {
    cudalint_replay::status::survey(project, id)
}

/// Makes the facts of modules; what joins modules is worked out once.
pub(crate) struct Replayer<'p> {
    pub project: &'p Project,
    status: StatusTable,
}

impl<'p> Replayer<'p> {
    /// Joins the surveys of all modules.
    pub fn new(project: &'p Project, surveys: &[Survey]) -> Self {
        Self { project, status: StatusTable::join(project, surveys) }
    }

    /// The facts of one module.
    pub fn facts(&self, id: ModuleId) -> Facts {
        let status = self.status.module(id).cloned().unwrap_or_default();
        Facts { status: status.functions, checkers: status.checkers, ..Facts::default() }
    }
}
