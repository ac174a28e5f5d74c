//! What executed kernels did, classified: each defect is of one kind, and is reported once.
//!
//! One missing guard lets several accesses out of bounds, one missing barrier makes several pairs race, and one kernel is
//! executed for several launches. [`defects`] puts what has one cause together, and says which kind of defect says it best.

mod classify;
mod executed;
mod races;
pub(crate) mod unread;

pub use crate::facts::{Defect, DefectFact, Harm};
pub use cudalint_kernel::readings::{Formula, Mistake};
pub use races::{Race, race};

use super::KernelRun;
use crate::ways::has_room;
use cudalint_kernel::readings::last::ends_behind;
use cudalint_kernel::readings::{election, settled};
use cudalint_kernel::report::{Event, EventKind, MaskFault, ObjectKind, Reach, Site, Thread};
use cudalint_kernel::{Code, reach};
use cudalint_program::Project;
use cudalint_program::ir::{FunctionId, ModuleId};
use cudalint_syntax::Span;
use executed::Executed;
use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

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
    /// The same condition parts threads that end behind it, and whether somebody misses them.
    Ended(Site, bool),
    /// The same launch.
    Launch,
    /// The same index formula.
    Formula(Site),
    /// Pairs that share an access, by a number of their own.
    Races(usize),
    /// Nothing but its own place.
    Place(Site),
}

/// The defects in the executions of a module's kernels, with the code of each: those that rest on facts first.
pub(super) fn defects(project: &Project, runs: &[KernelRun], codes: &[Option<Arc<Code>>]) -> Vec<DefectFact> {
    let mut reported = Reported { beyond: beyond(runs), ..Reported::default() };
    let mut found = Vec::new();
    for (number, (run, code)) in runs.iter().zip(codes).enumerate() {
        if run.report.events.is_empty() {
            continue;
        }
        let first = found.len();
        of_run(Executed { project, run, code: code.as_deref() }, number, &reported, &mut found);
        for (number, fact) in found.iter().enumerate().skip(first) {
            reported.insert(run, fact, number);
        }
    }
    for fact in &mut found {
        let events = runs.get(fact.run).map_or(&[][..], |run| &run.report.events);
        fact.alike.sort_by_key(|event| events.get(*event).map(place_of));
    }
    found
}

/// Adds the defects of one run that are not reported yet.
fn of_run(own: Executed<'_>, number: usize, reported: &Reported, all: &mut Vec<DefectFact>) {
    let run = own.run;
    let races = races::Races::of(run);
    let for_hip = own.project.is_for_hip(run.kernel.0);
    let sinks = own.sinks();
    let for_nobody = LazyCell::new(|| own.computes_for_nobody());
    let mut places = BTreeSet::new();
    let mut found: Vec<Found<'_>> = Vec::new();
    for (index, event) in run.report.events.iter().enumerate() {
        if !races.is_best(index, event)
            || is_told_otherwise(run, event)
            || is_beside_the_point(run, event)
            || for_hip && is_of_a_wavefront(run, event)
            || !places.insert(place_of(event))
        {
            continue;
        }
        let group = races.group(index);
        let Some((defect, formula)) = classify::classify(own, event, group) else { continue };
        if reported.holds(run, defect, event) {
            if let Some(fact) = reported.shown.get(&(defect, place_of(event))).and_then(|fact| all.get_mut(*fact))
                && has_room(fact.others.len())
                && fact.run != number
                && !(is_about_values(event) && *for_nobody)
            {
                fact.others.push((number, index));
            }
        } else {
            let in_one_warp = !group.warps && matches!(defect, Defect::ImplicitWarpSync | Defect::GlobalRace);
            let harmless = |race: &Race<'_>| {
                own.code.is_some_and(|code| {
                    election::is_election(code, race.first, race.second)
                        || settled::is_settled(code, race.first, race.second)
                })
            };
            let reach = LazyCell::new(|| own.code.map_or(event.reach, |code| reach(code, event)));
            let harm = match race(event).map(|race| (race.harm(group), race)) {
                // The code says it at once, an execution later.
                _ if own.fills_sinks(event, &sinks) || *reach == Reach::Nowhere => Harm::Nowhere,
                _ if own.code.is_some_and(|code| is_of_lanes_that_end(code, event)) => Harm::Nowhere,
                _ if is_about_values(event) && *for_nobody => Harm::Nowhere,
                Some((Harm::Surely, race)) if harmless(&race) => Harm::Perhaps,
                Some((harm, _)) => harm,
                // Whether anybody looks at it is not known: the last step of a sum reads what it does not use.
                None if *reach == Reach::Open && reads_unwritten(event) => Harm::Perhaps,
                None => Harm::Surely,
            };
            found.push(Found { index, event, defect, formula, cause: races.cause(index), in_one_warp, harm });
        }
    }
    // Races with one cause are one defect: the one that says most.
    let mut best: BTreeMap<usize, &Found<'_>> = BTreeMap::new();
    for own in found.iter().filter(|found| race(found.event).is_some()) {
        let best = best.entry(own.cause).or_insert(own);
        if own.rank() < best.rank() {
            *best = own;
        }
    }
    let mut by_cause: BTreeMap<(Defect, Cause), usize> = BTreeMap::new();
    for one in &found {
        let shown_by = best.get(&one.cause).copied().filter(|_| race(one.event).is_some()).unwrap_or(one);
        let causes = causes(own.project, shown_by, one.event);
        let known = causes.iter().find_map(|cause| by_cause.get(&(shown_by.defect, cause.clone())).copied());
        let at = known.unwrap_or(all.len());
        by_cause.extend(causes.into_iter().map(|cause| ((shown_by.defect, cause), at)));
        if all.len() == at {
            let (defect, formula, harm) = (shown_by.defect, shown_by.formula.clone(), shown_by.harm);
            let (event, alike, others) = (shown_by.index, Vec::new(), Vec::new());
            all.push(DefectFact { defect, run: number, event, alike, others, formula, harm });
        }
        let Some(shown) = all.get_mut(at) else { continue };
        if shown.event == one.index {
            continue;
        }
        if one.harm < shown.harm {
            shown.harm = one.harm;
            shown.alike.push(std::mem::replace(&mut shown.event, one.index));
        } else {
            shown.alike.push(one.index);
        }
    }
}

/// Whether an event does no harm but by the values that it leaves.
fn is_about_values(event: &Event) -> bool {
    matches!(event.kind, EventKind::Race { .. } | EventKind::UninitializedRead { .. })
}

/// Whether an event is a read of memory of others that nothing has written.
fn reads_unwritten(event: &Event) -> bool {
    matches!(&event.kind, EventKind::UninitializedRead { object, .. } if object.kind != ObjectKind::Local)
}

/// An event with the defect that it is by itself.
struct Found<'a> {
    index: usize,
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
    /// Which of several races with one cause says it best: the smaller.
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

/// Whether only lanes are concerned that may be of one wavefront of AMD's, in which they are in step. Its barriers do not wait
/// for lanes that have left.
fn is_of_a_wavefront(run: &KernelRun, event: &Event) -> bool {
    const LANES: u32 = 64;
    let [x, y, _] = run.block;
    let wavefront = |thread: Thread| {
        let [a, b, c] = thread.thread;
        (thread.block, (a + x * (b + y * c)) / LANES)
    };
    match &event.kind {
        EventKind::Race { first, second, .. } => wavefront(first.thread) == wavefront(second.thread),
        EventKind::DivergentBarrier { goes_on: None, .. } if event.doubt.is_none() => true,
        EventKind::DivergentBarrier { waits, absent, .. } => wavefront(*waits) == wavefront(*absent),
        EventKind::WarpMask { .. } | EventKind::ExitBeforeBarrier { .. } => true,
        _ => false,
    }
}

/// Whether a mask names lanes that have nothing left to do where they are missed: nobody waits for lanes that have left.
fn is_of_lanes_that_end(code: &Code, event: &Event) -> bool {
    match &event.kind {
        EventKind::WarpMask { fault: MaskFault::LaneAbsent(_), condition: Some(condition), .. } => {
            ends_behind(code, *condition)
        }
        _ => false,
    }
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
struct Reported {
    /// Which defect is shown by what happened somewhere.
    shown: BTreeMap<(Defect, (u8, Site, Site)), usize>,
    places: BTreeSet<(u8, Site, Site)>,
    /// Accesses beyond their objects, in any run.
    beyond: BTreeSet<Site>,
    /// Kernels with conditions that let accesses out of bounds.
    guards: BTreeSet<(Kernel, Defect, Vec<Site>)>,
    /// Kernels, objects and places that race.
    races: BTreeSet<(Kernel, String, Site)>,
}

type Kernel = (ModuleId, FunctionId);

impl Reported {
    fn insert(&mut self, run: &KernelRun, fact: &DefectFact, number: usize) {
        let (kernel, defect) = (run.kernel, fact.defect);
        // Another launch may show more.
        if fact.harm >= Harm::Perhaps || fact.harm == Harm::WithOtherData && run.assumptions.is_some() {
            return;
        }
        if let Some(event) = run.report.events.get(fact.event) {
            self.shown.entry((defect, place_of(event))).or_insert(number);
        }
        let events = std::iter::once(&fact.event).chain(&fact.alike);
        for event in events.filter_map(|event| run.report.events.get(*event)) {
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

/// The causes by which an event may be put to others; `found` is what reports its defect.
fn causes(project: &Project, found: &Found<'_>, event: &Event) -> Vec<Cause> {
    if let Some(formula) = &found.formula {
        return vec![Cause::Formula(formula.site)];
    }
    match &event.kind {
        EventKind::OutOfBounds { object, access, .. } => match found.defect {
            Defect::MissingGuard => vec![Cause::NoGuard],
            Defect::GuardTooWide | Defect::IndexOverflow => vec![
                Cause::Guards(event.guards.clone(), access.thread),
                Cause::Line(event.guards.clone(), line_start(project, access.site)),
            ],
            _ => vec![
                Cause::Object(object.declared, object.name.clone()),
                Cause::Line(event.guards.clone(), line_start(project, access.site)),
            ],
        },
        EventKind::UninitializedRead { object, .. } => vec![Cause::Object(object.declared, object.name.clone())],
        // Each step of a reduction without barriers races by itself: what they miss is the same.
        EventKind::Race { object, .. } if found.in_one_warp => {
            vec![Cause::Object(object.declared, object.name.clone())]
        }
        EventKind::Race { .. } => vec![Cause::Races(found.cause)],
        EventKind::WarpMask { condition: Some(condition), .. } => vec![Cause::Place(*condition)],
        // Each barrier of a branch is missed by those who do not take it.
        EventKind::DivergentBarrier { condition, goes_on: Some(_), .. } => vec![Cause::Place(*condition)],
        EventKind::DivergentBarrier { condition, missed, .. } => vec![Cause::Ended(*condition, *missed)],
        EventKind::GridSyncWithoutCooperation { .. } => vec![Cause::Launch],
        _ => {
            let (_, site, _) = place_of(event);
            vec![Cause::Place(site)]
        }
    }
}

/// The byte at which the line of a place begins.
fn line_start(project: &Project, site: Site) -> usize {
    let before = project.text(site.module, Span::new(0, site.span.start as usize));
    before.rfind('\n').map_or(0, |end| end + 1)
}
