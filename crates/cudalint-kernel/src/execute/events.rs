//! Makes events and keeps each kind at each place once.

use super::access::Touch;
use super::lanes::{Mask, SURE};
use super::machine::Machine;
use super::races::strength;
use super::value::{Shape, Val, offset_of};
use crate::report::{Access, AccessKind, Event, EventKind, MaskFault, ObjectKind, RaceScope, Site, Thread};
use rustc_hash::FxHashMap;

/// Events by what they are and where.
#[derive(Default)]
pub(super) struct Events {
    pub(super) list: Vec<Event>,
    by_key: FxHashMap<Key, usize>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    kind: u8,
    detail: u8,
    object: Option<(ObjectKind, Option<Site>)>,
    first: Site,
    second: Option<Site>,
}

/// Most different events of a run: a kernel with more is not understood.
const MOST: usize = 256;

/// A read of what nobody wrote.
pub(super) struct Unwritten {
    pub(super) lane: usize,
    pub(super) offset: i64,
    pub(super) count: u64,
    pub(super) partly: bool,
}

/// A read of a buffer that nobody had written so far; whether it is a defect is known at the end.
pub(super) struct Pending {
    pub(super) index: usize,
    pub(super) event: Event,
    pub(super) block: u32,
}

fn key(kind: &EventKind) -> Key {
    let object = |object: &crate::report::Object| Some((object.kind, object.declared));
    let access = |kind: AccessKind| kind as u8;
    match kind {
        EventKind::OutOfBounds { object: o, access: a, .. } => {
            Key { kind: 0, detail: access(a.kind), object: object(o), first: a.site, second: None }
        }
        EventKind::Misaligned { object: o, access: a, .. } => {
            Key { kind: 1, detail: access(a.kind), object: object(o), first: a.site, second: None }
        }
        EventKind::Race { object: o, first, second, scope, across, .. } => {
            let scope = match scope {
                RaceScope::Warp => 0,
                RaceScope::Block => 1,
                RaceScope::Grid => 2,
            };
            let detail = access(first.kind) * 40 + access(second.kind) * 8 + scope * 2 + u8::from(across.is_some());
            Key { kind: 2, detail, object: object(o), first: first.site, second: Some(second.site) }
        }
        EventKind::DivergentBarrier { barrier, goes_on, .. } => {
            Key { kind: 3, detail: 0, object: None, first: *barrier, second: *goes_on }
        }
        EventKind::ExitBeforeBarrier { exit, barrier, .. } => {
            Key { kind: 4, detail: 0, object: None, first: *barrier, second: Some(*exit) }
        }
        EventKind::WarpMask { site, fault, .. } => {
            let detail = match fault {
                MaskFault::LaneAbsent(_) => 0,
                MaskFault::LaneGone(_) => 1,
                MaskFault::CallerMissing => 2,
                MaskFault::Width(_) => 3,
            };
            Key { kind: 5, detail, object: None, first: *site, second: None }
        }
        EventKind::UninitializedRead { object: o, access: a, .. } => {
            Key { kind: 6, detail: access(a.kind), object: object(o), first: a.site, second: None }
        }
        EventKind::ConstantWritten { object: o, access: a } => {
            Key { kind: 7, detail: 0, object: object(o), first: a.site, second: None }
        }
        EventKind::NegativeIndex { site, computed, axis, .. } => {
            Key { kind: 9, detail: *axis, object: None, first: *computed, second: Some(*site) }
        }
        EventKind::CrowdedUpdate { object: o, access: a, .. } => {
            Key { kind: 10, detail: 0, object: object(o), first: a.site, second: None }
        }
        EventKind::GridSyncWithoutCooperation { site } => {
            Key { kind: 8, detail: 0, object: None, first: *site, second: None }
        }
    }
}

impl Events {
    pub(super) fn add(&mut self, event: Event) {
        let key = key(&event.kind);
        if let Some(&at) = self.by_key.get(&key) {
            let seen = &mut self.list[at];
            seen.count += event.count;
            // The instance that says most stands for all.
            if let (EventKind::Race { values: old, .. }, EventKind::Race { values: new, .. }) =
                (&seen.kind, &event.kind)
                && strength(*new) > strength(*old)
            {
                seen.kind = event.kind;
                seen.guards = event.guards;
            }
            return;
        }
        if self.list.len() < MOST {
            self.by_key.insert(key, self.list.len());
            self.list.push(event);
        }
    }
}

impl Machine<'_> {
    /// Reports something seen under the conditions that hold now.
    pub(super) fn event(&mut self, kind: EventKind, count: u64) {
        if self.silent || self.code.damaged {
            return;
        }
        let guards = self.guard_sites();
        self.events.add(Event { kind, count, guards, idle: false });
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
        if access.kind == AccessKind::Atomic {
            access.kind = AccessKind::UpdateRead;
        }
        let memory = &self.objects[index];
        let partly = seen.partly || matches!(&memory.initial, super::memory::Initial::NothingBut(r) if !r.is_empty());
        let object = memory.object.clone();
        let shared = memory.is_shared();
        if shared && !self.silent {
            self.exit_left_unwritten(&access);
        }
        let kind = EventKind::UninitializedRead { object, access, partly };
        if shared {
            self.event(kind, seen.count);
        } else if !self.silent && !self.code.damaged && self.pending.len() < 64 {
            let event = Event { kind, count: seen.count, guards: self.guard_sites(), idle: false };
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
}
