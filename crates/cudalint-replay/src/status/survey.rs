//! What the survey of one module finds, and the facts that are made of it.

use super::flow::Flow;
use crate::checkers::{MacroShape, Used};
use crate::facts::{Checker, FunctionStatus};
use cudalint_program::Name;
use cudalint_program::ir::{Expr, ExprId, FunctionId, FunctionRole, Module};

/// What one module says by itself.
#[derive(Debug, Default)]
pub struct Survey {
    /// Host functions with a body.
    pub(crate) functions: Vec<FunctionSurvey>,
    /// Names of functions with a body that run on host and device, which hold no status and launch nothing.
    pub(crate) of_both: rustc_hash::FxHashSet<Name>,
    /// Function-like macros that matter.
    pub(crate) macros: Vec<MacroShape>,
    /// How its code uses macros.
    pub(crate) used_macros: Used,
    /// Whether the file has no GPU code, and is read for what it calls.
    pub(crate) of_caller: bool,
}

impl Survey {
    /// Of a file without GPU code, which is read for what it calls.
    #[must_use]
    pub fn of_caller(self) -> Self {
        Self { of_caller: true, ..self }
    }
}

/// A host function, reduced.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools)]
pub(crate) struct FunctionSurvey {
    pub(crate) id: FunctionId,
    pub(crate) name: Name,
    pub(crate) scope: Option<Name>,
    pub(crate) role: FunctionRole,
    pub(crate) required: u32,
    pub(crate) parameters: u32,
    pub(crate) variadic: bool,
    pub(crate) returns_status: bool,
    pub(crate) returns_number: bool,
    /// `extern "C"`: an interface whose callers are elsewhere, in other languages too.
    pub(crate) extern_c: bool,
    pub(crate) damaged: bool,
    pub(crate) flow: Flow,
}

/// The facts on error handling of one module.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModuleStatus {
    /// By function; functions without a status call or launch are left out.
    pub functions: Vec<FunctionStatus>,
    /// Checkers that the module defines.
    pub checkers: Vec<Checker>,
}

/// The name of the function that an expression calls, where it is a plain name.
pub(super) fn call_name(module: &Module, id: ExprId) -> Option<&str> {
    match &module.exprs.get(id)?.kind {
        Expr::Call { callee, .. } => match &module.exprs.get(*callee)?.kind {
            Expr::Name { path, .. } => path.last().map(Name::as_str),
            _ => None,
        },
        Expr::Cast { value, .. } => match &module.exprs.get(*value)?.kind {
            Expr::Call { callee, .. } => match &module.exprs.get(*callee)?.kind {
                Expr::Name { path, .. } => path.last().map(Name::as_str),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}
