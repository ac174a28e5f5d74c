//! What the host has started in a walk and not waited for.

use super::order::{Order, Queue};
use crate::facts::{GivenTo, PointerArgument, Site, Started};
use crate::host::ObjId;
use crate::quantity::Quantity;
use cudalint_program::Name;
use std::rc::Rc;

/// One object that work reads or writes.
#[derive(Clone, Debug)]
pub(super) struct Work {
    /// Later work has a higher number.
    pub number: u32,
    pub object: ObjId,
    /// From where on, and how many bytes; all of it where that is not known of a kernel.
    pub part: Option<(Quantity, Quantity)>,
    pub what: Started,
    pub site: Site,
    pub writes: bool,
    pub queue: Queue,
    /// What a kernel is given.
    pub given: Rc<[GivenTo]>,
    pub goes_on: GoesOn,
    /// Whether the call waits for it as far as the host can tell.
    pub waited: bool,
}

/// Whether work goes on behind the call that starts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GoesOn {
    Yes,
    /// CUDA does not say.
    Perhaps,
    No,
}

/// What a call puts into a stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Put {
    pub number: u32,
    pub queue: Queue,
}

/// A look at a clock of the host.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    pub number: u32,
    pub site: Site,
    /// The first launch since that nothing has waited for.
    pub launched: Option<(u32, Site, String)>,
}

/// A stream whose work is recorded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Capture {
    pub site: Site,
    pub queue: Queue,
    /// Whether calls that may be unsafe are allowed all the same.
    pub relaxed: bool,
}

/// What has been started on a path.
#[derive(Clone, Debug, Default)]
pub(super) struct Timeline {
    pub work: Vec<Work>,
    /// Memory that was handed to functions which go on with it behind their calls, in no order with streams.
    pub handed: Vec<Handed>,
    /// How much has been numbered.
    pub count: u32,
    /// What CUDA orders of it.
    pub order: Order,
    /// What the call that is looked at puts into a stream.
    pub put: Option<Put>,
    /// The device that is current; none where nobody knows.
    pub device: Option<i64>,
    /// How often that has changed.
    pub switches: u32,
    /// A variable lives whose destructor may wait.
    pub guarded: bool,
    pub clock: Option<Clock>,
    /// Where in the log a measured launch stands that was not waited for, for the case that a wait is measured, too.
    pub timed: Option<usize>,
    pub capture: Option<Capture>,
    /// Launches of whose results nothing has been read.
    pub results: Vec<Results>,
    /// Whether the program looks at a clock, or has events record the time.
    pub timed_at_all: bool,
}

/// Memory that a function goes on with behind its call.
#[derive(Clone, Debug)]
pub(super) struct Handed {
    pub number: u32,
    pub object: ObjId,
    /// The pointer.
    pub argument: PointerArgument,
    /// Whether the function writes it.
    pub writes: bool,
    pub site: Site,
    pub to: Name,
}

/// How much has been started.
#[derive(Clone, Copy, Debug)]
pub(super) struct Begun {
    pub count: u32,
    pub made: usize,
    pub switches: u32,
    pub capture: Option<Site>,
}

/// A launch of whose results nothing has been read yet.
#[derive(Clone, Debug)]
pub(super) struct Results {
    pub site: Site,
    pub kernel: String,
    /// What the kernel may write.
    pub written: Vec<ObjId>,
    /// Whether the program looks at times, so that the launch may be there for its own sake.
    pub timed: bool,
}
