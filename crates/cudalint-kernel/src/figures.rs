//! What the memory requests of a launch cost, in figures, and which of its barriers order nothing.
//!
//! A *request* is one access instruction executed once by the lanes of a warp. Global memory answers it in sectors of 32
//! bytes; shared memory in passes, in each of which each of 32 banks gives one word of 4 bytes.

use crate::readings::doubles::Doubled;
use crate::report::{Access, Object, Site};
use std::collections::BTreeSet;

/// Bytes that global memory moves at once.
pub const SECTOR: i64 = 32;
/// Banks of shared memory.
const BANKS: i64 = 32;
/// Bytes of a word of a bank.
const WORD: i64 = 4;
/// Threads of a warp.
pub const WARP: usize = 32;

/// All figures of one execution.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// Accesses to memory that other threads see, one entry for each place in the code and object, in the order of the places.
    pub requests: Vec<Requests>,
    /// Barriers of the block that no two accesses of different threads need, in order. Only where every access and condition
    /// was followed to the end.
    pub idle_barriers: Vec<Site>,
    /// Values of the code that are computed in `double` between two of `float`.
    pub doubles: Vec<Doubled>,
}

/// The requests of one place to one object.
#[derive(Clone, Debug, PartialEq)]
pub struct Requests {
    /// The object.
    pub object: Object,
    /// Whether it is shared memory: then what is counted are passes, else sectors.
    pub shared: bool,
    /// Accesses of two lanes of the worst request: neighbours in different sectors, or in one bank.
    pub lanes: [Access; 2],
    /// Requests in which more than one lane takes part.
    pub count: u64,
    /// Warps of the blocks that were executed which make them.
    pub warps: u64,
    /// Those of [`Self::count`] that cost at least four times what they would have to.
    pub costly: u64,
    /// Sectors or passes, of all of them.
    pub cost: u64,
    /// The fewest with which the same bytes could be had.
    pub least: u64,
    /// The worst request: its cost, and the least.
    pub worst: (u32, u32),
    /// Of global memory: bytes in all sectors that these warps touch in the object with accesses of this kind in the whole launch, over the
    /// bytes that they use of them, in hundredths. What a warp leaves in a sector and takes later counts as used.
    pub moved_over_used: u64,
    /// Whether its address was known each time.
    pub known: bool,
}

/// Sectors that accesses at these offsets touch, each of so many bytes, and the fewest that could hold as many bytes.
pub fn sectors(offsets: &[i64], size: u32) -> (u32, u32) {
    let size = i64::from(size.max(1));
    let mut all: BTreeSet<i64> = BTreeSet::new();
    let mut starts = offsets.to_vec();
    starts.sort_unstable();
    let (mut bytes, mut end) = (0, i64::MIN);
    for start in starts {
        all.extend(start.div_euclid(SECTOR)..=(start + size - 1).div_euclid(SECTOR));
        bytes += (start + size - start.max(end)).max(0);
        end = end.max(start + size);
    }
    (all.len() as u32, ((bytes + SECTOR - 1) / SECTOR) as u32)
}

/// Passes that shared memory needs for the lanes of a warp, and the fewest that it could need. Lanes are given in order, those that
/// take no part as `None`. Accesses of 8 and 16 bytes are answered for half and for a quarter of the warp at a time.
pub fn passes(lanes: &[Option<i64>], size: u32) -> (u32, u32) {
    let at_once = WARP / (size.max(4) as usize / 4).clamp(1, 4);
    let (mut cost, mut least) = (0, 0);
    for part in lanes.chunks(at_once) {
        let mut words: BTreeSet<i64> = BTreeSet::new();
        for start in part.iter().flatten() {
            words.extend(start.div_euclid(WORD)..=(start + i64::from(size.max(1)) - 1).div_euclid(WORD));
        }
        let mut ways = [0_u32; BANKS as usize];
        for word in &words {
            ways[word.rem_euclid(BANKS) as usize] += 1;
        }
        cost += ways.into_iter().max().unwrap_or_default();
        least += u32::from(!words.is_empty());
    }
    (cost, least)
}
