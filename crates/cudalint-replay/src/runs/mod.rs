//! Kernels executed as the host program launches them: which launches, with which numbers, and what came out.
//!
//! ```text
//!  events of all modules ──collect──► launches by kernel ──numbers──► cudalint_kernel::LaunchInput ──► ExecutionReport ──► KernelRun
//! ```
//!
//! A kernel is executed with facts first: whatever rests on an assumption or on a free input is unknown then, and what
//! happens is sure. Only where that leaves something open is it executed again with one stated assignment; what that
//! shows beyond the first is *likely*, and names the assignment.

mod account;
mod accounts;
mod alike;
mod binding;
mod checked;
mod choose;
mod collect;
mod computed;
mod counts;
mod crossings;
pub mod defects;
mod execute;
mod extents;
mod guess;
mod numbers;
mod origin;
mod read_back;
mod record;
mod repetitions;
mod shows;
mod solve;
mod summaries;
mod switched_off;
mod tied;
mod uniform;
mod unlaunched;
mod written;

pub use accounts::{AccessAccount, Blindness, IndexAccount, KernelAccount, LaunchAccount};
pub use collect::{ModuleLaunches, collect};
pub use counts::Counts;
pub use cudalint_kernel::Values;
pub use cudalint_kernel::figures::{Figures, Requests};
pub use cudalint_kernel::readings::Unguarded;
pub use cudalint_kernel::readings::absence;
pub use cudalint_kernel::readings::doubles::Doubled;
pub use cudalint_kernel::report;
pub use execute::{Asked, Kept, ModuleRuns, execute, execute_asked};
pub use summaries::hand_out;
pub use uniform::whole;

use crate::facts::{Buffer, GivenTo, LaunchSpelling, Site, Step};
use crate::quantity::Assumptions;
use cudalint_kernel::report::ExecutionReport;
use cudalint_program::ir::{FunctionId, ModuleId};
use std::sync::Arc;

/// What an execution rests on, the surest last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Basis {
    /// A block that was guessed, and nothing else.
    GuessedBlock,
    /// A launch in sight, with an assumption.
    Assumption,
    /// Facts, but only of the first block of a grid that is not known.
    FirstBlock,
    /// Facts.
    Facts,
}

/// One execution of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelRun {
    /// The kernel.
    pub kernel: (ModuleId, FunctionId),
    /// Its name, with the template arguments that this run has: `reduce<256>`.
    pub name: String,
    /// The launch as written; `None` for a kernel whose launch is not in sight.
    pub launch: Option<Site>,
    /// All launches with these numbers, each with what it is given.
    pub launched: Vec<(Site, Vec<GivenTo>)>,
    /// What it rests on.
    pub basis: Basis,
    /// The functions whose code it has, by their names' places; the kernel first.
    pub functions: Arc<[Site]>,
    /// How the launch is written, or would be.
    pub spelling: LaunchSpelling,
    /// Blocks along x, y, z; 1 along an axis that is not known.
    pub grid: [u32; 3],
    /// Whether the grid is known. Else only what its first block does was looked at, which it does in every grid.
    pub grid_known: bool,
    /// Threads of a block along x, y, z.
    pub block: [u32; 3],
    /// Whether the source alone says so, whatever numbers were chosen.
    pub block_known: bool,
    /// Dynamic shared memory in bytes, where known.
    pub dynamic_shared: Option<u64>,
    /// Parameters of the kernel with an integer, and inputs that were chosen, by their names: `n` is 513.
    pub bindings: Vec<(String, i64)>,
    /// Integer parameters with a value that was chosen, on which no size and no part of the configuration depends.
    pub free: Vec<String>,
    /// How many inputs the conditions on the way to the launch give a value: `case 8:` of one and `case 16:` of another. Whether
    /// a caller ever gives two of them together is not known.
    pub decided: usize,
    /// Inputs with a value that was chosen, by their names: `n`, `a.shape[0]`.
    pub chosen_inputs: Vec<String>,
    /// Whether each launch with these numbers stands in a called function under a condition that nothing decides: what callers gave
    /// may be what decides it.
    pub perhaps_not_reached: bool,
    /// All integer parameters with a value that was chosen.
    pub chosen: Vec<String>,
    /// The memory that the report's buffer numbers mean.
    pub buffers: Vec<RunBuffer>,
    /// What the numbers rest on: empty when all of them follow from the source. An assignment of inputs is one
    /// assumption: `n = 513`.
    pub assumptions: Assumptions,
    /// The way to the launch.
    pub path: Vec<Step>,
    /// Other ways to a launch with these numbers, a few of them.
    pub ways: Vec<Vec<Step>>,
    /// What the kernel was executed with.
    pub input: cudalint_kernel::LaunchInput,
    /// What happened.
    pub report: ExecutionReport,
    /// Accesses behind conditions that hold for every index, where the launch is in sight and rests on facts.
    pub unguarded: Vec<Unguarded>,
    /// What its requests and barriers cost; only where somebody asks.
    pub figures: Option<Figures>,
}

impl KernelRun {
    /// Whether every step of all threads of the blocks that were executed was followed: no condition and no address was
    /// open, and nothing was cut short. What such a run does not show does not happen in these blocks.
    pub fn is_whole(&self) -> bool {
        let seen = &self.report.coverage;
        let open = !seen.open.is_empty() || !seen.unplaced.is_empty() || !seen.causes.is_empty();
        self.grid_known && seen.complete && seen.known == seen.accesses && !open
    }

    /// Places in the source that it shows at work: functions by their names, the launch, and the allocations handed to it.
    pub fn places(&self) -> impl Iterator<Item = Site> + '_ {
        let functions = self.functions.iter().copied();
        let allocations = self.buffers.iter().filter_map(|buffer| Some(buffer.allocation.as_ref()?.site));
        functions.chain(self.launch).chain(allocations)
    }
}

/// Memory that a kernel was given.
#[derive(Clone, Debug, PartialEq)]
pub struct RunBuffer {
    /// The kernel's parameter that points to it first.
    pub parameter: String,
    /// The launch argument as written.
    pub argument: String,
    /// The allocation, where it is in sight.
    pub allocation: Option<Buffer>,
    /// Whether the run's places in it count from where the allocation begins; else from where the pointer leads, wherever that is.
    pub from_start: bool,
    /// Size in bytes, for this run.
    pub bytes: Option<u64>,
}
