//! Whether what a suspicious read gives goes anywhere: to memory that others see, into a branch, an address or a call.
//!
//! The launch is executed again, twice, with another name for the value each time. Where both executions do the same to
//! everything that can be seen from outside, the value goes nowhere: threads behind the end of a warp's last sum load
//! what nobody has written, and nobody looks at what they make of it. In these executions nothing gets a name that hides
//! what it was made of: what depends on such a value has one of its names, or is unknown, and unknown is never nowhere.

use super::lanes::{Lanes, Mask, OFF};
use super::machine::Machine;
use super::memory::Memory;
use super::ops;
use super::scan::Scan;
use super::touch::Touch;
use super::value::{Data, KNOWN, NUMBER, Val, mix, object_of, offset_of};
use super::watch::{Variation, Watch};
use crate::code::{BinaryOp, Code, Ty};
use crate::figures::WARP;
use crate::launch::{Budget, LaunchInput};
use crate::report::{
    AccessKind, Again, Event, EventKind, ExecutionReport, ObjectKind, OpenCondition, RaceScope, Reach, Site, Traced,
};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Most reads of one launch that are looked at one by one.
const MOST: usize = 8;

/// The same of a launch that costs little.
const MOST_OF_SMALL: usize = 64;

/// Shared memory is given to blocks in pieces of this many bytes, or of twice as many (CUDA Occupancy Calculator, "Shared Memory allocation
/// unit size": 128 bytes since `sm_80`, 256 before). A read behind an array that stays in its last piece leaves the block's memory in no case: what
/// it gives is all that the program can see of it. memcheck reports it all the same.
const PIECE: u64 = 128;

/// A launch that cost more is not executed again.
const MOST_OPERATIONS: u64 = 1 << 23;

/// Says of the suspicious events of an execution how to find out where what they read goes.
pub(super) fn can_be_asked(
    report: &mut ExecutionReport,
    launch: &LaunchInput,
    budget: &Budget,
    conditions: &[OpenCondition],
) {
    let suspects: Vec<Option<Site>> = report.events.iter().map(suspicious_read).collect();
    // Of a race it is told that it goes nowhere, which an execution that was cut cannot show.
    let is_asked =
        |event: &Event| report.coverage.complete || matches!(event.kind, EventKind::UninitializedRead { .. });
    let asked = report.events.iter().zip(&suspects).filter(|(event, _)| is_asked(event));
    let mut sites: Vec<Site> = asked.filter_map(|(_, read)| *read).collect();
    if sites.is_empty() || report.coverage.operations > MOST_OPERATIONS {
        return;
    }
    sites.sort_unstable();
    sites.dedup();
    let (launch, conditions) = (launch.clone(), conditions.to_vec());
    let complete = report.coverage.complete;
    let affordable = (MOST_OPERATIONS / report.coverage.operations.max(1)) as usize;
    let most = affordable.clamp(MOST, MOST_OF_SMALL);
    let again = Arc::new(Again { launch, budget: *budget, conditions, sites, most, complete, known: Mutex::default() });
    for (event, read) in report.events.iter_mut().zip(suspects) {
        event.again = read.map(|_| Arc::clone(&again));
    }
}

/// Where goes what an event reads. `run` executes the launch once more.
pub(super) fn reach(event: &Event, run: impl Fn(&Again, Watch) -> (ExecutionReport, Watch)) -> Reach {
    let (Some(read), Some(again)) = (suspicious_read(event), &event.again) else { return event.reach };
    let mut known = again.known.lock().unwrap_or_else(PoisonError::into_inner);
    let Traced { spots, all, each, alone } = &mut *known;
    let (spots, sites) = spots.get_or_insert_with(|| match run(again, Watch::Collects(FxHashMap::default())) {
        (_, Watch::Collects(spots)) => {
            let sites = again.sites.iter().filter(|site| spots.contains_key(site)).copied().collect();
            (Arc::new(spots), sites)
        }
        _ => <_>::default(),
    });
    let Some(number) = sites.iter().position(|site| *site == read) else { return event.reach };
    // What the warp of whoever stores reads beside it is no part of a race between warps.
    let across = matches!(event.kind, EventKind::Race { scope: RaceScope::Block, .. });
    let find_out = |one: Option<Site>, only: Option<[u32; 3]>| {
        let beside = across && one.is_some();
        let variation = |seed| Box::new(Variation::new(Arc::clone(spots), (one, only), beside, seed));
        let vary = |seed| match run(again, Watch::Varies(variation(seed))) {
            (report, Watch::Varies(mut seen)) => {
                seen.settle();
                Some((seen.digest, seen.met && !seen.hidden && report.coverage.complete)).filter(|_| seen.met)
            }
            _ => None,
        };
        let Some((first, first_shows)) = vary(1) else { return Reach::Open };
        match vary(2) {
            Some((second, _)) if first != second => Reach::Somewhere,
            // Of an execution that was cut, the rest might have told them apart.
            Some((_, true)) if first_shows => Reach::Nowhere,
            _ => Reach::Open,
        }
    };
    let all = *all.get_or_insert_with(|| if sites.len() == spots.len() { find_out(None, None) } else { Reach::Open });
    if all == Reach::Nowhere || sites.len() == 1 && all != Reach::Open && !across {
        return all;
    }
    if number >= again.most {
        return event.reach;
    }
    let found = *each.entry((read, across)).or_insert_with(|| find_out(Some(read), None));
    // Many blocks share what an execution may cost; one alone comes to its end.
    let block = match &event.kind {
        EventKind::UninitializedRead { access, .. } if found == Reach::Open && !again.complete => access.thread.block,
        _ => return found,
    };
    let is_seen = *alone.entry(read).or_insert_with(|| find_out(Some(read), Some(block)) == Reach::Somewhere);
    if is_seen { Reach::Somewhere } else { found }
}

/// The read that an event is about, where what it gives is what makes it a defect.
fn suspicious_read(event: &Event) -> Option<Site> {
    let reads = |kind| matches!(kind, AccessKind::Read | AccessKind::UpdateRead);
    match &event.kind {
        EventKind::UninitializedRead { object, access, .. } if object.kind != ObjectKind::Local => {
            reads(access.kind).then_some(access.site)
        }
        EventKind::Race { first, second, .. } => {
            [first, second].into_iter().find(|access| reads(access.kind)).map(|access| access.site)
        }
        EventKind::OutOfBounds { object, access, .. } if object.kind == ObjectKind::Shared && reads(access.kind) => {
            let end = u64::try_from(access.offset).ok()?.checked_add(u64::from(access.size))?;
            (end <= object.bytes?.next_multiple_of(PIECE)).then_some(access.site)
        }
        _ => None,
    }
}

impl Machine<'_> {
    /// Whether nothing may get a name that hides what it was made of.
    pub(super) fn keeps_origins(&self) -> bool {
        matches!(self.watch, Watch::Varies(_))
    }

    /// Whether cells of suspicious reads are collected.
    pub(super) fn collects(&self) -> bool {
        matches!(self.watch, Watch::Collects(_))
    }

    /// Collects a cell of a suspicious read in a block.
    pub(super) fn collect(
        &mut self,
        (read, block): (Site, [u32; 3]),
        index: usize,
        offset: i64,
        stored_by: Option<u16>,
    ) {
        if let Watch::Collects(spots) = &mut self.watch {
            let cell = (block, index as u32, offset);
            let known = spots.entry(read).or_default().entry(cell).or_insert(stored_by);
            *known = known.filter(|lane| Some(*lane) == stored_by);
        }
    }

    /// What lanes get that read beyond an object, of all that access it those that are not inside: some number or other.
    pub(super) fn read_beyond(
        &mut self,
        touch: Touch<'_>,
        address: &Val,
        (mask, inside): (&Mask, &Mask),
        read: &Val,
    ) -> Val {
        let site = self.code.expr(touch.at).site;
        // What stands there is the same however often the launch is executed, unless it is asked where just that goes.
        let seed = match &mut self.watch {
            Watch::Varies(seen) if seen.spots.contains_key(&site) && seen.one.is_none_or(|one| one == site) => {
                seen.met = true;
                seen.seed
            }
            _ => 0,
        };
        let beyond = |lane: usize| name_of(seed, offset_of(address.lane(lane).0));
        let is_beyond = |lane: usize| mask.levels()[lane] != OFF && inside.levels()[lane] == OFF;
        Val::from_lanes(self.n, |lane| if is_beyond(lane) { beyond(lane) } else { read.lane(lane) })
    }

    /// Something outside of the registers gets values of the active lanes: a branch, a call, memory that others see.
    pub(super) fn seen_outside(&mut self, value: &Val) {
        if let Watch::Varies(seen) = &mut self.watch {
            seen.see(value, &self.act);
        }
    }

    /// A value parts the active lanes. Where either side does no more than compute, nobody sees which way they go but by what
    /// they hold afterwards, and that is unknown then.
    pub(super) fn decides(&mut self, value: &Val, computes: impl FnOnce(&mut Scan, &Code) -> bool) {
        if self.keeps_origins() && (value.all_known() || !computes(&mut self.scan, self.code)) {
            self.seen_outside(value);
        }
    }

    /// A product of fractions: a known zero makes it zero, whatever the other side is. (Of an infinity, or of what is no number,
    /// it does not; a kernel that gives a value the weight 0 does not reckon with these.)
    pub(super) fn product(&self, op: BinaryOp, ty: &Ty, a: &Val, b: &Val, value: Val) -> Val {
        if op != BinaryOp::Mul || !ty.is_float() {
            return value;
        }
        self.without_zeros(a, b, &Val::known(0), value)
    }

    /// `rest` in the lanes in which a factor is a known zero, `value` in the others.
    pub(super) fn without_zeros(&self, a: &Val, b: &Val, rest: &Val, value: Val) -> Val {
        if !self.keeps_origins() || value.all_known() || matches!(value.data, Data::Aggregate(_)) {
            return value;
        }
        let zero = |(bits, tag): (i64, u8)| tag == KNOWN && ops::float(bits) == 0.0;
        if [a, b].into_iter().any(|side| side.alike().is_some_and(zero)) {
            return rest.clone();
        }
        let lane =
            |lane: usize| if zero(a.lane(lane)) || zero(b.lane(lane)) { rest.lane(lane) } else { value.lane(lane) };
        if (0..self.n).any(|lane| zero(a.lane(lane)) || zero(b.lane(lane))) {
            return Val::from_lanes(self.n, lane);
        }
        value
    }

    /// Others may look at all that has been stored so far.
    pub(super) fn published(&mut self) {
        if let Watch::Varies(seen) = &mut self.watch {
            seen.settle();
        }
    }

    /// An access by the active lanes: its address can be seen, and what it stores where that cannot be followed, unless the same
    /// thread stores something else there before anybody looks.
    pub(super) fn access_seen(&mut self, touch: Touch<'_>, address: &Val, value: Option<&Val>) {
        let Watch::Varies(seen) = &mut self.watch else { return };
        let mask = &self.act;
        seen.see(address, mask);
        let objects = &self.objects;
        let memory_at = |lane: usize| match address.lane(lane) {
            (bits, KNOWN) => {
                let index = (object_of(bits) as usize).checked_sub(1)?;
                Some((index as u32, offset_of(bits), objects.get(index)?))
            }
            _ => None,
        };
        let active = || mask.levels().iter().enumerate().filter(|(_, level)| **level != OFF).map(|(lane, _)| lane);
        if touch.kind == AccessKind::Atomic || touch.volatile {
            seen.settle();
        }
        let simple = touch.kind != AccessKind::Atomic && !touch.asynchronous && !touch.volatile;
        let placed = active().all(|lane| memory_at(lane).is_some());
        let bytes = touch.ty.bytes().unwrap_or_default();
        let Some(value) = value else {
            if !simple || !placed || bytes == 0 {
                return seen.settle();
            }
            for lane in active() {
                let Some((index, offset, memory)) = memory_at(lane) else { continue };
                for (at, bytes) in parts_of(touch.ty).filter(|_| memory.is_global()) {
                    seen.look((index, offset + at, bytes), self.block, lane);
                }
            }
            return;
        };
        // Of threads that perhaps store nothing, what was there before may stay.
        let whole = std::slice::from_ref(value);
        let leaves = match (&value.data, touch.ty) {
            (Data::Aggregate(leaves), Ty::Aggregate(layout)) if leaves.len() == layout.leaves.len() => {
                Some(&leaves[..])
            }
            (Data::Aggregate(_), _) | (_, Ty::Aggregate(_)) => None,
            _ => Some(whole),
        };
        let Some(leaves) = leaves.filter(|_| simple && placed && bytes > 0 && mask.maybe() == 0) else {
            let followed = touch.kind != AccessKind::Atomic
                && !touch.asynchronous
                && mask.maybe() == 0
                && active().all(|lane| memory_at(lane).is_some_and(|(.., memory)| is_followed(memory)));
            if !followed {
                seen.see(value, mask);
            }
            return;
        };
        for lane in active() {
            let Some((index, offset, memory)) = memory_at(lane) else { continue };
            for ((at, bytes), leaf) in parts_of(touch.ty).zip(leaves) {
                if memory.is_global() {
                    seen.keep((index, offset + at, bytes), self.block, lane, leaf.lane(lane));
                } else if !is_followed(memory) {
                    seen.add(leaf.lane(lane));
                }
            }
        }
    }

    /// What was read at an address, with other names in the cells that the execution varies.
    pub(super) fn varied(
        &mut self,
        touch: Touch<'_>,
        index: usize,
        bytes: u32,
        address: &Val,
        mask: &Mask,
        value: Val,
    ) -> Val {
        let site = self.code.expr(touch.at).site;
        let is_global = self.objects.get(index).is_some_and(Memory::is_global);
        let Watch::Varies(seen) = &mut self.watch else { return value };
        let Some(spots) = seen.spots.get(&site) else { return value };
        // What is read elsewhere gets the same name each time. In shared memory that would hide that it was made of this; in global
        // memory, whoever reads what another thread has stored is seen to do so.
        let is_asked = seen.one.is_none_or(|one| one == site);
        if !is_asked && !is_global {
            return value;
        }
        let (seed, block) = (if is_asked { seen.seed } else { u64::from(site.span.start) << 32 }, self.block);
        let group = if seen.across { WARP } else { 1 };
        let meant = |lane: usize, offset: i64| {
            let all = offset..offset + i64::from(bytes);
            let mut stored = all.filter_map(|byte| spots.get(&(block, index as u32, byte)));
            stored.any(|stored| stored.is_none_or(|by| usize::from(by) / group != lane / group))
        };
        let name = |offset: i64| name_of(seed, offset);
        let parted = seen.across && self.n > WARP;
        if let (Some((bits, KNOWN)), Data::Uniform(..), false) = (address.alike(), &value.data, parted) {
            if !meant(usize::MAX, offset_of(bits)) {
                return value;
            }
            seen.met |= is_asked;
            let (bits, tag) = name(offset_of(bits));
            return Data::Uniform(bits, tag).into();
        }
        let here = |lane: usize| {
            let (bits, tag) = address.lane(lane);
            (mask.levels()[lane] != OFF && tag == KNOWN && meant(lane, offset_of(bits))).then(|| offset_of(bits))
        };
        let offsets: Vec<Option<i64>> = (0..self.n).map(here).collect();
        if offsets.iter().all(Option::is_none) {
            return value;
        }
        seen.met |= is_asked;
        let each = |lane: usize| offsets[lane].map_or_else(|| value.lane(lane), name);
        Val::tagged(Lanes::from_fn(self.n, |lane| each(lane).0), Lanes::from_fn(self.n, |lane| each(lane).1))
    }
}

/// The name that a varied value has.
fn name_of(seed: u64, offset: i64) -> (i64, u8) {
    (mix(mix(0x1d1e, seed), offset as u64) as i64, NUMBER)
}

/// The scalars of a type: where each begins, and its bytes.
fn parts_of(ty: &Ty) -> impl Iterator<Item = (i64, u32)> {
    let (whole, leaves) = match ty {
        Ty::Aggregate(layout) => (None, layout.leaves.as_slice()),
        ty => (Some((0, ty.bytes().unwrap_or_default())), &[][..]),
    };
    let leaves = leaves.iter().map(|leaf| (i64::from(leaf.offset), leaf.ty.bytes().unwrap_or_default()));
    whole.into_iter().chain(leaves)
}

/// Whether what is stored in memory is found again where it is read: nobody else looks at it.
fn is_followed(memory: &Memory) -> bool {
    memory.is_shared() || memory.local.is_some()
}
