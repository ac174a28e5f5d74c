//! What a kernel written in Python does with its parameters, as far as its text says.

use cudalint_program::ir::{Expr, ExprId, FunctionId, LocalId, ModuleId, PythonExpr};
use cudalint_program::visit::{Item, walk};

/// What becomes of an array that a parameter stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Use {
    /// An element is assigned somewhere, perhaps under a condition.
    pub written: bool,
    /// It goes where it is not followed: to another function, into another variable.
    pub escapes: bool,
    /// An element is read.
    pub read: bool,
}

/// One for each parameter.
pub(super) fn read_uses(project: &cudalint_program::Project, module: ModuleId, id: FunctionId) -> Vec<Use> {
    let Some(function) = project.function_at(module, id) else { return Vec::new() };
    let mut uses = vec![Use::default(); function.param_count as usize];
    let code = project.module(module);
    let kind = |id: ExprId| code.exprs.get(id).map(|node| &node.kind);
    let local = |id: ExprId| match kind(id) {
        Some(Expr::Local(LocalId(local))) => Some(*local as usize),
        _ => None,
    };
    let Some(body) = &function.body else { return uses };
    // Occurrences that are accounted for: elements, attributes, first arguments of atomics.
    let mut counted = vec![0_u32; uses.len()];
    let mut met = vec![0_u32; uses.len()];
    walk(code, function, body, |item| {
        let Item::Expr(id) = item else { return true };
        match kind(id) {
            Some(Expr::Local(LocalId(local))) => {
                if let Some(count) = met.get_mut(*local as usize) {
                    *count += 1;
                }
            }
            Some(Expr::Member { base, .. }) => {
                if let Some(count) = local(*base).and_then(|at| counted.get_mut(at)) {
                    *count += 1;
                }
            }
            Some(Expr::Index { base, indices }) => {
                let slice = indices.iter().any(|index| {
                    matches!(kind(*index), Some(Expr::Python(python)) if matches!(**python, PythonExpr::Slice(_)))
                });
                if let Some(at) = local(*base).filter(|_| !slice)
                    && let (Some(count), Some(own)) = (counted.get_mut(at), uses.get_mut(at))
                {
                    *count += 1;
                    own.read = true;
                }
            }
            Some(Expr::Assign { target, .. } | Expr::Step { target, .. }) => {
                if let Some(Expr::Index { base, .. }) = kind(*target)
                    && let Some(own) = local(*base).and_then(|at| uses.get_mut(at))
                {
                    own.written = true;
                }
            }
            Some(Expr::Call { callee, args }) => {
                let atomic = matches!(kind(*callee), Some(Expr::Member { base, .. })
                    if matches!(kind(*base), Some(Expr::Member { name, .. }) if name == "atomic"));
                let length = matches!(kind(*callee), Some(Expr::Name { path, .. }) if path.last().is_some_and(|name| name == "len"));
                if let Some(at) = args.first().and_then(|first| local(*first)).filter(|_| atomic || length)
                    && let (Some(count), Some(own)) = (counted.get_mut(at), uses.get_mut(at))
                {
                    *count += 1;
                    own.written |= atomic;
                }
            }
            _ => {}
        }
        true
    });
    for ((own, met), counted) in uses.iter_mut().zip(met).zip(counted) {
        own.escapes = met > counted;
    }
    uses
}
