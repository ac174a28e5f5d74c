//! What is remembered of conditions in the first blocks, see `distances.rs`.

use crate::code::ExprId;

/// How far comparisons are from their limits.
#[derive(Default)]
pub(super) struct Flips {
    /// Which of the first blocks have come to each expression; empty where nobody asks.
    pub(super) seen: Vec<u8>,
    /// Of each such comparison: the block, and the least and the largest difference of its sides.
    pub(super) distances: Vec<(ExprId, [u32; 3], [i64; 2])>,
}

impl Flips {
    /// For a grid of which not all blocks are executed.
    pub(super) fn ask(&mut self, exprs: usize) {
        self.seen = vec![0; exprs];
    }
}
