//! Work of several streams that touches the same memory, and events that are put into streams of another device.

use super::{PointerArgument, Site, Started};
use crate::quantity::Quantity;
use cudalint_program::Name;

/// Two pieces of work may touch the same memory, one of them may write it, and CUDA orders neither behind the other.
#[derive(Clone, Debug, PartialEq)]
pub struct CrossedFact {
    /// The memory, as the second is given it.
    pub argument: PointerArgument,
    /// What was started first.
    pub first: CrossedWork,
    /// What was started at the event's place.
    pub second: CrossedWork,
    /// What both surely touch; none where the code of a kernel does not tell.
    pub meeting: Option<Meeting>,
}

/// One of two pieces of work.
#[derive(Clone, Debug, PartialEq)]
pub struct CrossedWork {
    /// What.
    pub what: Started,
    /// Where it was started.
    pub site: Site,
    /// Its stream.
    pub stream: CrossedStream,
    /// Whether it writes the memory: of a kernel, whether it may.
    pub writes: bool,
    /// Of a copy or set: from which byte of the memory on, and how many bytes.
    pub part: Option<(Quantity, Quantity)>,
    /// What a kernel is given, by parameter.
    pub given: Vec<GivenTo>,
    /// Whether it may be done when the call that starts it returns: it was read from memory of the host that is not locked.
    pub may_be_done: bool,
}

/// What tells one launch at a place from others there, of one argument.
#[derive(Clone, Debug, PartialEq)]
pub enum GivenTo {
    /// A number.
    Number(Quantity),
    /// A pointer: where what it leads to comes into being, and how many bytes behind its start it leads.
    Into(Site, Quantity),
    /// Something else.
    Other,
}

/// The stream of a piece of work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CrossedStream {
    /// The default stream.
    Default,
    /// One that waits for the default stream.
    Made(Name),
    /// One that does not.
    NonBlocking(Name),
}

/// What two pieces of work both touch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meeting {
    /// The first byte of it, counted from the start of the memory; none where only its being the same is known.
    pub byte: Option<i64>,
    /// Whether the first writes it.
    pub first_writes: bool,
    /// Whether the second writes it.
    pub second_writes: bool,
    /// What the executions of kernels that show it rest on.
    pub assumptions: Vec<String>,
}

/// An event is put into a stream of another device, which CUDA refuses.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceFact {
    /// The call.
    pub api: Name,
    /// The event, as it is named where it was made.
    pub name: Name,
    /// The device that was current when it was made, and where that was.
    pub made: (i64, Site),
    /// The stream's device.
    pub other: i64,
}
