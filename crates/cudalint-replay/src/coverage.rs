//! How many elements a kernel says there are: `if (i < n)` on the plain global index, one element a thread.

use crate::facts::CoverageClaim;
use cudalint_program::Name;
use cudalint_program::ir::{BinaryOp, Block, Expr, ExprId, Function, LocalId, Module, Stmt, UnaryOp};
use cudalint_program::visit::{Item, walk, walk_expr};
use rustc_hash::FxHashMap;

const AXES: [&str; 3] = ["x", "y", "z"];

/// The claims of a kernel: empty when it strides, when its index is anything but
/// `blockIdx.a * blockDim.a + threadIdx.a`, or when something in it might take the elements beyond.
pub(crate) fn claims(module: &Module, kernel: &Function) -> Vec<CoverageClaim> {
    let Some(body) = &kernel.body else { return Vec::new() };
    let Some(indices) = global_indices(module, kernel, body) else { return Vec::new() };
    let mut claims = Vec::new();
    top_level(module, kernel, body, &indices, &mut claims, 0);
    claims
}

/// Locals that hold the plain global index of an axis; `None` when the kernel distributes work in any other way.
fn global_indices(module: &Module, kernel: &Function, body: &Block) -> Option<FxHashMap<LocalId, u8>> {
    let mut indices = FxHashMap::default();
    let mut written: FxHashMap<LocalId, u32> = FxHashMap::default();
    let mut counted = [[0u32; 3]; 2];
    let mut strange = false;
    walk(module, kernel, body, |item| {
        match item {
            Item::Declare(local) => {
                let init = kernel.locals.get(local).and_then(|variable| variable.init);
                if let Some(axis) = init.and_then(|init| global_index(module, init)) {
                    indices.insert(local, axis);
                }
            }
            Item::Expr(id) => match expr(module, id) {
                Some(Expr::Assign { target, value, op }) => {
                    if let Some(Expr::Local(local)) = expr(module, *target) {
                        let first = written.entry(*local).or_default();
                        *first += 1;
                        let axis = global_index(module, *value).filter(|_| op.is_none() && *first == 1);
                        match axis {
                            Some(axis) if !indices.contains_key(local) => {
                                indices.insert(*local, axis);
                            }
                            _ => *first += 1,
                        }
                    }
                }
                Some(Expr::Step { target, .. } | Expr::AddressOf(target)) => {
                    if let Some(Expr::Local(local)) = expr(module, *target) {
                        *written.entry(*local).or_default() += 2;
                    }
                }
                Some(Expr::Member { base, name, .. }) => {
                    if let Some(axis) = AXES.iter().position(|axis| name == axis) {
                        match builtin(module, *base) {
                            Some("gridDim") => strange = true,
                            Some("blockIdx") => counted[0][axis] += 1,
                            Some("threadIdx") => counted[1][axis] += 1,
                            _ => {}
                        }
                    }
                }
                // The grid's size reaches cooperative groups and helpers by other names.
                Some(Expr::Name { path, .. }) => {
                    let name = path.last().map_or("", |name| name.as_str());
                    strange |= ["gridDim", "this_grid", "grid_group"].contains(&name);
                }
                Some(Expr::Place { .. } | Expr::Unknown(_)) => strange = true,
                _ => {}
            },
            Item::Stmt(id) => {
                strange |=
                    matches!(module.stmts.get(id).map(|s| &s.kind), Some(Stmt::Unknown { .. } | Stmt::Asm { .. }));
            }
        }
        true
    });
    if strange {
        return None;
    }
    indices.retain(|local, axis| {
        let count = |which: usize| counted.get(which).and_then(|axes| axes.get(usize::from(*axis))).copied();
        // Read once for the index: whatever else uses the block's number may take other elements.
        written.get(local).is_none_or(|writes| *writes <= 1) && count(0) == Some(1)
    });
    Some(indices)
}

/// Statements that every thread reaches: `if (i < n) …`, and what follows `if (i >= n) return;`.
fn top_level(
    module: &Module,
    kernel: &Function,
    block: &Block,
    indices: &FxHashMap<LocalId, u8>,
    claims: &mut Vec<CoverageClaim>,
    depth: u32,
) {
    if depth > 8 {
        return;
    }
    for id in block {
        match module.stmts.get(*id).map(|stmt| &stmt.kind) {
            Some(Stmt::Block(inner)) => top_level(module, kernel, inner, indices, claims, depth + 1),
            Some(Stmt::If { condition, then, otherwise, .. }) if otherwise.is_empty() => {
                let leaves = leaves(module, then);
                if !leaves
                    && (!uses_index_as_subscript(module, kernel, then, indices)
                        || has_loop_on(module, kernel, then, indices))
                {
                    continue;
                }
                bounds(module, kernel, *condition, leaves, indices, claims);
            }
            // After a loop or anything else that ends threads early, nothing is claimed.
            Some(Stmt::Return(_) | Stmt::Goto(_)) => return,
            _ => {}
        }
    }
}

/// Whether a block does nothing but leave the kernel.
fn leaves(module: &Module, block: &Block) -> bool {
    match block.as_slice() {
        [only] => match module.stmts.get(*only).map(|stmt| &stmt.kind) {
            Some(Stmt::Return(None)) => true,
            Some(Stmt::Block(inner)) if inner.len() == 1 => inner
                .first()
                .and_then(|id| module.stmts.get(*id))
                .is_some_and(|stmt| matches!(stmt.kind, Stmt::Return(None))),
            _ => false,
        },
        _ => false,
    }
}

fn uses_index_as_subscript(
    module: &Module,
    kernel: &Function,
    block: &Block,
    indices: &FxHashMap<LocalId, u8>,
) -> bool {
    let mut found = false;
    walk(module, kernel, block, |item| {
        if let Item::Expr(id) = item
            && let Some(Expr::Index { indices: subscripts, .. }) = expr(module, id)
        {
            for subscript in subscripts {
                walk_expr(module, *subscript, |_, inner| {
                    found |= matches!(inner, Expr::Local(local) if indices.contains_key(local));
                    !found
                });
            }
        }
        !found
    });
    found
}

/// Whether a loop inside moves the index on: then a thread takes more than one element.
fn has_loop_on(module: &Module, kernel: &Function, block: &Block, indices: &FxHashMap<LocalId, u8>) -> bool {
    let mut found = false;
    walk(module, kernel, block, |item| {
        if let Item::Stmt(id) = item
            && let Some(Stmt::Loop { condition: Some(condition), init, .. }) = module.stmts.get(id).map(|s| &s.kind)
        {
            walk_expr(module, *condition, |_, inner| {
                found |= matches!(inner, Expr::Local(local) if indices.contains_key(local));
                !found
            });
            // `for (int j = i; …)` walks on from the index.
            walk(module, kernel, init, |item| {
                if let Item::Expr(id) = item {
                    found |= matches!(expr(module, id), Some(Expr::Local(local)) if indices.contains_key(local));
                }
                !found
            });
        }
        !found
    });
    found
}

/// Bounds in a condition: with `negated`, the condition is the one under which threads leave.
fn bounds(
    module: &Module,
    kernel: &Function,
    condition: ExprId,
    negated: bool,
    indices: &FxHashMap<LocalId, u8>,
    claims: &mut Vec<CoverageClaim>,
) {
    let mut stack = vec![(condition, negated)];
    while let Some((id, negated)) = stack.pop() {
        match expr(module, id) {
            Some(Expr::AndThen(a, b)) if !negated => stack.extend([(*a, false), (*b, false)]),
            Some(Expr::OrElse(a, b)) if negated => stack.extend([(*a, true), (*b, true)]),
            Some(Expr::Unary(UnaryOp::Not, a)) => stack.push((*a, !negated)),
            Some(Expr::Binary(op, a, b)) => {
                let op = if negated { opposite(*op) } else { Some(*op) };
                let (index, bound, inclusive) = match op {
                    Some(BinaryOp::Lt) => (*a, *b, false),
                    Some(BinaryOp::Le) => (*a, *b, true),
                    Some(BinaryOp::Gt) => (*b, *a, false),
                    Some(BinaryOp::Ge) => (*b, *a, true),
                    _ => continue,
                };
                let Some(Expr::Local(local)) = expr(module, index) else { continue };
                let Some(axis) = indices.get(local) else { continue };
                let Some((parameter, offset)) = parameter_bound(module, kernel, bound) else { continue };
                let span = module.exprs.get(id).map(|node| node.span).unwrap_or_default();
                claims.push(CoverageClaim {
                    axis: *axis,
                    parameter,
                    offset: offset + i64::from(inclusive),
                    span,
                    fills: None,
                });
            }
            _ => {}
        }
    }
}

const fn opposite(op: BinaryOp) -> Option<BinaryOp> {
    match op {
        BinaryOp::Lt => Some(BinaryOp::Ge),
        BinaryOp::Le => Some(BinaryOp::Gt),
        BinaryOp::Gt => Some(BinaryOp::Le),
        BinaryOp::Ge => Some(BinaryOp::Lt),
        _ => None,
    }
}

/// `n`, `n - 1`, `n + 2` for a parameter that the kernel never changes.
fn parameter_bound(module: &Module, kernel: &Function, id: ExprId) -> Option<(u32, i64)> {
    let (base, offset) = match expr(module, strip_casts(module, id))? {
        Expr::Binary(BinaryOp::Sub, a, b) => (*a, -literal(module, *b)?),
        Expr::Binary(BinaryOp::Add, a, b) => (*a, literal(module, *b)?),
        _ => (id, 0),
    };
    let Expr::Local(local) = expr(module, strip_casts(module, base))? else { return None };
    if local.0 >= kernel.param_count {
        return None;
    }
    let mut changed = false;
    walk(module, kernel, kernel.body.as_ref()?, |item| {
        if let Item::Expr(id) = item
            && let Some(Expr::Assign { target, .. } | Expr::Step { target, .. } | Expr::AddressOf(target)) =
                expr(module, id)
        {
            changed |= matches!(expr(module, *target), Some(Expr::Local(written)) if written == local);
        }
        !changed
    });
    (!changed).then_some((local.0, offset))
}

fn literal(module: &Module, id: ExprId) -> Option<i64> {
    match expr(module, id)? {
        Expr::Int { value, .. } => Some(*value),
        _ => None,
    }
}

/// The axis of `blockIdx.a * blockDim.a + threadIdx.a`, in any order.
fn global_index(module: &Module, id: ExprId) -> Option<u8> {
    let Expr::Binary(BinaryOp::Add, a, b) = expr(module, strip_casts(module, id))? else { return None };
    let product_and_thread = |product: ExprId, thread: ExprId| -> Option<u8> {
        let axis = member_axis(module, thread, "threadIdx")?;
        let Expr::Binary(BinaryOp::Mul, left, right) = expr(module, strip_casts(module, product))? else { return None };
        let matches = |block: ExprId, size: ExprId| {
            member_axis(module, block, "blockIdx") == Some(axis) && member_axis(module, size, "blockDim") == Some(axis)
        };
        (matches(*left, *right) || matches(*right, *left)).then_some(axis)
    };
    product_and_thread(*a, *b).or_else(|| product_and_thread(*b, *a))
}

fn member_axis(module: &Module, id: ExprId, name: &str) -> Option<u8> {
    match expr(module, strip_casts(module, id))? {
        Expr::Member { base, name: axis, .. } if builtin(module, *base) == Some(name) => {
            AXES.iter().position(|candidate| axis == candidate).map(|axis| axis as u8)
        }
        _ => None,
    }
}

fn builtin(module: &Module, id: ExprId) -> Option<&str> {
    match expr(module, id)? {
        Expr::Name { path, .. } => path.last().map(Name::as_str),
        _ => None,
    }
}

fn strip_casts(module: &Module, mut id: ExprId) -> ExprId {
    for _ in 0..8 {
        match expr(module, id) {
            Some(Expr::Cast { value, .. }) => id = *value,
            _ => break,
        }
    }
    id
}

fn expr(module: &Module, id: ExprId) -> Option<&Expr> {
    module.exprs.get(id).map(|node| &node.kind)
}
