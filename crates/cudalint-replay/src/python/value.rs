//! Values of Python host code: numbers, containers, functions, and the objects of GPU packages.

pub(crate) use super::dtype::Dtype;
use super::dtype::{FLOAT, INT};
use crate::facts::{Amount, Site};
use crate::host::ObjId;
use crate::quantity::{Assumptions, Quantity, union};
use cudalint_program::Name;
pub(crate) use cudalint_program::api::packages::Transfer;
use cudalint_program::ir::{Dialect, FunctionId, LocalId, ModuleId};
use std::rc::Rc;

/// A value with what it rests on.
#[derive(Clone, Debug)]
pub(crate) struct Val {
    pub kind: Kind,
    pub why: Assumptions,
}

/// Kinds of values.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// Anything.
    Unknown,
    /// A variable that nobody has assigned yet.
    Unset,
    /// Anything, but the same wherever it is seen: what a caller hands over, what code out of sight gives back.
    Open(Rc<Open>),
    None,
    /// A truth value, as 0 or 1.
    Bool(Quantity),
    /// A Python integer.
    Int(Quantity),
    /// A Python float; the number where it is known.
    Float(Option<f64>),
    /// A float that is exactly an integer by a positive number: `n / 256`.
    Ratio(Quantity, i64),
    /// A scalar of `NumPy` with its value as an integer or float.
    Number(Dtype, Rc<Val>),
    Str(Rc<Text>),
    Tuple(Rc<[Val]>),
    Slice(Rc<[Option<Val>; 3]>),
    /// `range(start, stop, step)`.
    Range(Rc<[Quantity; 3]>),
    List(ObjId),
    Dict(ObjId),
    /// An object of a class of the project, or a bag of attributes.
    Instance(ObjId),
    Class(ModuleId, u32),
    /// A module of the project.
    Module(ModuleId),
    Function(Rc<Closure>),
    /// A method of a class of the project with its object.
    Bound(Rc<(Val, Rc<Closure>)>),
    /// An attribute of an object of a package that is yet to be called: `a.copy_to_host`.
    Attribute(Rc<(Val, Name)>),
    /// A module or function of a package, or an object that is told by what made it, by its dotted path.
    Package(Rc<str>),
    Dtype(Dtype),
    Array(Rc<Array>),
    /// A kernel or device function written in Python.
    Kernel(Rc<Kernel>),
    /// A kernel with its configuration: `k[grid, block]`.
    Configured(Rc<Configured>),
    /// A file of C++ that has been opened for reading.
    File(ModuleId),
    /// A program in CUDA C++: `RawModule`, `SourceModule`.
    Program(Rc<Program>),
    /// A kernel in CUDA C++.
    Native(Rc<Native>),
    /// Device memory without a type: `mem_alloc`, `cupy.cuda.alloc`.
    Memory(ObjId, Quantity),
    /// `In(a)`, `Out(a)`, `InOut(a)`.
    Transfer(Transfer, Rc<Val>),
    /// What turns a function into a kernel: `cuda.jit(device=True)`.
    Decorator(Dialect, bool),
}

/// An unknown value with an identity.
#[derive(Debug)]
pub(crate) struct Open {
    pub id: u32,
    /// As messages call it.
    pub name: String,
    /// Whether whoever calls the program's code chooses it.
    pub free: bool,
    /// The array that it is as large as: `zeros_like(a)` of an unknown `a`.
    pub like: Option<Rc<Open>>,
}

/// A string, or a path as `pathlib` has it.
#[derive(Debug, Default)]
pub(crate) struct Text {
    /// Its characters, where all are known.
    pub whole: Option<Rc<str>>,
    /// What it ends with, where only that is known: `folder + "/kernels.cu"`.
    pub end: Option<Rc<str>>,
    /// The literal that it was made of, alone or with holes filled in.
    pub origin: Option<Site>,
    /// The file of C++ of which it is the whole text.
    pub file: Option<ModuleId>,
}

impl Text {
    /// A string whose characters are known, or none of them.
    pub fn of(whole: Option<Rc<str>>, origin: Option<Site>) -> Self {
        Self { whole, origin, ..Self::default() }
    }

    /// What it ends with, as far as that is known.
    pub fn ending(&self) -> Option<&str> {
        self.whole.as_deref().or(self.end.as_deref())
    }
}

/// A function with the variables around it.
#[derive(Debug)]
pub(crate) struct Closure {
    pub module: ModuleId,
    pub function: FunctionId,
    /// The scope in which it was defined; `None` for functions of a module.
    pub scope: Option<ObjId>,
    /// What its parameters are when nothing is given, as it was when the function was defined; `None` where the walk has not come by
    /// its definition.
    pub defaults: Defaults,
}

/// Values of parameters that have a default.
pub(crate) type Defaults = Option<Rc<[(LocalId, Val)]>>;

/// A kernel written in Python.
#[derive(Debug)]
pub(crate) struct Kernel {
    pub closure: Rc<Closure>,
    pub dialect: Dialect,
    pub device: bool,
    /// What it has been compiled for so far.
    pub state: ObjId,
}

/// A kernel with its configuration.
#[derive(Debug)]
pub(crate) struct Configured {
    pub kernel: Val,
    /// As written, the kernel's name.
    pub name: String,
    pub grid: Dims,
    pub block: Dims,
    pub shared: Option<Val>,
    /// Where the configuration is written.
    pub config: Site,
    /// What must be taken for granted for it to work at all.
    pub why: Assumptions,
    /// Where the block is computed by a division by what stands in the grid's place.
    pub divided: Option<Site>,
}

/// Extents of a launch before they are looked at.
#[derive(Clone, Debug)]
pub(crate) struct Dims {
    pub axes: [Val; 3],
    pub text: String,
    pub site: Site,
}

/// CUDA C++ that is compiled at run time.
#[derive(Debug)]
pub(crate) struct Program {
    pub maker: Maker,
    /// The module, where its text is in sight.
    pub module: Option<ModuleId>,
    /// Whether the compiler surely refuses it.
    pub refused: bool,
}

/// Packages that compile CUDA C++.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Maker {
    Cupy,
    /// NVRTC and the driver, by `cuda-python`.
    Driver,
    /// `CuPy` around statements of the user: `ElementwiseKernel`.
    CupyBody,
    PyCuda,
}

/// A kernel in CUDA C++.
#[derive(Debug)]
pub(crate) struct Native {
    pub maker: Maker,
    pub kernel: Option<(ModuleId, FunctionId)>,
    /// Whether the compiler surely refuses its program, which its first call finds out.
    pub refused: bool,
    /// Template arguments as written in the name: `float`, `256`.
    pub targs: Vec<String>,
    pub name: String,
}

/// An extent of an array.
#[derive(Clone, Debug)]
pub(crate) struct Dim {
    pub q: Quantity,
    pub why: Assumptions,
}

/// How an array's elements lie.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Layout {
    C,
    Fortran,
    /// Strides in bytes.
    Strided(Rc<[Quantity]>),
    Unknown,
}

/// Whose array it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lib {
    Numpy,
    Numba,
    Cupy,
    PyCuda,
}

/// An array: a look at a buffer.
#[derive(Clone, Debug)]
pub(crate) struct Array {
    pub buffer: ObjId,
    pub lib: Lib,
    pub dtype: Dtype,
    /// Extents; `None` where not even their number is known.
    pub shape: Option<Rc<[Dim]>>,
    pub layout: Layout,
    /// Bytes from the buffer's start.
    pub offset: Quantity,
    /// The expression that made it a view which does not lie in one piece.
    pub view: Option<Site>,
}

impl Dim {
    pub const fn known(value: i64) -> Self {
        Self { q: Quantity::Known(value), why: None }
    }

    pub const fn unknown() -> Self {
        Self { q: Quantity::Unknown, why: None }
    }

    pub fn val(&self) -> Val {
        Val { kind: Kind::Int(self.q.clone()), why: self.why.clone() }
    }

    /// This many of what these extents span.
    #[must_use]
    pub fn times(self, extents: &[Self]) -> Self {
        extents.iter().fold(self, |all, dim| Self { q: all.q.times(&dim.q), why: union(&all.why, &dim.why) })
    }
}

impl Array {
    pub fn rank(&self) -> Option<usize> {
        self.shape.as_ref().map(|shape| shape.len())
    }

    /// How many elements there are.
    pub fn size(&self) -> Dim {
        self.shape.as_ref().map_or_else(Dim::unknown, |shape| Dim::known(1).times(shape))
    }
}

impl From<Kind> for Val {
    fn from(kind: Kind) -> Self {
        Self { kind, why: None }
    }
}

impl Val {
    /// The type that `NumPy` gives a number.
    pub(super) fn natural(&self) -> Dtype {
        match &self.kind {
            Kind::Int(_) => INT,
            Kind::Bool(_) => Dtype::Bool,
            Kind::Float(_) | Kind::Ratio(..) => FLOAT,
            Kind::Number(dtype, _) => *dtype,
            _ => Dtype::Unknown,
        }
    }

    pub const fn unknown() -> Self {
        Self { kind: Kind::Unknown, why: None }
    }

    pub const fn int(value: i64) -> Self {
        Self { kind: Kind::Int(Quantity::Known(value)), why: None }
    }

    pub const fn none() -> Self {
        Self { kind: Kind::None, why: None }
    }

    pub const fn boolean(value: bool) -> Self {
        Self { kind: Kind::Bool(Quantity::Known(value as i64)), why: None }
    }

    pub fn package(path: &str) -> Self {
        Self::from(Kind::Package(Rc::from(path)))
    }

    pub fn text(text: &str) -> Self {
        Self::from(Kind::Str(Rc::new(Text::of(Some(Rc::from(text)), None))))
    }

    /// A tuple; one that holds too much, or nests too deep, is unknown: `t = (t, t)` doubles with each line.
    pub fn tuple(values: Vec<Self>) -> Self {
        if fits(&values) { Self::from(Kind::Tuple(Rc::from(values))) } else { Self::unknown() }
    }

    pub fn array(array: Array) -> Self {
        Self::from(Kind::Array(Rc::new(array)))
    }

    /// The same value, resting on more.
    #[must_use]
    pub fn because(mut self, why: &Assumptions) -> Self {
        if why.is_some() {
            self.why = union(&self.why, why);
        }
        self
    }

    pub fn is_unknown(&self) -> bool {
        matches!(self.kind, Kind::Unknown | Kind::Unset)
    }

    /// As an integer: of Python, of `NumPy`, or a truth value.
    pub fn quantity(&self) -> Option<Quantity> {
        match &self.kind {
            Kind::Int(q) | Kind::Bool(q) => Some(q.clone()),
            Kind::Number(Dtype::Int { .. } | Dtype::Bool, value) => value.quantity(),
            _ => None,
        }
    }

    /// A known integer.
    pub fn known(&self) -> Option<i64> {
        self.quantity()?.known()
    }

    /// A known number as a float.
    pub fn number(&self) -> Option<f64> {
        match &self.kind {
            Kind::Float(value) => *value,
            Kind::Number(_, value) => value.number(),
            _ => self.known().map(|value| value as f64),
        }
    }

    pub fn str(&self) -> Option<&str> {
        match &self.kind {
            Kind::Str(text) => text.whole.as_deref(),
            _ => None,
        }
    }

    pub fn amount(&self) -> Amount {
        let quantity = self.quantity().unwrap_or(Quantity::Unknown);
        Amount { quantity, assumptions: self.why.clone() }
    }

    /// Whether both are surely the same.
    pub fn same(a: &Self, b: &Self) -> bool {
        match (&a.kind, &b.kind) {
            (Kind::Unknown, Kind::Unknown) | (Kind::Unset, Kind::Unset) | (Kind::None, Kind::None) => true,
            (Kind::Open(x), Kind::Open(y)) => x.id == y.id,
            (Kind::Bool(x), Kind::Bool(y)) | (Kind::Int(x), Kind::Int(y)) => x == y && !x.is_unknown(),
            (Kind::Float(x), Kind::Float(y)) => x.map(f64::to_bits) == y.map(f64::to_bits) && x.is_some(),
            (Kind::Ratio(x, m), Kind::Ratio(y, n)) => m == n && x == y,
            (Kind::Number(d, x), Kind::Number(e, y)) => d == e && Self::same(x, y),
            (Kind::Str(x), Kind::Str(y)) => Rc::ptr_eq(x, y) || (x.whole.is_some() && x.whole == y.whole),
            (Kind::Tuple(x), Kind::Tuple(y)) => {
                Rc::ptr_eq(x, y) || (x.len() == y.len() && x.iter().zip(y.iter()).all(|(x, y)| Self::same(x, y)))
            }
            (Kind::Range(x), Kind::Range(y)) => x == y,
            (Kind::List(x), Kind::List(y))
            | (Kind::Dict(x), Kind::Dict(y))
            | (Kind::Instance(x), Kind::Instance(y)) => x == y,
            (Kind::Class(m, x), Kind::Class(n, y)) => m == n && x == y,
            (Kind::Module(x), Kind::Module(y)) => x == y,
            (Kind::Function(x), Kind::Function(y)) => {
                Rc::ptr_eq(x, y)
                    || (x.module == y.module
                        && x.function == y.function
                        && x.scope == y.scope
                        && same_defaults(&x.defaults, &y.defaults))
            }
            (Kind::Package(x), Kind::Package(y)) => x == y,
            (Kind::Dtype(x), Kind::Dtype(y)) => x == y && *x != Dtype::Unknown,
            (Kind::Array(x), Kind::Array(y)) => {
                Rc::ptr_eq(x, y)
                    || (x.buffer == y.buffer
                        && x.dtype == y.dtype
                        && x.layout == y.layout
                        && x.offset == y.offset
                        && same_shape(x.shape.as_deref(), y.shape.as_deref()))
            }
            (Kind::Kernel(x), Kind::Kernel(y)) => x.state == y.state,
            (Kind::Configured(x), Kind::Configured(y)) => Rc::ptr_eq(x, y),
            (Kind::Program(x), Kind::Program(y)) => Rc::ptr_eq(x, y),
            (Kind::Native(x), Kind::Native(y)) => Rc::ptr_eq(x, y),
            (Kind::Memory(x, p), Kind::Memory(y, q)) => x == y && p == q,
            _ => false,
        }
    }

    /// One value for two paths; with a default the current one stays, resting on it.
    pub fn join(current: &Self, other: &Self, default: Option<&Assumptions>) -> Self {
        if Self::same(current, other) {
            let why = if current.why.is_none() || other.why.is_none() { None } else { union(&current.why, &other.why) };
            return Self { kind: current.kind.clone(), why };
        }
        if let Some(why) = default {
            return current.clone().because(why);
        }
        let why = union(&current.why, &other.why);
        let kind = match (&current.kind, &other.kind) {
            (Kind::Int(_), Kind::Int(_)) => Kind::Int(Quantity::Unknown),
            (Kind::Bool(_), Kind::Bool(_)) => Kind::Bool(Quantity::Unknown),
            (Kind::Float(_) | Kind::Ratio(..), Kind::Float(_) | Kind::Ratio(..)) => Kind::Float(None),
            (Kind::Number(a, _), Kind::Number(b, _)) if a == b => Kind::Number(*a, Rc::new(Self::unknown())),
            _ => return Self::unknown(),
        };
        Self { kind, why }
    }
}

/// The arrays among values.
pub(super) fn arrays_among<'v>(values: impl Iterator<Item = &'v Val>) -> Vec<Rc<Array>> {
    let array = |value: &Val| if let Kind::Array(array) = &value.kind { Some(Rc::clone(array)) } else { None };
    values.filter_map(array).collect()
}

fn same_defaults(a: &Defaults, b: &Defaults) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|((i, x), (j, y))| i == j && Val::same(x, y))
        }
        (None, None) => true,
        _ => false,
    }
}

fn same_shape(a: Option<&[Dim]>, b: Option<&[Dim]>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.q == b.q && !a.q.is_unknown()),
        _ => false,
    }
}

/// Whether a tuple of these is small enough to be walked.
fn fits(values: &[Val]) -> bool {
    const LONGEST: usize = 64 << 10;
    const MOST: usize = 16 << 10;
    const DEEPEST: u32 = 24;
    // A long table of plain values is walked once; what stands in tuples may be walked from each of them.
    if values.len() > LONGEST {
        return false;
    }
    let mut held = 0;
    let mut open: Vec<(&[Val], u32)> = vec![(values, 0)];
    while let Some((values, depth)) = open.pop() {
        for value in values {
            if let Kind::Tuple(inner) = &value.kind {
                held += inner.len() + 1;
                if held > MOST || depth >= DEEPEST {
                    return false;
                }
                open.push((inner, depth + 1));
            }
        }
    }
    true
}

/// The longest text that a program puts together piece by piece: longer ones are taken for unknown.
pub(super) const MAX_TEXT: usize = 64 << 10;

/// Whether a value is an array.
pub(super) fn is_array(value: &Val) -> bool {
    matches!(value.kind, Kind::Array(_))
}
