//! Relaxations of an element by itself: where a sum of which it is a part would take its place if it were less, it does not.
//!
//! In the k-th step of Floyd and Warshall's algorithm the k-th row and column are asked to become shorter by the way from the
//! k-th place to itself, whose length is zero; that they are read meanwhile by all other threads is what the algorithm rests on. It
//! is taken for granted that what is added is not negative, so that less is told than could be, never more.

use super::lanes::OFF;
use super::machine::Machine;
use super::value::{KNOWN, UNKNOWN, Val};
use crate::code::{BinaryOp, ExprId};

impl Machine<'_> {
    /// Keeps the parts of a sum that is compared somewhere.
    pub(super) fn note_sum(&mut self, id: ExprId, a: &Val, b: &Val) {
        if !self.relaxing.of_code.sums.contains(&id) {
            return;
        }
        let nothing = [(0, UNKNOWN); 2];
        let parts = self.relaxing.parts.entry(id).or_insert_with(|| vec![nothing; self.n].into());
        for (lane, parts) in parts.iter_mut().enumerate() {
            if self.act.levels()[lane] != OFF {
                *parts = [a.lane(lane), b.lane(lane)];
            }
        }
    }

    /// A comparison, in which an element is not longer than a sum of which it is a part. Of a minimum (`least`) it is asked whether the
    /// first of both may be taken, of others what they ask.
    pub(super) fn relaxed(&self, id: ExprId, op: BinaryOp, (a, b): (&Val, &Val), value: Val, least: bool) -> Val {
        let Some(&[first, second]) = self.relaxing.of_code.compared.get(&id) else { return value };
        if value.all_known() {
            return value;
        }
        let answer = |lane: usize| {
            let is_first_longer = || self.relaxing.is_longer(first, lane, b.lane(lane));
            let is_second_longer = || self.relaxing.is_longer(second, lane, a.lane(lane));
            let known = match op {
                _ if self.act.levels()[lane] == OFF => None,
                BinaryOp::Lt | BinaryOp::Ge if is_first_longer() => Some(op == BinaryOp::Ge),
                BinaryOp::Gt | BinaryOp::Le if is_second_longer() => Some(op == BinaryOp::Le),
                BinaryOp::Lt if least && is_second_longer() => Some(true),
                _ => None,
            };
            known.map(i64::from)
        };
        if (0..self.n).all(|lane| answer(lane).is_none()) {
            return value;
        }
        let each = |lane: usize| answer(lane).map_or_else(|| value.lane(lane), |known| (known, KNOWN));
        Val::from_lanes(self.n, each)
    }
}
