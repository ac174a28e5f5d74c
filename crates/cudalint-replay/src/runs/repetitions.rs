//! What several executions of a kernel show, together: alike, it is reported once; in one combination of inputs alone, not at all.

use super::binding::Binding;
use super::{KernelRun, report};
use rustc_hash::FxHashSet;

/// What an assumption shows only counts where facts, or another one, have not shown the same at the same place.
pub(super) fn drop_repetitions(runs: &mut [(Binding, KernelRun)]) {
    let mut sure: FxHashSet<Key> = FxHashSet::default();
    runs.sort_by_key(|(_, run)| run.assumptions.is_some());
    for (_, run) in runs {
        if run.assumptions.is_some() {
            run.report.events.retain(|event| !sure.contains(&key(event)));
        }
        sure.extend(run.report.events.iter().map(key));
    }
}

/// Drops what shows in some combinations of what several inputs select and not in others: a caller may never give these together.
pub(super) fn drop_combinations(runs: &mut [(Binding, KernelRun)]) {
    let selects = |run: &KernelRun| run.decided > 1;
    let shown: Vec<FxHashSet<Key>> = runs.iter().map(|(_, run)| run.report.events.iter().map(key).collect()).collect();
    let of: Vec<_> = runs.iter().map(|(_, run)| (selects(run), run.launch, run.name.clone(), run.block)).collect();
    for ((_, run), own) in runs.iter_mut().zip(&of) {
        let others = || of.iter().zip(&shown).filter(|(other, _)| other.0 && *other != own).map(|(_, shown)| shown);
        run.report.events.retain(|event| !own.0 || others().all(|shown| shown.contains(&key(event))));
    }
}

/// What makes two events alike: their kind and where they are.
pub(super) type Key = (std::mem::Discriminant<report::EventKind>, Vec<report::Site>);

pub(super) fn key(event: &report::Event) -> Key {
    (std::mem::discriminant(&event.kind), places(&event.kind))
}

/// Where an event is.
fn places(kind: &report::EventKind) -> Vec<report::Site> {
    use report::EventKind;
    match kind {
        EventKind::OutOfBounds { access, .. }
        | EventKind::Misaligned { access, .. }
        | EventKind::UninitializedRead { access, .. }
        | EventKind::ConstantWritten { access, .. }
        | EventKind::CrowdedUpdate { access, .. } => vec![access.site],
        EventKind::Race { first, second, .. } => {
            let mut both = vec![first.site, second.site];
            both.sort();
            both
        }
        EventKind::DivergentBarrier { barrier, .. } | EventKind::GridSyncWithoutCooperation { site: barrier } => {
            vec![*barrier]
        }
        EventKind::ExitBeforeBarrier { exit, barrier, .. } => vec![*exit, *barrier],
        EventKind::WarpMask { site, .. } | EventKind::NegativeIndex { site, .. } => vec![*site],
    }
}
