//! Which conditions inside a loop may hold in some rounds and not in others: what stands behind one is not told of the
//! first round, where it may never be reached.

use super::Walker;
use cudalint_program::ir::{Block, Expr, ExprId, LocalId, Module};
use cudalint_program::visit::{Item, walk, walk_expr};

/// How many statements and expressions of a loop are looked at for what they write.
const MAX_SEEN: u32 = 2000;

impl<'p> Walker<'p> {
    /// The variables that a loop's body and step write. None for a loop that is too long to tell.
    pub(super) fn written_in_rounds(&self, step: Option<ExprId>, body: &'p Block) -> Option<Vec<LocalId>> {
        let (module, function) = (self.module(), self.function()?);
        let mut written = Vec::new();
        let mut seen = 0;
        let mut note = |id: ExprId| {
            // Whoever has an address may write there.
            let target = match module.exprs.get(id).map(|node| &node.kind) {
                Some(Expr::Assign { target, .. } | Expr::Step { target, .. } | Expr::AddressOf(target)) => *target,
                _ => return,
            };
            written.extend(variable_of(module, target));
        };
        let mut declared = Vec::new();
        walk(module, function, body, |item| {
            seen += 1;
            match item {
                Item::Expr(id) => note(id),
                Item::Declare(local) => declared.push(local),
                Item::Stmt(_) => {}
            }
            seen < MAX_SEEN
        });
        if let Some(step) = step {
            walk_expr(module, step, |id, _| {
                note(id);
                true
            });
        }
        written.extend(declared);
        (seen < MAX_SEEN).then_some(written)
    }

    /// Whether a condition names what a loop around writes whose first round is walked.
    pub(super) fn hangs_on_round(&self, condition: ExprId) -> bool {
        let Some(frame) = self.frames.last().filter(|frame| !frame.first_rounds.is_empty()) else { return false };
        let mut hangs = false;
        walk_expr(self.module(), condition, |_, expr| {
            if let Expr::Local(local) = expr {
                hangs |= frame.first_rounds.iter().any(|written| written.contains(local));
            }
            !hangs
        });
        hangs
    }
}

/// The variable that an lvalue is, or is a part of.
fn variable_of(module: &Module, mut id: ExprId) -> Option<LocalId> {
    loop {
        id = match module.exprs.get(id).map(|node| &node.kind)? {
            Expr::Local(local) => return Some(*local),
            Expr::Member { base, arrow: false, .. } | Expr::Index { base, .. } => *base,
            _ => return None,
        };
    }
}
