//! The blocks that a statement is about, and the sizes of numbers.

use super::sums::{Fact, Sum};
use super::symbols::{Nature, Symbols};

/// The largest number that a parameter of 32 bits has in a launch that a statement is about, and the most threads along an axis.
pub const LARGEST: i64 = 1 << 30;
/// Deepest nesting of statements, expressions and calls that is followed.
pub(super) const MAX_DEPTH: u32 = 160;

/// The blocks that a statement is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Along how many axes a block may have more than one thread.
    pub axes: u8,
    /// Most threads along each axis, where that is bounded.
    pub most: [Option<u32>; 3],
    /// Whether the block has exactly as many threads as `most` says.
    pub exactly: bool,
}

impl Shape {
    pub(super) const fn any(axes: u8) -> Self {
        Self { axes, most: [None; 3], exactly: false }
    }

    pub(super) fn extents(&self, symbols: &mut Symbols) -> [Sum; 3] {
        let mut all = [Sum::number(1), Sum::number(1), Sum::number(1)];
        for (axis, extent) in all.iter_mut().enumerate() {
            let most = self.most.get(axis).copied().flatten();
            if self.exactly {
                *extent = Sum::number(i64::from(most.unwrap_or(1)));
            } else if axis < usize::from(self.axes) {
                let limit = if axis == 2 { 64 } else { 1024 };
                let symbol = symbols.add(Nature::COMMON);
                *extent = Sum::symbol(symbol);
                symbols.note(symbol, Fact::at_least(extent, &Sum::number(1)));
                let most = most.map_or(limit, |most| i64::from(most).min(limit));
                symbols.note(symbol, Fact::at_least(&Sum::number(most), extent));
            }
        }
        all
    }
}
