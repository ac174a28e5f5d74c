//! What Numba refuses to compile.

use crate::ir::FunctionId;
use cudalint_syntax::Span;

/// Something that Numba refuses to compile.
#[derive(Clone, Debug, PartialEq)]
pub struct CompileFault {
    /// The kernel or device function in which it stands.
    pub function: FunctionId,
    /// Its place.
    pub span: Span,
    /// What it is.
    pub kind: FaultKind,
    /// What must be assumed for it.
    pub assumes: Option<Assumption>,
}

/// What must be assumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assumption {
    /// That Numba's memory management for device code (NRT) is not turned on, which newer versions of numba-cuda offer and leave off
    /// unless told.
    NoNrt,
    /// That the function is launched: nothing in its file uses it. Under `@cuda.jit` alone it may as well be called by a kernel.
    Launched,
}

/// What Numba refuses.
#[derive(Clone, Debug, PartialEq)]
pub enum FaultKind {
    /// The shape of a shared or local array that is not constant.
    Shape {
        /// Whether the array is shared.
        shared: bool,
        /// What is not constant in it.
        culprit: Culprit,
    },
    /// A kernel returns a value.
    Returns,
    /// Anything else.
    Unsupported(Unsupported),
}

/// Why a shape is not constant.
#[derive(Clone, Debug, PartialEq)]
pub struct Culprit {
    /// The part of the shape.
    pub span: Span,
    /// What it is.
    pub reason: Reason,
    /// Where a variable in it gets its value.
    pub origin: Option<Span>,
    /// Whether it is computed of it.
    pub computed: bool,
}

/// What the part of a shape is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A parameter of the kernel, or something of one (`a.shape[0]`).
    Parameter,
    /// A number of the launch or of the thread: `cuda.blockDim.x`.
    Launch,
    /// What arithmetic gives: Numba computes nothing of it beforehand, even where all parts are constants.
    Arithmetic,
    /// What a call gives.
    Call,
    /// A loop's variable.
    Loop,
    /// No integer.
    NotInteger,
    /// A list, where a tuple is wanted.
    List,
}

/// What CUDA kernels cannot contain.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // The fields are said in the variants' own words.
pub enum Unsupported {
    /// `try`.
    Try,
    /// `with`.
    With,
    /// `import` inside.
    Import,
    /// `class` inside.
    Class,
    /// A `global` variable is assigned.
    GlobalAssigned(String),
    /// `a, *b = c`.
    StarredTarget,
    /// `[x for …]`.
    ListComprehension,
    /// `{x for …}`.
    SetComprehension,
    /// `{k: v for …}`.
    DictComprehension,
    /// `(x for …)`.
    GeneratorExpression,
    /// A kernel with `yield`.
    Yield,
    /// `{k: v}`.
    Dict,
    /// `{x}`.
    Set,
    /// `[]`.
    EmptyList,
    /// `[x] * n`.
    RepeatedList,
    /// A function of the language that Numba does not know in kernels.
    Builtin(String),
    /// A function of a package that Numba does not know in kernels, by its dotted path.
    Package(String),
    /// `numpy.zeros` and others that make arrays.
    ArrayCreation(String),
    /// A plain function of this module is called.
    PlainFunction { name: String, definition: Span },
    /// A kernel is launched.
    Launch(String),
    /// `"…".format(…)` or `"…" % x`.
    StringFormatting,
    /// `f"…{x}…"`.
    FormattedString,
    /// `print(…, end="")`.
    PrintKeyword(String),
}
