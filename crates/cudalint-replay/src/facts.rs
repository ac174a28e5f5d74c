//! Facts: what the replay saw. Rules read these and nothing else of the program.

mod python;

pub use python::{ArrayShape, CopyProblem, LaunchSpelling, PythonFault, PythonFaultKind, TypeProblem};

use crate::value::{Assumptions, Comparison, Condition, Quantity};
use cudalint_program::Name;
use cudalint_program::ir::{FunctionId, ModuleId};
use cudalint_syntax::Span;

/// A place in the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site {
    /// The module.
    pub module: ModuleId,
    /// The bytes.
    pub span: Span,
}

/// A step on the way to an event, in words that name values: "`bytes` is 4096", "called from `main`".
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Where.
    pub site: Site,
    /// What.
    pub note: String,
}

/// Identity of an allocation within one walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BufferId(pub u32);

/// Where memory lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemorySpace {
    /// `malloc`, `new`, locals, globals, container storage.
    Host,
    /// `cudaMallocHost`, `cudaHostAlloc`, registered memory: readable from the device under unified addressing.
    Pinned,
    /// `cudaMalloc` and its family, `__device__` and `__constant__` variables.
    Device,
    /// `cudaMallocManaged`, `__managed__`.
    Managed,
}

/// An integer with what it rests on. Shown, it is in the names of the source where that can be said: `4 * n`,
/// `4194304`. Most amounts are never shown, so that no text is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Amount {
    /// The value.
    pub quantity: Quantity,
    /// What it rests on.
    pub assumptions: Assumptions,
}

impl std::fmt::Display for Amount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.quantity.fmt(f)
    }
}

/// An allocation, or an object that stands for one (a local array, a vector's storage).
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    /// Identity.
    pub id: BufferId,
    /// Where it lives.
    pub space: MemorySpace,
    /// Size in bytes.
    pub bytes: Amount,
    /// The name it is known by at its allocation: the variable assigned.
    pub name: Name,
    /// The call or declaration.
    pub site: Site,
    /// The API that made it (`cudaMalloc`), or `local`, `global`, `vector`, `new`, `malloc`.
    pub api: Name,
    /// Bytes of one element of the pointer it was first assigned to; `None` when unknown or `void`.
    pub element: Option<i64>,
    /// Whether it has been freed (surely) before this event.
    pub freed: bool,
    /// Its elements, for an array of Python.
    pub array: Option<std::sync::Arc<ArrayShape>>,
}

/// A pointer at an event.
#[derive(Clone, Debug, PartialEq)]
pub enum Pointer {
    /// Into a buffer, at a byte offset.
    Into {
        /// The buffer.
        buffer: Buffer,
        /// Bytes from its start.
        offset: Amount,
    },
    /// Surely null.
    Null,
    /// A variable that surely nobody has given a value: its name and declaration.
    Uninitialized {
        /// Its name.
        name: Name,
        /// Its declaration.
        declared: Site,
    },
    /// Into device, host, … memory whose allocation is not in sight but whose space is known for sure.
    Somewhere {
        /// The space.
        space: MemorySpace,
        /// How that is known, for a message.
        why: String,
    },
    /// Nothing is known.
    Unknown,
}

/// What an event's pointer argument looks like in the source.
#[derive(Clone, Debug, PartialEq)]
pub struct PointerArgument {
    /// What it points to.
    pub pointer: Pointer,
    /// As written.
    pub text: String,
    /// Its place.
    pub span: Span,
    /// Size in bytes of what its static type points to; `None` for `void*` and unknown types.
    pub element: Option<i64>,
    /// The name of that type, for messages: `float`.
    pub element_name: String,
}

/// `cudaMemcpyKind`, where it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum CopyKind {
    HostToHost,
    HostToDevice,
    DeviceToHost,
    DeviceToDevice,
    Default,
    Unknown,
}

impl CopyKind {
    /// By its number in `cudaMemcpyKind`, CUDA Runtime API.
    pub(crate) const fn by_number(number: Option<i64>) -> Self {
        match number {
            Some(0) => Self::HostToHost,
            Some(1) => Self::HostToDevice,
            Some(2) => Self::DeviceToHost,
            Some(3) => Self::DeviceToDevice,
            Some(4) => Self::Default,
            _ => Self::Unknown,
        }
    }
}

/// How a byte count is written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CountShape {
    /// As written.
    pub text: String,
    /// Its place.
    pub span: Span,
    /// `sizeof` factors found in the expression that computes it (definitions of local variables followed), each with
    /// its value in bytes and its text, once per factor of the product; empty when there is none.
    pub sizeofs: Vec<(i64, String)>,
    /// Whether a `sizeof` was applied to a pointer, with the pointer's text.
    pub sizeof_pointer: Option<String>,
    /// Whether any part of the computation is out of sight (a call, a field; a parameter, unless the memory was
    /// allocated in the same function): then the absence of a `sizeof` says nothing.
    pub opaque: bool,
}

/// Three extents of a launch, each in its own right.
#[derive(Clone, Debug, PartialEq)]
pub struct Extent3 {
    /// Along x, y, z.
    pub axes: [Amount; 3],
    /// As written.
    pub text: String,
    /// Its place.
    pub span: Span,
}

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
    /// Whether some access stands where every thread that runs the kernel at all comes by, or is guarded by thread and
    /// block indices only.
    pub surely_used: bool,
    /// Whether it is written.
    pub written: bool,
    /// Whether its address is only taken to carve other arrays out of it.
    pub carved: bool,
    /// Whether each access adds a constant to its index, and so leaves room for another array in front.
    pub shifted: bool,
}

/// Something that happened on a path of host code.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// What.
    pub kind: EventKind,
    /// Where: the call as written.
    pub site: Site,
    /// The host function whose code this is.
    pub function: (ModuleId, FunctionId),
    /// The way there: entry function, calls, and the definitions that give the values.
    pub path: Vec<Step>,
    /// What reaching this point rests on (default arguments, chosen branches): empty for facts.
    pub assumptions: Assumptions,
    /// What the branches taken, and checks passed, say of the inputs.
    pub conditions: Vec<Condition>,
    /// Whether it stands under a condition of its own function that nothing decides: then that condition may be about
    /// the very values that this event uses.
    pub conditional: bool,
}

impl Event {
    /// Whether `a > b` here: inputs are chosen only such that the path's conditions hold.
    pub fn exceeds(&self, a: &Quantity, b: &Quantity) -> Comparison {
        a.exceeds_where(b, &self.conditions)
    }
}

/// Kinds of events.
#[derive(Clone, Debug, PartialEq)]
pub enum EventKind {
    /// Memory is allocated.
    Allocate {
        /// What comes into being.
        buffer: Buffer,
        /// How the size argument is written.
        count: CountShape,
        /// The variable that receives the pointer, as written.
        pointer_text: String,
        /// Bytes of one element of the pointer's type, where known.
        element: Option<i64>,
        /// That type, as written.
        element_name: String,
    },
    /// Memory is freed.
    Free {
        /// The function called.
        api: Name,
        /// What is freed.
        argument: PointerArgument,
    },
    /// A linear copy: `cudaMemcpy` and its family, to and from symbols included.
    Copy {
        /// The function called.
        api: Name,
        /// Where to.
        destination: PointerArgument,
        /// Where from.
        source: PointerArgument,
        /// How many bytes.
        bytes: Amount,
        /// How the size argument is written.
        count: CountShape,
        /// The direction.
        kind: CopyKind,
        /// Where the direction is written.
        kind_span: Option<Span>,
        /// Whether the call returns before the copy is done.
        asynchronous: bool,
    },
    /// `cudaMemset` and its family: `unit` is the bytes of one set element (1 for cudaMemset, 4 for cuMemsetD32).
    Set {
        /// The function called.
        api: Name,
        /// What is set.
        destination: PointerArgument,
        /// The value of each element.
        value: Amount,
        /// As written.
        value_text: String,
        /// Where it is written.
        value_span: Span,
        /// How many bytes.
        bytes: Amount,
        /// How the size argument is written.
        count: CountShape,
        /// Bytes of one element.
        unit: i64,
    },
    /// A kernel launch.
    Launch(Box<LaunchFact>),
    /// Host code reads or writes through a pointer: `*p`, `p[i]`, `p->x`, `memcpy(p, …)`, `printf("%s", p)`.
    HostAccess {
        /// The pointer.
        argument: PointerArgument,
        /// Whether it is written through.
        write: bool,
    },
}

/// What becomes of the status of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StatusUse {
    /// Dropped in statement position, or stored and never read before it is overwritten or dies.
    Dropped,
    /// Cast to void: explicit.
    Voided,
    /// Compared, returned, handed to a checker or to code out of sight, stored where others can read it.
    Consumed,
}

/// How much a dropped status matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StatusWeight {
    /// Allocations, copies, synchronizations, library calls: warn.
    Matters,
    /// Frees, destroys, resets, queries: info.
    Teardown,
}

/// One call that returns a status.
#[derive(Clone, Debug, PartialEq)]
pub struct StatusCall {
    /// The function called.
    pub api: Name,
    /// The library: `CUDA runtime`, `cuBLAS`.
    pub library: &'static str,
    /// The call.
    pub span: Span,
    /// What becomes of the status.
    pub usage: StatusUse,
    /// How much it matters.
    pub weight: StatusWeight,
    /// The variable it was stored in, when [`StatusUse::Dropped`] after an assignment.
    pub stored: Option<Name>,
}

/// What becomes of a launch's own error.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchStatus {
    /// The launch.
    pub span: Span,
    /// The kernel as written.
    pub kernel: String,
    /// Whether on every path a checked `cudaGetLastError`/`cudaPeekAtLastError` (by whatever wrapper) follows before
    /// the function's next launch of another statement list, or code out of sight may do so.
    pub checked: bool,
    /// Whether only a later checked synchronizing call sees it.
    pub only_by_sync: bool,
    /// Whether such a check follows on some paths, but not on all.
    pub checked_on_some_path: bool,
    /// When [`Self::checked`] only because functions out of sight might check it, though their names do not say so:
    /// these functions.
    pub unseen: Vec<Name>,
}

/// Error handling of one host function.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionStatus {
    /// The function.
    pub function: FunctionId,
    /// Calls with a status, in order.
    pub calls: Vec<StatusCall>,
    /// Launches, in order.
    pub launches: Vec<LaunchStatus>,
    /// The last launch after which nothing checked synchronizes on some path to the function's end, when the function
    /// is `main` or frees or reads the launch's results itself; with the dropped synchronizing call where there is one.
    pub unobserved: Option<Unobserved>,
    /// A macro by which this function (or else another of its module) checks statuses of the CUDA runtime.
    pub wrapper: Option<Name>,
    /// Whether the grammar lost part of the function: what is said of it is *likely* at best.
    pub damaged: bool,
}

/// An asynchronous error that nobody can see.
#[derive(Clone, Debug, PartialEq)]
pub struct Unobserved {
    /// The launch; `None` where it is elided but a synchronizing call's status is dropped.
    pub launch: Option<Span>,
    /// A synchronizing call whose status is dropped.
    pub dropped_sync: Option<(Name, Span)>,
}

/// A macro or function that checks statuses, recognized by its body.
#[derive(Clone, Debug, PartialEq)]
pub struct Checker {
    /// Its name.
    pub name: Name,
    /// The definition.
    pub site: Site,
    /// What is wrong with it, if anything.
    pub defects: Vec<CheckerDefect>,
}

/// Ways in which a checker fails its purpose.
#[derive(Clone, Debug, PartialEq)]
pub enum CheckerDefect {
    /// The call itself stands inside `assert`, which `NDEBUG` removes.
    CallInsideAssert {
        /// The `assert`.
        span: Span,
    },
    /// The parameter is evaluated again on the failure path or outside any test.
    EvaluatesTwice {
        /// The second evaluation.
        span: Span,
    },
    /// In some configuration (`NDEBUG`, `#ifdef DEBUG`) the macro expands to nothing, call included.
    CompiledOut {
        /// The configuration.
        condition: String,
        /// The empty definition.
        span: Span,
    },
    /// It reads the last error twice: the first read clears it, so the second prints "no error".
    ReadsLastErrorTwice {
        /// The read that clears it.
        first: Span,
        /// The read that comes too late.
        second: Span,
    },
}

/// A call that the execution spaces forbid.
#[derive(Clone, Debug, PartialEq)]
pub struct SpaceFault {
    /// The function that calls.
    pub caller: FunctionId,
    /// The call's callee as written.
    pub span: Span,
    /// What is called.
    pub callee: String,
    /// Where it is defined; `None` for names of the CUDA headers and the standard library.
    pub declared: Option<Site>,
    /// What is wrong.
    pub kind: SpaceFaultKind,
}

/// Ways in which a call crosses execution spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpaceFaultKind {
    /// Device code calls a function that exists on the host only.
    DeviceCallsHost,
    /// Host code calls a function that exists on the device only.
    HostCallsDevice,
    /// A kernel is called like a function, without a launch configuration.
    KernelCalled,
}

/// A kernel parameter whose type does not survive the bytewise copy to the device.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterFault {
    /// The kernel.
    pub kernel: FunctionId,
    /// Which parameter.
    pub parameter: u32,
    /// The type as written.
    pub type_name: String,
    /// What is wrong.
    pub kind: ParameterFaultKind,
}

/// Ways in which a kernel parameter's type is not plain data.
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterFaultKind {
    /// A reference: the device would follow a host address.
    Reference,
    /// A host container (`std::vector`, `std::string`): its data stay on the host.
    HostContainer,
    /// The class has virtual functions: the copy's table points to host code.
    Virtual {
        /// The class that declares them.
        class: Site,
    },
    /// The destructor releases what the copy shares with the original, and no copy constructor prevents it.
    ReleasesOnCopy {
        /// The destructor.
        destructor: Site,
        /// The call that releases, as written.
        releases: String,
    },
}

/// All that is known about one module after the replay.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// Events in the order of their sites, each site's distinct outcomes once.
    pub events: Vec<Event>,
    /// Error handling by function.
    pub status: Vec<FunctionStatus>,
    /// Checkers defined in this module.
    pub checkers: Vec<Checker>,
    /// Kernels of this module with their summaries.
    pub kernels: Vec<(FunctionId, std::sync::Arc<KernelSummary>)>,
    /// Kernels of this module executed, in the order of the kernels, those that rest on nothing but facts first.
    pub runs: Vec<crate::runs::KernelRun>,
    /// How many launches of this module's kernels that were, and why not more.
    pub run_counts: crate::runs::Counts,
    /// Calls across execution spaces, in order.
    pub space_faults: Vec<SpaceFault>,
    /// Kernel parameters that are not plain data, in order.
    pub parameter_faults: Vec<ParameterFault>,
    /// Kernels of this module in Python with the types that they are made for, as far as they themselves say, and what they
    /// take from the module.
    pub python_kernels: Vec<(FunctionId, std::sync::Arc<cudalint_kernel::python::Specialization>)>,
    /// What goes wrong between Python host code and its kernels, in the order of the sites.
    pub python: Vec<PythonFault>,
    /// What was cut short, by cause: for `--statistics`.
    pub limits: Vec<(&'static str, u32)>,
}
