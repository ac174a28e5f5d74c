//! Facts: what the replay saw. Rules read these and nothing else of the program.

mod crossed;
mod defects;
mod dump;
mod early;
mod faults;
mod hints;
mod launch;
mod lost;
mod module;
mod owner;
mod python;
mod read_back;
mod started;
mod status;
mod values;

pub use crossed::{CrossedFact, CrossedStream, CrossedWork, DeviceFact, GivenTo, Meeting};
pub use cudalint_kernel::readings::{CoverageClaim, DynamicShared, KernelSummary, Together};
pub use cudalint_kernel::report::Site;
pub use defects::{Defect, DefectFact, Harm};
pub use early::{CaptureFact, Early, EarlyFact, NameFact, NameFault, PackedFact, PackedFault, TimedFact, UnreadFact};
pub use faults::{
    EndedCall, ForkFact, Forker, FreedTwice, MadeCall, ParameterFault, ParameterFaultKind, SpaceFault, SpaceFaultKind,
    StaticCall,
};
pub use hints::{ImplicitTransfer, RedundantWait};
pub use launch::{LaunchArgument, LaunchFact};
pub use lost::{LostAt, LostFact};
pub use module::{Facts, NeverRun};
pub use owner::Owner;
pub use python::{CopyProblem, LaunchSpelling, PythonFault, PythonFaultKind, TypeProblem, WrongArgument};
pub use read_back::{KernelWrite, ReadBackFact};
pub use started::Started;
pub use status::{
    Checker, CheckerDefect, FunctionStatus, LaunchStatus, SeenLater, StatusCall, StatusUse, StatusWeight, Unobserved,
    UnreadLog,
};
pub use values::{
    Amount, ArrayShape, Buffer, BufferId, CopyKind, CountShape, Extent3, MemorySpace, Origin, Pointer, PointerArgument,
    Rows, Step, StepKind,
};

use crate::quantity::{Assumptions, Comparison, Condition, Poly, Quantity};
use cudalint_program::Name;
use cudalint_program::ir::{FunctionId, ModuleId};
use cudalint_syntax::Span;
use std::collections::BTreeMap;

/// Something that happened on a path of host code.
#[allow(clippy::struct_excessive_bools)] // Each is so by itself.
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
    /// Other ways to the same outcome, a few of them.
    pub ways: Vec<Vec<Step>>,
    /// What reaching this point rests on (default arguments, chosen branches): empty for facts.
    pub assumptions: Assumptions,
    /// What the branches taken, and checks passed, say of the inputs.
    pub conditions: Vec<Condition>,
    /// What the host has computed in a signed type of 32 bits: inputs are chosen only such that it fits.
    pub products: Vec<Poly>,
    /// Whether it stands under a condition of its own function that nothing decides: then that condition may be about
    /// the very values that this event uses.
    pub conditional: bool,
    /// Whether a function that was called on the way, or this one if it was, comes by only under such a condition: then what
    /// callers gave may be what decides it.
    pub perhaps_not_reached: bool,
    /// Whether any condition on the way here, from where the walk began, is one that nothing decides.
    pub undecided: bool,
    /// Where all the conditions that `conditional` and `perhaps_not_reached` speak of are choices of whoever calls or runs the
    /// program, none of which asks what the device has: the numbers that they compare with.
    pub choices: Option<Vec<i64>>,
    /// What the conditions ask that `conditional` speaks of.
    pub questions: Vec<Question>,
    /// Whether it stands where a call has failed, or a pointer is null that should not be: what was allocated before may not be.
    pub failed: bool,
}

/// What a condition may find out that nothing decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// What kind of memory this is, or where in it a pointer is.
    Memory(BufferId),
    /// Whether the device reaches all memory of the host.
    Pageable,
}

impl Event {
    /// Whether values of inputs, by their ids, surely get here.
    pub fn admits(&self, at: &BTreeMap<u32, i64>) -> bool {
        let fits = |product: &Poly| product.evaluate(at).is_none_or(|value| i32::try_from(value).is_ok());
        self.conditions.iter().all(|condition| condition.admits(at)) && self.products.iter().all(fits)
    }

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
    /// Nobody can give back any more what a function of CUDA has made. The site is where the function allocates it, or the call
    /// in it that does.
    Lost(Box<LostFact>),
    /// The host does something that has to wait for work that may still go on.
    Early(Box<EarlyFact>),
    /// Work is started that nothing orders behind work of another stream.
    Crossed(Box<CrossedFact>),
    /// A copy to the host reads memory of the device in which kernels alone have written, beside copies and sets of known bytes.
    ReadBack(Box<ReadBackFact>),
    /// An event of one device is put into a stream of another.
    WrongDevice(Box<DeviceFact>),
    /// The host looks at a clock, and nothing has waited for what it measures.
    Timed(Box<TimedFact>),
    /// A call is made that is not allowed while a stream is recorded.
    Captured(Box<CaptureFact>),
    /// The array that a launch reads its kernel's parameters from is not what it has to be.
    Packed(Box<PackedFact>),
    /// The name of a kernel is no name of the program that is asked.
    Named(Box<NameFact>),
    /// A kernel is launched of whose results nothing is ever read.
    Unread(Box<UnreadFact>),
}
