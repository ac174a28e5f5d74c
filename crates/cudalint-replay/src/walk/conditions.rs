//! What the path says of the inputs: conditions of branches taken and of checks passed.

use super::Walker;
use super::caches::Look;
use crate::host::Flow;
use crate::quantity::{AtomKind, ClosedOp, Poly};
use crate::quantity::{Condition, Quantity};
use crate::value::Val;
use cudalint_program::ir::{Block, Expr, ExprId, Module, UnaryOp};

/// How deep a condition's parts are looked at.
const MAX_PARTS: u32 = 8;

/// An expression that has been looked at without a trace.
struct Seen {
    expr: ExprId,
    quantity: Quantity,
    /// Of the budget.
    steps: u32,
}

impl<'p> Walker<'p> {
    /// Both sides of a condition that nothing decides, each knowing which it is. `looked`: what the condition was found
    /// to be just before, and how many steps that took. `choice`: it does not ask what the device has.
    pub fn open_branch(
        &mut self,
        condition: ExprId,
        looked: Option<(Quantity, u32)>,
        then: &'p Block,
        otherwise: &'p Block,
        choice: bool,
    ) -> Flow {
        let (mut yes, mut no, mut seen) = (Vec::new(), Vec::new(), Vec::new());
        let whole = looked.as_ref().map(|(quantity, _)| quantity.clone());
        if let Some((quantity, steps)) = looked.filter(|_| self.is_straight(condition)) {
            seen.push(Seen { expr: condition, quantity, steps });
        }
        self.parts(condition, true, 0, &mut yes, &mut seen);
        self.parts(condition, false, 0, &mut no, &mut seen);
        let mut handed = Vec::new();
        if yes.is_empty() && no.is_empty() {
            match whole {
                // What functions answer is a formula.
                Some(Quantity::Symbolic(poly)) if poly.names_numbers(0) => {
                    yes.push(Condition { poly: poly.clone(), holds: true });
                    no.push(Condition { poly, holds: false });
                }
                _ => handed = self.handed_to_checks(condition),
            }
        }
        let known = self.path.known();
        let (mut yes_flow, mut no_flow) = (Flow::Next, Flow::Next);
        let truth = self.truth_of(condition, &mut seen);
        let hushed = u32::from(self.hangs_on_round(condition));
        self.log.muted += hushed;
        let flow = self.open(
            truth,
            choice,
            |w| {
                w.learn(&yes, usize::MAX);
                yes_flow = w.block(then);
                w.path.unlearn(known);
                yes_flow.clone()
            },
            |w| {
                w.learn(&no, usize::MAX);
                no_flow = w.block(otherwise);
                w.path.unlearn(known);
                no_flow.clone()
            },
        );
        self.log.muted -= hushed;
        let (gone, stayed) = match (&yes_flow, &no_flow) {
            (Flow::Next, Flow::Next) => return flow,
            (Flow::Next, gone) => (gone, yes),
            (gone, Flow::Next) => (gone, no),
            _ => return flow,
        };
        let until = if *gone == Flow::Stop { 0 } else { self.frames.len() };
        self.learn(&stayed, until);
        for quantity in handed {
            self.refuse(&quantity, until);
        }
        flow
    }

    /// A check that ends the program where it fails has been passed.
    pub fn assume_passed(&mut self, condition: ExprId) {
        self.assume(condition, 0);
    }

    /// A condition is met until the frame with this number ends, or something unlearns it.
    pub(super) fn assume(&mut self, condition: ExprId, until: usize) {
        if !self.is_reporting() {
            return;
        }
        let mut parts = Vec::new();
        self.parts(condition, true, 0, &mut parts, &mut Vec::new());
        self.learn(&parts, until);
    }

    pub(super) fn learn(&mut self, conditions: &[Condition], until: usize) {
        for condition in conditions {
            if !self.path.learn(condition.clone(), until) {
                self.leave_trace();
            }
        }
    }

    /// What a condition says when it is met, or when it is not, as far as inputs decide it.
    fn parts(&mut self, condition: ExprId, holds: bool, depth: u32, into: &mut Vec<Condition>, seen: &mut Vec<Seen>) {
        let Some(node) = self.node(condition) else { return };
        if depth > MAX_PARTS {
            return;
        }
        match &node.kind {
            Expr::Unary(UnaryOp::Not, value) => self.parts(*value, !holds, depth + 1, into, seen),
            Expr::AndThen(a, b) if holds => {
                self.parts(*a, true, depth + 1, into, seen);
                self.parts(*b, true, depth + 1, into, seen);
            }
            Expr::OrElse(a, b) if !holds => {
                self.parts(*a, false, depth + 1, into, seen);
                self.parts(*b, false, depth + 1, into, seen);
            }
            Expr::AndThen(a, b) | Expr::OrElse(a, b) => {
                let mut side = |w: &mut Self, expr| {
                    let mut found = Vec::new();
                    w.parts(expr, holds, depth + 1, &mut found, seen);
                    w.all_of(&found)
                };
                if let (Some(one), Some(other)) = (side(self, *a), side(self, *b))
                    && let Some(poly) = either(&one, &other)
                {
                    into.push(Condition { poly, holds: true });
                }
            }
            Expr::Cast { value, .. } => self.parts(*value, holds, depth + 1, into, seen),
            Expr::Binary(..) | Expr::Local(_) | Expr::Name { .. } | Expr::Member { .. } => {
                if let Quantity::Symbolic(poly) = self.seen_quantity(condition, seen)
                    && poly.names_numbers(0)
                {
                    into.push(Condition { poly, holds });
                }
            }
            _ => {}
        }
    }

    /// 1 where all of the conditions are met and 0 where one is not; none without conditions.
    fn all_of(&mut self, conditions: &[Condition]) -> Option<Poly> {
        let mut all = None;
        for condition in conditions {
            let truth = if is_truth(&condition.poly) {
                condition.poly.clone()
            } else {
                let quantity = Quantity::Symbolic(condition.poly.clone());
                match self.atoms.closed(ClosedOp::Ne, &quantity, &Quantity::Known(0)) {
                    Quantity::Symbolic(poly) => poly,
                    _ => return None,
                }
            };
            let truth = if condition.holds { truth } else { Poly::constant(1).plus_times(&truth, -1)? };
            all = Some(match all {
                Some(all) => truth.times(&all)?,
                None => truth,
            });
        }
        all
    }

    /// The integer that an expression means, looked at without a trace; unknown where looking does something.
    pub fn plain_quantity(&mut self, expr: ExprId) -> Quantity {
        if !self.is_plain(expr) {
            return Quantity::Unknown;
        }
        let mark = self.memory.mark();
        self.log.muted += 1;
        let quantity = self.eval(expr).val.quantity();
        self.log.muted -= 1;
        self.memory.undo(mark);
        quantity
    }

    /// The same for an expression that may have been looked at in this very state: a condition is asked several times
    /// what it says. A look takes as many steps of the budget as the first one did.
    fn seen_quantity(&mut self, expr: ExprId, seen: &mut Vec<Seen>) -> Quantity {
        if let Some(known) = seen.iter().find(|known| known.expr == expr && known.steps <= self.budget.steps) {
            self.budget.steps -= known.steps;
            return known.quantity.clone();
        }
        let before = self.budget.steps;
        let quantity = self.plain_quantity(expr);
        if self.budget.stopped.is_none() {
            seen.push(Seen { expr, quantity: quantity.clone(), steps: before - self.budget.steps });
        }
        quantity
    }

    /// What a case of a `switch` says of the value that is switched on.
    pub fn learn_case(&mut self, value: &Quantity, label: i64, holds: bool) {
        if !matches!(value, Quantity::Symbolic(_)) || !self.is_reporting() {
            return;
        }
        if let Quantity::Symbolic(poly) = self.atoms.closed(ClosedOp::Eq, value, &Quantity::Known(label)) {
            self.learn(&[Condition { poly, holds }], usize::MAX);
        }
    }

    /// `c ? a : b` for symbols: `b + c * (a - b)` with a truth value for `c`.
    pub fn blend(&mut self, condition: ExprId, a: &Val, b: &Val) -> Option<Val> {
        let truth = self.truth_of(condition, &mut Vec::new())?;
        Val::blend(&truth, a, b)
    }

    /// 1 where a condition holds and 0 where it does not, as far as inputs decide it.
    fn truth_of(&mut self, condition: ExprId, seen: &mut Vec<Seen>) -> Option<Poly> {
        let truth = match self.seen_quantity(condition, seen) {
            Quantity::Symbolic(poly) if is_truth(&poly) => return Some(poly),
            quantity @ Quantity::Symbolic(_) => self.atoms.closed(ClosedOp::Ne, &quantity, &Quantity::Known(0)),
            _ => return None,
        };
        if let Quantity::Symbolic(poly) = truth { Some(poly) } else { None }
    }
}

/// 1 where one of two truths or both hold: `a + b - ab`.
fn either(a: &Poly, b: &Poly) -> Option<Poly> {
    a.plus_times(b, 1)?.plus_times(&a.times(b)?, -1)
}

/// What looking at an expression again does.
pub(super) fn look_again(module: &Module, expr: ExprId) -> Look {
    let mut look = Look::Straight;
    cudalint_program::visit::walk_expr(module, expr, |_, kind| {
        match kind {
            Expr::Call { .. }
            | Expr::Assign { .. }
            | Expr::Step { .. }
            | Expr::Launch(_)
            | Expr::New { .. }
            | Expr::Place { .. }
            | Expr::Delete { .. }
            | Expr::Statements(_)
            | Expr::Lambda { .. }
            | Expr::Construct { .. } => look = Look::Effects,
            Expr::AndThen(..) | Expr::OrElse(..) | Expr::Select(..) => look = Look::Plain,
            _ => {}
        }
        look != Look::Effects
    });
    look
}

/// Whether a polynomial is a comparison, so that it is 0 or 1.
fn is_truth(poly: &Poly) -> bool {
    let mut terms = poly.terms.iter();
    match (terms.next(), terms.next()) {
        (Some((product, 1)), None) => matches!(
            product.as_slice(),
            [atom] if matches!(
                atom.kind(),
                AtomKind::Closed(ClosedOp::Lt | ClosedOp::Le | ClosedOp::Eq | ClosedOp::Ne, ..)
            )
        ),
        _ => false,
    }
}
