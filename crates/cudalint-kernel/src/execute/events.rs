//! Makes events and keeps each kind at each place once.

use super::races::strength;
use crate::report::{AccessKind, Event, EventKind, MaskFault, ObjectKind, RaceScope, Site};
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
            if event.doubt.is_some() {
                return;
            }
            if seen.doubt.is_some() {
                // What is sure says more.
                *seen = event;
                return;
            }
            seen.count += event.count;
            // The instance that says most stands for all.
            if let (EventKind::Race { values: old, .. }, EventKind::Race { values: new, .. }) =
                (&seen.kind, &event.kind)
                && strength(*new) > strength(*old)
            {
                seen.kind = event.kind;
                seen.guards = event.guards;
            } else if let (
                EventKind::DivergentBarrier { missed: false, .. },
                EventKind::DivergentBarrier { missed: true, .. },
            ) = (&seen.kind, &event.kind)
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
