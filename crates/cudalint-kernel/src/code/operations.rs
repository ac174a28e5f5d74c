//! The operations that the executor knows by meaning: barriers, warp operations, atomics, copies, arithmetic of the library.

use crate::report::{AccessKind, Site};
pub use cudalint_program::api::effects::{AtomicOp, Bits, Scope, Shuffle, Vote};
use std::sync::Arc;

/// Operations with a meaning that the executor knows. Operands in the order of the C++ call unless said otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Intrinsic {
    /// A barrier of the whole block: `__syncthreads()`, `cta.sync()`, `bar.sync 0`.
    BlockBarrier,
    /// `__syncthreads_and(x)`, `_or`, `_count`: a barrier whose result is equal in all threads.
    BlockVote(Vote),
    /// `bar.sync id, count`, `barrier.sync`: operands are the id and, where given, the count of threads.
    NamedBarrier,
    /// `bar.arrive id, count`: arrives without waiting.
    NamedArrive,
    /// `__syncwarp(mask)`; the mask may be missing.
    WarpBarrier,
    /// `grid.sync()`.
    GridBarrier,
    /// `group.sync()` of a group whose make-up is not known: some threads are ordered, nobody knows which.
    UnknownBarrier,
    /// `tile.sync()` of a tile of so many lanes (at most 32).
    TileBarrier(u8),
    /// `coalesced.sync()`: the lanes that are active.
    CoalescedBarrier,
    /// Arrival at and waiting for a `cuda::barrier`, pipeline or `mbarrier` in shared memory whose participants are the
    /// whole block (`wait`, `arrive_and_wait`); orders what was done before the arrival against what comes after.
    BarrierObjectWait,
    /// The arrival alone.
    BarrierObjectArrive,
    /// `__shfl_sync` and its kin: mask, value, lane or delta, width (32 when missing). The result of a lane that reads
    /// an inactive one is unknown. Without mask (`__shfl`): the mask operand is missing and `masked` false.
    Shuffle {
        /// Which.
        kind: Shuffle,
        /// Whether the first operand is a mask.
        masked: bool,
    },
    /// `__ballot_sync`, `__any_sync`, `__all_sync`, `__match_*`, `__reduce_*_sync`: mask, value.
    WarpVote {
        /// Which.
        kind: Vote,
        /// Whether the first operand is a mask.
        masked: bool,
    },
    /// `__activemask()`.
    ActiveMask,
    /// `__threadfence*()`, `atomic_thread_fence`: scope.
    Fence(Scope),
    /// An atomic operation: the first operand is the address, the others its values; returns the old value.
    Atomic {
        /// Which.
        op: AtomicOp,
        /// Among whom it is atomic.
        scope: Scope,
        /// Bytes of what it changes.
        bytes: u8,
        /// Whether it orders other accesses, as those of `cuda::atomic` do; CUDA's functions are relaxed.
        ordered: bool,
    },
    /// `memcpy_async`, `__pipeline_memcpy_async`, `cp.async`: destination, source, bytes, performed by this thread, visible
    /// to it after a wait and to the others after a barrier behind that.
    AsyncCopy,
    /// The same done by the whole group together (`cg::memcpy_async(block, …)`).
    GroupAsyncCopy,
    /// `memcpy(dst, src, bytes)` in device code.
    Copy,
    /// `memset(dst, value, bytes)` in device code.
    Set,
    /// `wmma::load_matrix_sync`: the address of a tile and the elements from one of its rows (or columns) to the next; the
    /// node's type is that of an element. The lanes of a warp read it together, after whatever they did before.
    TileLoad,
    /// `wmma::store_matrix_sync`: the same, written.
    TileStore,
    /// `__ldg(p)`, `__ldcg(p)` and the like: a read of the node's type. One operand.
    LoadCached,
    /// `__stcg(p, v)` and the like.
    StoreCached,
    /// `min`, `max`, `abs` on integers and floats, operands converted to the node's type.
    Min,
    /// See [`Intrinsic::Min`].
    Max,
    /// See [`Intrinsic::Min`].
    Abs,
    /// `__popc`, `__clz` and the like: computed from the bits of operands that have the type which the function takes.
    Bits(Bits),
    /// `floor`, `ceil`, `trunc`, `rint`, `sqrt`, `log2`, `pow` and the like on floats: the function's name. Known where all
    /// operands are.
    FloatMath(FloatMath),
    /// `assert(x)`, `__builtin_assume(x)`: lanes where it is false do not go on.
    Assume,
    /// `__trap()`, `__builtin_unreachable()`, `asm("exit;")`, `asm("trap;")`: lanes leave the kernel.
    Exit,
    /// The rank of a thread in a group of the kind.
    GroupRank(Group),
    /// The number of threads in a group of the kind.
    GroupSize(Group),
    /// Operations of a block-wide library primitive (CUB) with its temporary storage: the operands are the address of the
    /// storage, then what else is passed. It reads and writes the storage by all threads, with barriers inside but none
    /// at its end; the value is unknown.
    BlockPrimitive,
    /// The same for a warp's.
    WarpPrimitive,
    /// Bytes of dynamic shared memory that the launch gives.
    DynamicSharedBytes,
    /// Python's `%` on integers: the remainder has the divisor's sign.
    FloorRem,
    /// An index of Numba's along an axis: index and extent. A negative one has the extent added, once.
    WrapIndex {
        /// The array as the code names it.
        array: Arc<str>,
        /// Which axis.
        axis: u8,
        /// What is done with the element.
        access: AccessKind,
        /// The whole subscript.
        element: Site,
        /// Whether it is written as a position from the end: `a[-i]`.
        from_end: bool,
    },
    /// `printf` and the like: operands are evaluated.
    Print,
}

impl Intrinsic {
    /// Whether threads of a block wait here for others of it, or say that they have come so far.
    pub const fn is_meeting(&self) -> bool {
        matches!(
            self,
            Self::BlockBarrier
                | Self::BlockVote(_)
                | Self::NamedBarrier
                | Self::NamedArrive
                | Self::WarpBarrier
                | Self::GridBarrier
                | Self::UnknownBarrier
                | Self::TileBarrier(_)
                | Self::CoalescedBarrier
                | Self::BarrierObjectWait
                | Self::BarrierObjectArrive
                | Self::BlockPrimitive
                | Self::WarpPrimitive
        )
    }
}

/// Groups of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Group {
    /// `this_thread_block()`.
    Block,
    /// `this_grid()`.
    Grid,
    /// A tile of so many lanes.
    Tile(u8),
    /// `coalesced_threads()`.
    Coalesced,
    /// `this_thread()`.
    Thread,
}

/// Functions on floats that are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum FloatMath {
    Floor,
    Ceil,
    Trunc,
    Round,
    Rint,
    Sqrt,
    Log2,
    Log,
    Exp2,
    Exp,
    Pow,
    Fmod,
    /// The sum of a product of two and a third, rounded once.
    Fma,
}
