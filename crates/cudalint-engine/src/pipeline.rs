//! The seam to the layers below: which of their functions a run calls, and with what. Nothing else of the engine does.

use cudalint_program::Project;
use cudalint_program::ir::{Module, ModuleId};
use cudalint_program::python::PythonNames;
use cudalint_replay::facts::Facts;
use cudalint_syntax::{Directives, ParsedRegion, ParserPool};
use std::sync::Arc;

/// Lowers one CUDA C++ region.
pub(crate) fn lower(_parsed: &ParsedRegion, _text: &str, _directives: &Directives, _pool: &mut ParserPool) -> Module {
    Module::default()
}

/// The names of a Python file.
pub(crate) fn python_names(_parsed: &ParsedRegion, _text: &str) -> PythonNames {
    PythonNames::default()
}

/// A module on its way into a project.
pub(crate) struct Lowered {
    pub path: Arc<str>,
    pub text: Arc<str>,
    pub module: Module,
}

/// Joins modules.
pub(crate) fn project(_modules: Vec<Lowered>) -> Project {
    Project::default()
}

/// Replays one module.
pub(crate) fn replay(_project: &Project, _id: ModuleId) -> Facts {
    Facts::default()
}
