//! What is wrong in a kernel, so that what is told without a launch and what an execution shows can be compared.

use cudalint_engine::Site;
use cudalint_findings::claim::{AccessFault, Space};
use cudalint_findings::{Finding, Place, Shows, Sources};
use cudalint_replay::runs::report::{Event, EventKind, ObjectKind, RaceScope, RaceValues};
use std::collections::BTreeSet;

/// Numbers of lines.
pub struct Lines<'a>(&'a Sources);

impl<'a> Lines<'a> {
    /// Those of a report's sources.
    pub fn new(sources: &'a Sources) -> Self {
        Self(sources)
    }

    /// The line of a place, from 1.
    pub fn of(&self, place: &Place) -> usize {
        self.0.start(place).line as usize
    }
}

/// Kinds of faults that a kernel may be told of without a launch, and those that hang on sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    SharedRace,
    GlobalRace,
    Barrier,
    SharedBounds,
    Bounds,
}

impl Class {
    pub const fn words(self) -> &'static str {
        match self {
            Self::SharedRace => "shared race",
            Self::GlobalRace => "global race",
            Self::Barrier => "divergent barrier",
            Self::SharedBounds => "shared array left",
            Self::Bounds => "memory of a parameter left",
        }
    }
}

/// One fault.
#[derive(Clone, Debug)]
pub struct Fault {
    pub class: Class,
    /// The array, where there is one.
    pub object: String,
    /// Lines of its accesses, or of the barrier.
    pub lines: BTreeSet<usize>,
    /// What an execution shows of a race beside it.
    pub race: Race,
}

/// Races of which less is believed where no launch is in sight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Race {
    /// The threads are of two blocks.
    pub between_blocks: bool,
    /// Both threads store, and not surely different values.
    pub alike: bool,
}

impl Fault {
    /// What a finding says.
    pub fn of_finding(finding: &Finding, lines: &Lines<'_>) -> Option<Self> {
        let object = finding.claim.object();
        let shared = object.is_some_and(|object| object.space == Space::Shared);
        let class = match &finding.claim.shows {
            Shows::Race { .. } if shared => Class::SharedRace,
            Shows::Race { .. } => Class::GlobalRace,
            Shows::Barrier => Class::Barrier,
            Shows::Access { fault: AccessFault::OutOfBounds | AccessFault::NegativeIndex, .. } if shared => {
                Class::SharedBounds
            }
            Shows::Access { fault: AccessFault::OutOfBounds | AccessFault::NegativeIndex, .. } => Class::Bounds,
            _ => return None,
        };
        let accesses = finding.claim.accesses().iter().map(|access| lines.of(&access.site));
        let lines = accesses.chain([lines.of(&finding.place)]).collect();
        Some(Self {
            class,
            object: object.map(|object| object.name.clone()).unwrap_or_default(),
            lines,
            race: Race::default(),
        })
    }

    /// What an execution shows.
    pub fn of_event(event: &Event, line: &dyn Fn(Site) -> usize) -> Option<Self> {
        let is_shared = |kind: ObjectKind| matches!(kind, ObjectKind::Shared | ObjectKind::DynamicShared);
        let (class, object, sites) = match &event.kind {
            EventKind::Race { object, first, second, .. } => {
                let class = if is_shared(object.kind) { Class::SharedRace } else { Class::GlobalRace };
                (class, object.name.clone(), vec![first.site, second.site])
            }
            EventKind::DivergentBarrier { barrier, .. } => (Class::Barrier, String::new(), vec![*barrier]),
            EventKind::WarpMask { site, .. } => (Class::Barrier, String::new(), vec![*site]),
            EventKind::OutOfBounds { object, access, .. } => {
                let class = if is_shared(object.kind) { Class::SharedBounds } else { Class::Bounds };
                (class, object.name.clone(), vec![access.site])
            }
            _ => return None,
        };
        let race = match &event.kind {
            EventKind::Race { first, second, scope, values, .. } => Race {
                between_blocks: *scope == RaceScope::Grid,
                alike: first.kind.writes() && second.kind.writes() && *values != RaceValues::Differ,
            },
            _ => Race::default(),
        };
        Some(Self { class, object, lines: sites.into_iter().map(line).collect(), race })
    }

    /// Whether both are about the same: one statement of both, and the same array.
    pub fn is(&self, other: &Self) -> bool {
        self.class == other.class && self.object == other.object && !self.lines.is_disjoint(&other.lines)
    }

    /// Why nothing is said of it without a launch; none where something should be.
    pub const fn by_design(&self) -> Option<&'static str> {
        match self.class {
            Class::Bounds => Some("how much memory a parameter points to is the caller's"),
            Class::SharedBounds => Some("blocks are guessed so that shared arrays are not left"),
            _ => None,
        }
    }

    /// The rule as which a tool's records are compared with it.
    pub fn rule_of_tool(&self, rule: &'static str) -> &'static str {
        if self.class == Class::SharedRace { "shared-memory-race" } else { rule }
    }
}
