//! Whether a kernel stores an element before it reads it, or in each that it covers: what stood there before, nobody sees.
//!
//! The first is so where the memory is first met in `p[i] = value;`, where all other uses of it are `p[i]` with the same `i`, and where
//! these stand behind the store, in the block of which it is a statement.

use cudalint_program::ir::{BinaryOp, Expr, ExprId, Function, LocalId, Module, Stmt};
use cudalint_program::visit::{Item, walk};
use cudalint_syntax::Span;
use rustc_hash::FxHashSet;

/// The uses of a parameter, and what gives the index another value.
struct Meetings {
    /// The store that comes first: the whole statement, and the index.
    store: Option<(Span, LocalId)>,
    /// The variables that say which elements are used, in source order.
    elements: Vec<LocalId>,
    /// Each place of the parameter's name.
    names: Vec<Span>,
    /// What is given a value, or has its address taken, and where.
    changed: Vec<(Span, LocalId)>,
    /// Statements that hold others, and whether only some of them are run each time.
    around: Vec<(Span, bool)>,
}

/// Whether `function` stores each element of `parameter` that it meets before anything reads it.
pub(crate) fn stores_first(module: &Module, function: &Function, parameter: LocalId) -> bool {
    let Some(body) = &function.body else { return false };
    let mut meetings =
        Meetings { store: None, elements: Vec::new(), names: Vec::new(), changed: Vec::new(), around: Vec::new() };
    walk(module, function, body, |item| {
        match item {
            Item::Stmt(id) => meetings.statement(module, id, parameter),
            Item::Expr(id) => meetings.expression(module, id, parameter),
            Item::Declare(_) => {}
        }
        true
    });
    meetings.begin_with_store()
}

/// Whether each thread of `function` that lies below the bounds (`if (i < n) …`, `if (i >= n) return;`) stores in an element of
/// `parameter` of its own: no other condition stands before the store, and its place is a sum of numbers of threads and strides. What memory
/// says where to store (`p[map[i]]`), or a factor that is written down (`p[2 * i]`), leaves elements out.
pub(crate) fn stores_wherever_it_runs(module: &Module, function: &Function, parameter: LocalId) -> bool {
    let Some(body) = &function.body else { return false };
    let mut stores = Vec::new();
    // Branches: the whole statement, and whether threads below the bounds take it, or those beyond.
    let mut branches = Vec::new();
    let (mut ways_out, mut given) = (Vec::new(), Vec::new());
    walk(module, function, body, |item| {
        match item {
            Item::Expr(id) => {
                if let Some(Expr::Assign { op: None, target, .. }) = kind(module, id)
                    && let Some(Expr::Index { base, indices }) = kind(module, *target)
                    && matches!(kind(module, *base), Some(Expr::Local(local)) if *local == parameter)
                    && let Some(node) = module.exprs.get(id)
                {
                    stores.push((node.span, indices.as_slice()));
                }
                if let Some(Expr::Assign { target, value, .. }) = kind(module, id)
                    && let Some(Expr::Local(local)) = kind(module, *target)
                {
                    given.push((*local, *value));
                }
            }
            Item::Stmt(id) => {
                let Some(node) = module.stmts.get(id) else { return true };
                match &node.kind {
                    Stmt::If { condition, otherwise, .. } => {
                        let within = otherwise.is_empty() && is_bound(module, *condition, false);
                        let beyond = otherwise.is_empty() && is_bound(module, *condition, true);
                        branches.push((node.span, within, beyond));
                    }
                    Stmt::Return(_) | Stmt::Goto(_) => ways_out.push(node.span),
                    Stmt::Switch { .. } | Stmt::Asm { .. } | Stmt::Elided { .. } => {
                        branches.push((node.span, false, false));
                    }
                    _ => {}
                }
            }
            Item::Declare(_) => {}
        }
        true
    });
    given.extend(function.locals.iter_enumerated().filter_map(|(local, variable)| Some((local, variable.init?))));
    stores.iter().filter(|(_, index)| is_sum_of_threads(module, index, &given)).any(|(store, _)| {
        branches.iter().all(|(span, within, _)| !span.contains(*store) || *within)
            && ways_out.iter().all(|out| {
                out.start >= store.end || branches.iter().any(|(span, _, beyond)| *beyond && span.contains(*out))
            })
    })
}

/// Whether an index is made of numbers of threads, with what variables in it are given, by sums and by products with strides.
fn is_sum_of_threads(module: &Module, index: &[ExprId], given: &[(LocalId, ExprId)]) -> bool {
    let (mut open, mut seen, mut of_threads) = (index.to_vec(), FxHashSet::default(), false);
    while let Some(id) = open.pop() {
        match kind(module, id) {
            Some(Expr::Local(local)) => {
                if seen.insert(*local) {
                    open.extend(given.iter().filter(|(of, _)| of == local).map(|(_, value)| *value));
                }
            }
            Some(Expr::Binary(BinaryOp::Mul, a, b))
                if [a, b].iter().any(|side| matches!(kind(module, **side), Some(Expr::Int { .. }))) =>
            {
                return false;
            }
            Some(Expr::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, a, b)) => open.extend([*a, *b]),
            Some(Expr::Member { base, .. }) => {
                of_threads |= matches!(kind(module, *base), Some(Expr::Name { path, .. })
                    if path.last().is_some_and(|name| *name == "threadIdx"));
            }
            Some(Expr::Cast { value, .. }) => open.push(*value),
            Some(Expr::Int { .. } | Expr::Name { .. }) => {}
            _ => return false,
        }
    }
    of_threads
}

/// Whether a condition holds for all that lies below a bound (`i < n && j < m`); with `beyond`, for what does not (`i >= n || j >= m`).
fn is_bound(module: &Module, condition: ExprId, beyond: bool) -> bool {
    let mut open = vec![condition];
    while let Some(id) = open.pop() {
        match (kind(module, id), beyond) {
            (Some(Expr::AndThen(a, b)), false) | (Some(Expr::OrElse(a, b)), true) => open.extend([*a, *b]),
            (Some(Expr::Binary(BinaryOp::Lt | BinaryOp::Le, _, bound)), false)
            | (Some(Expr::Binary(BinaryOp::Ge | BinaryOp::Gt, _, bound)), true)
                if matches!(kind(module, *bound), Some(Expr::Local(_) | Expr::Name { .. })) => {}
            _ => return false,
        }
    }
    true
}

impl Meetings {
    fn statement(&mut self, module: &Module, id: cudalint_program::ir::StmtId, parameter: LocalId) {
        let Some(node) = module.stmts.get(id) else { return };
        match &node.kind {
            Stmt::Expr(value) if self.names.is_empty() && self.store.is_none() => {
                if let Some(Expr::Assign { op: None, target, .. }) = kind(module, *value)
                    && let Some(index) = element(module, *target, parameter)
                {
                    self.store = Some((node.span, index));
                }
            }
            Stmt::If { otherwise, .. } => self.around.push((node.span, !otherwise.is_empty())),
            Stmt::Block(_) | Stmt::Loop { .. } => self.around.push((node.span, false)),
            Stmt::Expr(_) | Stmt::Declare(_) | Stmt::Break | Stmt::Continue | Stmt::Return(_) => {}
            _ => self.around.push((node.span, true)),
        }
    }

    fn expression(&mut self, module: &Module, id: ExprId, parameter: LocalId) {
        let Some(node) = module.exprs.get(id) else { return };
        let mut changes = |target: ExprId| {
            if let Some(Expr::Local(local)) = kind(module, target) {
                self.changed.push((node.span, *local));
            }
        };
        match &node.kind {
            Expr::Local(local) if *local == parameter => self.names.push(node.span),
            Expr::Assign { target, .. } | Expr::Step { target, .. } => changes(*target),
            Expr::AddressOf(of) => changes(*of),
            Expr::Index { .. } => {
                if let Some(index) = element(module, id, parameter) {
                    self.elements.push(index);
                }
            }
            _ => {}
        }
    }

    fn begin_with_store(&self) -> bool {
        let Some((store, index)) = self.store else { return false };
        // What the store is made of is computed before it: it may name the element itself.
        let (own, later): (Vec<Span>, Vec<Span>) = self.names.iter().partition(|name| store.contains(**name));
        let end = later.iter().map(|name| name.end).max().unwrap_or(store.end);
        let within = self.around.iter().filter(|(span, _)| span.contains(store) && *span != store);
        let block = within.min_by_key(|(span, _)| span.end - span.start);
        own.len() == 1
            && self.elements.len() == self.names.len()
            && self.elements.iter().all(|it| *it == index)
            && later.iter().all(|name| name.start >= store.end)
            && block.is_none_or(|(span, parted)| !parted && later.iter().all(|name| span.contains(*name)))
            && !self.changed.iter().any(|(at, local)| *local == index && (store.start..end).contains(&at.start))
    }
}

/// Of an element of the parameter's memory, the variable that says which.
fn element(module: &Module, id: ExprId, parameter: LocalId) -> Option<LocalId> {
    let Some(Expr::Index { base, indices }) = kind(module, id) else { return None };
    let [index] = indices[..] else { return None };
    match (kind(module, *base), kind(module, index)) {
        (Some(Expr::Local(local)), Some(Expr::Local(index))) if *local == parameter => Some(*index),
        _ => None,
    }
}

fn kind(module: &Module, id: ExprId) -> Option<&Expr> {
    module.exprs.get(id).map(|node| &node.kind)
}
