//! Which two accesses nothing orders, and what two conflicting ones make of memory.

use super::locks::Locks;
use super::record::{Record, Trace};
use super::shadow::{BY_WARP, CHANGED, Cell, KEPT, STILL};
use super::touch::Touch;
use super::value::{KNOWN, NUMBER};
use crate::report::{AccessKind, RaceScope, RaceValues};

/// Where one access stands in time, for comparing it with those that touched the same cell.
pub(super) struct Order<'o> {
    pub(super) trace: &'o Trace,
    pub(super) locks: &'o Locks<'o>,
    pub(super) stamp: u32,
    /// First stamp since the last barrier of the block.
    pub(super) interval_start: u32,
    /// First stamp of this block.
    pub(super) block_start: u32,
    /// How many stamps from the block's first on are ordered before this access by a barrier, whatever they stand for.
    pub(super) ordered: u32,
    /// First stamp since the last barrier of each warp.
    pub(super) warp_start: &'o [u32],
    /// First stamp since the last wait for asynchronous copies.
    pub(super) waited: u32,
    /// Whether all of the code is understood, so that a wait for copies would have been seen.
    pub(super) copies: bool,
    /// Whether other blocks see the object.
    pub(super) global: bool,
}

impl Order<'_> {
    /// How the lane now accessing stands to one that accessed at `stamp`; `None` where something orders them.
    #[inline]
    pub(super) fn unordered(&self, stamp: u32, other: u16, lane: usize) -> Option<RaceScope> {
        if stamp >= self.block_start && stamp < self.interval_start && !self.copies {
            return None;
        }
        if stamp < self.block_start {
            return (self.global && !self.other_phase(stamp)).then_some(RaceScope::Grid);
        }
        if stamp < self.interval_start {
            // A barrier does not wait for the copy engine.
            let late = self.copies
                && stamp >= self.waited
                && usize::from(other) != lane
                && self.trace.record(stamp).is_some_and(|record| record.asynchronous);
            return late.then_some(RaceScope::Block);
        }
        if usize::from(other) == lane {
            return None;
        }
        let warp = lane / 32;
        if usize::from(other) / 32 != warp {
            return Some(RaceScope::Block);
        }
        (stamp >= self.warp_start.get(warp).copied().unwrap_or_default()).then_some(RaceScope::Warp)
    }

    /// Whether nothing is to be said of an earlier access, or of none (stamp 0): it was the lane's own, or a barrier of this
    /// block lies between. False where it takes more to tell.
    #[inline]
    pub(super) const fn settled(&self, stamp: u32, other: u16, lane: usize) -> bool {
        stamp.wrapping_sub(self.block_start) < self.ordered
            || stamp == 0
            || (stamp >= self.block_start && other as usize == lane)
    }

    fn other_phase(&self, stamp: u32) -> bool {
        match (self.trace.record(stamp), self.trace.record(self.stamp)) {
            (Some(a), Some(b)) => a.phase != b.phase || a.acquired || b.acquired,
            _ => true,
        }
    }

    /// Whether two unordered accesses conflict at all, as their kinds go.
    pub(super) fn conflict(&self, stamp: u32, scope: RaceScope, touch: Touch<'_>) -> bool {
        let (Some(other), Some(own)) = (self.trace.record(stamp), self.trace.record(self.stamp)) else { return false };
        // Of threads that are assumed to pass a condition there may be a single one.
        let waited = |record: &Record| match scope {
            RaceScope::Grid => record.acquired,
            RaceScope::Block | RaceScope::Warp => record.acquired_block,
        };
        if waited(other) || waited(own) || (other.assumed && own.assumed) {
            return false;
        }
        if self.locks.order(other.session, own.session, scope) {
            return false;
        }
        // Of two blocks neither heeds what is atomic within the other.
        if scope == RaceScope::Grid
            && [other.kind, touch.kind] == [AccessKind::Atomic; 2]
            && (other.of_block || touch.of_block)
        {
            return true;
        }
        let atomic = |kind: AccessKind, volatile: bool| kind == AccessKind::Atomic || volatile;
        // Flags are polled through `volatile`: the author knows that others write.
        if (other.kind == AccessKind::Atomic && atomic(touch.kind, touch.volatile))
            || (touch.kind == AccessKind::Atomic && atomic(other.kind, other.volatile))
        {
            return false;
        }
        // `old = *p; do … atomicCAS(p, old, …)` reads plainly first, as the programming guide shows.
        let compares = |kind: AccessKind, volatile: bool| kind == AccessKind::Atomic && volatile;
        if (compares(other.kind, other.volatile) && touch.kind == AccessKind::Read)
            || (compares(touch.kind, touch.volatile) && other.kind == AccessKind::Read)
        {
            return false;
        }
        // A loop that waits for another thread to store what it reads.
        let polled = scope == RaceScope::Grid || other.polled || own.polled;
        if polled && other.volatile && touch.volatile {
            return false;
        }
        other.kind.writes() || touch.kind.writes()
    }

    /// What a write makes of a cell, by how its value stands to the one before. Where another lane of its warp has stored
    /// the same since the barrier, as in the same step, what that did to the cell goes on for other warps. Where lanes of
    /// several warps do, nobody tells who reads what it has stored itself.
    #[inline]
    pub(super) const fn flags_after(&self, cell: &Cell, values: RaceValues, tag: u8, lane: usize) -> u8 {
        let by_warp = cell.write != 0 && cell.write >= self.interval_start && cell.writer as usize / 32 == lane / 32;
        match values {
            RaceValues::Same if by_warp => cell.flags | BY_WARP,
            RaceValues::Same if self.keeps(cell, values, tag) => KEPT | STILL,
            RaceValues::Same => KEPT,
            RaceValues::Differ => CHANGED,
            RaceValues::Unknown => 0,
        }
    }

    /// Whether a write of a value with such a tag stores what was in a shared cell before the last barrier, whatever that is:
    /// whoever reads it meanwhile reads the same.
    #[inline]
    pub(super) const fn keeps(&self, cell: &Cell, values: RaceValues, tag: u8) -> bool {
        let unchanged = cell.write < self.interval_start || cell.flags & STILL != 0;
        matches!(values, RaceValues::Same) && tag == NUMBER && unchanged && !self.global && !self.copies
    }

    /// Remembers a reader of a cell: one, and another of another lane, better of another warp.
    #[inline]
    pub(super) fn note_reader(&self, cell: &mut Cell, lane: usize) {
        let lane = lane as u16;
        if cell.read[0] != 0 && cell.read[0] < self.block_start && self.global {
            cell.foreign = cell.read[0];
            cell.foreign_reader = cell.reader[0];
        }
        let start = self.interval_start.max(1);
        if cell.read[0] < start || cell.reader[0] == lane {
            cell.read[0] = self.stamp;
            cell.reader[0] = lane;
            if cell.read[1] < start {
                cell.read[1] = 0;
            }
            return;
        }
        let warp = |lane: u16| lane / 32;
        let free = cell.read[1] < start || cell.reader[1] == lane;
        let better = warp(cell.reader[1]) == warp(cell.reader[0]) && warp(lane) != warp(cell.reader[0]);
        let stale = warp(cell.reader[1]) == warp(lane)
            && cell.read[1] < self.warp_start.get(usize::from(warp(lane))).copied().unwrap_or_default();
        if free || better || stale {
            cell.read[1] = self.stamp;
            cell.reader[1] = lane;
        }
    }
}

/// How two stored values stand to each other.
pub(super) const fn values_of(a: (i64, u8), b: (i64, u8)) -> RaceValues {
    match (a, b) {
        ((a, KNOWN), (b, KNOWN)) if a == b => RaceValues::Same,
        ((_, KNOWN), (_, KNOWN)) => RaceValues::Differ,
        ((a, NUMBER), (b, NUMBER)) if a == b => RaceValues::Same,
        _ => RaceValues::Unknown,
    }
}

/// Conflicts that one access met, those with one earlier access together.
#[derive(Default)]
pub(super) struct Conflicts {
    pub(super) found: Vec<Conflict>,
    /// Earlier access and offset of every one, where they are collected.
    pub(super) collected: Option<Vec<Conflict>>,
}

#[derive(Clone, Copy)]
pub(super) struct Conflict {
    pub(super) stamp: u32,
    pub(super) other: u16,
    pub(super) lane: u16,
    pub(super) scope: RaceScope,
    pub(super) offset: i64,
    pub(super) values: RaceValues,
    pub(super) count: u64,
}

/// Most different earlier accesses that one access is compared with in reports.
const MOST: usize = 12;

impl Conflicts {
    /// Whether every one is collected from now on.
    pub(super) fn collect(&mut self, collects: bool) {
        if collects {
            self.collected.get_or_insert_default();
        }
    }

    pub(super) fn add(&mut self, stamp: u32, other: u16, lane: u16, scope: RaceScope, offset: i64, values: RaceValues) {
        if let Some(collected) = &mut self.collected {
            collected.push(Conflict { stamp, other, lane, scope, offset, values, count: 1 });
        }
        if let Some(seen) = self.found.iter_mut().find(|seen| seen.stamp == stamp && seen.scope == scope) {
            seen.count += 1;
            if strength(values) > strength(seen.values) {
                *seen = Conflict { other, lane, offset, values, ..*seen };
            }
            return;
        }
        if self.found.len() < MOST {
            self.found.push(Conflict { stamp, other, lane, scope, offset, values, count: 1 });
        }
    }
}

/// How much a race says: one that surely changes the outcome says most.
pub(super) const fn strength(values: RaceValues) -> u8 {
    match values {
        RaceValues::Same => 0,
        RaceValues::Unknown => 1,
        RaceValues::Differ => 2,
    }
}
