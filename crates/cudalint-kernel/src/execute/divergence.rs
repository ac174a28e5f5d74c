//! Why lanes are only may-active: one condition that nobody could decide, or more than can be named.

use super::lanes::Mask;
use super::machine::Machine;
use super::state::{Divergence, Limits, Unsure};
use super::value::{Data, KNOWN, NUMBER, Val};
use crate::code::{BinaryOp, Builtin, Child, Code, Expr, ExprId, Intrinsic, Joined, Place, Test, VariableId};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Most parts of an expression that are looked at.
const MOST_PARTS: usize = 400;

impl Machine<'_> {
    /// Why lanes that go on behind a condition are only may-active.
    pub(super) fn divergence_of(&self, condition: ExprId, negated: bool, entry: &Mask) -> Divergence {
        let (frames, unguarded) = (self.frames.len(), self.unguarded);
        Divergence::If(Rc::new(Unsure { condition, negated, entry: entry.clone(), frames, unguarded }))
    }

    /// The one condition of the running function for which lanes are only may-active here, where there is no other reason.
    pub(super) fn only_divergence(&self) -> Option<Rc<Unsure>> {
        let mut found = None;
        for guard in &self.guards {
            match &guard.divergence {
                Divergence::None => {}
                Divergence::If(unsure) if found.is_none() => found = Some(Rc::clone(unsure)),
                Divergence::If(_) | Divergence::Other => return None,
            }
        }
        found.filter(|unsure| unsure.frames == self.frames.len() && unsure.unguarded == self.unguarded)
    }

    /// The limits with which a condition compares the index in an address, where it does that and nothing else: each of its
    /// tests is one of a number that the address is made of against a number that all threads of the block have in
    /// common, or is known. `bin % threads == thread` and `bin >= first_of_this_thread` are none: they give each thread
    /// places of its own.
    pub(super) fn range_check(&mut self, unsure: &Unsure, address: ExprId) -> Option<Limits> {
        let index = self.unknown_registers(address)?;
        if index.is_empty() || may_be_dealt_out(self.code, &index) {
            return None;
        }
        let mut limits = Vec::new();
        for Test { id, negated } in self.code.tests(unsure.condition, unsure.negated, Joined::Anyhow)? {
            match &self.code.expr(id).kind {
                Expr::Binary(op, a, b) => {
                    let sides = [self.computed(*a)?, self.computed(*b)?];
                    if sides.iter().all(Val::all_known) {
                        continue;
                    }
                    let bounds = match op {
                        BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => true,
                        BinaryOp::Ne => !negated,
                        BinaryOp::Eq => negated,
                        _ => false,
                    };
                    let (tested, limit) = match (common(&sides[0]), common(&sides[1])) {
                        (None, Some(limit)) => (*a, limit),
                        (Some(limit), None) => (*b, limit),
                        _ => return None,
                    };
                    if !bounds || !self.reads_only(tested, &index) {
                        return None;
                    }
                    limits.push(limit);
                }
                _ if self.computed(id)?.all_known() => {}
                _ => return None,
            }
        }
        (!limits.is_empty()).then_some(limits)
    }

    /// The value of an expression that only computes with registers; `None` where it does more.
    pub(super) fn computed(&mut self, id: ExprId) -> Option<Val> {
        self.computed_of(id, false)
    }

    /// The same, with the block's own number.
    pub(super) fn computed_in_block(&mut self, id: ExprId) -> Option<Val> {
        self.computed_of(id, true)
    }

    fn computed_of(&mut self, id: ExprId, in_block: bool) -> Option<Val> {
        let mut plain = true;
        walk(self.code, id, |expr| {
            plain &= match expr {
                Expr::Read(place) => matches!(place, Place::Register { .. }),
                Expr::Builtin(builtin) => in_block || !matches!(builtin, Builtin::BlockIdx(_)),
                Expr::Int(_)
                | Expr::Float(_)
                | Expr::Unary(..)
                | Expr::Not(_)
                | Expr::Binary(..)
                | Expr::And(..)
                | Expr::Or(..)
                | Expr::Convert(_)
                | Expr::Leaves { .. } => true,
                _ => false,
            };
        })?;
        plain.then(|| self.eval(id))
    }

    /// Whether an expression reads some of these registers, and besides only what is uniform over all lanes.
    fn reads_only(&self, id: ExprId, index: &BTreeSet<VariableId>) -> bool {
        let Some(frame) = self.frames.last() else { return false };
        let (mut some, mut others) = (false, false);
        let all = walk(self.code, id, |expr| match expr {
            Expr::Read(Place::Register { variable, .. }) if index.contains(variable) => some = true,
            Expr::Read(Place::Register { variable, .. }) => {
                let slot = frame.slots.get(*variable);
                others |= slot.is_none_or(|slot| common(&slot.value).is_none());
            }
            Expr::Builtin(Builtin::ThreadIdx(_)) => others = true,
            _ => {}
        });
        all.is_some() && some && !others
    }

    /// Registers of the running function that an expression reads and that are not the same known number, or a named one,
    /// in all lanes, nor known in each.
    fn unknown_registers(&self, id: ExprId) -> Option<BTreeSet<VariableId>> {
        let slots = &self.frames.last()?.slots;
        let mut found = BTreeSet::new();
        walk(self.code, id, |expr| {
            if let Expr::Read(Place::Register { variable, .. }) = expr
                && let Some(slot) = slots.get(*variable)
                && !slot.value.all_known()
                && common(&slot.value).is_none()
                && !matches!(slot.value.data, Data::Aggregate(_))
            {
                found.insert(*variable);
            }
        })?;
        Some(found)
    }
}

/// The number that is uniform over all lanes, known or by name.
const fn common(value: &Val) -> Option<(i64, u8)> {
    match value.data {
        Data::Uniform(bits, tag @ (KNOWN | NUMBER)) => Some((bits, tag)),
        _ => None,
    }
}

/// Whether registers may come from something that gives each thread a number of its own: an atomic counter, a scan.
fn may_be_dealt_out(code: &Code, registers: &BTreeSet<VariableId>) -> bool {
    let deals = |expr: &Expr| {
        matches!(
            expr,
            Expr::Intrinsic(
                Intrinsic::Atomic { .. }
                    | Intrinsic::Shuffle { .. }
                    | Intrinsic::WarpVote { .. }
                    | Intrinsic::BlockVote(_)
                    | Intrinsic::BlockPrimitive
                    | Intrinsic::WarpPrimitive,
                _
            )
        )
    };
    let anywhere = code.exprs.iter().any(|node| deals(&node.kind));
    let mut reached = registers.clone();
    loop {
        let before = reached.len();
        for node in &code.exprs {
            let (Expr::Write(Place::Register { variable, .. }, value)
            | Expr::Update { place: Place::Register { variable, .. }, value, .. }) = &node.kind
            else {
                continue;
            };
            if !reached.contains(variable) {
                continue;
            }
            let mut dealt = false;
            let all = walk(code, *value, |expr| {
                dealt |= deals(expr)
                    || anywhere && matches!(expr, Expr::Call(..) | Expr::Opaque { .. } | Expr::Statements(..));
                if let Expr::Read(Place::Register { variable, .. }) = expr {
                    reached.insert(*variable);
                }
            });
            if dealt || all.is_none() {
                return true;
            }
        }
        if reached.len() == before {
            return false;
        }
    }
}

/// Visits an expression and its operands; `None` where there are too many. Callees and statements are not looked into.
fn walk(code: &Code, id: ExprId, mut visit: impl FnMut(&Expr)) -> Option<()> {
    let mut open = vec![id];
    let mut seen = 0;
    while let Some(id) = open.pop() {
        seen += 1;
        if seen > MOST_PARTS {
            return None;
        }
        let expr = &code.expr(id).kind;
        visit(expr);
        expr.parts(&mut |part| {
            if let Child::Expr(part) = part {
                open.push(part);
            }
        });
    }
    Some(())
}
