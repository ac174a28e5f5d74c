//! What facts are made of: places, amounts, memory and pointers into it.

use crate::quantity::{Assumptions, Quantity};
use cudalint_kernel::report::Site;
use cudalint_program::Name;
use cudalint_program::api::ApiId;
use cudalint_syntax::Span;
use std::fmt;

/// A step on the way to an event, in words that name values: "`bytes` is 4096", "called from `main`".
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Where.
    pub site: Site,
    /// What it is.
    pub kind: StepKind,
    /// What.
    pub note: String,
}

/// What a step on the way to an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepKind {
    /// A call.
    Call,
    /// A variable with its value.
    Value,
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
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Amount {
    /// The value.
    pub quantity: Quantity,
    /// What it rests on.
    pub assumptions: Assumptions,
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.quantity.fmt(f)
    }
}

/// What brings memory into being.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A call of this function, as it is written there.
    Call(ApiId, Name),
    /// An expression `new`.
    New,
    /// A container of C++: `std::vector` and its like.
    Vector,
    /// A string of C++.
    Text,
    /// A variable of a function.
    Local,
    /// A variable at namespace scope.
    Global,
    /// Whoever calls: it is what a parameter leads to.
    Parameter,
    /// Code that a comment stands for.
    LeftOut,
    /// Something that has no name of its own.
    Other,
}

impl Origin {
    /// A function of a package of Python, by its dotted name, or one of C.
    pub(crate) fn of_python(name: &str) -> Self {
        let api = ApiId::of_python(name).or_else(|| ApiId::named(name));
        api.map_or(Self::Other, |api| Self::Call(api, Name::from(name)))
    }

    /// The function.
    pub const fn api(&self) -> Option<ApiId> {
        match self {
            Self::Call(api, _) => Some(*api),
            _ => None,
        }
    }

    /// What messages call it.
    pub fn name(&self) -> &str {
        match self {
            Self::Call(_, name) => name,
            Self::New => "new",
            Self::Vector => "vector",
            Self::Text => "string",
            Self::Local => "local",
            Self::Global => "global",
            Self::Parameter => "parameter",
            Self::LeftOut | Self::Other => "",
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
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
    /// What brought it into being.
    pub origin: Origin,
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
    /// Bytes of the array that the expression itself names, be it one row of a larger one: 256 for `rows[1]` of `float rows[4][64]`.
    pub array: Option<i64>,
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
    /// The number of [`Self::DeviceToHost`].
    pub(crate) const TO_HOST: i64 = 2;
    /// The runtime's number for a copy to the device.
    pub(crate) const TO_DEVICE: i64 = 1;

    /// By its number in `cudaMemcpyKind`, CUDA Runtime API.
    pub(crate) const fn by_number(number: Option<i64>) -> Self {
        match number {
            Some(0) => Self::HostToHost,
            Some(Self::TO_DEVICE) => Self::HostToDevice,
            Some(Self::TO_HOST) => Self::DeviceToHost,
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
    /// Numbers that are written as factors of it, or as the whole: `n * 4` may mean the size of an element.
    pub literals: Vec<i64>,
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
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Extent3 {
    /// Along x, y, z.
    pub axes: [Amount; 3],
    /// As written.
    pub text: String,
    /// Its place.
    pub span: Span,
}

/// What an array of Python is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayShape {
    /// Elements along each axis.
    pub extents: Vec<Amount>,
    /// Type of an element as `NumPy` calls it; empty where it is not known.
    pub dtype: String,
}
