//! Loops that take a lock: `while (atomicCAS(lock, 0, 1) != 0) {}`. Whoever is through has it, until it stores the free value there again.

use super::source::Source;
use crate::code::{
    AtomicOp, BinaryOp, Code, Effect, Expr, ExprId, FunctionId, Intrinsic, Item, Place, Scope, Stmt, StmtId, Ty,
};

/// The value of a lock that nobody has.
const FREE: i64 = 0;

/// A loop that takes a lock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TakesLock {
    /// The lock's address.
    pub address: ExprId,
    /// Among whom taking it is atomic.
    pub scope: Scope,
}

/// Whether threads take locks anywhere.
pub fn are_taken(code: &Code) -> bool {
    code.functions.iter_enumerated().any(|(id, function)| {
        let mut found = false;
        code.walk(&function.body, |item| {
            if let Item::Stmt(stmt) = item {
                found |= takes_lock(code, id, stmt).is_some();
            }
            !found
        });
        found
    })
}

/// Whether a loop takes a lock, and does nothing else.
pub(crate) fn takes_lock(code: &Code, function: FunctionId, id: StmtId) -> Option<TakesLock> {
    let Stmt::Loop { condition: Some(condition), step: None, body, .. } = &code.stmt(id).kind else { return None };
    let source = Source::new(code, code.functions.get(function)?);
    let mut idle = true;
    for stmt in body {
        idle &= match &code.stmt(*stmt).kind {
            Stmt::Expr(expr) => is_idle(&source, *expr),
            Stmt::Block(inner) => inner.is_empty(),
            _ => false,
        };
    }
    let lock = taken(&source, *condition).filter(|_| idle)?;
    gives_back(code, &source, lock.address).then_some(lock)
}

/// Whether an expression only passes time.
fn is_idle(source: &Source<'_>, id: ExprId) -> bool {
    match source.kind(source.bare(id)) {
        Expr::Int(_) | Expr::Intrinsic(Intrinsic::Fence(_), _) => true,
        Expr::Opaque { children, effect: Effect::None | Effect::Pure(_) } => {
            children.iter().all(|child| source.integer(*child).is_some())
        }
        _ => false,
    }
}

/// The lock, where a condition holds as long as somebody else has it.
fn taken(source: &Source<'_>, condition: ExprId) -> Option<TakesLock> {
    let mut at = condition;
    let mut negated = false;
    // Conversions to `bool` and `!`.
    while let Expr::Not(inner) = source.kind(source.bare(at)) {
        negated = !negated;
        at = *inner;
    }
    let at = source.bare(at);
    match source.kind(at) {
        Expr::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), a, b) => {
            let (tried, value) = match (source.integer(*a), source.integer(*b)) {
                (None, Some(value)) => (*a, value),
                (Some(value), None) => (*b, value),
                _ => return None,
            };
            let differs = (*op == BinaryOp::Ne) != negated;
            let (lock, locked) = attempt(source, tried)?;
            (differs && value == FREE || !differs && value == locked).then_some(lock)
        }
        Expr::Intrinsic(Intrinsic::Atomic { .. }, _) if !negated => Some(attempt(source, at)?.0),
        _ => None,
    }
}

/// The lock and the value that says that the lock is taken, of an operation that takes it where it is free.
fn attempt(source: &Source<'_>, id: ExprId) -> Option<(TakesLock, i64)> {
    let Expr::Intrinsic(Intrinsic::Atomic { op, scope, .. }, operands) = source.kind(source.bare(id)) else {
        return None;
    };
    let (address, locked) = match (op, operands.as_slice()) {
        (AtomicOp::CompareExchange, [address, free, locked]) if source.integer(*free) == Some(FREE) => {
            (address, locked)
        }
        (AtomicOp::Exchange, [address, locked]) => (address, locked),
        _ => return None,
    };
    let locked = source.integer(*locked).filter(|locked| *locked != FREE)?;
    Some((TakesLock { address: *address, scope: *scope }, locked))
}

/// Whether the free value is stored again: at the same place of the same function, or by a function of its own.
fn gives_back(code: &Code, taker: &Source<'_>, lock: ExprId) -> bool {
    code.functions.iter().any(|function| {
        let source = Source::new(code, function);
        let own = std::ptr::eq(function, taker.function);
        let mut found = false;
        code.walk(&function.body, |item| {
            if let Item::Expr(id) = item
                && let Some(address) = released(&source, id)
            {
                found |= if own { taker.alike(address, lock) } else { source.parameter(address).is_some() };
            }
            !found
        });
        found
    })
}

/// The address at which the free value is stored.
fn released(source: &Source<'_>, id: ExprId) -> Option<ExprId> {
    match source.kind(id) {
        Expr::Intrinsic(Intrinsic::Atomic { op: AtomicOp::Exchange | AtomicOp::Store, .. }, operands) => {
            match operands.as_slice() {
                [address, value] if source.integer(*value) == Some(FREE) => Some(*address),
                _ => None,
            }
        }
        Expr::Intrinsic(Intrinsic::Atomic { op: AtomicOp::CompareExchange, .. }, operands) => match operands.as_slice()
        {
            [address, _, value] if source.integer(*value) == Some(FREE) => Some(*address),
            _ => None,
        },
        Expr::Write(Place::Memory { address, .. }, value)
            if source.integer(*value) == Some(FREE) && matches!(source.code.expr(id).ty, Ty::Int { .. }) =>
        {
            Some(*address)
        }
        _ => None,
    }
}
