//! What a copy to the host reads of memory of the device, and who has written there before.

use super::{GivenTo, PointerArgument, Site};
use crate::quantity::{Assumptions, Quantity};
use cudalint_program::Name;
use cudalint_program::ir::{FunctionId, ModuleId};
use std::sync::Arc;

/// A copy to the host, and all who have written in the memory since it came into being.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadBackFact {
    /// The function called.
    pub api: Name,
    /// The memory, as the copy is given it.
    pub argument: PointerArgument,
    /// The first byte that is copied.
    pub from: i64,
    /// How many bytes are copied.
    pub bytes: i64,
    /// Ranges that the host's calls have written: start and length, both in bytes.
    pub filled: Vec<(Quantity, Quantity)>,
    /// Launches that were given the memory, in order.
    pub kernels: Vec<KernelWrite>,
    /// What all this rests on.
    pub assumptions: Assumptions,
    /// Bytes, from the memory's first one and behind their end, that are copied and that surely nobody has written: found once the
    /// kernels have been executed.
    pub unwritten: Vec<(i64, i64)>,
}

/// A launch that may write memory through one of its arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelWrite {
    /// The kernel.
    pub kernel: (ModuleId, FunctionId),
    /// The number of the parameter that leads to the memory.
    pub parameter: u32,
    /// The launch.
    pub site: Site,
    /// What tells it from other launches there.
    pub given: Arc<[GivenTo]>,
    /// Whether the kernel's code only reads through the parameter, whatever its type allows.
    pub only_reads: bool,
}
