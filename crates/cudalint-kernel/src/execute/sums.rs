//! Sums that are compared with what they are made of, as an execution has met them.

use super::value::{KNOWN, UNKNOWN};
use crate::code::{Code, ExprId};
use crate::readings::relaxations::{Relaxations, relaxations};
use rustc_hash::FxHashMap;

/// A value of one lane: its bits, and what they are.
pub(super) type Lane = (i64, u8);

/// The sums that are compared, with the parts that each lane had when it last computed them.
#[derive(Debug, Default)]
pub(super) struct Relaxing {
    pub(super) of_code: Relaxations,
    pub(super) parts: FxHashMap<ExprId, Box<[[Lane; 2]]>>,
}

impl Relaxing {
    pub(super) fn of(code: &Code) -> Self {
        Self { of_code: relaxations(code), parts: FxHashMap::default() }
    }

    /// Whether a lane's sum is that of another value and of what is not known to be negative.
    pub(super) fn is_longer(&self, sum: Option<ExprId>, lane: usize, than: Lane) -> bool {
        let may_be_added = |(bits, tag): Lane| tag != KNOWN || bits >= 0;
        let parts = sum.and_then(|sum| self.parts.get(&sum)?.get(lane));
        than.1 != UNKNOWN && parts.is_some_and(|&[a, b]| a == than && may_be_added(b) || b == than && may_be_added(a))
    }
}
