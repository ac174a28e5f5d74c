//! Checks of what a block is made of, before its launch, by looks that nobody can tell to be the same: `CHECK(x.size(1) <= 1024)` in
//! front of `<<<n, x.size(1)>>>`. What such a check refuses is not known, so that no block is tried.

use super::choose::is_computed_out_of_sight;
use super::collect::Seen;
use super::execute::{BlockKnowledge, Module, block_knowledge, facts_of};
use super::extents::{self, Reader, block_of};
use cudalint_program::ir::{Expr, ExprId, Stmt};
use cudalint_program::visit::{self, Item};
use cudalint_syntax::Span;

/// How many variables a block is followed through.
const MAX_STEPS: usize = 32;

impl Module<'_> {
    /// Whether what a launch's block is taken from by calls is asked for in a condition, or handed to something as a comparison, before it.
    pub(super) fn is_checked(&self, seen: &Seen<'_>) -> bool {
        let (id, at) = (seen.event.site.module, seen.event.site.span);
        let looks = || {
            let block = block_of(self.project, id, at)?;
            let reader = Reader::around(self.project, id, at)?;
            let calls = reader.calls_in(block);
            (!calls.is_empty()).then(|| reader.asks_for(&calls, at))
        };
        looks().unwrap_or(false)
    }

    /// Whether the conditions on the way to a launch ask for a block that nobody gives: `case 1024:` of a size that all callers in sight
    /// choose from others.
    pub(super) fn is_ruled_out(&self, seen: &Seen<'_>) -> bool {
        let sure = facts_of(seen);
        let fixed = seen.fact.block.axes.each_ref().map(|axis| {
            let open = axis.quantity.known().is_none() && seen.fact.python.is_none();
            sure.quantity(&axis.quantity).filter(|_| open)
        });
        if fixed.iter().all(Option::is_none) {
            return false;
        }
        let Some(written) = extents::of_launch(self.project, seen.event.site.module, seen.event.site.span) else {
            return false;
        };
        let extent = |value: Option<i64>| value.and_then(|value| u32::try_from(value).ok());
        written.iter().zip(fixed).any(|(axis, value)| extent(value).is_some_and(|value| !axis.admits(value)))
    }

    /// What the source says of a block of which the walk of the host program has lost something.
    pub(super) fn written_block(&self, seen: &Seen<'_>) -> Option<extents::Block> {
        let lost = block_knowledge(seen.fact) != BlockKnowledge::Known && seen.fact.python.is_none();
        let lost = lost && seen.fact.block.axes.iter().any(|axis| is_computed_out_of_sight(&axis.quantity));
        let written = || extents::of_launch(self.project, seen.event.site.module, seen.event.site.span);
        if lost { written() } else { None }
    }
}

impl Reader<'_> {
    fn plain(&self, span: Span) -> String {
        self.project.text(self.id, span).split_whitespace().collect()
    }

    /// Calls that an expression takes its value from, through variables, as they are written.
    fn calls_in(&self, root: ExprId) -> Vec<String> {
        let (mut open, mut calls, mut steps) = (vec![root], Vec::new(), 0);
        while let Some(expr) = open.pop() {
            steps += 1;
            if steps > MAX_STEPS {
                break;
            }
            visit::walk_expr(self.module, expr, |part, kind| {
                match kind {
                    Expr::Local(local) => open.extend(self.values(*local)),
                    Expr::Call { callee, .. } => {
                        let method = matches!(self.kind(*callee), Some(Expr::Member { .. }));
                        let span = self.module.exprs.get(part).map(|node| node.span);
                        calls.extend(span.filter(|_| method).map(|span| self.plain(span)));
                    }
                    _ => {}
                }
                true
            });
        }
        calls
    }

    /// Whether a condition, or a comparison that something is given, has one of these texts before a place.
    fn asks_for(&self, calls: &[String], before: Span) -> bool {
        let Some(body) = &self.function.body else { return false };
        let mut asks = false;
        let has = |expr: ExprId| {
            let span = self.module.exprs.get(expr).map(|node| node.span);
            span.filter(|span| span.end <= before.start).is_some_and(|span| {
                let text = self.plain(span);
                calls.iter().any(|call| text.len() > call.len() && text.contains(call.as_str()))
            })
        };
        let compares = |expr: ExprId| match self.kind(expr) {
            Some(Expr::Binary(op, ..)) => op.is_comparison(),
            Some(Expr::AndThen(..) | Expr::OrElse(..) | Expr::Unary(..)) => true,
            _ => false,
        };
        visit::walk(self.module, self.function, body, |item| {
            match item {
                Item::Stmt(id) => {
                    if let Some(Stmt::If { condition, .. }) = self.module.stmts.get(id).map(|node| &node.kind) {
                        asks |= has(*condition);
                    }
                }
                Item::Expr(id) => {
                    if let Some(Expr::Call { args, .. }) = self.kind(id) {
                        asks |= args.iter().any(|arg| compares(*arg) && has(*arg));
                    }
                }
                Item::Declare(_) => {}
            }
            !asks
        });
        asks
    }
}
