//! Arguments of launches that the host computes: rounded up, divided, or put together of parts, so that not every number can be one.

use crate::facts::{Event, Site};
use cudalint_program::Project;
use cudalint_program::ir::{BinaryOp, Expr, ExprId, Function, LaunchExpr, LocalId, Module};
use cudalint_program::visit::{Item, walk};

/// How far variables and operands are followed.
const MAX_DEPTH: u32 = 8;

/// Whether a launch's argument is computed where the launch stands: by a product, a quotient, a remainder or bits, in any step that its function shows.
pub(super) fn is_computed(project: &Project, event: &Event, at: usize) -> bool {
    let (id, function) = event.function;
    let Some(function) = project.function_at(id, function).filter(|_| event.site.module == id) else { return false };
    let module = project.module(id);
    let launch = launch_at(module, function, event.site);
    launch.and_then(|launch| launch.args.get(at)).is_some_and(|arg| of_arithmetic(module, function, *arg, MAX_DEPTH))
}

/// The launch of a function that stands at a place.
pub(super) fn launch_at<'p>(module: &'p Module, function: &Function, site: Site) -> Option<&'p LaunchExpr> {
    let mut found = None;
    walk(module, function, function.body.as_ref()?, |item| {
        if let Item::Expr(id) = item
            && let Some(node) = module.exprs.get(id).filter(|node| node.span == site.span)
            && let Expr::Launch(launch) = &node.kind
        {
            found = Some(&**launch);
        }
        found.is_none()
    });
    found
}

fn of_arithmetic(module: &Module, function: &Function, id: ExprId, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let below = |id: &ExprId| of_arithmetic(module, function, *id, depth);
    match module.exprs.get(id).map(|node| &node.kind) {
        Some(Expr::Binary(
            BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem | BinaryOp::Shl | BinaryOp::Shr | BinaryOp::And,
            ..,
        )) => true,
        Some(Expr::Binary(_, a, b)) => below(a) || below(b),
        Some(Expr::Select(_, a, b)) => below(a) || below(b),
        Some(Expr::Cast { value, .. }) => below(value),
        Some(Expr::Local(local)) => values_of(module, function, *local).iter().any(below),
        _ => false,
    }
}

/// All that a variable is given in its function.
fn values_of(module: &Module, function: &Function, local: LocalId) -> Vec<ExprId> {
    let mut values: Vec<ExprId> = function.locals.get(local).and_then(|local| local.init).into_iter().collect();
    let Some(body) = &function.body else { return values };
    walk(module, function, body, |item| {
        if let Item::Expr(id) = item
            && let Some(Expr::Assign { target, value, .. }) = module.exprs.get(id).map(|node| &node.kind)
            && matches!(module.exprs.get(*target).map(|node| &node.kind), Some(Expr::Local(own)) if *own == local)
        {
            values.push(*value);
        }
        true
    });
    values
}
