//! Facts: what the replay saw. Rules read these and nothing else of the program.

mod defects;
mod launch;
mod python;
mod status;

pub use cudalint_kernel::readings::{CoverageClaim, DynamicShared, KernelSummary};
pub use cudalint_kernel::report::Site;
pub use defects::{Defect, DefectFact, Harm};
pub use launch::{LaunchArgument, LaunchFact};
pub use python::{ArrayShape, CopyProblem, LaunchSpelling, PythonFault, PythonFaultKind, TypeProblem};
pub use status::{
    Checker, CheckerDefect, FunctionStatus, LaunchStatus, StatusCall, StatusUse, StatusWeight, Unobserved,
};

use crate::quantity::{Assumptions, Comparison, Condition, Quantity};
use cudalint_program::Name;
use cudalint_program::ir::{FunctionId, ModuleId};
use cudalint_syntax::Span;

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

/// Rows of bytes that lie a pitch apart: what a copy in two dimensions moves.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    /// Bytes of a row.
    pub width: Amount,
    /// Where they are written.
    pub width_span: Span,
    /// How many rows on each side, those between two slices of a copy in three dimensions included: of the destination, of
    /// the source.
    pub counts: [Amount; 2],
    /// From the start of a row to the next, in bytes: of the destination, of the source.
    pub pitches: [Amount; 2],
    /// As written.
    pub pitch_texts: [String; 2],
}

impl Rows {
    /// From the first byte to behind the last, on one side: 0 is the destination, 1 the source.
    pub fn extent(&self, side: usize) -> Quantity {
        let before = self.counts[side].quantity.minus(&Quantity::Known(1)).times(&self.pitches[side].quantity);
        before.plus(&self.width.quantity)
    }

    /// Whether the rows of one side surely touch each other.
    pub fn touch(&self, side: usize) -> bool {
        self.pitches[side].quantity.surely_equals(&self.width.quantity)
    }
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
    /// A copy: `cudaMemcpy` and its family, to and from symbols included.
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
        /// How the bytes lie, of a copy of rows.
        rows: Option<Box<Rows>>,
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
        /// How the bytes lie, of a set of rows.
        rows: Option<Box<Rows>>,
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
    /// Kernels of this module with what their code says of itself: as they are launched first, or else as it stands.
    pub kernels: Vec<(FunctionId, std::sync::Arc<KernelSummary>)>,
    /// Kernels of this module executed, in the order of the kernels, those that rest on nothing but facts first.
    pub runs: Vec<crate::runs::KernelRun>,
    /// What is wrong in these executions, by what it is: each once.
    pub defects: Vec<DefectFact>,
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
