//! What host code does that only costs time.

use super::{Site, Step};
use crate::quantity::Assumptions;
use cudalint_program::api::ApiId;
use cudalint_program::ir::FunctionId;
use cudalint_syntax::Span;

/// A wait for the device whose status nobody reads, directly before a copy that waits by itself, in a function whose launches
/// are all in the stream that every program has.
#[derive(Clone, Debug, PartialEq)]
pub struct RedundantWait {
    /// The host function.
    pub function: FunctionId,
    /// What waits.
    pub api: ApiId,
    /// The call that waits.
    pub wait: Span,
    /// The copy behind it.
    pub copy: Span,
}

/// An array of the host that several launches of Numba's kernels, or one in a loop, copy to the device and back, although nothing
/// looks at it between.
#[derive(Clone, Debug, PartialEq)]
pub struct ImplicitTransfer {
    /// The argument.
    pub site: Site,
    /// The host function.
    pub function: FunctionId,
    /// The kernel.
    pub kernel: String,
    /// The array, as it is written.
    pub array: String,
    /// The launches that are given it, in order.
    pub launches: Vec<Span>,
    /// Whether they stand in a loop in which the array is not made.
    pub looped: bool,
    /// Where the array is made.
    pub made: Site,
    /// What it rests on.
    pub assumptions: Assumptions,
    /// The way there.
    pub path: Vec<Step>,
}
