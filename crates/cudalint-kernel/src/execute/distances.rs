//! Where in a grid conditions change their answer. The blocks at its corners say nothing of a guard that ends somewhere in the middle:
//! from how far a condition is from its limit in the first block, and in another one along an axis, follows where it gets there.

use super::lanes::OFF;
use super::machine::Machine;
use super::value::Val;
use crate::code::{BinaryOp, ExprId};

/// Most conditions that are followed.
const MOST: usize = 32;
/// Most blocks that are executed besides the chosen ones, but for the one in which several conditions change.
const MOST_BLOCKS: usize = 2;
/// How many of the chosen blocks are looked at: the first one and its neighbours along two axes are among them.
pub(super) const SAMPLES: usize = 4;

impl Machine<'_> {
    /// Notes how far a comparison is from its limit, the first time a block comes to it.
    #[inline]
    pub(super) fn note_distance(&mut self, id: ExprId, op: BinaryOp, a: &Val, b: &Val) {
        if self.flips.seen.is_empty() || !matches!(op, BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge) {
            return;
        }
        let bit = 1_u8 << self.blocks_run.len().clamp(1, SAMPLES);
        match self.flips.seen.get_mut(id.index()) {
            Some(seen) if *seen & bit == 0 => *seen |= bit,
            _ => return,
        }
        if self.blocks_run.len() > SAMPLES || self.flips.distances.len() >= MOST * SAMPLES {
            return;
        }
        let (Some(left), Some(right)) = (a.side(), b.side()) else { return };
        let ends = [left.least().checked_sub(right.most()), left.most().checked_sub(right.least())];
        if let ([Some(least), Some(most)], true) = (ends, self.act.levels().iter().any(|level| *level != OFF)) {
            self.flips.distances.push((id, self.block, [least, most]));
        }
    }

    /// Blocks where a condition changes its answer for the first or the last thread, that are not among these.
    pub(super) fn blocks_of_flips(&self, chosen: &[[u32; 3]]) -> Vec<[u32; 3]> {
        let mut found: Vec<[u32; 3]> = Vec::new();
        let distances = &self.flips.distances;
        for (id, _, [least, most]) in distances.iter().filter(|(_, block, _)| *block == [0; 3]) {
            for (_, block, [there, _]) in distances.iter().filter(|(other, ..)| other == id) {
                let Some(axis) = only_axis(*block) else { continue };
                let (way, last) = (i64::from(block[axis]), i64::from(self.launch.grid[axis]) - 1);
                let Some(step) = there.checked_sub(*least).filter(|step| *step != 0 && step % way == 0) else {
                    continue;
                };
                let step = step / way;
                // Where the first thread, and where the last one, comes to the limit.
                for end in [least, most] {
                    let at = end.checked_neg().map_or(0, |end| end.div_euclid(step));
                    let new = |block: &[u32; 3]| !chosen.contains(block) && !found.contains(block);
                    let between = (1..last).contains(&at).then(|| {
                        let mut block = [0; 3];
                        block[axis] = at as u32;
                        block
                    });
                    found.extend(between.filter(new));
                }
            }
            if found.len() >= MOST_BLOCKS {
                break;
            }
        }
        found.truncate(MOST_BLOCKS);
        // Where one condition ends along one axis and another along another: the corner of what is worked on.
        if let [Some(first), Some(second)] = [0, 1].map(|at| found.get(at).copied())
            && only_axis(first) != only_axis(second)
        {
            let corner = [0, 1, 2].map(|axis| first[axis].max(second[axis]));
            found.extend((!chosen.contains(&corner)).then_some(corner));
        }
        found
    }
}

/// The axis along which a block is not the first, where it is one.
fn only_axis(block: [u32; 3]) -> Option<usize> {
    let mut axes = (0..3).filter(|axis| block[*axis] != 0);
    axes.next().filter(|_| axes.next().is_none())
}
