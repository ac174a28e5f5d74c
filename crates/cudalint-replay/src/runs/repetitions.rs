//! What several executions of a kernel show alike is told once.

use super::binding::Binding;
use super::{KernelRun, report};

/// What an assumption shows only counts where facts, or another one, have not shown the same at the same place.
pub(super) fn drop_repetitions(runs: &mut [(Binding, KernelRun)]) {
    let mut sure: Vec<(std::mem::Discriminant<report::EventKind>, Vec<report::Site>)> = Vec::new();
    runs.sort_by_key(|(_, run)| run.assumptions.is_some());
    for (_, run) in runs {
        let key = |event: &report::Event| (std::mem::discriminant(&event.kind), places(&event.kind));
        if run.assumptions.is_some() {
            run.report.events.retain(|event| !sure.contains(&key(event)));
        }
        sure.extend(run.report.events.iter().map(key));
    }
}

/// Where an event is.
pub(super) fn places(kind: &report::EventKind) -> Vec<report::Site> {
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
