//! The words that the catalogue says of device code: operations on threads, memory and bits, with their scopes.

/// An operation of device code that the analysis of kernels knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum DeviceOp {
    BlockBarrier,
    BlockVote(Vote),
    NamedBarrier,
    WarpBarrier,
    ActiveMask,
    Assume,
    Fence(Scope),
    AsyncCopy,
    Trap,
    Print,
    Load,
    Store,
    Shuffle {
        how: Shuffle,
        masked: bool,
    },
    WarpVote {
        how: Vote,
        masked: bool,
    },
    Atomic {
        op: AtomicOp,
        scope: Scope,
    },
    Clock,
    Texture {
        writes: bool,
    },
    /// A random number from a state that changes: `curand` and its kind.
    Random,
    /// Counts or moves bits, or multiplies, numbers of this type.
    Bits {
        what: Bits,
        of: Number,
    },
    /// Converts a number.
    Convert {
        /// What it is taken for.
        from: Number,
        /// What it becomes.
        to: Number,
        /// How.
        rounding: Rounding,
    },
    /// The address in shared memory that a pointer means.
    SharedAddress,
    /// Nothing that matters here: it waits a while, or tells a tool.
    Nothing,
    /// The number of the thread in the grid, along as many axes as the argument says; or how many threads there are.
    Grid {
        /// How many.
        size: bool,
    },
    /// An array in the memory of the block.
    SharedArray,
    /// An array of the thread.
    LocalArray,
    /// An array of the host that the code holds.
    ConstantArray,
    /// Shared memory by the number of its elements.
    SharedMemory,
    /// A range that a loop runs over.
    Range,
    /// The thread's lane in its warp.
    Lane,
    /// The lanes below the thread's own, as a mask.
    LanesBelow,
    /// One of two values.
    Select,
    /// A product and a sum.
    MultiplyAdd,
    /// The next number from a state in memory.
    NextRandom,
    /// The threads of the grid, as a group.
    ThisGrid,
    /// The threads of the block, as a group.
    ThisBlock,
    /// A barrier of the group that is given.
    GroupBarrier,
}

impl DeviceOp {
    /// Whether the lanes of a warp do it together.
    pub const fn is_of_warp(&self) -> bool {
        matches!(self, Self::Shuffle { .. } | Self::WarpVote { .. } | Self::WarpBarrier | Self::ActiveMask)
    }
}

/// The types of numbers that functions take and give.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Number {
    Bool,
    Short,
    Ushort,
    Int,
    Uint,
    Long,
    Ulong,
    Half,
    Half2,
    Float,
    Double,
    Float2,
    Double2,
}

/// Which of two neighbours a number becomes that lies between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Rounding {
    Nearest,
    TowardsZero,
    Up,
    Down,
}

/// Operations on the bits of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Bits {
    PopCount,
    LeadingZeros,
    FirstSet,
    ReverseBits,
    Mul24,
    MulHigh,
    FunnelLeft,
    FunnelRight,
    PickBytes,
    SumOfDifference,
}

/// Among which threads something holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Scope {
    Thread,
    Block,
    Device,
    System,
}

/// Ways to vote and to reduce.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Vote {
    All,
    Any,
    Count,
    Ballot,
    MatchAny,
    MatchAll,
    /// A reduction whose value is not followed.
    Reduce,
}

/// Ways to shuffle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Shuffle {
    Index,
    Up,
    Down,
    Xor,
}

/// Atomic operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum AtomicOp {
    Add,
    Sub,
    Min,
    Max,
    And,
    Or,
    Xor,
    Inc,
    Dec,
    Exchange,
    CompareExchange,
    Load,
    Store,
}
