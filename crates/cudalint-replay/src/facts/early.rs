//! What the host does while work that it has started may still go on.

use super::{CrossedWork, PointerArgument, Site, Started};
use cudalint_program::Name;

/// Memory is touched or given back before anything has waited for the work that uses it.
#[derive(Clone, Debug, PartialEq)]
pub struct EarlyFact {
    /// The pointer.
    pub argument: PointerArgument,
    /// What is done with it.
    pub early: Early,
    /// The function that it is handed to, where that takes memory of the device, too.
    pub to: Option<Name>,
    /// What may still go on.
    pub what: Started,
    /// Where it was started.
    pub started: Site,
    /// Whether it writes the memory: of a kernel, whether it may.
    pub writes: bool,
    /// Of memory of the device that others send or receive: the kernel that goes on, or that is started.
    pub kernel: Option<CrossedWork>,
    /// Where executions of this kernel have shown that it touches what the pointer leads to, and not only reads what is only read: what they
    /// rest on.
    pub touched: Option<Vec<String>>,
}

/// What is done too early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Early {
    /// The host reads.
    Read,
    /// The host writes.
    Write,
    /// The memory is given back, in the order of another stream.
    Free,
    /// A kernel is started that uses it.
    Launch,
}

/// The host looks at a clock around a launch that nothing has waited for.
#[derive(Clone, Debug, PartialEq)]
pub struct TimedFact {
    /// The look before.
    pub first: Site,
    /// The launch.
    pub launch: Site,
    /// The kernel, as it is written.
    pub kernel: String,
}

/// A call that is not allowed while a stream records its work.
#[derive(Clone, Debug, PartialEq)]
pub struct CaptureFact {
    /// The function called.
    pub api: Name,
    /// Where the recording began.
    pub begun: Site,
}

/// What is wrong with an array of addresses of a kernel's parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct PackedFact {
    /// The array, as it is written.
    pub text: String,
    /// The kernel, as it is written.
    pub kernel: String,
    /// What is wrong.
    pub fault: PackedFault,
}

/// What can be wrong with such an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PackedFault {
    /// An entry is an address of the device, and leads to no parameter.
    Device {
        /// Which entry, counted from 0.
        index: u32,
        /// What the address is called.
        name: Name,
    },
    /// An entry is a number.
    Number {
        /// Which entry, counted from 0.
        index: u32,
    },
    /// It is too short for the kernel.
    TooFew {
        /// Entries.
        has: u32,
        /// Parameters of the kernel.
        wants: u32,
    },
}

/// A launch of whose results nobody reads anything: all that it may write has been freed by the end.
#[derive(Clone, Debug, PartialEq)]
pub struct UnreadFact {
    /// The kernel, as it is written.
    pub kernel: String,
    /// What it may write, by name.
    pub written: Vec<Name>,
    /// Whether the program takes times, so that the launch may be there for its own sake.
    pub timed: bool,
}

/// The name of a kernel is given to a program that was compiled without it.
#[derive(Clone, Debug, PartialEq)]
pub struct NameFact {
    /// The function called.
    pub api: Name,
    /// The name; empty where it is not known.
    pub text: String,
    /// What is wrong.
    pub fault: NameFault,
}

/// What can be wrong with the name of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameFault {
    /// It is added after the program has been compiled.
    Late,
    /// The program has a kernel of this name, which C++ gives another one: it is not `extern "C"`.
    Mangled,
    /// It belongs to the program, which has been destroyed.
    Ended,
    /// It has never been added.
    Missing {
        /// What has.
        added: Vec<Name>,
    },
}
