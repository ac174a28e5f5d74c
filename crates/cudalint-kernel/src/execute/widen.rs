//! Loops that are not followed round by round: what their rounds may do, all at once, and their last round.

use super::lanes::{Lanes, Mask, OFF};
use super::machine::Machine;
use super::state::Divergence;
use super::value::{KNOWN, SOMEWHERE, Shape, UNKNOWN, Val, object_of, somewhere};
use crate::code::{BinaryOp, Block, Expr, ExprId, Place, StmtId, Ty, VariableId};

/// The last round of a counted loop.
pub(super) struct LastRound {
    counter: VariableId,
    value: Val,
}

/// Pointers as they were before the rounds that nobody follows.
pub(super) struct Loosened(Vec<(VariableId, Val)>);

impl Machine<'_> {
    /// Lanes of the mask know nothing of these registers any more, but for the objects that pointers point into.
    pub(super) fn loosen(&mut self, variables: &[VariableId], mask: &Mask) -> Loosened {
        let pointers: Vec<VariableId> = variables.iter().copied().filter(|&v| self.is_pointer(v)).collect();
        let before = self.snapshot(&pointers);
        self.forget_registers(variables, mask);
        let n = self.n;
        self.each_register(&pointers, |at, value| value.blended(&loose(n, &before[at]), mask));
        Loosened(pointers.into_iter().zip(before).collect())
    }

    /// After such rounds: a pointer that has come to another object may have been in any of them all the time.
    pub(super) fn settle_loosened(&mut self, variables: &[VariableId], loosened: &Loosened, mask: &Mask) {
        let pointers: Vec<VariableId> = loosened.0.iter().map(|(variable, _)| *variable).collect();
        let after = self.snapshot(&pointers);
        self.forget_registers(variables, mask);
        let mut objects = Vec::new();
        let mut kept = Vec::new();
        for ((variable, before), after) in loosened.0.iter().zip(&after) {
            let object = |value: &Val, lane: usize| match value.lane(lane) {
                (bits, KNOWN | SOMEWHERE) => object_of(bits),
                _ => 0,
            };
            let active = || mask.levels().iter().enumerate().filter(|(_, level)| **level != OFF).map(|(lane, _)| lane);
            if active().all(|lane| object(before, lane) == object(after, lane)) {
                kept.push((*variable, before.clone()));
            } else {
                objects.extend(active().flat_map(|lane| [object(before, lane), object(after, lane)]));
                objects.sort_unstable();
                objects.dedup();
            }
        }
        for id in objects {
            if let Some(index) = (id as usize).checked_sub(1) {
                self.lose(index, true);
                self.lose(index, false);
            }
        }
        let n = self.n;
        for (variable, before) in kept {
            self.each_register(&[variable], |_, value| value.blended(&loose(n, &before), mask));
        }
    }

    fn is_pointer(&self, variable: VariableId) -> bool {
        let function = self.frames.last().and_then(|frame| self.code.functions.get(frame.function));
        function.and_then(|f| f.variables.get(variable)).is_some_and(|variable| variable.ty == Ty::Pointer)
    }

    /// The last round of a loop that counts to a bound which is known now, for the lanes that are in it.
    pub(super) fn last_round(
        &mut self,
        id: StmtId,
        condition: Option<ExprId>,
        step: Option<ExprId>,
        body: &Block,
    ) -> Option<LastRound> {
        let code = self.code;
        let Expr::Binary(op, left, bound) = code.expr(condition?).kind else { return None };
        let mut left = left;
        while let Expr::Convert(inner) = code.expr(left).kind {
            left = inner;
        }
        let Expr::Read(Place::Register { variable, count: 0, .. }) = code.expr(left).kind else { return None };
        let Expr::Update { place: Place::Register { variable: stepped, count: 0, .. }, op: way, value, .. } =
            &code.expr(step?).kind
        else {
            return None;
        };
        let ty = &code.expr(left).ty;
        let body_assigns = body.iter().any(|&stmt| self.scan.assigned(code, stmt).contains(&variable));
        if *stepped != variable || body_assigns || !matches!(ty, Ty::Int { .. }) {
            return None;
        }
        if !self.scan.assigned_in(code, bound).is_empty() {
            return None;
        }
        let nature = self.scan.nature(code, id);
        let by = self.eval(*value).uniform()?;
        let by = match way {
            BinaryOp::Add => by,
            BinaryOp::Sub => by.checked_neg()?,
            _ => return None,
        };
        let bound = self.eval(bound);
        let now = self.frames.last()?.slots.get(variable)?.value.clone();
        if nature.may_leave || self.act.maybe() > 0 || (nature.has_barrier && (now.varies() || bound.varies())) {
            return None;
        }
        let last = |lane: usize| -> Option<i64> {
            let ((now, KNOWN), (bound, KNOWN)) = (now.lane(lane), bound.lane(lane)) else { return None };
            let rounds = match op {
                BinaryOp::Lt if by > 0 => bound.checked_sub(1)?.checked_sub(now)? / by,
                BinaryOp::Le if by > 0 => bound.checked_sub(now)? / by,
                BinaryOp::Gt if by < 0 => now.checked_sub(1)?.checked_sub(bound)? / -by,
                BinaryOp::Ge if by < 0 => now.checked_sub(bound)? / -by,
                BinaryOp::Ne if by != 0 => {
                    let way = bound.checked_sub(now)?;
                    if way % by != 0 {
                        return None;
                    }
                    way / by - 1
                }
                _ => return None,
            };
            let last = rounds.checked_mul(by)?.checked_add(now)?;
            (rounds >= 0 && ty.wrap(last) == last && ty.wrap(last.checked_add(by)?) == last + by).then_some(last)
        };
        let value = if now.varies() || bound.varies() {
            let mut bits = Lanes::filled(self.n, 0);
            for (lane, &level) in self.act.levels().iter().enumerate() {
                if level != OFF {
                    bits.edit()[lane] = last(lane)?;
                }
            }
            Val::lanes(bits)
        } else {
            Val::known(last(self.act.first_sure()?)?)
        };
        Some(LastRound { counter: variable, value: Val { shape: now.shape.plus(Shape::Constant), ..value } })
    }

    /// Runs the last round in the lanes that are in the loop; all but the counter is as the rounds before left it.
    pub(super) fn run_last_round(&mut self, round: &LastRound, condition: ExprId, step: Option<ExprId>, body: &Block) {
        let here = self.act.clone();
        self.each_register(&[round.counter], |_, value| value.blended(&round.value, &here));
        let value = self.eval(condition);
        self.seen_outside(&value);
        let parting = self.part(&value);
        if parting.yes.sure() != here.sure() || !parting.unknown.is_empty() {
            // The bound has moved meanwhile.
            self.forget_registers(&[round.counter], &here);
            return;
        }
        if value.varies() {
            self.guard(condition, Divergence::None);
        }
        self.run_block(body);
        self.act = self.finish_round(&here);
        if let Some(step) = step
            && !self.act.is_empty()
        {
            self.eval(step);
        }
    }
}

/// Of pointers, only the objects that they point into.
fn loose(n: usize, before: &Val) -> Val {
    let view = before.view();
    Val::from_lanes(n, |lane| match view.lane(lane) {
        (bits, KNOWN | SOMEWHERE) if bits != 0 => (somewhere(object_of(bits), 0), SOMEWHERE),
        _ => (0, UNKNOWN),
    })
}
