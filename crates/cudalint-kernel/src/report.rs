//! What happened in a launch. Rules read these through the facts of the replay; nothing here is worded.

use crate::launch::{Budget, LaunchInput};
use cudalint_program::ir::ModuleId;
use cudalint_syntax::Span;
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex};

/// A place in the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site {
    /// The module.
    pub module: ModuleId,
    /// The bytes.
    pub span: Span,
}

/// A thread of the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Thread {
    /// `blockIdx`.
    pub block: [u32; 3],
    /// `threadIdx`.
    pub thread: [u32; 3],
}

/// All that one execution saw.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExecutionReport {
    /// In the order in which they happened; the first of a kind at a place stands for all like it (see
    /// [`Event::count`]).
    pub events: Vec<Event>,
    /// How much of the launch was seen.
    pub coverage: Coverage,
    /// What became of each of [`crate::LaunchInput::buffers`].
    pub buffers: Vec<BufferUse>,
}

/// What a kernel did with a buffer, over the threads that were executed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BufferUse {
    /// Whether any thread may have read from it.
    pub read: bool,
    /// Whether any thread may have written to it.
    pub written: bool,
    /// Whether surely nothing beyond what was seen happened to it: every access had a known address.
    pub exact: bool,
    /// Some of what is surely touched.
    pub sure: SureUse,
    /// Stretches that this launch surely leaves as they were, as bytes from its start and behind their end: the first and the last ones, in order. Only
    /// where every block was followed to its end.
    pub left: Vec<(u64, u64)>,
}

/// Stretches of a buffer that a kernel surely touches, as bytes from its start and behind their end: the first that were met.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SureUse {
    /// Read.
    pub read: Vec<(i64, i64)>,
    /// Written, but not by an atomic operation.
    pub written: Vec<(i64, i64)>,
    /// Changed by atomic operations.
    pub atomic: Vec<(i64, i64)>,
}

/// How much of a launch was seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coverage {
    /// Blocks executed.
    pub blocks: u64,
    /// Blocks of the launch.
    pub of_blocks: u64,
    /// Memory accesses in the kernel's code (device functions included, shared and global), each place once.
    pub accesses: u32,
    /// Those whose address was known for every active lane, each time they were met.
    pub known: u32,
    /// The places of these accesses, and of each whether its address was known each time.
    pub places: Vec<(Site, bool)>,
    /// Lane-operations spent.
    pub operations: u64,
    /// Whether every block ran from its first statement to its last without giving anything up.
    pub complete: bool,
    /// Whether wide accesses to one object lie so that some are misaligned, wherever the object begins.
    pub uneven: bool,
    /// What could not be followed, each cause with how often: `call out of sight`, `value from memory`, …
    pub causes: Vec<(&'static str, u32)>,
    /// Conditions that keep it from being known whether threads come to shared memory or to a barrier. The first are met
    /// first.
    pub open: Vec<OpenCondition>,
    /// Accesses to shared memory at places that nobody knows.
    pub unplaced: Vec<Site>,
}

/// A condition that nobody knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenCondition {
    /// The condition.
    pub site: Site,
    /// Whether it must hold for the block to go on: inside, behind it, or with another round.
    pub holds: bool,
    /// Whose it is.
    pub kind: OpenKind,
}

/// Kinds of conditions that nobody knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenKind {
    /// The same for all threads of a block.
    Common,
    /// The same for all threads of a block, around a loop's rounds.
    Rounds,
    /// Of each thread by itself.
    OfThreads,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// What.
    pub kind: EventKind,
    /// How many threads (or pairs) of the blocks executed were seen doing the same at the same place.
    pub count: u64,
    /// Conditions that hold where it happens, outermost first: those that differ between threads only. An early
    /// `return` under a condition counts as one that all later code stands under.
    pub guards: Vec<Site>,
    /// Where what is read here goes, as long as nobody has [asked](crate::reach).
    pub reach: Reach,
    /// How to find it out.
    pub again: Option<Arc<Again>>,
    /// What it rests on besides the launch, where the threads come here past conditions that nobody knows.
    pub doubt: Option<Doubt>,
}

/// Where a suspicious value goes that a thread reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// Nobody has asked: it is no plain read, or what it reads is not what makes it a defect.
    #[default]
    Unasked,
    /// That could not be found out.
    Open,
    /// Surely nowhere: no memory that others see, no branch, address or call hangs on it.
    Nowhere,
    /// Something that others see is another one with another value.
    Somewhere,
}

/// What an execution was given, so that it can be repeated when somebody asks where its suspicious reads go: most of them are not
/// asked about, since what they show is dropped before or is the same as what others show.
#[derive(Debug)]
pub struct Again {
    pub(crate) launch: LaunchInput,
    pub(crate) budget: Budget,
    /// Answers that were assumed.
    pub(crate) conditions: Vec<OpenCondition>,
    /// The reads, in order.
    pub(crate) sites: Vec<Site>,
    /// Most of them that are looked at one by one.
    pub(crate) most: usize,
    /// Whether it was followed to its end.
    pub(crate) complete: bool,
    /// What has been found out so far.
    pub(crate) known: Mutex<Traced>,
}

/// Two events are the same whatever has been asked about them.
impl PartialEq for Again {
    fn eq(&self, other: &Self) -> bool {
        (&self.launch, &self.budget, &self.conditions) == (&other.launch, &other.budget, &other.conditions)
    }
}

/// What is known of where the suspicious reads of an execution go.
#[derive(Debug, Default)]
pub(crate) struct Traced {
    /// The cells that they are about, and those reads that are about any: collected once.
    pub spots: Option<Collected>,
    /// Where they go all together.
    pub all: Option<Reach>,
    /// Of reads of an execution that was cut: whether somebody sees them where their block alone is executed, to its end.
    pub alone: FxHashMap<Site, bool>,
    /// Where each goes by itself, of races between warps and of others.
    pub each: FxHashMap<(Site, bool), Reach>,
}

/// The cells that suspicious reads are about, by the places of the reads, and which of those that are asked about are among them.
pub(crate) type Collected = (Arc<FxHashMap<Site, Spots>>, Vec<Site>);

/// Bytes of objects in a block, by the objects' positions, each with the one lane that stores there, if there is one: what it
/// reads there itself is in order.
pub(crate) type Spots = FxHashMap<([u32; 3], u32, i64), Option<u16>>;

/// What threads of a block are taken to do at conditions that each of them decides for itself, by data or by its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// What.
    pub kind: DoubtKind,
    /// The conditions, outermost first.
    pub conditions: Vec<Site>,
}

/// Kinds of [`Doubt`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DoubtKind {
    /// Two of them pass all conditions.
    TwoPass,
    /// One of them passes all conditions, and another one does not.
    NotAllPass,
    /// The same, and their numbers decide who passes: all below a limit that nobody knows.
    BlockParted,
}

/// An object in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// What it is.
    pub kind: ObjectKind,
    /// Its name in the source: the variable or parameter through which it is reached.
    pub name: String,
    /// Its declaration, for what kernel code declares.
    pub declared: Option<Site>,
    /// Size in bytes, where known.
    pub bytes: Option<u64>,
}

/// Kinds of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObjectKind {
    /// One of [`crate::LaunchInput::buffers`].
    Buffer(usize),
    /// `__shared__ T x[n]`.
    Shared,
    /// `extern __shared__ T x[]`.
    DynamicShared,
    /// A thread's own variable or array.
    Local,
    /// `__constant__`.
    Constant,
    /// `__device__` or `__managed__` at namespace scope.
    Device,
}

/// How memory is touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessKind {
    /// Read.
    Read,
    /// Written.
    Write,
    /// The read of `x += v`, `x++` and the like (the write is an access of its own).
    UpdateRead,
    /// The write of `x += v` and the like.
    UpdateWrite,
    /// An atomic operation.
    Atomic,
}

impl AccessKind {
    /// Whether it changes memory.
    pub const fn writes(self) -> bool {
        matches!(self, Self::Write | Self::UpdateWrite | Self::Atomic)
    }
}

/// One access by one thread.
#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    /// Who.
    pub thread: Thread,
    /// How.
    pub kind: AccessKind,
    /// The expression: `a[i]`, `*p`.
    pub site: Site,
    /// The calls through which it was reached, outermost first.
    pub calls: Vec<Site>,
    /// Bytes from the object's start; may be negative or beyond the end.
    pub offset: i64,
    /// Bytes touched.
    pub size: u32,
    /// Bytes of one element as the code sees it: the access's index is `offset / element`.
    pub element: u32,
    /// How many block-wide barriers this thread had passed.
    pub interval: u32,
    /// Iteration of the innermost loop around that was running, from 0, with the loop's place.
    pub iteration: Option<(Site, u32)>,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum EventKind {
    /// An access outside of its object.
    OutOfBounds {
        /// The object.
        object: Object,
        /// The access.
        access: Access,
        /// Whether some integer on the way to the address wrapped around its type, with that operation's place.
        wrapped: Option<Site>,
        /// The grid-wide index was linear in block and thread (`blockIdx.a * blockDim.a + threadIdx.a` and what is
        /// computed from it by adding constants), and nothing but that.
        plain_index: bool,
    },
    /// An access whose address is no multiple of what its type needs.
    Misaligned {
        /// The object.
        object: Object,
        /// The access.
        access: Access,
        /// What its type needs.
        align: u32,
    },
    /// Two threads touch the same bytes, at least one writes, and nothing orders them.
    Race {
        /// The object.
        object: Object,
        /// The access that was met first.
        first: Access,
        /// The other.
        second: Access,
        /// How the two threads stand to each other.
        scope: RaceScope,
        /// What the writes write.
        values: RaceValues,
        /// Both stand in one loop, and only the way around it brings them into one interval: the loop.
        across: Option<Site>,
        /// A block-wide barrier stands between the two, which does not order blocks.
        barrier_between: bool,
    },
    /// Some threads of a block wait at a barrier that others, which live on, do not reach.
    DivergentBarrier {
        /// The barrier.
        barrier: Site,
        /// The calls through which it was reached.
        calls: Vec<Site>,
        /// A thread that waits.
        waits: Thread,
        /// A thread that does not come.
        absent: Thread,
        /// Where the absent one goes instead: another barrier, or an access to shared memory; `None` when it
        /// runs to the end of the kernel, as far as is known.
        goes_on: Option<Site>,
        /// The condition that parts them.
        condition: Site,
        /// Whether both are of one warp.
        same_warp: bool,
        /// Whether somebody misses the absent ones: they live on, or others read shared memory behind the barrier that nobody
        /// has written. Where it is in doubt who is absent: whether the whole block waits again behind it, or one that waits reads
        /// what those that can be absent with it were to store.
        missed: bool,
    },
    /// Some threads leave the kernel although others of their block wait at a later barrier: legal since `sm_70`.
    ExitBeforeBarrier {
        /// The `return`.
        exit: Site,
        /// The barrier.
        barrier: Site,
        /// A thread that leaves.
        leaves: Thread,
        /// A thread that waits.
        waits: Thread,
        /// A later read of a shared element that the thread which left would have written, where there is one.
        unwritten: Option<Box<Access>>,
    },
    /// A warp-wide operation whose mask does not fit the lanes that take part.
    WarpMask {
        /// The operation.
        site: Site,
        /// Its name as written.
        name: String,
        /// The mask.
        mask: u32,
        /// A thread that executes it.
        by: Thread,
        /// What does not fit.
        fault: MaskFault,
        /// The condition that keeps the missing lanes away, where one does.
        condition: Option<Site>,
    },
    /// A read of memory that surely nobody has written since it came into being.
    UninitializedRead {
        /// The object.
        object: Object,
        /// The access.
        access: Access,
        /// Whether the object was written elsewhere before (by the host, or by threads of this launch).
        partly: bool,
    },
    /// A write to `__constant__` memory or through what was declared `const __restrict__` at its origin.
    ConstantWritten {
        /// The object.
        object: Object,
        /// The access.
        access: Access,
    },
    /// A computed index of Numba's is negative: it counts from the end of its axis, or lies before the array if it is less than
    /// minus the extent. Positions from the end that are written as constants are none.
    NegativeIndex {
        /// The subscript: `a[i - 1]`.
        site: Site,
        /// The index in it: `i - 1`.
        computed: Site,
        /// The calls through which it was reached, outermost first.
        calls: Vec<Site>,
        /// The array as the code names it.
        array: String,
        /// The axis.
        axis: u8,
        /// Whose index it is.
        thread: Thread,
        /// Its value.
        index: i64,
        /// The extent of the axis, where known.
        extent: Option<i64>,
        /// What is done with the element.
        access: AccessKind,
    },
    /// More threads read, change and write back an element of an object than it has elements: whatever their indices are,
    /// two of them meet, and nothing orders them.
    CrowdedUpdate {
        /// The object.
        object: Object,
        /// The update, by one of the threads. Its offset is not known, and 0.
        access: Access,
        /// Threads that update an element, each counted once, over the blocks executed; of shared memory those of one block.
        threads: u64,
        /// Elements of the object, as the update sees them.
        elements: u64,
        /// Whether all of the threads surely execute the update; else those are counted that do where they pass `condition`.
        sure: bool,
        /// The range check of the index that more threads must pass than there are elements.
        condition: Option<Site>,
    },
    /// A barrier of the whole grid in a launch that is not cooperative.
    GridSyncWithoutCooperation {
        /// The barrier.
        site: Site,
    },
}

/// How two threads that race stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RaceScope {
    /// Lanes of one warp, without a warp-wide barrier between.
    Warp,
    /// One block, two warps.
    Block,
    /// Two blocks.
    Grid,
}

/// What the writes of a race write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RaceValues {
    /// Surely different values, or a read and a write that changes the value.
    Differ,
    /// The same value: whoever comes last, memory ends up alike.
    Same,
    /// Not known.
    Unknown,
}

/// Ways in which a mask does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MaskFault {
    /// A lane of the mask, which lives on, does not execute the operation.
    LaneAbsent(Thread),
    /// The mask names no such thread: the warp ends before it (a block that is no multiple of 32), or the lane has left
    /// the kernel.
    LaneGone(u32),
    /// The executing lane is not in the mask.
    CallerMissing,
    /// The width is no power of two from 1 to 32.
    Width(i64),
}
