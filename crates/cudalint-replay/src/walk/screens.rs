//! Checks that nobody follows: what a function out of sight, or one whose answer is no formula, may have refused is not chosen.

use super::Walker;
use crate::quantity::{AtomKind, ClosedOp, Condition, Poly, Quantity};
use cudalint_program::Name;
use cudalint_program::api::ApiId;
use cudalint_program::ir::{Expr, ExprId, ModuleId};

/// Words in the names of functions and macros that refuse what they are given.
const REFUSES: [&str; 8] = ["check", "assert", "require", "expect", "ensure", "enforce", "valid", "verify"];
/// Words in the names of functions that are asked whether something will do.
const ASKED: [&str; 7] = ["valid", "check", "bad", "legal", "support", "allow", "fits"];

fn says(name: &str, words: &[&str]) -> bool {
    let lower = name.to_lowercase();
    words.iter().any(|word| lower.contains(word))
}

impl Walker<'_> {
    /// A function or macro out of sight has been passed with these arguments: where it sounds like a check, nobody knows what it lets
    /// through.
    pub(super) fn passes_unseen(&mut self, name: &Name, args: &[ExprId]) {
        if !self.is_reporting() || !says(name, &REFUSES) {
            return;
        }
        for arg in args {
            // A condition says itself what has been passed.
            let is_condition = matches!(self.kind(*arg), Some(Expr::AndThen(..) | Expr::OrElse(..) | Expr::Unary(..)))
                || matches!(self.kind(*arg), Some(Expr::Binary(op, ..)) if op.is_comparison());
            if !is_condition {
                // A variable that the call may have written has a value of its own from here on, which has passed.
                let is_variable = matches!(self.kind(*arg), Some(Expr::Local(_)));
                let quantity = if is_variable { self.eval(*arg).val.quantity() } else { self.plain_quantity(*arg) };
                self.refuse(&quantity, 0);
            }
        }
    }

    /// The numbers that a condition hands to functions whose answer is no formula, where that is all that the condition asks.
    pub(super) fn handed_to_checks(&mut self, condition: ExprId) -> Vec<Quantity> {
        let (mut calls, mut kept) = (Vec::new(), Vec::new());
        let mut note = |kind: &'_ Expr, kept: &mut Vec<ExprId>| match kind {
            Expr::Call { callee, args } => calls.push((*callee, args.clone())),
            Expr::Local(local) => {
                kept.extend(self.function().and_then(|function| function.locals.get(*local)?.init));
            }
            _ => {}
        };
        cudalint_program::visit::walk_expr(self.module(), condition, |_, kind| {
            note(kind, &mut kept);
            true
        });
        // What a variable keeps of an answer.
        for init in std::mem::take(&mut kept) {
            if let Some(kind @ Expr::Call { .. }) = self.kind(init) {
                note(kind, &mut kept);
            }
        }
        let mut handed = Vec::new();
        for (callee, args) in calls {
            let name = match self.kind(callee) {
                Some(Expr::Name { path, .. }) => path.last(),
                Some(Expr::Member { name, .. }) => Some(name),
                _ => None,
            };
            let Some(name) = name.filter(|name| ApiId::named(name).is_none()) else { return Vec::new() };
            let bodies = |(module, id): &(ModuleId, _)| {
                self.project.function_at(*module, *id).is_some_and(|function| function.body.is_some())
            };
            let found: Vec<_> = self.project.functions_named(name).into_iter().filter(bodies).collect();
            let does = |(module, id): &(ModuleId, _)| {
                let traits = self.scan.traits.of(*module, *id);
                traits.gpu || traits.memory || traits.shared
            };
            // What does something tells of that.
            if found.iter().any(does) || found.is_empty() && !says(name, &ASKED) {
                return Vec::new();
            }
            handed.extend(args.iter().map(|arg| self.plain_quantity(*arg)));
        }
        handed
    }

    /// Nobody knows which values of a number get here: until this frame ends none is chosen for what it is made of.
    pub(super) fn refuse(&mut self, quantity: &Quantity, until: usize) {
        let Quantity::Symbolic(poly) = quantity else { return };
        for atom in poly.bases().0 {
            if !matches!(atom.kind(), AtomKind::Input | AtomKind::Opaque | AtomKind::Field) {
                continue;
            }
            let let_through = self.atoms.fresh("", AtomKind::Opaque);
            let atom = Quantity::from_poly(Poly::atom(atom));
            if let Quantity::Symbolic(poly) = self.atoms.closed(ClosedOp::Ne, &atom, &let_through) {
                self.learn(&[Condition { poly, holds: true }], until);
            }
        }
    }
}
