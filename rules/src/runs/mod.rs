//! What executed kernels did, handed out to the rules: each defect goes to one rule, and is told once.
//!
//! One missing guard lets several accesses out of bounds, one missing barrier makes several pairs race, and one kernel is
//! executed for several launches. [`shown`] puts what has one cause together, and gives it to the rule that says it best.

pub mod bounds;
mod classify;
mod election;
mod formula;
pub mod races;
pub mod unwritten;
pub mod vacuous;
pub mod words;

pub use classify::Defect;
pub use formula::{Formula, Mistake};

use cudalint_engine::ModuleContext;
use cudalint_program::ir::{FunctionId, ModuleId};
use cudalint_replay::runs::KernelRun;
use cudalint_replay::runs::report::{Event, EventKind, Site, Thread};
use cudalint_syntax::Span;
use races::{Harm, race};
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
    /// How sure it is that a race does harm.
    pub harm: Harm,
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
    let mut told = Told { beyond: beyond(&context.facts.runs), ..Told::default() };
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
    let mut found: Vec<Found<'a>> = Vec::new();
    for (index, event) in run.report.events.iter().enumerate() {
        if !races.is_best(index, event)
            || is_told_otherwise(run, event)
            || is_beside_the_point(run, event)
            || !places.insert(place_of(event))
        {
            continue;
        }
        let Some((defect, formula)) = classify::classify(context, run, event, races.group(index)) else { continue };
        if !told.holds(run, defect, event) {
            let group = races.group(index);
            let in_one_warp = !group.warps && matches!(defect, Defect::ImplicitWarpSync | Defect::GlobalRace);
            let harm = race(event).map_or(Harm::Surely, |race| match race.harm(group) {
                Harm::Surely if election::is_election(context, &race) => Harm::Perhaps,
                harm => harm,
            });
            found.push(Found { event, defect, formula, cause: races.cause(index), in_one_warp, harm });
        }
    }
    // Races with one cause are one defect: the one that says most.
    let mut best: BTreeMap<usize, &Found<'a>> = BTreeMap::new();
    for own in found.iter().filter(|found| race(found.event).is_some()) {
        let best = best.entry(own.cause).or_insert(own);
        if own.rank() < best.rank() {
            *best = own;
        }
    }
    let mut by_cause: BTreeMap<(Defect, Cause), usize> = BTreeMap::new();
    let mut all: Vec<(Defect, Shown<'a>)> = Vec::new();
    for own in &found {
        let told_by = best.get(&own.cause).copied().filter(|_| race(own.event).is_some()).unwrap_or(own);
        let causes = causes(context, told_by, own.event);
        let known = causes.iter().find_map(|cause| by_cause.get(&(told_by.defect, cause.clone())).copied());
        let at = known.unwrap_or(all.len());
        by_cause.extend(causes.into_iter().map(|cause| ((told_by.defect, cause), at)));
        if all.len() == at {
            let formula = told_by.formula.clone();
            let (event, harm) = (told_by.event, told_by.harm);
            all.push((told_by.defect, Shown { run, event, alike: Vec::new(), formula, harm }));
        }
        let Some((_, shown)) = all.get_mut(at) else { continue };
        if std::ptr::eq(shown.event, own.event) {
            continue;
        }
        if own.harm < shown.harm {
            shown.harm = own.harm;
            shown.alike.push(std::mem::replace(&mut shown.event, own.event));
        } else {
            shown.alike.push(own.event);
        }
    }
    all
}

/// An event with the defect that it is by itself.
struct Found<'a> {
    event: &'a Event,
    defect: Defect,
    formula: Option<Formula>,
    /// The first event with the same cause, for races.
    cause: usize,
    /// Whether races with the same cause are all between lanes of one warp.
    in_one_warp: bool,
    harm: Harm,
}

impl Found<'_> {
    /// Which of several races with one cause tells it best: the smaller.
    fn rank(&self) -> (Harm, u8) {
        let defect = match self.defect {
            Defect::IndexFormula => 0,
            Defect::ReadModifyWrite => 1,
            Defect::SharedRace | Defect::GlobalRace => 2,
            _ => 3,
        };
        (self.harm, defect)
    }
}

/// Whether another event of a run says what is wrong with an access, or says it better: an address that is no multiple of its
/// size is no element beyond the end either.
fn is_told_otherwise(run: &KernelRun, event: &Event) -> bool {
    let others = || run.report.events.iter().map(|event| &event.kind);
    match &event.kind {
        EventKind::OutOfBounds { access: own, .. } => others().any(|other| {
            matches!(other, EventKind::Misaligned { access, .. }
                if access.site == own.site && access.thread == own.thread)
        }),
        // Where two threads are known to meet, they are named.
        EventKind::CrowdedUpdate { access: own, .. } => others().any(|other| {
            matches!(other, EventKind::Race { first, second, .. } if own.site == first.site && own.site == second.site)
        }),
        _ => false,
    }
}

/// Whether a run has other numbers than the kernel is made for: its rows of wide elements begin where none can begin. What else
/// happens with these numbers says nothing of those that the callers choose.
fn is_beside_the_point(run: &KernelRun, event: &Event) -> bool {
    let misaligned = |event: &Event| matches!(event.kind, EventKind::Misaligned { .. });
    run.assumptions.is_some()
        && !misaligned(event)
        && (run.report.coverage.uneven || run.report.events.iter().any(misaligned))
}

/// The accesses that leave their objects in some run.
fn beyond(runs: &[KernelRun]) -> BTreeSet<Site> {
    let events = runs.iter().flat_map(|run| &run.report.events);
    let sites = events.filter_map(|event| match &event.kind {
        EventKind::OutOfBounds { access, .. } => Some(access.site),
        _ => None,
    });
    sites.collect()
}

/// What earlier runs have shown: another launch of a kernel shows the same defects once more.
#[derive(Default)]
struct Told {
    places: BTreeSet<(u8, Site, Site)>,
    /// Accesses beyond their objects, in any run.
    beyond: BTreeSet<Site>,
    /// Kernels with conditions that let accesses out of bounds.
    guards: BTreeSet<(Kernel, Defect, Vec<Site>)>,
    /// Kernels, objects and places that race.
    races: BTreeSet<(Kernel, String, Site)>,
}

type Kernel = (ModuleId, FunctionId);

impl Told {
    fn insert(&mut self, defect: Defect, shown: &Shown<'_>) {
        let kernel = shown.run.kernel;
        // Another launch may show more.
        if shown.harm == Harm::Perhaps || shown.harm == Harm::WithOtherData && shown.run.assumptions.is_some() {
            return;
        }
        for event in std::iter::once(&shown.event).chain(&shown.alike) {
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
        let beyond = |site| self.beyond.contains(&site);
        self.places.contains(&place_of(event))
            || matches!(&event.kind, EventKind::UninitializedRead { access, .. } if beyond(access.site))
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
        EventKind::NegativeIndex { site, computed, .. } => (9, *site, *computed),
        EventKind::CrowdedUpdate { access, .. } => (10, access.site, access.site),
    }
}

/// The causes by which an event may be put to others; `found` is what tells its defect.
fn causes(context: &ModuleContext<'_>, found: &Found<'_>, event: &Event) -> Vec<Cause> {
    if let Some(formula) = &found.formula {
        return vec![Cause::Formula(formula.site)];
    }
    match &event.kind {
        EventKind::OutOfBounds { object, access, .. } => match found.defect {
            Defect::MissingGuard => vec![Cause::NoGuard],
            Defect::GuardTooWide | Defect::IndexOverflow => vec![
                Cause::Guards(event.guards.clone(), access.thread),
                Cause::Line(event.guards.clone(), line_start(context, access.site)),
            ],
            _ => vec![
                Cause::Object(object.declared, object.name.clone()),
                Cause::Line(event.guards.clone(), line_start(context, access.site)),
            ],
        },
        EventKind::UninitializedRead { object, .. } => vec![Cause::Object(object.declared, object.name.clone())],
        // Each step of a reduction without barriers races by itself: what they miss is the same.
        EventKind::Race { object, .. } if found.in_one_warp => {
            vec![Cause::Object(object.declared, object.name.clone())]
        }
        EventKind::Race { .. } => vec![Cause::Races(found.cause)],
        EventKind::WarpMask { condition: Some(condition), .. } => vec![Cause::Place(*condition)],
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
