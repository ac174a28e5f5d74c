//! Races by which threads elect one of them: each stores its own number at one place, the number that stays is compared with
//! each thread's own, and whichever it is will do.

use super::formula::Source;
use super::races::Race;
use cudalint_engine::ModuleContext;
use cudalint_program::ir::{BinaryOp, Expr, ExprId, Stmt, UnaryOp};
use cudalint_program::visit::{Item, walk, walk_expr};
use cudalint_replay::runs::report::{AccessKind, Site};
use cudalint_syntax::Span;

/// Whether a race is a part of an election: two threads that stand for it, or the elected one that takes the number away while
/// the others see that it is not theirs.
pub(super) fn is_election(context: &ModuleContext<'_>, race: &Race<'_>) -> bool {
    let (first, second) = (race.first, race.second);
    match (first.kind, second.kind) {
        (AccessKind::Write, AccessKind::Write) if first.site == second.site => stands(context, first.site),
        (AccessKind::Read, AccessKind::Write) => is_over(context, first.site, second.site),
        (AccessKind::Write, AccessKind::Read) => is_over(context, second.site, first.site),
        _ => false,
    }
}

/// Whether what is stored at a place is the thread's own number, which something compares it with.
fn stands(context: &ModuleContext<'_>, place: Site) -> bool {
    let Some(source) = Source::around(context, place) else { return false };
    let Some(body) = &source.function.body else { return false };
    let text = |span: Span| context.project.text(place.module, span);
    let (mut stored, mut compared) = (false, false);
    walk(source.module, source.function, body, |item| {
        if let Item::Expr(id) = item {
            if let Some(Expr::Assign { op: None, target, value }) = source.kind(id) {
                stored |= span_of(&source, *target) == Some(place.span) && source.is_own_number(*value);
            }
            compared |= kept(&source, id).is_some_and(|kept| text(kept) == text(place.span));
        }
        true
    });
    stored && compared
}

/// Whether a read compares with the thread's own number, and a write of what is no thread's number stands where the two are
/// equal.
fn is_over(context: &ModuleContext<'_>, read: Site, write: Site) -> bool {
    let Some(source) = Source::around(context, read).filter(|_| read.module == write.module) else { return false };
    let Some(body) = &source.function.body else { return false };
    let (mut over, mut nobody) = (false, false);
    walk(source.module, source.function, body, |item| {
        if let Item::Expr(id) = item
            && let Some(Expr::Assign { op: None, target, value }) = source.kind(id)
        {
            nobody |= span_of(&source, *target) == Some(write.span) && is_negative(&source, *value);
        }
        if let Item::Stmt(id) = item
            && let Some(Stmt::If { condition, then, .. }) = source.module.stmts.get(id).map(|node| &node.kind)
            && then.iter().any(|id| source.module.stmts.get(*id).is_some_and(|it| it.span.contains(write.span)))
        {
            walk_expr(source.module, *condition, |id, _| {
                over |= kept(&source, id) == Some(read.span);
                !over
            });
        }
        true
    });
    over && nobody
}

/// Whether an expression is a negative number as written.
fn is_negative(source: &Source<'_>, value: ExprId) -> bool {
    match source.kind(value) {
        Some(Expr::Int { value, .. }) => *value < 0,
        Some(Expr::Unary(UnaryOp::Minus, value)) => {
            matches!(source.kind(*value), Some(Expr::Int { value, .. }) if *value > 0)
        }
        _ => false,
    }
}

/// Of `kept == threadIdx.x` the left side.
fn kept(source: &Source<'_>, comparison: ExprId) -> Option<Span> {
    let Some(Expr::Binary(BinaryOp::Eq, a, b)) = source.kind(comparison) else { return None };
    let (kept, own) = if source.is_own_number(*b) { (*a, *b) } else { (*b, *a) };
    source.is_own_number(own).then(|| span_of(source, kept))?
}

fn span_of(source: &Source<'_>, id: ExprId) -> Option<Span> {
    source.module.exprs.get(id).map(|node| node.span)
}
