//! Relaxations of an element by itself: where a sum of which it is a part would take its place if it were less, it does not.
//!
//! In the k-th step of Floyd and Warshall's algorithm the k-th row and column are asked to become shorter by the way from the
//! k-th place to itself, whose length is zero; that they are read meanwhile by all other threads is what the algorithm rests on. It
//! is taken for granted that what is added is not negative, so that less is told than could be, never more.

use super::lanes::OFF;
use super::machine::Machine;
use super::sums::MOST_SUMS;
use super::value::{KNOWN, NUMBER, Val};
use crate::code::{BinaryOp, ExprId};

impl Machine<'_> {
    /// Keeps the parts of a sum that is compared somewhere.
    pub(super) fn note_sum(&mut self, id: ExprId, a: &Val, b: &Val, sum: &Val) {
        if !self.relaxing.of_code.sums.contains(&id) || sum.all_known() {
            return;
        }
        for lane in (0..self.n).filter(|lane| self.act.levels()[*lane] != OFF) {
            let (name, tag) = sum.lane(lane);
            if tag == NUMBER && (self.relaxing.parts.len() < MOST_SUMS || self.relaxing.parts.contains_key(&name)) {
                self.relaxing.parts.insert(name, [a.lane(lane), b.lane(lane)]);
            }
        }
    }

    /// A comparison, in which an element is not longer than a sum of which it is a part. Of a minimum (`least`) it is asked whether the
    /// first of both may be taken, of others what they ask.
    pub(super) fn relaxed(&self, id: ExprId, op: BinaryOp, (a, b): (&Val, &Val), value: Val, least: bool) -> Val {
        if !self.relaxing.of_code.compared.contains(&id) || self.relaxing.parts.is_empty() || value.all_known() {
            return value;
        }
        let answer = |lane: usize| {
            let (x, y) = (a.lane(lane), b.lane(lane));
            let known = match op {
                _ if self.act.levels()[lane] == OFF => None,
                BinaryOp::Lt | BinaryOp::Ge if self.relaxing.is_longer(x, y) => Some(op == BinaryOp::Ge),
                BinaryOp::Gt | BinaryOp::Le if self.relaxing.is_longer(y, x) => Some(op == BinaryOp::Le),
                BinaryOp::Lt if least && self.relaxing.is_longer(y, x) => Some(true),
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
