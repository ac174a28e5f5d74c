//! What a kernel is launched with, in numbers.

use cudalint_program::ir::ModuleId;
use cudalint_syntax::Span;
use std::ops::Range;
use std::sync::Arc;

/// A launch of a kernel whose [`crate::Code`] is at hand.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchInput {
    /// Blocks along x, y, z. 0 along an axis whose extent is not known: then `gridDim` is unknown there, and only the
    /// block with index 0 along it, which every grid has, is executed.
    pub grid: [u32; 3],
    /// Threads of a block along x, y, z; each at least 1, at most 1024 together.
    pub block: [u32; 3],
    /// Dynamic shared memory in bytes; `None` when it is not known.
    pub dynamic_shared: Option<u64>,
    /// Whether the grid was launched as a cooperative one; `None` when that is not known.
    pub cooperative: Option<bool>,
    /// One for each parameter of the kernel, in order; missing ones are unknown.
    pub arguments: Vec<Argument>,
    /// Memory that arguments (and `__device__`/`__constant__` variables) point to.
    pub buffers: Vec<Buffer>,
    /// What `__constant__` variables hold that the host has filled, each by its declaration.
    pub constants: Vec<((ModuleId, Span), Contents)>,
    /// Numbers for reads of memory that give nothing known and are the same for all threads of a block: each by
    /// the expression's number in the code.
    pub reads: Vec<(usize, i64)>,
}

/// A value handed to a kernel.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// Nothing is known.
    Unknown,
    /// An integer, already converted to the parameter's type.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// `nullptr`.
    Null,
    /// Into [`LaunchInput::buffers`], at a byte offset.
    Pointer {
        /// Which one.
        buffer: usize,
        /// Bytes from its start.
        offset: i64,
    },
    /// A record or a vector by value: the value at each byte offset that is known. What is not listed is unknown.
    Record(Vec<(u64, Argument)>),
}

/// A piece of memory that the host hands to the kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    /// Size in bytes; `None` when it is not known: then nothing in it is out of bounds.
    pub bytes: Option<u64>,
    /// What is in it before the launch.
    pub contents: Contents,
    /// Alignment of its first byte; 256 for what `cudaMalloc` gives.
    pub align: u32,
    /// Where a record's pointer leads to it: the way there from the parameter, as `.cells`. Else empty.
    pub field: String,
}

/// What memory holds before a launch.
#[derive(Clone, Debug, PartialEq)]
pub enum Contents {
    /// Something; nothing more is known.
    Unknown,
    /// Surely nobody wrote outside these byte ranges, which are in order and apart; what is inside them is unknown.
    WrittenOnly(Vec<Range<u64>>),
    /// Surely this byte everywhere (`cudaMemset` over the whole buffer).
    Filled(u8),
    /// Integers in a row, each of so many bytes (1, 2, 4, 8), from the first byte on; what follows them is unknown.
    /// Signed ones are kept sign-extended.
    Integers {
        /// Bytes of one.
        bytes: u8,
        /// Their values.
        values: Arc<[i64]>,
    },
}

/// How much work one launch may cost. Budgets count operations, never time, so that the same input gives the same
/// report on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Lane-operations: a vector operation over a block of 256 threads is 256.
    pub lane_operations: u64,
    /// Most blocks that are executed.
    pub blocks: u32,
    /// Iterations of one loop that are followed although they are expensive; then what it assigns becomes unknown.
    pub iterations: u32,
    /// Deepest nesting of calls.
    pub calls: u32,
}

impl Default for Budget {
    fn default() -> Self {
        Self { lane_operations: 300_000, blocks: 8, iterations: 12, calls: 12 }
    }
}
