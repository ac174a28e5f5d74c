//! Sums that are compared with what they are made of, as far as an execution has met them.

use super::value::{KNOWN, NUMBER};
use crate::code::Code;
use crate::readings::relaxations::{Relaxations, relaxations};
use rustc_hash::FxHashMap;

/// Most sums of one launch whose parts are kept.
pub(super) const MOST_SUMS: usize = 1 << 16;

/// A value of one lane: its bits, and what they are.
pub(super) type Lane = (i64, u8);

/// The sums that are compared, with their parts by the name of the sum.
#[derive(Debug, Default)]
pub(super) struct Relaxing {
    pub(super) of_code: Relaxations,
    pub(super) parts: FxHashMap<i64, [Lane; 2]>,
}

impl Relaxing {
    pub(super) fn of(code: &Code) -> Self {
        Self { of_code: relaxations(code), parts: FxHashMap::default() }
    }

    /// Whether a value is the sum of another one, itself only known by name, and of what is not known to be negative.
    pub(super) fn is_longer(&self, sum: Lane, than: Lane) -> bool {
        let may_be_added = |(bits, tag): Lane| tag == NUMBER || tag == KNOWN && bits >= 0;
        than.1 == NUMBER
            && sum.1 == NUMBER
            && self
                .parts
                .get(&sum.0)
                .is_some_and(|&[a, b]| a == than && may_be_added(b) || b == than && may_be_added(a))
    }
}
