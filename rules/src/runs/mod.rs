//! What executed kernels did, handed out to the rules: each defect goes to one rule, and is told once.
//!
//! One missing guard lets several accesses out of bounds, one missing barrier makes several pairs race, and one kernel is
//! executed for several launches. [`shown`] puts what has one cause together, and gives it to the rule that says it best.

pub mod bounds;
mod classify;
mod formula;
pub mod races;
pub mod words;

pub use classify::Defect;
pub use formula::{Formula, Mistake};

use cudalint_engine::ModuleContext;
use cudalint_program::ir::{FunctionId, ModuleId};
use cudalint_replay::runs::KernelRun;
use cudalint_replay::runs::report::{Event, EventKind, RaceValues, Site, Thread};
use cudalint_syntax::Span;
use races::race;
use std::collections::{BTreeMap, BTreeSet};

/// A defect as one execution shows it.
#[derive(Clone, Debug)]
pub struct Shown<'a> {
    /// The execution.
    pub run: &'a KernelRun,
    /// What is told.
    pub event: &'a Event,
    /// Other events with the same cause, in the order of their places.
    pub alike: Vec<&'a Event>,
    /// The index formula that is the cause, for [`Defect::IndexFormula`].
    pub formula: Option<Formula>,
}

/// What makes two events of one run the same defect.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cause {
    /// No condition at all stands before the accesses.
    NoGuard,
    /// The same conditions let the same thread through.
    Guards(Vec<Site>, Thread),
    /// The same conditions stand before accesses of one line, which begins at this byte.
    Line(Vec<Site>, usize),
    /// The same object is too short, or not filled.
    Object(Option<Site>, String),
    /// The same launch.
    Launch,
    /// The same index formula.
    Formula(Site),
    /// Pairs that share an access, by a number of their own.
    Races(usize),
    /// Nothing but its own place.
    Place(Site),
}

/// The defects of one kind in the executions of a module's kernels: those that rest on facts first.
pub fn shown<'a>(context: &'a ModuleContext<'_>, wanted: Defect) -> Vec<Shown<'a>> {
    let mut told = Told::default();
    let mut found = Vec::new();
    for run in &context.facts.runs {
        if run.report.events.is_empty() {
            continue;
        }
        let of_run = of_run(context, run, &told);
        for (defect, shown) in &of_run {
            told.insert(*defect, shown);
        }
        found.extend(of_run.into_iter().filter(|(defect, _)| *defect == wanted).map(|(_, shown)| shown));
    }
    for shown in &mut found {
        shown.alike.sort_by_key(|event| place_of(event));
    }
    found
}

/// The defects of one run that are not told yet.
fn of_run<'a>(context: &ModuleContext<'_>, run: &'a KernelRun, told: &Told) -> Vec<(Defect, Shown<'a>)> {
    let races = races::Races::of(run);
    let mut places = BTreeSet::new();
    let mut by_cause: BTreeMap<(Defect, Cause), usize> = BTreeMap::new();
    let mut found: Vec<(Defect, Shown<'a>)> = Vec::new();
    for (index, event) in run.report.events.iter().enumerate() {
        if !races.is_best(index, event) || is_misaligned_too(run, event) || !places.insert(place_of(event)) {
            continue;
        }
        let Some((defect, formula)) = classify::classify(context, run, event, races.group(index)) else { continue };
        if told.holds(run, defect, event) {
            continue;
        }
        let causes = causes(context, defect, event, formula.as_ref(), races.cause(index));
        let known = causes.iter().find_map(|cause| by_cause.get(&(defect, cause.clone())).copied());
        let at = known.unwrap_or(found.len());
        by_cause.extend(causes.into_iter().map(|cause| ((defect, cause), at)));
        match found.get_mut(at) {
            // What does harm tells the defect, what happens to do none stands beside.
            Some((_, shown)) if is_harmless(shown.event) && !is_harmless(event) => {
                let before = std::mem::replace(&mut shown.event, event);
                shown.alike.push(before);
            }
            Some((_, shown)) => shown.alike.push(event),
            None => found.push((defect, Shown { run, event, alike: Vec::new(), formula })),
        }
    }
    found
}

/// Whether an event is a race after which memory is alike whoever comes last.
fn is_harmless(event: &Event) -> bool {
    race(event).is_some_and(|race| race.values == RaceValues::Same)
}

/// Whether an access beyond its object is told as misaligned: an address that is wrong in both ways is no element at all.
fn is_misaligned_too(run: &KernelRun, event: &Event) -> bool {
    let EventKind::OutOfBounds { access, .. } = &event.kind else { return false };
    let at = (access.site, access.thread);
    run.report
        .events
        .iter()
        .any(|other| matches!(&other.kind, EventKind::Misaligned { access, .. } if (access.site, access.thread) == at))
}

/// What earlier runs have shown: another launch of a kernel shows the same defects once more.
#[derive(Default)]
struct Told {
    places: BTreeSet<(u8, Site, Site)>,
    /// Kernels with conditions that let accesses out of bounds.
    guards: BTreeSet<(Kernel, Defect, Vec<Site>)>,
    /// Kernels, objects and places that race.
    races: BTreeSet<(Kernel, String, Site)>,
}

type Kernel = (ModuleId, FunctionId);

impl Told {
    fn insert(&mut self, defect: Defect, shown: &Shown<'_>) {
        let kernel = shown.run.kernel;
        for event in std::iter::once(&shown.event).chain(&shown.alike) {
            if is_harmless(event) {
                continue;
            }
            self.places.insert(place_of(event));
            if let EventKind::OutOfBounds { .. } = &event.kind {
                self.guards.insert((kernel, defect, event.guards.clone()));
            }
            if let Some(race) = race(event) {
                for site in [race.first.site, race.second.site] {
                    self.races.insert((kernel, race.object.name.clone(), site));
                }
            }
        }
    }

    fn holds(&self, run: &KernelRun, defect: Defect, event: &Event) -> bool {
        let of_buffer = matches!(defect, Defect::MissingGuard | Defect::GuardTooWide);
        self.places.contains(&place_of(event))
            || of_buffer && self.guards.contains(&(run.kernel, defect, event.guards.clone()))
            || race(event).is_some_and(|race| {
                [race.first.site, race.second.site]
                    .into_iter()
                    .any(|site| self.races.contains(&(run.kernel, race.object.name.clone(), site)))
            })
    }
}

/// The kind of an event and where it happened: two events alike in this are one, whichever run shows them.
fn place_of(event: &Event) -> (u8, Site, Site) {
    match &event.kind {
        EventKind::OutOfBounds { access, .. } => (0, access.site, access.site),
        EventKind::Misaligned { access, .. } => (1, access.site, access.site),
        EventKind::Race { first, second, .. } => (2, first.site.min(second.site), first.site.max(second.site)),
        EventKind::DivergentBarrier { barrier, .. } => (3, *barrier, *barrier),
        EventKind::ExitBeforeBarrier { exit, .. } => (4, *exit, *exit),
        EventKind::WarpMask { site, .. } => (5, *site, *site),
        EventKind::UninitializedRead { access, .. } => (6, access.site, access.site),
        EventKind::ConstantWritten { access, .. } => (7, access.site, access.site),
        EventKind::GridSyncWithoutCooperation { site } => (8, *site, *site),
    }
}

/// The causes by which an event may be put to others.
fn causes(
    context: &ModuleContext<'_>,
    defect: Defect,
    event: &Event,
    formula: Option<&Formula>,
    race: usize,
) -> Vec<Cause> {
    if let Some(formula) = formula {
        return vec![Cause::Formula(formula.site)];
    }
    match &event.kind {
        EventKind::OutOfBounds { object, access, .. } => match defect {
            Defect::MissingGuard => vec![Cause::NoGuard],
            Defect::GuardTooWide | Defect::IndexOverflow => vec![
                Cause::Guards(event.guards.clone(), access.thread),
                Cause::Line(event.guards.clone(), line_start(context, access.site)),
            ],
            _ => vec![Cause::Object(object.declared, object.name.clone())],
        },
        EventKind::UninitializedRead { object, .. } => vec![Cause::Object(object.declared, object.name.clone())],
        EventKind::Race { .. } => vec![Cause::Races(race)],
        EventKind::GridSyncWithoutCooperation { .. } => vec![Cause::Launch],
        _ => {
            let (_, site, _) = place_of(event);
            vec![Cause::Place(site)]
        }
    }
}

/// The byte at which the line of a place begins.
fn line_start(context: &ModuleContext<'_>, site: Site) -> usize {
    let before = context.project.text(site.module, Span::new(0, site.span.start as usize));
    before.rfind('\n').map_or(0, |end| end + 1)
}
