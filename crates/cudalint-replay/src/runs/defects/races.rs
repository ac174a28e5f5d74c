//! Races of one execution: which events are about the same pair of accesses, and which pairs have one cause.

use crate::facts::Harm;
use crate::runs::KernelRun;
use cudalint_kernel::report::{Access, AccessKind, Event, EventKind, Object, ObjectKind, RaceScope, RaceValues, Site};
use std::collections::{BTreeMap, BTreeSet};

/// The parts of a race.
pub struct Race<'a> {
    /// What both touch.
    pub object: &'a Object,
    /// The access that was met first.
    pub first: &'a Access,
    /// The other.
    pub second: &'a Access,
    /// How the threads stand to each other.
    pub scope: RaceScope,
    /// What the writes write.
    pub values: RaceValues,
    /// The loop whose way around brings them together.
    pub across: Option<Site>,
    /// Whether a block-wide barrier stands between them.
    pub barrier_between: bool,
}

/// An event as a race.
pub fn race(event: &Event) -> Option<Race<'_>> {
    match &event.kind {
        EventKind::Race { object, first, second, scope, values, across, barrier_between } => Some(Race {
            object,
            first,
            second,
            scope: *scope,
            values: *values,
            across: *across,
            barrier_between: *barrier_between,
        }),
        _ => None,
    }
}

impl Race<'_> {
    /// Whether both accesses are of memory that one block has for itself.
    pub fn is_shared(&self) -> bool {
        matches!(self.object.kind, ObjectKind::Shared | ObjectKind::DynamicShared)
    }

    /// Whether both accesses are one instruction. All that a macro does has the place of its use; a read and a write are two.
    pub fn is_one_instruction(&self) -> bool {
        self.first.site == self.second.site && self.first.kind.writes() && self.second.kind.writes()
    }

    /// How sure it is that the race does harm, as far as races with the same cause tell.
    pub(super) fn harm(&self, group: Group) -> Harm {
        let stores = self.is_between_stores();
        // The first guess of a loop around `atomicCAS`, and the like.
        let looks_first = !self.first.kind.writes() && self.second.kind == AccessKind::Atomic;
        match self.values {
            _ if looks_first && self.scope != RaceScope::Grid => Harm::Perhaps,
            RaceValues::Same | RaceValues::Unknown if stores => Harm::Perhaps,
            // Each thread stores what it reads: that others store the same once more changes nothing.
            RaceValues::Same if group.stores => Harm::Perhaps,
            RaceValues::Same => Harm::WithOtherData,
            RaceValues::Differ | RaceValues::Unknown => Harm::Surely,
        }
    }

    fn is_between_stores(&self) -> bool {
        self.first.kind.writes() && self.second.kind.writes()
    }

    /// Whether one of the two is an atomic operation, and the other a plain read.
    fn is_look_at_atomic(&self) -> bool {
        let kinds = [self.first.kind, self.second.kind];
        kinds.contains(&AccessKind::Atomic) && kinds.iter().any(|kind| !kind.writes())
    }

    /// Whether the race is between an access in a loop and one behind it, and another one between two accesses in one round of that loop
    /// of which none follows this one's first: a barrier that stands between those two does not stand between these.
    fn is_behind_loop_of(&self, other: &Race<'_>) -> bool {
        let Some((looped, _)) = self.first.iteration else { return false };
        let inside = |access: &Access| looped.module == access.site.module && looped.span.contains(access.site.span);
        let behind = |access: &Access| {
            looped.module == access.site.module
                && looped.span.end <= access.site.span.start
                && access.calls == self.first.calls
        };
        let of_block = |race: &Race<'_>| race.scope != RaceScope::Grid && race.across.is_none();
        of_block(self)
            && of_block(other)
            && inside(self.first)
            && behind(self.second)
            && [other.first, other.second].into_iter().all(inside)
            && other.first.site != other.second.site
            && other.first.site.span.start <= other.second.site.span.start
            && other.second.site.span.start <= self.first.site.span.start
    }

    fn pair(&self) -> (Site, Site) {
        (self.first.site.min(self.second.site), self.first.site.max(self.second.site))
    }

    /// Which of several events about one pair says it best: the smaller. Two warps of a block need a barrier, which
    /// is more than two lanes or two blocks need; values that differ do more harm than others.
    fn rank(&self) -> (u8, u8) {
        let scope = match self.scope {
            RaceScope::Block => 0,
            RaceScope::Warp if self.is_shared() => 1,
            RaceScope::Grid => 2,
            RaceScope::Warp => 3,
        };
        let values = match self.values {
            RaceValues::Differ => 0,
            RaceValues::Unknown => 1,
            RaceValues::Same => 2,
        };
        // What may be harmless never hides what is not.
        match (self.harm(Group::default()), self.scope) {
            // Blocks run one after another here: which of the two comes first within a block says more.
            (Harm::Surely, RaceScope::Grid) if self.is_look_at_atomic() => (12, values),
            (harm, _) => (4 * harm as u8 + scope, values),
        }
    }
}

/// What the races of a run say together, by the events' numbers.
#[derive(Debug, Default)]
pub(super) struct Races {
    /// For each pair of accesses the event that says it best.
    best: BTreeMap<(Site, Site), usize>,
    /// For each event the first one with the same cause: races on one object that share a place, and races that one way
    /// around a loop brings together.
    causes: Vec<usize>,
    /// What the races with one cause have between them, by the first of them.
    groups: BTreeMap<usize, Group>,
}

/// What races with one cause have between them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Group {
    /// Whether threads of two warps are among them.
    pub warps: bool,
    /// Whether accesses of one iteration, or of no loop, are among them.
    pub within_iteration: bool,
    /// Whether two stores are among them.
    pub stores: bool,
}

impl Races {
    /// Looks at the races of a run.
    pub fn of(run: &KernelRun) -> Self {
        let events = &run.report.events;
        let mut races = Self { best: BTreeMap::new(), causes: (0..events.len()).collect(), groups: BTreeMap::new() };
        let mut first_at: BTreeMap<(&str, Site), usize> = BTreeMap::new();
        // Where several threads store one element the array is perhaps not meant to be shared at all.
        let stores: BTreeSet<Site> = events
            .iter()
            .filter_map(race)
            .filter(Race::is_between_stores)
            .flat_map(|race| [race.first.site, race.second.site])
            .collect();
        for (index, event) in events.iter().enumerate() {
            let Some(own) = race(event) else { continue };
            let best = races.best.entry(own.pair()).or_insert(index);
            let better = events.get(*best).and_then(race).is_some_and(|best| own.rank() < best.rank());
            if better {
                *best = index;
            }
            let places = [own.first.site, own.second.site].map(|site| (own.object.name.as_str(), site));
            for place in places.into_iter().chain(own.across.map(|looped| ("", looped))) {
                let other = *first_at.entry(place).or_insert(index);
                let behind = |one: &Race<'_>, other: &Race<'_>| {
                    !stores.contains(&one.first.site) && one.is_behind_loop_of(other)
                };
                let apart = |other: Race<'_>| behind(&own, &other) || behind(&other, &own);
                if events.get(other).and_then(race).is_some_and(apart) {
                    continue;
                }
                let (a, b) = (races.cause(index), races.cause(other));
                if let Some(slot) = races.causes.get_mut(a.max(b)) {
                    *slot = a.min(b);
                }
            }
        }
        for (index, event) in events.iter().enumerate() {
            let Some(own) = race(event) else { continue };
            let cause = races.cause(index);
            let group = races.groups.entry(cause).or_default();
            group.warps |= own.scope != RaceScope::Warp;
            group.within_iteration |= own.across.is_none();
            group.stores |= own.is_between_stores();
        }
        races
    }

    /// What the races with an event's cause have between them.
    pub fn group(&self, index: usize) -> Group {
        self.groups.get(&self.cause(index)).copied().unwrap_or_default()
    }

    /// Whether an event is no race, or the one that reports its pair of accesses best.
    pub fn is_best(&self, index: usize, event: &Event) -> bool {
        race(event).is_none_or(|race| self.best.get(&race.pair()) == Some(&index))
    }

    /// The first event with the same cause.
    pub fn cause(&self, index: usize) -> usize {
        let mut at = index;
        // Each step leads to a smaller number.
        while let Some(next) = self.causes.get(at).copied().filter(|next| *next < at) {
            at = next;
        }
        at
    }
}
