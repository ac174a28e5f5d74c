//! Launches as the walk of host code finds them, and what the kernel's code says of itself.

use super::{Amount, Extent3, LaunchSpelling, ParameterFault, Pointer, Site};
use cudalint_program::Name;
use cudalint_program::ir::{FunctionId, ModuleId};
use cudalint_syntax::Span;

/// A launch at an event.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchFact {
    /// The kernel, where it is in sight: module and function.
    pub kernel: Option<(ModuleId, FunctionId)>,
    /// Its name as written.
    pub kernel_name: String,
    /// Blocks.
    pub grid: Extent3,
    /// Threads of a block.
    pub block: Extent3,
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
    /// What the kernel does with its threads, for this launch's template arguments.
    pub kernel_summary: Option<std::sync::Arc<KernelSummary>>,
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
}

/// What a kernel's code says of itself, without a launch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KernelSummary {
    /// Bytes of static shared memory; `None` when some size is out of sight.
    pub static_shared: Option<i64>,
    /// Dynamic shared arrays with name, element size and whether each is read or written (device functions called
    /// included).
    pub dynamic_shared: Vec<DynamicShared>,
    /// Parameters that the kernel (or a device function it hands them to) dereferences.
    pub dereferenced: Vec<u32>,
    /// Whether a block-wide barrier stands between accesses to different dynamic shared arrays: then the memory is
    /// used again on purpose.
    pub barrier_between_dynamic: bool,
    /// Bounds that the kernel tests its one-dimensional global index against, as `index < parameter`: the index of
    /// the parameter and the place. Only filled when the index is exactly `blockIdx.a * blockDim.a + threadIdx.a`,
    /// each thread handles exactly one element, and no loop strides by the grid.
    pub covers: Vec<CoverageClaim>,
    /// The configurations the kernel is sure to use: whether y or z of blockIdx/threadIdx occur.
    pub uses_axis: [bool; 3],
    /// Whether some part could not be read.
    pub incomplete: bool,
}

/// `if (i < n)` on a global index that is each thread's one element.
#[derive(Clone, Debug, PartialEq)]
pub struct CoverageClaim {
    /// 0, 1, 2 for x, y, z.
    pub axis: u8,
    /// Which parameter holds the bound; of a kernel in Python, which parameter of its code.
    pub parameter: u32,
    /// Added to the parameter: `i < n - 1` has -1.
    pub offset: i64,
    /// Place of the test.
    pub span: Span,
    /// No test says so: each thread writes its element of an array, whose data are this parameter of the code. That counts
    /// where nobody has written the array before.
    pub fills: Option<u32>,
}

/// A dynamic shared array of a kernel.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::struct_excessive_bools)] // Independent properties of its uses.
pub struct DynamicShared {
    /// Name.
    pub name: Name,
    /// Bytes of an element, when known.
    pub element: Option<i64>,
    /// Declaration.
    pub site: Site,
    /// First read or write through it.
    pub used: Option<Span>,
    /// Whether some access stands that every thread which runs the kernel at all reaches, or is guarded by thread and
    /// block indices only.
    pub surely_used: bool,
    /// Whether it is written.
    pub written: bool,
    /// Whether its address is only taken to carve other arrays out of it.
    pub carved: bool,
    /// Whether each access adds a constant to its index, and so leaves room for another array in front.
    pub shifted: bool,
}
