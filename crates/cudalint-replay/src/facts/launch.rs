//! Launches as the walk of host code finds them.

use super::{Amount, Extent3, LaunchSpelling, ParameterFault, Pointer, Site};
use cudalint_program::ir::{FunctionId, ModuleId};
use cudalint_syntax::Span;

/// A launch at an event.
#[allow(clippy::struct_excessive_bools)] // Each is so by itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LaunchFact {
    /// The kernel, where it is in sight: module and function.
    pub kernel: Option<(ModuleId, FunctionId)>,
    /// Its name as written.
    pub kernel_name: String,
    /// Blocks.
    pub grid: Extent3,
    /// Threads of a block.
    pub block: Extent3,
    /// Whether the block is what a caller gives the function around, and callers are in the project.
    pub block_by_caller: bool,
    /// Whether the walk began in another function than `main`, so that its parameters are whoever calls it's to relate.
    pub for_callers: bool,
    /// Dynamic shared bytes; known 0 when not given.
    pub shared: Amount,
    /// Whether a third configuration argument was written.
    pub shared_written: bool,
    /// The largest dynamic shared size that the host has asked for with `cudaFuncSetAttribute` for this kernel before
    /// this launch; `Unknown` when it may have been set out of sight.
    pub shared_opt_in: Amount,
    /// Arguments.
    pub args: Vec<LaunchArgument>,
    /// What each parameter of the kernel is given, in order; empty where the kernel is not in sight.
    pub given: Vec<crate::given::Given>,
    /// What `__constant__` variables hold that copies have filled, each by its declaration.
    pub constants: Vec<(Site, std::sync::Arc<crate::given::Held>)>,
    /// What the kernel's template parameters stand for; those that nothing tells are bound to nothing known.
    pub env: cudalint_program::types::TypeEnv,
    /// Whether the grid is launched as a cooperative one; `None` when that cannot be told.
    pub cooperative: Option<bool>,
    /// Whether it is `<<<…>>>`.
    pub chevron: bool,
    /// How it is written.
    pub spelling: LaunchSpelling,
    /// The types that a kernel written in Python is compiled for; then [`Self::given`] has one entry for each parameter of
    /// its code ([`cudalint_kernel::python::parameters`]).
    pub python: Option<std::sync::Arc<cudalint_kernel::python::Specialization>>,
    /// The configuration's place.
    pub config_span: Span,
    /// `__launch_bounds__` of the kernel for this launch's template arguments.
    pub launch_bounds: Option<Amount>,
    /// What the kernel's code says of itself, for this launch's template arguments; known once the kernels were executed.
    pub kernel_summary: Option<std::sync::Arc<cudalint_kernel::readings::KernelSummary>>,
    /// Of each parameter of the kernel whether it is a `__restrict__` pointer.
    pub restricted: Vec<bool>,
    /// Parameters of the kernel that are not plain data, for this launch's template arguments.
    pub parameter_faults: Vec<ParameterFault>,
    /// Whether the block's size is written as a division by the grid's (`threads, (n + threads - 1) / threads`), with
    /// the place of that division: then the two were probably swapped.
    pub block_divided_by_grid: Option<Site>,
}

/// A kernel argument at a launch.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchArgument {
    /// As written.
    pub text: String,
    /// Its place.
    pub span: Span,
    /// As an integer.
    pub amount: Amount,
    /// As a pointer, when its type or value says it is one.
    pub pointer: Option<Pointer>,
    /// Where the host array is made that is copied to the device and back for this launch, if it is one.
    pub copied: Option<Site>,
}
