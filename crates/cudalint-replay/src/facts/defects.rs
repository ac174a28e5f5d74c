//! What executions show to be wrong: each defect is of one kind.

use cudalint_kernel::readings::Formula;

/// A defect as one execution shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct DefectFact {
    /// What it is.
    pub defect: Defect,
    /// The execution: its position among those of the module.
    pub run: usize,
    /// What is reported: its position among the events of the execution.
    pub event: usize,
    /// Other events with the same cause, in the order of their places.
    pub alike: Vec<usize>,
    /// Other executions that show it at the same places, each with its event, a few of them.
    pub others: Vec<(usize, usize)>,
    /// The index formula that is the cause, for [`Defect::IndexFormula`].
    pub formula: Option<Formula>,
    /// How sure it is that a race, or a read of what nobody wrote, does harm.
    pub harm: Harm,
}

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

/// How sure it is that a race does harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Harm {
    /// Memory, or what is read of it, depends on who comes first.
    Surely,
    /// It would, if the data were not the same everywhere, as it is after a `cudaMemset`.
    WithOtherData,
    /// Both store the same, or values of which nothing is known, which are often the same.
    Perhaps,
    /// What is read goes nowhere: nothing that can be seen from outside the kernel hangs on it.
    Nowhere,
}
