//! Which rule speaks for an event: the most specific one, and one only.

use super::formula::{self, Formula};
use super::races::{Group, Race, race};
use cudalint_engine::ModuleContext;
use cudalint_replay::runs::KernelRun;
use cudalint_replay::runs::report::{AccessKind, Event, EventKind, ObjectKind, RaceScope, Site};

/// Lanes of a warp.
const WARP: u32 = 32;

/// A kind of defect that executions show: each has a rule of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Defect {
    /// An access beyond a buffer, with no condition before it.
    MissingGuard,
    /// An access beyond a buffer that conditions let through.
    GuardTooWide,
    /// An index formula that gives several threads one element, or leaves the range.
    IndexFormula,
    /// An index that wrapped around its type.
    IndexOverflow,
    /// An address that is no multiple of what its type needs.
    Misaligned,
    /// Beyond a shared array.
    SharedIndex,
    /// Beyond the dynamic shared memory of the launch.
    DynamicShared,
    /// Beyond a thread's own array.
    LocalIndex,
    /// A read of the part of a buffer that was never filled.
    PartialInitialization,
    /// A read of a buffer that was never filled.
    UninitializedMemory,
    /// A read of shared memory that nobody wrote.
    UninitializedShared,
    /// A race on shared memory.
    SharedRace,
    /// A race on shared memory between iterations of a loop.
    SharedRaceAcross,
    /// A barrier that a part of a block does not reach.
    DivergentBarrier,
    /// Threads leave the kernel before a barrier.
    EarlyExit,
    /// Lanes of a warp rely on running in step.
    ImplicitWarpSync,
    /// A mask that does not fit the lanes.
    WarpMask,
    /// An update that is not atomic.
    ReadModifyWrite,
    /// A race on global memory.
    GlobalRace,
    /// A block that needs what another block does in the same launch.
    CrossBlock,
    /// A write to constant memory.
    ConstantWritten,
    /// An index of Numba's that is counted from the end.
    NegativeIndex,
}

/// The defect that an event is, with the index formula that causes it, where one does. `group` is what races with the same
/// cause have between them.
pub(super) fn classify(
    context: &ModuleContext<'_>,
    run: &KernelRun,
    event: &Event,
    group: Group,
) -> Option<(Defect, Option<Formula>)> {
    let defect = match &event.kind {
        EventKind::OutOfBounds { object, access, wrapped, .. } => match object.kind {
            ObjectKind::Shared => Defect::SharedIndex,
            ObjectKind::DynamicShared => Defect::DynamicShared,
            ObjectKind::Local => Defect::LocalIndex,
            // What has no bytes at all was not understood, or never allocated.
            _ if object.bytes == Some(0) => return None,
            _ if wrapped.is_some() => Defect::IndexOverflow,
            ObjectKind::Buffer(_) | ObjectKind::Constant | ObjectKind::Device => {
                if let Some(formula) = formula::out_of_bounds(context, run, access.site) {
                    return Some((Defect::IndexFormula, Some(formula)));
                }
                if run.assumptions.is_some() && formula::is_up_to_callers(context, run, access.site) {
                    return None;
                }
                if event.guards.is_empty() { Defect::MissingGuard } else { Defect::GuardTooWide }
            }
        },
        EventKind::Misaligned { .. } => Defect::Misaligned,
        EventKind::Race { .. } => return Some(of_race(context, run, &race(event)?, group)),
        EventKind::CrowdedUpdate { .. } => Defect::ReadModifyWrite,
        EventKind::DivergentBarrier { .. } => Defect::DivergentBarrier,
        EventKind::ExitBeforeBarrier { .. } => Defect::EarlyExit,
        EventKind::WarpMask { .. } => Defect::WarpMask,
        EventKind::UninitializedRead { object, partly, .. } => match object.kind {
            ObjectKind::Shared | ObjectKind::DynamicShared => Defect::UninitializedShared,
            ObjectKind::Buffer(_) if *partly => Defect::PartialInitialization,
            ObjectKind::Buffer(_) => Defect::UninitializedMemory,
            // A thread's own variables are the compiler's to warn of, and static memory begins as zeros.
            ObjectKind::Local | ObjectKind::Constant | ObjectKind::Device => return None,
        },
        EventKind::ConstantWritten { .. } => Defect::ConstantWritten,
        EventKind::GridSyncWithoutCooperation { .. } => Defect::CrossBlock,
        EventKind::NegativeIndex { .. } => Defect::NegativeIndex,
    };
    Some((defect, None))
}

fn of_race(context: &ModuleContext<'_>, run: &KernelRun, race: &Race<'_>, group: Group) -> (Defect, Option<Formula>) {
    let update = is_update(context, race);
    if race.is_shared() {
        // What meets in different rounds only is kept apart by a barrier, not by atomic operations.
        let update = update && !in_different_rounds(race);
        let looped = !group.within_iteration;
        let defect = match race.scope {
            _ if update => Defect::ReadModifyWrite,
            // One instruction that stores several values to one place: no order of the lanes would help.
            // A barrier that a loop lacks is one of the block, where the block has more than this warp.
            RaceScope::Warp if race.first.site != race.second.site && !group.warps && !(looped && has_warps(run)) => {
                Defect::ImplicitWarpSync
            }
            _ if looped => Defect::SharedRaceAcross,
            _ => Defect::SharedRace,
        };
        return (defect, None);
    }
    if let Some(formula) = formula::of_race(context, run, race) {
        return (Defect::IndexFormula, Some(formula));
    }
    let reads = [race.first.kind, race.second.kind].iter().any(|kind| !kind.writes());
    let defect = match race.scope {
        _ if update => Defect::ReadModifyWrite,
        RaceScope::Grid if race.first.site != race.second.site && (race.barrier_between || reads) => Defect::CrossBlock,
        _ => Defect::GlobalRace,
    };
    (defect, None)
}

/// Whether a block has several warps.
fn has_warps(run: &KernelRun) -> bool {
    run.block.iter().product::<u32>() > WARP
}

/// Whether two accesses stand in different rounds of one loop.
fn in_different_rounds(race: &Race<'_>) -> bool {
    match (race.first.iteration, race.second.iteration) {
        (Some((first, a)), Some((second, b))) => first == second && a != b,
        _ => false,
    }
}

/// Whether two threads read, change and write back one element: `x += v` in both, or `x = x + v` spelled out.
fn is_update(context: &ModuleContext<'_>, race: &Race<'_>) -> bool {
    let update = |kind| matches!(kind, AccessKind::UpdateRead | AccessKind::UpdateWrite);
    if update(race.first.kind) && update(race.second.kind) && race.first.site == race.second.site {
        return true;
    }
    let plain = |kind| matches!(kind, AccessKind::Read | AccessKind::Write);
    plain(race.first.kind)
        && plain(race.second.kind)
        && race.first.kind != race.second.kind
        && race.first.calls == race.second.calls
        && is_spelled_out(context, race.first.site, race.second.site)
}

/// Whether a read and a write of the same text stand in one statement, or the read in its condition.
fn is_spelled_out(context: &ModuleContext<'_>, a: Site, b: Site) -> bool {
    let (from, to) = (a.min(b), a.max(b));
    if from.module != to.module || from.span.end > to.span.start {
        return false;
    }
    let text = |span| context.project.text(from.module, span);
    let between = text(cudalint_syntax::Span::new(from.span.end as usize, to.span.start as usize));
    text(from.span) == text(to.span) && !between.contains([';', '}'])
}
