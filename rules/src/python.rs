//! What the rules on Python files share.

use cudalint_engine::NodeContext;
use cudalint_findings::Place;
use cudalint_program::python::compiled::Assumption;
use cudalint_syntax::{Node, Span};
use std::sync::Arc;

/// Whether a node is the root of its file or fence: the place where a rule reads the facts of all of it.
pub fn at_root(node: Node<'_>) -> bool {
    node.parent().is_none()
}

/// A span of the file as a place.
pub fn place(context: &NodeContext<'_>, span: Span) -> Place {
    Place { path: Arc::clone(context.path), range: span.range() }
}

/// What must be assumed for something that Numba refuses to compile in a function, in words.
pub fn compile_assumption(assumed: Assumption, function: &str) -> String {
    match assumed {
        Assumption::NoNrt => "Numba's NRT is not turned on for kernels (`NUMBA_CUDA_ENABLE_NRT`)".to_owned(),
        Assumption::Launched => format!("`{function}` is launched, and not called by kernels"),
    }
}
