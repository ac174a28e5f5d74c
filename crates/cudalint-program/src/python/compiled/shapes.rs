//! Shapes of shared and local arrays: Numba wants integers that it knows when it types the kernel.

use super::fault::{CompileFault, Culprit, FaultKind, Reason};
use super::sure::{Code, of_launch};
use super::view::View;
use crate::api::effects::{DeviceOp, Library};
use crate::ir::{BinaryOp, Expr, ExprId, PythonExpr, UnaryOp};

/// How far variables are followed.
const MAX_HOPS: u32 = 8;

pub(super) fn find(view: &View<'_>, code: &Code, found: &mut Vec<CompileFault>) {
    for id in &code.exprs {
        let Some(Expr::Call { callee, args }) = view.expr(*id) else { continue };
        let shared = match view.device_op(*callee) {
            Some(DeviceOp::SharedArray) => true,
            Some(DeviceOp::LocalArray) => false,
            _ => continue,
        };
        let Some(shape) = argument(view, args) else { continue };
        let parts = match view.expr(shape) {
            Some(Expr::Python(python)) => match &**python {
                PythonExpr::Tuple(parts) => parts.clone(),
                _ => vec![shape],
            },
            _ => vec![shape],
        };
        if let Some(culprit) = parts.into_iter().find_map(|part| culprit(view, part, 0)) {
            // Other reasons hold of device code as well.
            let of_launched = culprit.reason == Reason::Parameter && !culprit.computed;
            let assumes = view.launch_assumed().filter(|_| of_launched);
            let kind = FaultKind::Shape { shared, culprit };
            found.push(CompileFault { function: view.id, span: view.span(*id), kind, assumes });
        }
    }
}

/// The argument `shape`.
fn argument(view: &View<'_>, args: &[ExprId]) -> Option<ExprId> {
    for (index, arg) in args.iter().enumerate() {
        match view.expr(*arg)? {
            Expr::Python(python) => match &**python {
                PythonExpr::Keyword(name, value) if *name == "shape" => return Some(*value),
                PythonExpr::Keyword(..) => {}
                PythonExpr::Spread { .. } => return None,
                _ if index == 0 => return Some(*arg),
                _ => {}
            },
            _ if index == 0 => return Some(*arg),
            _ => {}
        }
    }
    None
}

/// What is surely no constant about a part of a shape.
fn culprit(view: &View<'_>, part: ExprId, hops: u32) -> Option<Culprit> {
    if hops > MAX_HOPS {
        return None;
    }
    let at = |reason| Some(Culprit { span: view.span(part), reason, origin: None, computed: false });
    match view.expr(part)? {
        Expr::Float { .. } => at(Reason::NotInteger),
        Expr::Local(local) => {
            let variable = view.function.locals.get(*local)?;
            if view.is_argument(*local) {
                return Some(Culprit {
                    span: view.span(part),
                    reason: Reason::Parameter,
                    origin: Some(variable.span),
                    computed: false,
                });
            }
            // A parameter of device code may be a constant where it is called.
            if local.0 < view.function.param_count {
                return None;
            }
            match view.assignments(*local) {
                [None] if is_loop_variable(view, part) => Some(Culprit {
                    span: view.span(part),
                    reason: Reason::Loop,
                    origin: Some(variable.span),
                    computed: false,
                }),
                [Some(value)] => {
                    let inner = culprit(view, *value, hops + 1)?;
                    Some(Culprit { span: view.span(part), origin: Some(inner.span), ..inner })
                }
                _ => None,
            }
        }
        Expr::Binary(op, left, right) => {
            // The language itself computes with literals, and tuples of literals.
            if is_literal(view, *left) && is_literal(view, *right) {
                return None;
            }
            // The part that varies says more than the operator.
            let varying = [*left, *right]
                .into_iter()
                .filter_map(|side| culprit(view, side, hops + 1))
                .find(|inner| matches!(inner.reason, Reason::Parameter | Reason::Launch | Reason::Loop));
            match varying {
                Some(inner) => Some(Culprit { span: view.span(part), computed: true, ..inner }),
                None if *op == BinaryOp::TrueDiv => at(Reason::NotInteger),
                None => at(Reason::Arithmetic),
            }
        }
        Expr::Unary(op, value) => match culprit(view, *value, hops + 1) {
            Some(inner) => Some(Culprit { span: view.span(part), computed: true, ..inner }),
            None if *op == UnaryOp::Not || is_literal(view, *value) => None,
            None => at(Reason::Arithmetic),
        },
        Expr::Index { base, .. } => match view.expr(*base)? {
            Expr::Local(local) if view.is_argument(*local) => at(Reason::Parameter),
            Expr::Member { base, name, .. } if matches!(name.as_str(), "shape" | "strides") => {
                matches!(view.expr(*base)?, Expr::Local(local) if view.is_argument(*local)).then(|| Culprit {
                    span: view.span(part),
                    reason: Reason::Parameter,
                    origin: None,
                    computed: false,
                })
            }
            _ => None,
        },
        Expr::Member { base, name, .. } => {
            let of_argument = matches!(name.as_str(), "shape" | "size")
                && matches!(view.expr(*base)?, Expr::Local(local) if view.is_argument(*local));
            if of_argument {
                return at(Reason::Parameter);
            }
            view.path(part).filter(|path| of_launch(path)).and_then(|_| at(Reason::Launch))
        }
        Expr::Call { callee, args } => {
            if let Some(name) = view.builtin(*callee) {
                let of = args.iter().find_map(|arg| culprit(view, *arg, hops + 1));
                let known = matches!(name, "int" | "len" | "min" | "max" | "abs" | "round" | "float" | "pow");
                return known.then(|| match of {
                    Some(inner) => Culprit { span: view.span(part), computed: true, ..inner },
                    None => Culprit { span: view.span(part), reason: Reason::Call, origin: None, computed: false },
                });
            }
            if matches!(view.device_op(*callee), Some(DeviceOp::Grid { .. })) {
                return at(Reason::Launch);
            }
            view.api(*callee).is_some_and(|api| api.library == Library::Python).then(|| at(Reason::Call))?
        }
        Expr::Python(python) if matches!(**python, PythonExpr::List(_)) => at(Reason::List),
        Expr::Name { path, .. } if path.segments.len() == 1 => global(view, part),
        _ => None,
    }
}

/// A global that is no integer.
fn global(view: &View<'_>, part: ExprId) -> Option<Culprit> {
    let Some(Expr::Name { path, .. }) = view.expr(part) else { return None };
    let name = path.last()?;
    if view.function.captures.iter().any(|(captured, _)| captured == name) {
        return None;
    }
    let variable = view.module.globals.iter().find(|global| global.name == *name)?;
    let value = variable.init?;
    let reason = match view.expr(value)? {
        Expr::Float { .. } | Expr::Binary(BinaryOp::TrueDiv, ..) => Reason::NotInteger,
        Expr::Python(python) if matches!(**python, PythonExpr::List(_)) => Reason::List,
        _ => return None,
    };
    // `Path / "name"` divides no numbers.
    if let Expr::Binary(_, left, right) = view.expr(value)?
        && !(is_number(view, *left, 0) && is_number(view, *right, 0))
    {
        return None;
    }
    Some(Culprit { span: view.span(part), reason, origin: Some(variable.span), computed: false })
}

/// Whether a value at module level is a number.
fn is_number(view: &View<'_>, id: ExprId, hops: u32) -> bool {
    match view.expr(id) {
        Some(Expr::Int { .. } | Expr::Float { .. }) => true,
        Some(Expr::Binary(_, left, right)) if hops < MAX_HOPS => {
            is_number(view, *left, hops + 1) && is_number(view, *right, hops + 1)
        }
        Some(Expr::Name { path, .. }) if hops < MAX_HOPS && path.segments.len() == 1 => {
            let global = view.module.globals.iter().find(|global| path.last() == Some(&global.name));
            global.and_then(|global| global.init).is_some_and(|value| is_number(view, value, hops + 1))
        }
        _ => false,
    }
}

/// Whether the language computes it before Numba sees it.
fn is_literal(view: &View<'_>, id: ExprId) -> bool {
    match view.expr(id) {
        Some(Expr::Int { .. } | Expr::Float { .. } | Expr::Str(_) | Expr::Null) => true,
        Some(Expr::Binary(_, left, right)) => is_literal(view, *left) && is_literal(view, *right),
        Some(Expr::Unary(_, value)) => is_literal(view, *value),
        Some(Expr::Python(python)) => match &**python {
            PythonExpr::Tuple(parts) => parts.iter().all(|part| is_literal(view, *part)),
            _ => false,
        },
        _ => false,
    }
}

/// Whether a local's one value is that of a `for` over a range.
fn is_loop_variable(view: &View<'_>, part: ExprId) -> bool {
    let Some(Expr::Local(local)) = view.expr(part) else { return false };
    view.module.stmts.iter().any(|node| {
        let crate::ir::Stmt::Python(python) = &node.kind else { return false };
        let crate::ir::PythonStmt::For { target, iterable, .. } = &**python else { return false };
        let ranged =
            matches!(view.expr(*iterable), Some(Expr::Call { callee, .. }) if view.builtin(*callee) == Some("range"));
        ranged
            && view.function.span.contains(node.span)
            && matches!(view.expr(*target), Some(Expr::Local(bound)) if bound == local)
    })
}
