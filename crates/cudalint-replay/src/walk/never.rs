//! Blocks of the function where a walk begins that no run of it enters: what decides that is known whenever they are come by, and rests
//! on nothing.

use super::Walker;
use super::entered::{BACKWARD, Entered};
use crate::facts::NeverRun;
use cudalint_program::ir::{Block, Expr, ExprId, Function, LocalId, Path, Space, Stmt, StmtId};
use cudalint_program::visit::{Item, operands, walk};

/// Parts of a condition that are looked at.
const MAX_PARTS: u32 = 64;

impl Walker<'_> {
    /// Statements are run one after another.
    pub(super) fn enters(&mut self, block: &[StmtId]) {
        if self.frames.len() == 1
            && let Some(first) = block.first()
        {
            self.entered.entered.insert(*first);
        }
    }

    /// A block is passed by, since a condition has a value that is known.
    pub(super) fn passes(&mut self, block: &Block, condition: ExprId) {
        if self.frames.len() == 1
            && self.dry == 0
            && let Some(first) = block.first()
            && !self.entered.passed.iter().any(|(known, _)| known.first() == Some(first))
            && self.is_of_own(condition)
        {
            self.entered.passed.push((block.clone(), condition));
        }
    }

    /// How many blocks have been passed by.
    pub(super) fn passed_by(&self) -> usize {
        self.entered.passed.len()
    }

    /// A loop is left: if that is since the walk has stopped, a later round might enter what these have passed by.
    pub(super) fn leaves_rounds(&mut self, before: usize) {
        if self.frames.len() == 1 && self.budget.stopped.is_some() {
            self.entered.passed.truncate(before);
        }
    }

    /// The walk has come to its end, or has stopped: the blocks that it has only passed by.
    pub(super) fn only_passed(&mut self) -> Vec<NeverRun> {
        let Entered { entered, passed } = std::mem::take(&mut self.entered);
        let Some(function) = self.function() else { return Vec::new() };
        let (module, id) = (self.module(), self.module_id());
        let of_template = || {
            let class = self.project.record(id, &Path::default(), &function.scope);
            let class = class.and_then(|entry| self.project.record_at(entry));
            class.is_none_or(|class| !class.template_params.is_empty())
        };
        // Another instance may decide otherwise; a jump backwards, with which a walk stops, makes a loop of what it was come by.
        let jumps_back = self.budget.stopped == Some(BACKWARD);
        if jumps_back || !function.template_params.is_empty() || !function.scope.segments.is_empty() && of_template() {
            return Vec::new();
        }
        let is_entered = |block: &[StmtId]| block.first().is_none_or(|first| entered.contains(first));
        let mut found = Vec::new();
        for (block, condition) in passed.into_iter().filter(|(block, _)| !is_entered(block)) {
            if self.has_label(function, &block) {
                continue;
            }
            let Some(condition) = module.exprs.get(condition) else { continue };
            // What a macro wrote stands where the macro is called, as its live parts do.
            let spans = block.iter().filter_map(|id| Some(module.stmts.get(*id)?.span));
            let behind = spans.filter(|span| span.start >= condition.span.end);
            found.extend(behind.map(|span| NeverRun { span, condition: condition.span }));
        }
        found.sort_by_key(|never| never.span.start);
        found
    }

    /// Whether a condition asks for nothing but numbers and the function's own variables.
    fn is_of_own(&self, condition: ExprId) -> bool {
        let (mut open, mut left) = (vec![condition], MAX_PARTS);
        while let Some(id) = open.pop() {
            left -= 1;
            match self.kind(id) {
                _ if left == 0 => return false,
                Some(Expr::Local(local)) if self.lasts(*local) => return false,
                Some(Expr::Local(_) | Expr::Int { .. } | Expr::Float { .. }) => {}
                // Whatever the other side is.
                Some(Expr::AndThen(a, b)) if [a, b].into_iter().any(|side| self.is_false(*side)) => {}
                Some(Expr::AndThen(a, b) | Expr::OrElse(a, b)) => open.extend([*a, *b]),
                Some(kind @ (Expr::Binary(..) | Expr::Unary(..) | Expr::Cast { .. })) => {
                    operands(kind, |operand| open.push(operand));
                }
                _ => return false,
            }
        }
        true
    }

    /// Whether a variable keeps what earlier calls of the function have left in it.
    fn lasts(&self, local: LocalId) -> bool {
        let variable = self.function().and_then(|function| function.locals.get(local));
        variable.is_none_or(|variable| matches!(variable.space, Space::Static))
    }

    /// Whether a jump may lead into a block.
    fn has_label(&self, function: &Function, block: &Block) -> bool {
        let (module, mut found) = (self.module(), false);
        walk(module, function, block, |item| {
            if let Item::Stmt(id) = item {
                found |= matches!(module.stmts.get(id).map(|node| &node.kind), Some(Stmt::Label(_)));
            }
            !found
        });
        found
    }

    fn is_false(&self, id: ExprId) -> bool {
        matches!(self.kind(id), Some(Expr::Int { value: 0, .. }))
    }
}
