//! Loops that take a lock: `while (atomicCAS(lock, 0, 1) != 0) {}`. Whoever is through has it, until it stores the free value there again.

use super::source::Source;
use crate::code::{
    AtomicOp, BinaryOp, Code, Effect, Expr, ExprId, FunctionId, Intrinsic, Item, Place, Scope, Stmt, StmtId, Ty,
};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::rc::Rc;

/// The value of a lock that nobody has.
const FREE: i64 = 0;

/// Parts of a condition that are looked at: an attempt has its comparison, its operation and the operands, with conversions.
const MOST_PARTS: usize = 32;

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
    let mut loops = LockLoops::new(code);
    code.functions.iter_enumerated().any(|(id, function)| {
        let mut found = false;
        code.walk(&function.body, |item| {
            if let Item::Stmt(stmt) = item {
                found |= loops.takes_lock(id, stmt).is_some();
            }
            !found
        });
        found
    })
}

/// Looks for loops that take locks. Each function is read once, however many of its loops try.
pub(crate) struct LockLoops<'c> {
    code: &'c Code,
    sources: FxHashMap<FunctionId, Rc<Source<'c>>>,
    /// Addresses at which the free value is stored, and whose they are.
    released: Option<Vec<(FunctionId, ExprId)>>,
}

impl<'c> LockLoops<'c> {
    pub fn new(code: &'c Code) -> Self {
        Self { code, sources: FxHashMap::default(), released: None }
    }

    /// Whether a loop takes a lock, and does nothing else.
    pub fn takes_lock(&mut self, function: FunctionId, id: StmtId) -> Option<TakesLock> {
        let code = self.code;
        let Stmt::Loop { condition: Some(condition), step: None, body, .. } = &code.stmt(id).kind else { return None };
        if !tries(code, *condition) {
            return None;
        }
        let source = self.source(function)?;
        let mut idle = true;
        for stmt in body {
            idle &= match &code.stmt(*stmt).kind {
                Stmt::Expr(expr) => is_idle(&source, *expr),
                Stmt::Block(inner) => inner.is_empty(),
                _ => false,
            };
        }
        let lock = taken(&source, *condition).filter(|_| idle)?;
        self.gives_back(function, &source, lock.address).then_some(lock)
    }

    fn source(&mut self, function: FunctionId) -> Option<Rc<Source<'c>>> {
        match self.sources.entry(function) {
            Entry::Occupied(known) => Some(Rc::clone(known.get())),
            Entry::Vacant(free) => {
                Some(Rc::clone(free.insert(Rc::new(Source::new(self.code, self.code.functions.get(function)?)))))
            }
        }
    }

    /// Whether the free value is stored again: at the same place of the same function, or by a function of its own.
    fn gives_back(&mut self, taker: FunctionId, source: &Source<'c>, lock: ExprId) -> bool {
        if self.released.is_none() {
            self.released = Some(self.all_released());
        }
        let all = self.released.as_deref().unwrap_or_default();
        all.iter().any(|(function, address)| {
            if *function == taker {
                source.alike(*address, lock)
            } else {
                self.sources.get(function).is_some_and(|source| source.parameter(*address).is_some())
            }
        })
    }

    fn all_released(&mut self) -> Vec<(FunctionId, ExprId)> {
        let code = self.code;
        let mut all = Vec::new();
        for (id, function) in code.functions.iter_enumerated() {
            let Some(source) = self.source(id) else { continue };
            code.walk(&function.body, |item| {
                if let Item::Expr(expr) = item
                    && let Some(address) = released(&source, expr)
                {
                    all.push((id, address));
                }
                true
            });
        }
        all
    }
}

/// Whether a condition may be an attempt to take a lock, by its own parts alone: nearly no loop's is, and reading how all variables of
/// a function get their values costs as much as the function is long.
fn tries(code: &Code, condition: ExprId) -> bool {
    let mut found = false;
    let mut parts = 0;
    code.walk_expr(condition, |_, part| {
        found |= matches!(part, Expr::Intrinsic(Intrinsic::Atomic { .. }, _));
        parts += 1;
        !found && parts < MOST_PARTS
    });
    found
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
