//! Runs [`Code`] for one launch: all threads of a block in lock-step, block after block.
//!
//! A value is a vector of lanes, each known, named (equal names are equal values) or unknown; control flow is a vector
//! of lanes, each surely here, perhaps here, or away. Every cell of memory keeps who wrote and read it last, so that an
//! access is compared with the one before it: what no barrier parts, and what conflicts, is a race.

mod access;
mod answers;
mod barriers;
mod bit_functions;
mod bits;
mod calls;
mod cells;
mod control;
mod convert;
mod crowd;
mod distances;
mod divergence;
mod doubts;
mod events;
mod exprs;
mod figures;
mod flips;
mod holding;
mod indices;
mod intrinsics;
mod lanes;
mod local;
mod locks;
mod loops;
mod machine;
mod memory;
mod ops;
mod passing;
mod place;
mod python;
mod races;
mod reads;
mod record;
mod recorder;
mod relaxations;
mod relevance;
mod reporting;
mod rewrites;
mod scan;
mod shadow;
mod state;
mod suffixes;
mod sums;
mod sweep;
mod symbols;
mod touch;
mod uniform;
mod value;
mod warp;
mod watch;
mod widen;

use crate::code::Code;
use crate::figures::Figures;
use crate::indices::{IndexRange, ranges, unknown_indices};
use crate::launch::{Budget, LaunchInput};
use crate::readings::doubles::doubles;
use crate::report::{Event, ExecutionReport, OpenCondition, Reach};
pub use uniform::ASSUMED_ROUNDS;

/// Executes a launch: the blocks that matter, as far as the budget goes.
pub fn execute(code: &Code, launch: &LaunchInput, budget: &Budget) -> ExecutionReport {
    execute_assuming(code, launch, budget, &[])
}

/// Executes a launch for what its requests and barriers cost.
pub fn figures(code: &Code, launch: &LaunchInput, budget: &Budget) -> Figures {
    if code.functions.is_empty() || launch.block.contains(&0) {
        return Figures::default();
    }
    let mut machine = machine::Machine::new(code, launch, budget);
    machine.record_figures();
    Figures { doubles: doubles(code), ..machine.run_grid_for_figures() }
}

/// Executes a launch for the values of its subscripts, in the order of their places: of those that some thread comes to, or, where
/// that is not known, of all.
pub fn index_ranges(code: &Code, launch: &LaunchInput, budget: &Budget) -> Vec<IndexRange> {
    let threads = launch.block.iter().map(|size| u64::from(*size)).product::<u64>();
    let whole = !code.functions.is_empty() && !code.damaged && code.gaps.is_empty();
    if !whole || launch.grid.contains(&0) || !(1..=1024).contains(&threads) {
        return unknown_indices(code);
    }
    let mut machine = machine::Machine::new(code, launch, budget);
    machine.record_indices();
    match machine.run_grid_for_indices() {
        Some((seen, every)) => ranges(code, launch, &seen, every),
        None => unknown_indices(code),
    }
}

/// As [`execute`], with the first answers to some conditions assumed: of a loop, [`ASSUMED_ROUNDS`] rounds.
pub fn execute_assuming(
    code: &Code,
    launch: &LaunchInput,
    budget: &Budget,
    conditions: &[OpenCondition],
) -> ExecutionReport {
    if code.functions.is_empty() || launch.block.contains(&0) {
        return ExecutionReport::default();
    }
    let (mut report, _) = run(code, launch, budget, conditions, watch::Watch::Nothing);
    if code.gaps.is_empty() {
        relevance::can_be_asked(&mut report, launch, budget, conditions);
    }
    report
}

/// Where goes what is read in a suspicious event of an execution of this code: it may take more executions to find out.
pub fn reach(code: &Code, event: &Event) -> Reach {
    relevance::reach(event, |again, watch| run(code, &again.launch, &again.budget, &again.conditions, watch))
}

fn run(
    code: &Code,
    launch: &LaunchInput,
    budget: &Budget,
    conditions: &[OpenCondition],
    watch: watch::Watch,
) -> (ExecutionReport, watch::Watch) {
    let mut machine = machine::Machine::new(code, launch, budget);
    machine.uniform.assume(conditions);
    machine.watch = watch;
    machine.run_grid()
}
