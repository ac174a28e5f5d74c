//! Races by which threads elect one of them: each stores its own number at one place, the number that stays is compared with
//! each thread's own, and whichever it is will do.

use super::source::{Source, accessed};
use crate::code::{BinaryOp, Block, Code, Expr, ExprId, Item, Place, Stmt};
use crate::report::{Access, AccessKind, Site};

/// Whether two accesses are a part of an election: two threads that stand for it, or the elected one that takes the number away
/// while the others see that it is not theirs.
pub fn is_election(code: &Code, first: &Access, second: &Access) -> bool {
    match (first.kind, second.kind) {
        (AccessKind::Write, AccessKind::Write) if first.site == second.site => stands(code, first.site),
        (AccessKind::Read, AccessKind::Write) => is_over(code, first.site, second.site),
        (AccessKind::Write, AccessKind::Read) => is_over(code, second.site, first.site),
        _ => false,
    }
}

/// Whether what is stored at a place is the thread's own number, which something compares it with.
fn stands(code: &Code, place: Site) -> bool {
    let Some((source, _, address)) = Source::around(code, place) else { return false };
    let mut compared = false;
    code.walk(&source.function.body, |item| {
        if let Item::Expr(id) = item
            && let Some(kept) = kept(&source, id)
        {
            compared |= accessed(source.kind(source.bare(kept))).is_some_and(|kept| source.alike(kept, address));
        }
        !compared
    });
    compared && stores(&source, &source.function.body, place).is_some_and(|value| source.is_own_number(value))
}

/// Whether a read compares with the thread's own number, and a write of what is no thread's number stands where the two are
/// equal.
fn is_over(code: &Code, read: Site, write: Site) -> bool {
    let Some((source, ..)) = Source::around(code, read) else { return false };
    let mut over = false;
    code.walk(&source.function.body, |item| {
        if let Item::Stmt(id) = item
            && let Stmt::If { condition, then, .. } = &code.stmt(id).kind
            && let Some(value) = stores(&source, then, write)
            && source.integer(value).is_some_and(|value| value < 0)
        {
            code.walk_expr(*condition, |id, _| {
                over |= kept(&source, id).is_some_and(|kept| source.site(source.bare(kept)) == read);
                !over
            });
        }
        !over
    });
    over
}

/// What the write at a place stores, where it stands among these statements.
fn stores(source: &Source<'_>, block: &Block, place: Site) -> Option<ExprId> {
    let mut found = None;
    source.code.walk(block, |item| {
        if let Item::Expr(id) = item
            && let Expr::Write(Place::Memory { .. }, value) = source.kind(id)
            && source.site(id) == place
        {
            found = Some(*value);
        }
        found.is_none()
    });
    found
}

/// Of `kept == threadIdx.x` the left side.
fn kept(source: &Source<'_>, comparison: ExprId) -> Option<ExprId> {
    let Expr::Binary(BinaryOp::Eq, a, b) = source.kind(comparison) else { return None };
    let (kept, own) = if source.is_own_number(*b) { (*a, *b) } else { (*b, *a) };
    source.is_own_number(own).then_some(kept)
}
