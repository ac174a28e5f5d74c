//! Updates that are spelled out: what is stored in a place is made of what was read there, or stored where a test of it says so
//! (`a[i] = a[i] + 1`, `if (x < best) best = x`). A loop that goes round as long as what it reads says so, and stores something
//! else there meanwhile, updates nothing.

use crate::code::{Block, Code, Expr, ExprId, Item, Place, Stmt};
use crate::report::Site;

/// Nesting of blocks that is looked into.
const MAX_DEPTH: u32 = 8;

/// Whether the store at `write` belongs to one update with the read at `read`, as they stand in the code.
pub fn is_update(code: &Code, read: Site, write: Site) -> bool {
    let mut found = false;
    for function in &code.functions {
        code.walk(&function.body, |item| {
            found |= match item {
                Item::Expr(id) => match &code.expr(id).kind {
                    Expr::Write(Place::Memory { .. }, value) => {
                        code.expr(id).site == write && reads_at(code, *value, read)
                    }
                    Expr::Select(condition, then, otherwise) => {
                        reads_at(code, *condition, read)
                            && [*then, *otherwise].into_iter().any(|way| writes_at(code, Item::Expr(way), write))
                    }
                    Expr::And(condition, then) | Expr::Or(condition, then) => {
                        reads_at(code, *condition, read) && writes_at(code, Item::Expr(*then), write)
                    }
                    _ => false,
                },
                Item::Stmt(id) => match &code.stmt(id).kind {
                    Stmt::If { condition, then, otherwise } => {
                        let begins = |way: &Block| begins_with(code, way, write, MAX_DEPTH);
                        reads_at(code, *condition, read) && (begins(then) || begins(otherwise))
                    }
                    _ => false,
                },
            };
            !found
        });
    }
    found
}

/// Whether a branch begins with the store at a place, or with a test that leads to it at once.
fn begins_with(code: &Code, block: &Block, write: Site, depth: u32) -> bool {
    let (Some(depth), Some(first)) = (depth.checked_sub(1), block.first()) else { return false };
    match &code.stmt(*first).kind {
        Stmt::Block(inner) => begins_with(code, inner, write, depth),
        Stmt::If { then, otherwise, .. } => {
            begins_with(code, then, write, depth) || begins_with(code, otherwise, write, depth)
        }
        Stmt::Loop { .. } => false,
        _ => writes_at(code, Item::Stmt(*first), write),
    }
}

/// Whether an expression reads memory at a place of the code.
fn reads_at(code: &Code, root: ExprId, read: Site) -> bool {
    let mut found = false;
    code.walk_expr(root, |id, kind| {
        found |= code.expr(id).site == read && matches!(kind, Expr::Read(Place::Memory { .. }));
        !found
    });
    found
}

/// Whether a part of the code stores in memory at a place of the code.
fn writes_at(code: &Code, root: Item, write: Site) -> bool {
    let mut found = false;
    let mut visit = |item: Item| {
        if let Item::Expr(id) = item {
            found |= code.expr(id).site == write && matches!(code.expr(id).kind, Expr::Write(Place::Memory { .. }, _));
        }
        !found
    };
    match root {
        Item::Stmt(id) => code.walk(&vec![id], visit),
        Item::Expr(id) => code.walk_expr(id, |id, _| visit(Item::Expr(id))),
    }
    found
}
