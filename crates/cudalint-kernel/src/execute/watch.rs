//! What an execution notes besides what happens, to find out where suspicious values go.

use super::lanes::{Mask, OFF};
use super::value::{Data, UNKNOWN, Val, mix};
use crate::report::Site;
use rustc_hash::FxHashMap;

/// Bytes of objects, by the objects' positions, each with the one lane that stores there, if there is one: what it reads
/// there itself is in order.
pub(super) type Spots = FxHashMap<(u32, i64), Option<u16>>;

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
    pub(super) spots: FxHashMap<Site, Spots>,
    /// The read whose names hang on the seed; those of all others do where it is `None`.
    pub(super) one: Option<Site>,
    pub(super) seed: u64,
    /// Whether such a value has been read.
    pub(super) met: bool,
    /// Of all that can be seen from outside.
    pub(super) digest: u64,
    /// Whether something was seen of which nobody knows what it is made of.
    pub(super) hidden: bool,
}

impl Variation {
    pub(super) fn new(spots: FxHashMap<Site, Spots>, one: Option<Site>, seed: u64) -> Self {
        Self { spots, one, seed, met: false, digest: 0, hidden: false }
    }

    /// Adds what active lanes hold to what can be seen.
    pub(super) fn see(&mut self, value: &Val, mask: &Mask) {
        if let Data::Aggregate(leaves) = &value.data {
            leaves.iter().for_each(|leaf| self.see(leaf, mask));
            return;
        }
        if let Data::Uniform(bits, tag) = value.data {
            return self.add(bits, tag);
        }
        for (lane, &level) in mask.levels().iter().enumerate() {
            if level != OFF {
                let (bits, tag) = value.lane(lane);
                self.add(bits, tag);
            }
        }
    }

    fn add(&mut self, bits: i64, tag: u8) {
        self.hidden |= tag == UNKNOWN && self.met;
        self.digest = mix(self.digest ^ u64::from(tag), bits as u64);
    }
}
