//! Which rule speaks for an event: the most specific one, and one only.

use super::executed::Executed;
use super::races::{Group, Race, race};
use crate::facts::Defect;
use crate::runs::{Basis, KernelRun};
use cudalint_kernel::readings::{Formula, Mistake, formula, updates};
use cudalint_kernel::report::{AccessKind, Event, EventKind, ObjectKind, RaceScope, Site};

/// Lanes of a warp.
const WARP: u32 = 32;

/// The defect that an event is, with the index formula that causes it, where one does. `group` is what races with the same
/// cause have between them.
pub(super) fn classify(own: Executed<'_>, event: &Event, group: Group) -> Option<(Defect, Option<Formula>)> {
    let defect = match &event.kind {
        EventKind::OutOfBounds { object, access, wrapped, .. } => match object.kind {
            // The callers know how many elements there are: a larger number can always be chosen here.
            ObjectKind::Shared | ObjectKind::Local if is_let_in_by_callers(own, event) => return None,
            ObjectKind::Shared => Defect::SharedIndex,
            ObjectKind::DynamicShared => Defect::DynamicShared,
            ObjectKind::Local => Defect::LocalIndex,
            // What has no bytes at all was not understood, or never allocated.
            _ if object.bytes == Some(0) => return None,
            _ if wrapped.is_some() => Defect::IndexOverflow,
            ObjectKind::Buffer(_) | ObjectKind::Constant | ObjectKind::Device => {
                if let Some(formula) = beyond_by_formula(own, access.site) {
                    return Some((Defect::IndexFormula, Some(formula)));
                }
                if own.run.assumptions.is_some() && is_up_to_callers(own, access.site) {
                    return None;
                }
                if event.guards.is_empty() { Defect::MissingGuard } else { Defect::GuardTooWide }
            }
        },
        EventKind::Misaligned { .. } => Defect::Misaligned,
        EventKind::Race { scope, .. } => {
            let (defect, formula) = of_race(own, &race(event)?, group);
            // Of two blocks that nobody launches not every store is believed.
            let scoped = [race(event)?.first.kind, race(event)?.second.kind] == [AccessKind::Atomic; 2];
            let believed = own.run.basis != Basis::GuessedBlock
                || *scope != RaceScope::Grid
                || scoped
                || matches!(defect, Defect::ReadModifyWrite | Defect::CrossBlock);
            return believed.then_some((defect, formula));
        }
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

fn of_race(own: Executed<'_>, race: &Race<'_>, group: Group) -> (Defect, Option<Formula>) {
    let update = is_update(own, race);
    if race.is_shared() {
        // What meets in different rounds only is kept apart by a barrier, not by atomic operations.
        let update = update && !in_different_rounds(race);
        let looped = !group.within_iteration;
        let defect = match race.scope {
            _ if update => Defect::ReadModifyWrite,
            // One instruction that stores several values to one place: no order of the lanes would help.
            // A barrier that a loop lacks is one of the block, where the block has more than this warp.
            RaceScope::Warp if !(race.is_one_instruction() || group.warps || looped && has_warps(own.run)) => {
                Defect::ImplicitWarpSync
            }
            _ if looped => Defect::SharedRaceAcross,
            _ => Defect::SharedRace,
        };
        return (defect, None);
    }
    if let Some(formula) = race_by_formula(own, race) {
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

/// The wrong formula behind an access that leaves its buffer.
fn beyond_by_formula(own: Executed<'_>, access: Site) -> Option<Formula> {
    let run = own.run;
    own.formulas(access).into_iter().find(|formula| match formula.mistake {
        Mistake::GridForBlock(axis) => differ(run, axis, axis),
        Mistake::OtherAxis(axis, other) => extent(run.block, axis) != extent(run.block, other),
        // Too small an index leads to no place outside; without a block it is the thread's own.
        Mistake::BlockAdded(_) | Mistake::NoBlock(_) => false,
    })
}

/// Whether which element an access means is up to the callers alone: they are not to blame for a number that was chosen
/// here, and that has nothing to do with any size.
fn is_up_to_callers(own: Executed<'_>, access: Site) -> bool {
    let free = &own.run.free;
    !free.is_empty() && own.code.is_some_and(|code| formula::is_made_of(code, access, free))
}

/// The wrong formula behind two blocks that write one element.
fn race_by_formula(own: Executed<'_>, race: &Race<'_>) -> Option<Formula> {
    let plain = |kind| matches!(kind, AccessKind::Read | AccessKind::Write);
    let run = own.run;
    if race.scope != RaceScope::Grid || race.first.site != race.second.site {
        return None;
    }
    own.formulas(race.first.site).into_iter().find(|formula| match formula.mistake {
        Mistake::GridForBlock(axis) => differ(run, axis, axis),
        Mistake::OtherAxis(axis, other) => extent(run.block, axis) != extent(run.block, other),
        Mistake::BlockAdded(axis) => extent(run.block, axis) > Some(1),
        // An update of what all blocks share wants an atomic operation, not another index.
        Mistake::NoBlock(_) => plain(race.first.kind) && plain(race.second.kind),
    })
}

/// Whether a condition lets a thread through for a number that was chosen here.
fn is_let_in_by_callers(own: Executed<'_>, event: &Event) -> bool {
    let chosen = &own.run.chosen;
    let asks = |code| event.guards.iter().any(|guard| formula::asks_for(code, *guard, chosen));
    own.run.assumptions.is_some()
        && !chosen.is_empty()
        && !is_in_full_block(own.run, event)
        && own.code.is_some_and(asks)
}

/// Whether an access stands in the first block of a launch that has others behind it along each of its axes, by which the block's extent
/// does not change: all of its threads work for any larger number, too, and none of them far from the first.
fn is_in_full_block(run: &KernelRun, event: &Event) -> bool {
    let EventKind::OutOfBounds { access, .. } = &event.kind else { return false };
    let has_next = |axis: usize| run.block[axis] == 1 || run.grid[axis] > 1;
    run.block_known && run.grid_known && access.thread.block == [0; 3] && (0..3).all(has_next)
}

fn extent(extents: [u32; 3], axis: u8) -> Option<u32> {
    extents.get(usize::from(axis)).copied()
}

/// Whether the grid has another extent along `axis` than the block along `other`: else the formula is right by luck.
fn differ(run: &KernelRun, axis: u8, other: u8) -> bool {
    run.grid_known && extent(run.grid, axis) != extent(run.block, other)
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
fn is_update(own: Executed<'_>, race: &Race<'_>) -> bool {
    let update = |kind| matches!(kind, AccessKind::UpdateRead | AccessKind::UpdateWrite);
    if update(race.first.kind) && update(race.second.kind) && race.first.site == race.second.site {
        return true;
    }
    let plain = |kind| matches!(kind, AccessKind::Read | AccessKind::Write);
    plain(race.first.kind)
        && plain(race.second.kind)
        && race.first.kind != race.second.kind
        && race.first.calls == race.second.calls
        && is_spelled_out(own, race)
}

/// Whether a read and a write have the same text, and the write hangs on the read in one statement, or in its condition.
fn is_spelled_out(own: Executed<'_>, race: &Race<'_>) -> bool {
    let (read, write) = if race.first.kind.writes() { (race.second, race.first) } else { (race.first, race.second) };
    let text = |site: Site| own.project.text(site.module, site.span);
    // What a macro stands for has the place of its call, whatever it reads and writes.
    read.site != write.site
        && text(read.site) == text(write.site)
        && own.code.is_some_and(|code| updates::is_update(code, read.site, write.site))
}
