//! Reports of a running block: accesses out of bounds, races, reads of what nobody wrote.

use super::events::{Pending, Unwritten};
use super::lanes::{Mask, SURE};
use super::machine::Machine;
use super::touch::Touch;
use super::value::{Shape, Val, offset_of};
use crate::report::{Access, AccessKind, Event, EventKind, RaceScope, Reach, Site, Thread};

impl Machine<'_> {
    /// Reports something seen under the conditions that hold now.
    pub(super) fn event(&mut self, kind: EventKind, count: u64) {
        self.event_that_reaches(kind, count, Reach::Unasked);
    }

    fn event_that_reaches(&mut self, kind: EventKind, count: u64, reach: Reach) {
        let speaks = !self.silent || matches!(kind, EventKind::DivergentBarrier { .. });
        if !speaks || self.code.damaged {
            return;
        }
        let guards = self.guard_sites();
        self.events.add(Event { kind, count, guards, reach, again: None, doubt: None });
    }

    pub(super) fn guard_sites(&self) -> Vec<Site> {
        let mut sites: Vec<Site> = Vec::with_capacity(self.guards.len());
        for guard in &self.guards {
            // Conditions around the user's code that nobody wrote have no extent.
            if !guard.site.span.is_empty() && !sites.contains(&guard.site) {
                sites.push(guard.site);
            }
        }
        sites
    }

    /// The thread that a lane of a block is.
    pub(super) fn thread_in(&self, block: [u32; 3], lane: usize) -> Thread {
        let [x, y, _] = self.launch.block;
        let lane = lane as u32;
        let (x, y) = (x.max(1), y.max(1));
        Thread { block, thread: [lane % x, lane / x % y, lane / (x * y)] }
    }

    /// The thread that a lane of the running block is.
    pub(super) fn thread(&self, lane: usize) -> Thread {
        self.thread_in(self.block, lane)
    }

    /// The loop and round of an iteration's number.
    pub(super) fn iteration_of(&self, id: u32) -> Option<(Site, u32)> {
        self.trace.iteration(id).map(|iteration| (iteration.site, iteration.number))
    }

    /// An access of the running block as reports show it.
    pub(super) fn access_of(&self, touch: Touch<'_>, lane: usize, offset: i64, size: u32) -> Access {
        Access {
            thread: self.thread(lane),
            kind: touch.kind,
            site: self.code.expr(touch.at).site,
            calls: self.call_sites().to_vec(),
            offset,
            size,
            element: touch.element.max(1),
            interval: self.interval,
            iteration: self.iteration_of(self.iteration),
        }
    }

    /// Reports the lanes whose access leaves the object.
    pub(super) fn out_of_bounds(
        &mut self,
        touch: Touch<'_>,
        index: usize,
        address: &Val,
        size: u32,
        mask: &Mask,
        outside: impl Fn(i64) -> bool,
    ) {
        let mut first = None;
        let mut count = 0;
        for (lane, &level) in mask.levels().iter().enumerate() {
            let offset = offset_of(address.lane(lane).0);
            if level == SURE && outside(offset) {
                first.get_or_insert((lane, offset));
                count += 1;
            }
        }
        let Some((lane, offset)) = first else { return };
        if !touch.kind.writes() {
            self.collect((self.code.expr(touch.at).site, self.block), index, offset, None);
        }
        let access = self.access_of(touch, lane, offset, size);
        let object = self.objects[index].object.clone();
        let wrapped = address.wrapped.map(|at| self.code.expr(at).site);
        let plain_index = address.shape == Shape::Plain;
        self.event(EventKind::OutOfBounds { object, access, wrapped, plain_index }, count);
    }

    /// Reports the lanes whose address does not fit the type.
    pub(super) fn misaligned(&mut self, touch: Touch<'_>, index: usize, address: &Val, size: u32, mask: &Mask) {
        let align = touch.ty.align();
        let mut first = None;
        let mut count = 0;
        for (lane, &level) in mask.levels().iter().enumerate() {
            let offset = offset_of(address.lane(lane).0);
            if level == SURE && offset % i64::from(align) != 0 {
                first.get_or_insert((lane, offset));
                count += 1;
            }
        }
        let Some((lane, offset)) = first else { return };
        let access = self.access_of(touch, lane, offset, size);
        let object = self.objects[index].object.clone();
        self.event(EventKind::Misaligned { object, access, align }, count);
    }

    /// Notes accesses of which some are misaligned wherever the object begins.
    pub(super) fn note_uneven(&mut self, address: &Val, mask: &Mask, align: i64) {
        let sure = mask.levels().iter().enumerate().filter(|&(_, &level)| level == SURE);
        let mut rests = sure.map(|(lane, _)| offset_of(address.lane(lane).0).rem_euclid(align));
        let first = rests.next();
        self.uneven |= rests.any(|rest| Some(rest) != first);
    }

    /// Reports, or keeps for the end, a read of what nobody wrote.
    pub(super) fn unwritten_read(&mut self, touch: Touch<'_>, index: usize, bytes: u32, seen: &Unwritten) {
        let mut access = self.access_of(touch, seen.lane, seen.offset, bytes);
        // What an atomic operation reads it keeps where it was; of any other read somebody has to show where it goes.
        let reach = if access.kind == AccessKind::Atomic { Reach::Unasked } else { Reach::Open };
        if access.kind == AccessKind::Atomic {
            access.kind = AccessKind::UpdateRead;
        }
        let memory = &self.objects[index];
        let partly = seen.partly || matches!(&memory.initial, super::memory::Initial::NothingBut(r) if !r.is_empty());
        let object = memory.object.clone();
        let shared = memory.is_shared();
        if shared && !self.silent {
            self.exit_left_unwritten(&access);
            self.absences.iter_mut().for_each(|absence| absence.missed = true);
        }
        let kind = EventKind::UninitializedRead { object, access, partly };
        if shared {
            self.event_that_reaches(kind, seen.count, reach);
        } else if !self.silent && !self.code.damaged && self.pending.len() < 64 {
            let event = Event { kind, count: seen.count, guards: self.guard_sites(), reach, again: None, doubt: None };
            self.pending.push(Pending { index, event, block: self.blocks_run.len() as u32 - 1 });
        }
    }

    /// Reports a read of a thread's own array before anything was stored in it.
    pub(super) fn unwritten_local(&mut self, touch: Touch<'_>, index: usize, offset: i64, bytes: u32, mask: &Mask) {
        let Some(lane) = mask.first_sure() else { return };
        let Some(local) = &self.objects[index].local else { return };
        let partly = local.is_touched();
        let access = self.access_of(touch, lane, offset, bytes);
        let object = self.objects[index].object.clone();
        self.event(EventKind::UninitializedRead { object, access, partly }, u64::from(mask.sure()));
    }

    /// An early exit before a barrier left a place unwritten that somebody reads.
    fn exit_left_unwritten(&mut self, read: &Access) {
        for event in &mut self.events.list {
            if let EventKind::ExitBeforeBarrier { waits, unwritten, .. } = &mut event.kind
                && waits.block == read.thread.block
                && unwritten.is_none()
            {
                *unwritten = Some(Box::new(read.clone()));
            }
        }
    }

    /// At the end of the run: which of the reads of untouched buffers are defects.
    pub(super) fn settle_pending(&mut self, every_block: bool) {
        for pending in std::mem::take(&mut self.pending) {
            let memory = &self.objects[pending.index];
            let never = !memory.usage.written && !memory.usage.inexact;
            let ours_only = || {
                let EventKind::UninitializedRead { access, .. } = &pending.event.kind else { return false };
                let grain = memory.grain.unwrap_or(0);
                let cells =
                    access.offset as u64 >> grain..(access.offset as u64 + u64::from(access.size)).div_ceil(1 << grain);
                every_block
                    && !memory.usage.inexact
                    && !memory.may_be_written
                    && cells.clone().all(|number| {
                        memory.cells.peek(number).is_none_or(|cell| {
                            cell.may_write == 0
                                && (cell.write == 0
                                    || self
                                        .trace
                                        .record(cell.write)
                                        .is_some_and(|record| record.block == pending.block))
                        })
                    })
            };
            // What others write meanwhile is not ordered before an update: it starts from nothing either way.
            let update = matches!(&pending.event.kind, EventKind::UninitializedRead { access, .. } if access.kind == AccessKind::UpdateRead);
            if never || (update && !memory.usage.inexact) || ours_only() {
                self.events.add(pending.event);
            }
        }
    }

    /// Makes events of the conflicts that the last access met.
    pub(super) fn report_conflicts(&mut self, touch: Touch<'_>, index: usize, bytes: u32) {
        if self.conflicts.found.is_empty() {
            return;
        }
        for conflict in self.conflicts.collected.take().unwrap_or_default() {
            // One that another block has read before is met again in that block.
            let other = self.trace.record(conflict.stamp).filter(|record| !record.kind.writes());
            let other = other.map(|record| (record.site, self.blocks_run.get(record.block as usize).copied()));
            let own = (!touch.kind.writes()).then(|| (self.code.expr(touch.at).site, Some(self.block)));
            let lanes = [(other, conflict.lane), (own, conflict.other)];
            for (read, stores) in lanes {
                let stores = Some(stores).filter(|_| conflict.scope != RaceScope::Grid);
                if let Some((read, Some(block))) = read {
                    self.collect((read, block), index, conflict.offset, stores);
                }
            }
        }
        let found = std::mem::take(&mut self.conflicts.found);
        for conflict in &found {
            let Some(record) = self.trace.record(conflict.stamp).cloned() else { continue };
            let second = self.access_of(touch, usize::from(conflict.lane), conflict.offset, bytes);
            let block = self.blocks_run.get(record.block as usize).copied().unwrap_or_default();
            let first = Access {
                thread: self.thread_in(block, usize::from(conflict.other)),
                kind: record.kind,
                site: record.site,
                calls: record.calls.to_vec(),
                offset: conflict.offset,
                size: record.size.min(bytes),
                element: record.element,
                interval: record.interval,
                iteration: self.iteration_of(record.iteration),
            };
            let own = self.trace.records.last().cloned();
            let across = match (&own, conflict.scope) {
                (Some(own), RaceScope::Block | RaceScope::Warp) => self.trace.across(&record, own),
                _ => None,
            };
            let barrier_between = conflict.scope == RaceScope::Grid && first.interval != second.interval;
            let object = self.objects[index].object.clone();
            self.event(
                EventKind::Race {
                    object,
                    first,
                    second,
                    scope: conflict.scope,
                    values: conflict.values,
                    across,
                    barrier_between,
                },
                conflict.count,
            );
        }
        self.conflicts.found = found;
        self.conflicts.found.clear();
    }
}
