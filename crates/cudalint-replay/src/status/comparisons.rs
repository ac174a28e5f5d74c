//! Whether a branch compares a result with what it should be, and says so: `if (c[i] != 180) { printf("False\n"); return -1; }`. A
//! failure that nobody looked at comes to light there.

use super::known;
use cudalint_program::Scope;
use cudalint_program::api::constant;
use cudalint_program::ir::{BinaryOp, Block, Expr, ExprId, Function, Module, Stmt, UnaryOp};
use cudalint_program::types::Ty;
use cudalint_program::visit::{Item, walk, walk_expr};

/// How deep a condition is looked into.
pub(super) const MAX_PARTS: u32 = 8;

/// Whether `then`, which runs where `condition` holds, tells that an element of an array is not what it should be: it prints, and the
/// program ends there, the function returns, the loop is left, or what it prints speaks of a mistake; or the function says so to its caller.
pub(super) fn tells_difference<'s>(
    module: &Module,
    function: &Function,
    condition: ExprId,
    then: &Block,
    scope: impl FnOnce() -> &'s Scope<'s>,
) -> bool {
    let Some(element) = differing(module, condition, true, MAX_PARTS) else { return false };
    let (mut prints, mut leaves, mut blames) = (false, false, false);
    walk(module, function, then, |item| {
        match item {
            Item::Stmt(id) => match module.stmts.get(id).map(|node| &node.kind) {
                Some(Stmt::Return(_) | Stmt::Break | Stmt::Goto(_)) => leaves = true,
                Some(Stmt::If { .. } | Stmt::Loop { .. } | Stmt::ForEach { .. }) => return false,
                _ => {}
            },
            Item::Expr(id) => match module.exprs.get(id).map(|node| &node.kind) {
                Some(Expr::Str(text)) => {
                    prints = true;
                    blames |= known::blames(text);
                }
                Some(Expr::Throw(_)) => leaves = true,
                Some(Expr::Call { callee, .. }) => {
                    let name = match module.exprs.get(*callee).map(|node| &node.kind) {
                        Some(Expr::Name { path, .. }) => path.last(),
                        _ => None,
                    };
                    leaves |= name.is_some_and(|name| known::never_returns(name));
                }
                _ => {}
            },
            Item::Declare(_) => {}
        }
        true
    });
    (prints && (leaves || blames) || answers(module, function, then)) && is_result(scope(), element)
}

/// Whether a function answers its caller with a constant: `return false;`. What the caller makes of the answer is up to it.
fn answers(module: &Module, function: &Function, then: &Block) -> bool {
    let last = then.last().and_then(|id| module.stmts.get(*id)).map(|node| &node.kind);
    let Some(Stmt::Return(Some(answer))) = last else { return false };
    let is_constant = matches!(module.exprs.get(*answer).map(|node| &node.kind), Some(Expr::Int { .. }));
    is_constant && &*function.name != "main"
}

/// Whether `assert(condition)` ends the program where an element of an array is not what it should be: `assert(c[i] == 180)`.
pub(super) fn asserts<'s>(module: &Module, condition: ExprId, scope: impl FnOnce() -> &'s Scope<'s>) -> bool {
    differing(module, condition, false, MAX_PARTS).is_some_and(|element| is_result(scope(), element))
}

/// Whether the difference of two elements is how far a result is from what the host has computed by itself: `c_gpu[i] - c_cpu[i]`.
pub(super) fn is_distance_to_the_host(module: &Module, function: &Function, a: ExprId, b: ExprId) -> bool {
    const OF_HOST: [&str; 5] = ["cpu", "gold", "expected", "serial", "sequential"];
    const OF_DEVICE: [&str; 2] = ["gpu", "device"];
    let [Some(a), Some(b)] = [a, b].map(|side| array_of(module, function, side)) else { return false };
    let says = |name: &str, words: &[&str]| words.iter().any(|word| name.contains(word));
    [(&a, &b), (&b, &a)].into_iter().any(|(host, device)| says(host, &OF_HOST) && says(device, &OF_DEVICE))
}

/// The name of the array that a variable counts through, in small letters.
fn array_of(module: &Module, function: &Function, element: ExprId) -> Option<String> {
    let mut at = Some(element).filter(|id| is_element(module, *id))?;
    for _ in 0..MAX_PARTS {
        at = match &module.exprs.get(at)?.kind {
            Expr::Cast { value, .. } => *value,
            Expr::Member { base, .. } | Expr::Index { base, .. } => *base,
            Expr::Local(local) => return function.locals.get(*local).map(|local| local.name.to_ascii_lowercase()),
            Expr::Name { path, .. } => return path.last().map(|name| name.to_ascii_lowercase()),
            _ => return None,
        };
    }
    None
}

/// Whether an element is a number that somebody has computed. Letters are of what somebody wrote, and statuses no results.
fn is_result(scope: &Scope<'_>, element: ExprId) -> bool {
    match scope.type_of(element).value() {
        Ty::Int { bytes, .. } => *bytes > 1,
        ty => matches!(ty, Ty::Bool | Ty::Float { .. } | Ty::Vector { .. }),
    }
}

/// The element of which a condition says that it differs from something; where not `holds`, where it does not hold.
fn differing(module: &Module, condition: ExprId, holds: bool, parts: u32) -> Option<ExprId> {
    let parts = parts.checked_sub(1)?;
    let inside = |id: ExprId| differing(module, id, holds, parts);
    match &module.exprs.get(condition)?.kind {
        Expr::Unary(UnaryOp::Not, value) => differing(module, *value, !holds, parts),
        Expr::Cast { value, .. } => inside(*value),
        Expr::AndThen(a, b) | Expr::OrElse(a, b) => inside(*a).or_else(|| inside(*b)),
        Expr::Binary(BinaryOp::Ne, a, b) if holds => one_of(module, *a, *b),
        Expr::Binary(BinaryOp::Eq, a, b) if !holds => one_of(module, *a, *b),
        // `fabs(c[i] - 3.0) > tolerance`
        Expr::Binary(BinaryOp::Gt | BinaryOp::Ge, a, _) if holds => distant(module, *a),
        Expr::Binary(BinaryOp::Lt | BinaryOp::Le, _, b) if holds => distant(module, *b),
        Expr::Binary(BinaryOp::Lt | BinaryOp::Le, a, _) if !holds => distant(module, *a),
        _ => None,
    }
}

/// The element among two sides. What is compared with a constant of an API is a status.
fn one_of(module: &Module, a: ExprId, b: ExprId) -> Option<ExprId> {
    let is_status = |id: &ExprId| match module.exprs.get(*id).map(|node| &node.kind) {
        Some(Expr::Name { path, .. }) => path.last().is_some_and(|name| constant(name).is_some()),
        _ => false,
    };
    let sides = [a, b];
    if sides.iter().any(is_status) { None } else { sides.into_iter().find(|side| is_element(module, *side)) }
}

/// Whether an expression is an element of an array that a variable counts through; a word of the command line, which `argv` holds, is
/// no result.
fn is_element(module: &Module, id: ExprId) -> bool {
    let (mut current, mut counted) = (id, false);
    for _ in 0..MAX_PARTS {
        let Some(node) = module.exprs.get(current) else { return false };
        match &node.kind {
            Expr::Cast { value, .. } | Expr::Unary(UnaryOp::Minus | UnaryOp::Plus, value) => current = *value,
            Expr::Member { base, .. } => current = *base,
            Expr::Index { base, indices } => {
                counted |= indices.iter().any(|index| reads_variable(module, *index));
                current = *base;
            }
            _ => return counted,
        }
    }
    false
}

fn reads_variable(module: &Module, index: ExprId) -> bool {
    let mut found = false;
    walk_expr(module, index, |_, kind| {
        found |= matches!(kind, Expr::Local(_));
        !found
    });
    found
}

/// The element of which an expression is how far it is from something: `fabs(a[i] - b[i])`, also in parts of that size.
fn distant(module: &Module, id: ExprId) -> Option<ExprId> {
    const DISTANCES: [&str; 5] = ["abs", "fabs", "fabsf", "labs", "llabs"];
    let mut found = None;
    walk_expr(module, id, |_, kind| {
        if let Expr::Call { callee, args } = kind
            && let ([of], Some(Expr::Name { path, .. })) =
                (args.as_slice(), module.exprs.get(*callee).map(|node| &node.kind))
            && path.last().is_some_and(|name| DISTANCES.contains(&name.as_str()))
            && let Some(Expr::Binary(BinaryOp::Sub, a, b)) = module.exprs.get(*of).map(|node| &node.kind)
        {
            found = found.or_else(|| one_of(module, *a, *b));
        }
        found.is_none()
    });
    found
}
