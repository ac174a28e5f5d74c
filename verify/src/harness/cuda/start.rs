//! What a program starts from: its own `main`, or a function that a harness calls.

use crate::subject::{Stretch, Subject};
use cudalint_program::ir::{FunctionId, FunctionRole};
use cudalint_syntax::Span;

/// Whether a stretch defines `main`.
pub(super) fn has_main(subject: &Subject, stretch: &Stretch) -> bool {
    subject.module(stretch).is_some_and(|module| {
        module.functions.iter().any(|function| {
            function.name == "main"
                && function.body.is_some()
                && function.role == FunctionRole::Free
                && !function.space.global
        })
    })
}

/// A function to start from: what a harness calls or launches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Start {
    /// The function.
    pub function: FunctionId,
    /// The place in it that must be reached, where one is known.
    pub place: Option<Span>,
    /// Whether it is a kernel that is launched by itself.
    pub direct: bool,
}
