//! Barriers behind conditions that keep one end of a block away: `i < n`, where nobody knows `n`.
//!
//! Where such a condition parts a block is not known, but whom it can keep away is: threads whose numbers lie beyond those of all that
//! come. They are missed where one that waits reads what was to be stored by one that can be away with it there, and by nobody else.

use super::doubts::{Suffix, Suffixes};
use super::lanes::{MAYBE, Mask};
use super::machine::Machine;
use super::state::Open;
use super::touch::Touch;
use super::value::{KNOWN, Val, offset_of};
use crate::code::{BinaryOp, Expr, ExprId, FunctionId, Joined, Test};
use crate::readings::passing;
use crate::report::{DoubtKind, EventKind, Site};

/// Most places whose stores are remembered.
const MOST_PLACES: usize = 8_192;
/// Most threads that are remembered of a place.
const MOST_WRITERS: usize = 4;
/// Most writes of which it is not yet looked who stored where.
const MOST_WRITTEN: usize = 256;
/// Most barriers that are remembered.
const MOST_BARRIERS: usize = 8;

impl Machine<'_> {
    /// Remembers a barrier behind conditions that part the block by the numbers of its threads. Tells whether they do.
    pub(super) fn note_suffix(&mut self, barrier: Site, conditions: &[Open]) -> bool {
        let Some(numbers) = self.numbers_of(conditions) else { return false };
        let suffixes = &mut self.doubts.suffixes;
        if suffixes.barriers.len() < MOST_BARRIERS && suffixes.barriers.iter().all(|known| known.barrier != barrier) {
            suffixes.barriers.push(Suffix { barrier, conditions: names_of(conditions), numbers });
        }
        true
    }

    /// The numbers by which conditions part the block; `None` where something else parts it, too.
    fn numbers_of(&mut self, conditions: &[Open]) -> Option<Vec<Vec<i64>>> {
        let here = self.frames.last()?.function;
        let mut all = Vec::new();
        // Who left for good is another matter, and what holds for the whole block parts nobody.
        for open in conditions.iter().filter(|open| !open.leaves && open.differ.is_some()) {
            if open.function != here || open.looped {
                return None;
            }
            self.add_tests(here, open.condition, open.negated, &mut all)?;
        }
        (!all.is_empty()).then_some(all)
    }

    fn add_tests(&mut self, here: FunctionId, condition: ExprId, negated: bool, all: &mut Vec<Vec<i64>>) -> Option<()> {
        let code = self.code;
        for Test { id, negated } in code.tests(condition, negated, Joined::Together)? {
            match &code.expr(id).kind {
                Expr::Binary(op, a, b) => {
                    let flow = self.doubts.flow.get_or_insert_with(|| Box::new(passing::flow_of(code)));
                    let own = [passing::is_own(flow, here, *a)?, passing::is_own(flow, here, *b)?];
                    let below = match op {
                        BinaryOp::Lt | BinaryOp::Le => !negated,
                        BinaryOp::Gt | BinaryOp::Ge => negated,
                        _ if own == [false; 2] => continue,
                        _ => return None,
                    };
                    let (side, below) = match own {
                        [false, false] => continue,
                        [true, false] => (*a, below),
                        [false, true] => (*b, !below),
                        [true, true] => return None,
                    };
                    if !passing::is_settled(flow, here, side) {
                        return None;
                    }
                    let value = self.computed_in_block(side)?;
                    if !value.all_known() {
                        return None;
                    }
                    let sign = if below { 1 } else { -1 };
                    all.push((0..self.n).map(|lane| value.lane(lane).0.wrapping_mul(sign)).collect());
                }
                _ => {
                    let flow = self.doubts.flow.get_or_insert_with(|| Box::new(passing::flow_of(code)));
                    if passing::is_own(flow, here, id)? {
                        return None;
                    }
                }
            }
        }
        Some(())
    }

    /// An access to shared memory by lanes of which some are only may-active.
    pub(super) fn meet_suffix(&mut self, touch: Touch<'_>, index: usize, address: &Val, mask: &Mask) {
        let suffixes = &mut self.doubts.suffixes;
        if touch.kind.writes() {
            if mask.maybe() > 0 && self.guards.iter().any(|guard| guard.open.is_some()) {
                suffixes.written.push((index, address.clone(), mask.clone()));
                if suffixes.written.len() >= MOST_WRITTEN {
                    suffixes.settle();
                }
            }
            return;
        }
        if suffixes.barriers.is_empty() || mask.sure() > 0 {
            return;
        }
        suffixes.settle();
        if suffixes.crowded {
            return;
        }
        let suffixes = &self.doubts.suffixes;
        let Some(memory) = self.objects.get(index) else { return };
        let (Some(grain), 0) = (memory.grain, memory.forgotten) else { return };
        let Some(conditions) = self.open_conditions() else { return };
        let conditions = names_of(&conditions);
        let surely = |offset: i64| memory.cells.peek(offset as u64 >> grain).is_none_or(|cell| cell.write != 0);
        let Some(suffix) = suffixes.barriers.iter().find(|suffix| suffix.conditions == conditions) else { return };
        let missed = places(address, mask).any(|(lane, offset)| {
            let Some(writers) = suffixes.stored.get(&(index, offset)) else { return false };
            let beyond = |numbers: &Vec<i64>| writers.iter().all(|writer| numbers[*writer] > numbers[lane]);
            suffix.numbers.iter().any(beyond) && !surely(offset)
        });
        if missed {
            let at = suffix.barrier;
            for event in &mut self.events.list {
                if let EventKind::DivergentBarrier { barrier, missed, .. } = &mut event.kind
                    && event.doubt.as_ref().is_some_and(|doubt| doubt.kind == DoubtKind::BlockParted)
                {
                    *missed |= *barrier == at;
                }
            }
        }
    }
}

impl Suffixes {
    /// Remembers who has stored where. Few ask.
    fn settle(&mut self) {
        for (index, address, mask) in std::mem::take(&mut self.written) {
            for (lane, offset) in places(&address, &mask) {
                if self.crowded {
                    return;
                }
                let writers = self.stored.entry((index, offset)).or_default();
                if !writers.contains(&lane) {
                    writers.push(lane);
                }
                self.crowded = writers.len() > MOST_WRITERS || self.stored.len() > MOST_PLACES;
            }
        }
    }
}

/// The known places of lanes that are only may-active.
fn places(address: &Val, mask: &Mask) -> impl Iterator<Item = (usize, i64)> {
    let lanes = mask.levels().iter().enumerate().filter(|(_, level)| **level == MAYBE);
    lanes.filter_map(|(lane, _)| {
        let (bits, tag) = address.lane(lane);
        (tag == KNOWN).then_some((lane, offset_of(bits)))
    })
}

fn names_of(conditions: &[Open]) -> Vec<(FunctionId, ExprId, bool)> {
    conditions.iter().map(|open| (open.function, open.condition, open.negated)).collect()
}
