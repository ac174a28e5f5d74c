//! What an execution notes besides what happens, to find out where suspicious values go.

use super::lanes::{Mask, OFF};
use super::value::{Data, UNKNOWN, Val, mix};
use crate::report::{Site, Spots};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What an execution does besides executing.
#[derive(Default)]
pub(super) enum Watch {
    /// Nothing.
    #[default]
    Nothing,
    /// It collects which cells suspicious reads are about, by the places of the reads.
    Collects(FxHashMap<Site, Spots>),
    /// It gives what is read there other names, and sums up all that can be seen of it.
    Varies(Box<Variation>),
}

/// An execution with other values in some places.
pub(super) struct Variation {
    pub(super) spots: Arc<FxHashMap<Site, Spots>>,
    /// The read whose names hang on the seed; those of all others do where it is `None`.
    pub(super) one: Option<Site>,
    /// The block that is executed, if only one is.
    pub(super) only: Option<[u32; 3]>,
    /// Whether only other warps than that of the one thread that stores get other values.
    pub(super) across: bool,
    pub(super) seed: u64,
    /// Whether such a value has been read.
    pub(super) met: bool,
    /// Of all that can be seen from outside.
    pub(super) digest: u64,
    /// Whether something was seen of which nobody knows what it is made of.
    pub(super) hidden: bool,
    /// Stores in memory that others see, of which it is open whether the same thread stores something else there before anyone
    /// reads it.
    kept: BTreeMap<Cell, Kept>,
}

/// An object by its position, the offset in it and the bytes of a store.
pub(super) type Cell = (u32, i64, u32);

/// Most stores of which it is left open.
const MOST_KEPT: usize = 1 << 16;

/// What a lane of a block has stored.
#[derive(Clone, Copy)]
struct Kept {
    block: [u32; 3],
    lane: usize,
    bits: i64,
    tag: u8,
    /// Whether a varied value had been read before.
    met: bool,
}

impl Variation {
    pub(super) fn new(
        spots: Arc<FxHashMap<Site, Spots>>,
        (one, only): (Option<Site>, Option<[u32; 3]>),
        across: bool,
        seed: u64,
    ) -> Self {
        Self { spots, one, only, across, seed, met: false, digest: 0, hidden: false, kept: BTreeMap::new() }
    }

    /// A thread stores a value where others may look.
    pub(super) fn keep(&mut self, cell: Cell, block: [u32; 3], lane: usize, (bits, tag): (i64, u8)) {
        if self.kept.len() >= MOST_KEPT && !self.kept.contains_key(&cell) {
            return self.add((bits, tag));
        }
        let own = Kept { block, lane, bits, tag, met: self.met };
        if let Some(old) = self.kept.insert(cell, own)
            && (old.block, old.lane) != (block, lane)
        {
            self.add_kept(old);
        }
    }

    /// A thread reads a place.
    pub(super) fn look(&mut self, cell: Cell, block: [u32; 3], lane: usize) {
        if self.kept.get(&cell).is_some_and(|kept| (kept.block, kept.lane) != (block, lane))
            && let Some(kept) = self.kept.remove(&cell)
        {
            self.add_kept(kept);
        }
    }

    /// Nothing is stored there any more that is not known: all that is left can be seen.
    pub(super) fn settle(&mut self) {
        for kept in std::mem::take(&mut self.kept).into_values() {
            self.add_kept(kept);
        }
    }

    fn add_kept(&mut self, kept: Kept) {
        self.hidden |= kept.tag == UNKNOWN && kept.met;
        self.mix(kept.bits, kept.tag);
    }

    /// Adds what active lanes hold to what can be seen.
    pub(super) fn see(&mut self, value: &Val, mask: &Mask) {
        if let Data::Aggregate(leaves) = &value.data {
            leaves.iter().for_each(|leaf| self.see(leaf, mask));
            return;
        }
        if let Data::Uniform(bits, tag) = value.data {
            return self.add((bits, tag));
        }
        for (lane, &level) in mask.levels().iter().enumerate() {
            if level != OFF {
                let (bits, tag) = value.lane(lane);
                self.add((bits, tag));
            }
        }
    }

    /// Adds one value to what can be seen.
    pub(super) fn add(&mut self, (bits, tag): (i64, u8)) {
        self.hidden |= tag == UNKNOWN && self.met;
        self.mix(bits, tag);
    }

    fn mix(&mut self, bits: i64, tag: u8) {
        self.digest = mix(self.digest ^ u64::from(tag), bits as u64);
    }
}
