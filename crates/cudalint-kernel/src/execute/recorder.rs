//! What is counted of requests and barriers while a launch is executed, and what comes of it.

use super::lanes::{Mask, SURE};
use super::touch::Touch;
use super::value::{Val, offset_of};
use crate::code::ExprId;
use crate::figures::{Figures, Requests, SECTOR};
use crate::report::Site;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Accesses of single lanes in a block that are compared across barriers, at most.
const MOST_COMPARED: usize = 1 << 16;

/// A warp of a block that was executed, with an object and whether it writes there.
pub(super) type Warp = (u32, usize, usize, bool);

/// What is counted.
#[derive(Default)]
pub(super) struct Recorder {
    pub(super) requests: BTreeMap<(usize, usize), Tally>,
    /// The bytes used of each sector that a warp touches in an object, as bits.
    pub(super) used: FxHashMap<Warp, FxHashMap<i64, u32>>,
    pub(super) accesses: Vec<Compared>,
    /// Accesses whose address was unknown in some round of a loop: what its other rounds leave unused they may use.
    pub(super) lost: FxHashSet<usize>,
    /// The barriers of the block, each with the number of accesses before it.
    pub(super) met: Vec<(ExprId, usize)>,
    pub(super) barriers: BTreeMap<usize, Barrier>,
    /// Something orders threads that is not followed, or there is too much to compare.
    pub(super) muddled: bool,
}

/// The requests of one place to one object, with who makes them.
pub(super) struct Tally {
    pub(super) requests: Requests,
    pub(super) at: ExprId,
    pub(super) warps: FxHashSet<Warp>,
}

/// An access of one lane.
#[derive(Clone, Copy)]
pub(super) struct Compared {
    object: usize,
    lane: usize,
    offset: i64,
    size: u32,
    writes: bool,
}

/// A barrier of the block.
pub(super) struct Barrier {
    /// Most often met in a block.
    pub(super) rounds: usize,
    /// Whether it stands in a loop.
    pub(super) looped: bool,
    /// Whether it stands in a function that the kernel calls, which others may call, too.
    pub(super) called: bool,
    pub(super) needed: bool,
}

/// Who has touched a cell, as far as "another than this lane" can be asked.
#[derive(Clone, Copy, Default, PartialEq)]
enum Who {
    #[default]
    Nobody,
    One(usize),
    Many,
}

impl Who {
    fn add(&mut self, other: Self) {
        *self = match (*self, other) {
            (Self::Nobody, who) | (who, Self::Nobody) => who,
            (Self::One(a), Self::One(b)) if a == b => Self::One(a),
            _ => Self::Many,
        };
    }

    fn other_than(self, lane: usize) -> bool {
        match self {
            Self::Nobody => false,
            Self::One(one) => one != lane,
            Self::Many => true,
        }
    }
}

/// Readers and writers of a cell before the last barrier and since.
#[derive(Clone, Copy, Default)]
struct Cell {
    before: [Who; 2],
    since: [Who; 2],
    interval: usize,
}

impl Recorder {
    /// The figures, once all blocks are done: `known` says whether an access's address was known each time, and `whole` whether
    /// every access and condition was followed to the end.
    pub(super) fn finish(self, known: impl Fn(ExprId) -> bool, whole: bool, site: impl Fn(usize) -> Site) -> Figures {
        let Self { requests, used, barriers, muddled, lost, .. } = self;
        let figures = |tally: Tally| {
            let Tally { mut requests, at, warps } = tally;
            requests.known = known(at) && (requests.shared || !lost.contains(&at.index()));
            requests.warps = warps.len() as u64;
            let (mut moved, mut taken) = (0, 0);
            for sectors in warps.iter().filter_map(|warp| used.get(warp)) {
                moved += sectors.len() as u64 * SECTOR as u64;
                taken += sectors.values().map(|bytes| u64::from(bytes.count_ones())).sum::<u64>();
            }
            requests.moved_over_used = moved * 100 / taken.max(1);
            requests
        };
        // What a barrier in a loop orders may be seen in later rounds only.
        let idle = |barrier: &Barrier| {
            whole && !muddled && !barrier.needed && !barrier.called && (!barrier.looped || barrier.rounds > 2)
        };
        let idle_barriers = barriers.iter().filter(|(_, barrier)| idle(barrier)).map(|(at, _)| site(*at));
        let idle_barriers = idle_barriers.collect();
        Figures { requests: requests.into_values().map(figures).collect(), idle_barriers, doubles: Vec::new() }
    }

    /// Keeps what lanes touch until the block is done.
    pub(super) fn compare(&mut self, touch: Touch<'_>, object: usize, address: &Val, mask: &Mask, size: u32) {
        self.muddled |= touch.volatile || touch.asynchronous || mask.maybe() > 0;
        if self.muddled {
            return;
        }
        for (lane, _) in mask.levels().iter().enumerate().filter(|(_, level)| **level == SURE) {
            let offset = offset_of(address.lane(lane).0);
            self.accesses.push(Compared { object, lane, offset, size, writes: touch.kind.writes() });
        }
        self.muddled |= self.accesses.len() > MOST_COMPARED;
    }

    /// Asks of each barrier of a block that has come to its end whether two accesses of different threads need it.
    pub(super) fn settle_block(&mut self) {
        let (accesses, met) = (std::mem::take(&mut self.accesses), std::mem::take(&mut self.met));
        if self.muddled {
            return;
        }
        let fine = accesses.iter().fold(16, |all, it| all | it.offset | i64::from(it.size));
        let grain = 1_i64 << fine.trailing_zeros();
        let mut sites: Vec<ExprId> = met.iter().map(|(at, ..)| *at).collect();
        sites.sort_unstable();
        sites.dedup();
        for site in sites {
            let rounds = met.iter().filter(|(at, ..)| *at == site).count();
            let needed = is_needed(&accesses, &met, site, grain);
            if let Some(barrier) = self.barriers.get_mut(&site.index()) {
                barrier.rounds = barrier.rounds.max(rounds);
                barrier.needed |= needed;
            }
        }
    }
}

/// Whether two accesses of different threads conflict between which only this barrier stands, wherever it is met.
fn is_needed(accesses: &[Compared], met: &[(ExprId, usize)], site: ExprId, grain: i64) -> bool {
    let mut cells: FxHashMap<(usize, i64), Cell> = FxHashMap::default();
    let mut barriers = met.iter().peekable();
    let mut interval = 0;
    for (number, access) in accesses.iter().enumerate() {
        while let Some((at, _)) = barriers.next_if(|(_, before)| *before <= number) {
            interval += 1;
            if *at != site {
                cells.clear();
            }
        }
        let first = access.offset.div_euclid(grain);
        let last = (access.offset + i64::from(access.size) - 1).div_euclid(grain);
        for at in first..=last {
            let cell = cells.entry((access.object, at)).or_default();
            if cell.interval != interval {
                let [read, written] = std::mem::take(&mut cell.since);
                cell.before[0].add(read);
                cell.before[1].add(written);
                cell.interval = interval;
            }
            let [read, written] = cell.before;
            if written.other_than(access.lane) || (access.writes && read.other_than(access.lane)) {
                return true;
            }
            cell.since[usize::from(access.writes)].add(Who::One(access.lane));
        }
    }
    false
}
