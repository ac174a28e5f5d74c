//! Device code with every name resolved, for one binding of the kernel's template parameters: what the executor runs.
//!
//! One arena of expressions serves all functions. Types are reduced to what execution needs: sizes, signedness, leaves
//! of aggregates. References are pointers; array accesses, fields and pointer arithmetic are byte offsets; conversions
//! stand where C++ makes them. What lowering could not read is an [`Expr::Opaque`] or [`Stmt::Opaque`] with its children
//! kept.

mod conditions;
mod fold;
mod hash;
mod identity;
mod operations;
mod parts;

pub(crate) use conditions::{Joined, Test};
pub(crate) use identity::{Identity, Lazy, Stands};
pub use operations::{AtomicOp, Bits, FloatMath, Group, Intrinsic, Scope, Shuffle, Vote};
pub use parts::{Child, Item};

use crate::report::Site;
use cudalint_numbers::{Integer, Scalar};
use cudalint_program::ids;
use cudalint_program::ir::Dialect;
use std::sync::Arc;
use typed_index_collections::TiVec;

ids! {
    /// An expression.
    ExprId;
    /// A statement.
    StmtId;
    /// A function instance.
    FunctionId;
    /// A variable of a function instance: parameter or local.
    VariableId;
    /// A static object: shared array, constant, variable of the device.
    ObjectId;
}

/// A kernel and the device functions that it calls.
#[derive(Clone, Debug, Default)]
pub struct Code {
    /// The kernel is the first.
    pub functions: TiVec<FunctionId, Function>,
    /// Expressions of all functions.
    pub exprs: TiVec<ExprId, ExprNode>,
    /// Statements of all functions.
    pub stmts: TiVec<StmtId, StmtNode>,
    /// Memory with static storage.
    pub objects: TiVec<ObjectId, StaticObject>,
    /// `__launch_bounds__`: most threads of a block.
    pub launch_bounds: Option<u32>,
    /// The compiler of the kernel, where it is written in Python.
    pub dialect: Option<Dialect>,
    /// Of a kernel in Python: for each parameter of the code the Python parameter that it belongs to, and what it holds of it.
    pub arguments: Vec<(usize, Part)>,
    /// Whether inline assembly declares shared memory: dynamic arrays may lie over it.
    pub hidden_shared: bool,
    /// Whether a part of some function was lost to the parser: then nothing that it says is sure.
    pub damaged: bool,
    /// What lowering did not understand, each cause with how often.
    pub gaps: Vec<(&'static str, u32)>,
    /// What tells it from other code.
    pub(crate) identity: Lazy,
}

/// What a parameter of the code holds of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// A number.
    Value,
    /// The address of an array's first element.
    Data,
    /// An array's extent along an axis; `int64`.
    Extent(u8),
    /// An array's stride along an axis in bytes; `int64`.
    Stride(u8),
}

/// A function with its template parameters bound.
#[derive(Clone, Debug, Hash)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The definition's name.
    pub site: Site,
    /// Parameters first.
    pub variables: TiVec<VariableId, Variable>,
    /// How many of them are parameters (`this` included, as the first).
    pub parameters: u32,
    /// What it returns; a reference is a pointer.
    pub returns: Ty,
    /// Its statements.
    pub body: Block,
}

impl Function {
    /// With nothing in it yet.
    pub fn new(name: &str, site: Site) -> Self {
        let name = name.to_owned();
        Self { name, site, variables: TiVec::new(), parameters: 0, returns: Ty::Void, body: Vec::new() }
    }
}

/// A variable of a function.
#[derive(Clone, Debug, Hash)]
pub struct Variable {
    /// Its name; empty for what lowering made up.
    pub name: String,
    /// Its declaration.
    pub site: Site,
    /// Its type.
    pub ty: Ty,
    /// Whether it lives in memory of the thread, because it is an array, its address is taken or a reference is bound
    /// to it; else it is a register that only [`Place::Register`] reaches.
    pub in_memory: bool,
}

/// Memory with static storage, as seen by one block (shared) or by all (the rest).
#[derive(Clone, Debug, Hash)]
pub struct StaticObject {
    /// Its name.
    pub name: String,
    /// Its declaration.
    pub site: Site,
    /// Where it lives.
    pub space: ObjectSpace,
    /// Size in bytes; `None` for `extern __shared__ T x[]` and where it is not known.
    pub bytes: Option<u64>,
    /// Bytes of an innermost element.
    pub element: u32,
    /// Its extents as an array, outermost first; none where they are not all known.
    pub extents: Vec<i64>,
    /// Alignment of its first byte.
    pub align: u32,
    /// Numbers that it holds from the start, for a constant table: bytes of one and the values; of fractions their bits.
    pub values: Option<(u8, Arc<[i64]>)>,
}

/// Where a static object lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObjectSpace {
    /// One for each block.
    Shared,
    /// One for each block, its size given by the launch. All of them begin at the same byte.
    DynamicShared,
    /// `__constant__`.
    Constant,
    /// `__device__`, `__managed__`.
    Device,
}

/// Types of values.
#[derive(Clone, Debug, PartialEq, Hash)]
pub enum Ty {
    /// No value.
    Void,
    /// `bool`: 0 or 1 in one byte.
    Bool,
    /// An integer of 1, 2, 4 or 8 bytes.
    Int {
        /// Size.
        bytes: u8,
        /// Signedness.
        signed: bool,
    },
    /// A floating-point number of 2, 4 or 8 bytes.
    Float {
        /// Size.
        bytes: u8,
    },
    /// An address; a reference too.
    Pointer,
    /// A record, CUDA vector, or array by value. Its value is the list of its leaves' values.
    Aggregate(Arc<Layout>),
    /// Of unknown make-up; the size may be known.
    Opaque {
        /// Size in bytes.
        bytes: Option<u32>,
    },
}

impl Ty {
    /// `int`.
    pub const INT: Self = Self::Int { bytes: 4, signed: true };
    /// `unsigned`.
    pub const UINT: Self = Self::Int { bytes: 4, signed: false };
    /// `size_t`.
    pub const SIZE: Self = Self::Int { bytes: 8, signed: false };
    /// `long long`, `ptrdiff_t`.
    pub const LONG: Self = Self::Int { bytes: 8, signed: true };

    /// A scalar type.
    pub const fn of_scalar(ty: Scalar) -> Self {
        match ty {
            Scalar::Bool => Self::Bool,
            Scalar::Int(Integer { bytes, signed }) => Self::Int { bytes, signed },
            Scalar::Float { bytes } => Self::Float { bytes },
            Scalar::Complex { bytes } => Self::Opaque { bytes: Some(bytes as u32) },
        }
    }

    /// The scalar type that it is.
    pub const fn scalar(&self) -> Option<Scalar> {
        Some(match self {
            Self::Bool => Scalar::Bool,
            Self::Int { bytes, signed } => Scalar::Int(Integer::new(*bytes, *signed)),
            Self::Float { bytes } => Scalar::Float { bytes: *bytes },
            _ => return None,
        })
    }

    /// The type of integers in which its numbers are kept and computed: 64 bits for what is no integer.
    #[inline]
    pub const fn integer(&self) -> Integer {
        match self {
            Self::Bool => Integer::new(1, false),
            Self::Int { bytes, signed } => Integer::new(*bytes, *signed),
            _ => Integer::LONG,
        }
    }

    /// A number brought into the range of the type.
    #[inline]
    pub const fn wrap(&self, value: i64) -> i64 {
        match self {
            Self::Bool => (value != 0) as i64,
            other => other.integer().wrap(value),
        }
    }

    /// Whether its values are floating-point numbers, kept as the bits of an `f64`.
    pub const fn is_float(&self) -> bool {
        matches!(self, Self::Float { .. })
    }

    /// Size in bytes, where known.
    pub fn bytes(&self) -> Option<u32> {
        match self {
            Self::Void => Some(0),
            Self::Bool => Some(1),
            Self::Int { bytes, .. } | Self::Float { bytes } => Some(u32::from(*bytes)),
            Self::Pointer => Some(8),
            Self::Aggregate(layout) => Some(layout.bytes),
            Self::Opaque { bytes } => *bytes,
        }
    }

    /// Alignment in bytes that an access needs; 1 where unknown.
    pub fn align(&self) -> u32 {
        match self {
            Self::Aggregate(layout) => layout.align,
            Self::Void | Self::Opaque { .. } => 1,
            _ => self.bytes().unwrap_or(1),
        }
    }
}

/// How an aggregate lies in memory.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Layout {
    /// Size.
    pub bytes: u32,
    /// Alignment.
    pub align: u32,
    /// Its scalars in order of their offsets; arrays inside are unrolled up to [`MAX_LEAVES`] in all, beyond which
    /// `leaves` is empty and values of the type are unknown.
    pub leaves: Vec<Leaf>,
}

/// Most leaves of an aggregate that is kept by value.
pub const MAX_LEAVES: usize = 64;

/// A scalar inside an aggregate.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Leaf {
    /// Bytes from the start.
    pub offset: u32,
    /// Its type: never an aggregate.
    pub ty: Ty,
}

/// An expression with its type and place.
#[derive(Clone, Debug, Hash)]
pub struct ExprNode {
    /// What it is.
    pub kind: Expr,
    /// Type of its value.
    pub ty: Ty,
    /// Where it is written.
    pub site: Site,
}

/// Expressions. Operands of arithmetic have been converted to one type, as C++ does it.
#[derive(Clone, Debug)]
pub enum Expr {
    /// An integer, or 0 for a null pointer.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// `threadIdx`, `blockIdx` and so on, an axis of it; `unsigned`.
    Builtin(Builtin),
    /// The value at a place.
    Read(Place),
    /// `place = value`; its own value is what was stored.
    Write(Place, ExprId),
    /// `place op= value`, `++place`, `place--`: reads, computes in `compute` (the common type of both sides), converts
    /// back, stores.
    Update {
        /// What is changed.
        place: Place,
        /// How.
        op: BinaryOp,
        /// By what; already of type `compute`.
        value: ExprId,
        /// Type in which it is computed; for a pointer the value is in bytes.
        compute: Ty,
        /// Whether its own value is the one before (`x++`).
        old: bool,
    },
    /// The address of a variable that lives in memory.
    VariableAddress(VariableId),
    /// The address of a static object.
    ObjectAddress(ObjectId),
    /// `pointer + index * stride`, in bytes; the index is of an integer type and is widened as its type says.
    Offset {
        /// The pointer.
        base: ExprId,
        /// The index.
        index: ExprId,
        /// Bytes that one index step means.
        stride: i64,
    },
    /// `-x`, `~x`; `+x` is a conversion, and `!x` is [`Self::Not`].
    Unary(UnaryOp, ExprId),
    /// `!x`; `bool`.
    Not(ExprId),
    /// Arithmetic and comparison without short circuits. A difference of two pointers is in bytes.
    Binary(BinaryOp, ExprId, ExprId),
    /// `a && b`; `bool`.
    And(ExprId, ExprId),
    /// `a || b`; `bool`.
    Or(ExprId, ExprId),
    /// `c ? a : b`.
    Select(ExprId, ExprId, ExprId),
    /// Converted to the node's type.
    Convert(ExprId),
    /// An aggregate of the node's type from its leaves in order; an operand that is itself an aggregate stands for all of
    /// its leaves.
    Aggregate(Vec<ExprId>),
    /// Some leaves of an aggregate value; one leaf is a scalar.
    Leaves {
        /// The aggregate.
        of: ExprId,
        /// The first leaf.
        first: u16,
        /// How many.
        count: u16,
    },
    /// A call of a function in sight.
    Call(FunctionId, Vec<ExprId>),
    /// An operation that the executor knows.
    Intrinsic(Intrinsic, Vec<ExprId>),
    /// `a, b`: all are evaluated, the last is the value.
    Sequence(Vec<ExprId>),
    /// Statements of a macro or GNU statement expression, then the value, if any.
    Statements(Block, Option<ExprId>),
    /// Not understood: the children are evaluated for their accesses, the value is unknown.
    Opaque {
        /// What is evaluated.
        children: Vec<ExprId>,
        /// What else it may do.
        effect: Effect,
    },
}

/// What something that is not understood may do besides having a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Nothing, and its value depends on its operands and on this function number only (`sinf`): equal operands give
    /// equal values.
    Pure(u32),
    /// Nothing; the value may differ from call to call.
    None,
    /// It may write through pointers it is given, and into everything that is not a register.
    Writes,
    /// It writes into any object, through a number that is an address.
    WritesAnywhere,
    /// What a function out of sight does: it comes back, and it may wait for other threads.
    Call {
        /// Whether it may touch memory: it is given more than numbers.
        memory: bool,
        /// Whether nobody uses what it returns, so that it does something else.
        discarded: bool,
    },
    /// Anything: it may also contain barriers, and may not come back.
    Anything,
}

/// Where a value is read or stored.
#[derive(Clone, Debug, Hash)]
pub enum Place {
    /// A register variable, or some leaves of it (`count` 0 means all of it).
    Register {
        /// The variable.
        variable: VariableId,
        /// The first leaf.
        first: u16,
        /// How many leaves; 0 for the whole variable.
        count: u16,
    },
    /// Memory at an address, of the type of the node that reads or writes it.
    Memory {
        /// The address.
        address: ExprId,
        /// Size in bytes of the element of the innermost array or pointer that is accessed: `sizeof(a[0])`.
        element: u32,
        /// Whether the access is `volatile`.
        volatile: bool,
    },
}

/// What the hardware tells a thread about itself. Axis 0, 1, 2 for x, y, z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Builtin {
    ThreadIdx(u8),
    BlockIdx(u8),
    BlockDim(u8),
    GridDim(u8),
    WarpSize,
}

pub use cudalint_program::ir::{BinaryOp, UnaryOp};

/// A list of statements.
pub type Block = Vec<StmtId>;

/// A statement with its place.
#[derive(Clone, Debug, Hash)]
pub struct StmtNode {
    /// What it is.
    pub kind: Stmt,
    /// Where it is written.
    pub site: Site,
}

/// Statements.
#[derive(Clone, Debug, Hash)]
pub enum Stmt {
    /// For its effect.
    Expr(ExprId),
    /// A local variable comes into being without a value; a value given is a `Write` behind it. In a loop it is new in
    /// each iteration.
    Declare(VariableId),
    /// A scope.
    Block(Block),
    /// `if`.
    If {
        /// `bool`.
        condition: ExprId,
        /// Where it holds.
        then: Block,
        /// Where not.
        otherwise: Block,
    },
    /// Every loop. `for`'s initialization stands before it.
    Loop {
        /// `bool`; `None` for ever.
        condition: Option<ExprId>,
        /// Whether the body comes before the first test.
        body_first: bool,
        /// After the body and after `continue`.
        step: Option<ExprId>,
        /// The body.
        body: Block,
    },
    /// `switch` on an integer; control falls through from case to case.
    Switch {
        /// The value.
        value: ExprId,
        /// Cases in order: constants (`None` for `default`; several labels are several cases with empty bodies), bodies.
        cases: Vec<(Option<i64>, Block)>,
    },
    /// `break`.
    Break,
    /// `continue`.
    Continue,
    /// `return`.
    Return(Option<ExprId>),
    /// Not understood (damage, `goto`, assembly): the children may or may not run, in any order and number.
    Opaque {
        /// Expressions in it.
        exprs: Vec<ExprId>,
        /// Statements in it.
        blocks: Vec<Block>,
        /// What else it may do.
        effect: Effect,
    },
}

impl Code {
    /// Whether the threads of a block work together: through shared memory, or at barriers.
    pub fn is_cooperative(&self) -> bool {
        let meets = |node: &ExprNode| matches!(&node.kind, Expr::Intrinsic(intrinsic, _) if intrinsic.is_meeting());
        self.has_shared_memory() || self.exprs.iter().any(meets)
    }

    /// Whether the threads of a block have memory of their own together.
    pub fn has_shared_memory(&self) -> bool {
        let shared = |object: &StaticObject| matches!(object.space, ObjectSpace::Shared | ObjectSpace::DynamicShared);
        self.objects.iter().any(shared)
    }

    /// An expression. Ids come from this code alone, so it is there.
    pub fn expr(&self, id: ExprId) -> &ExprNode {
        &self.exprs[id]
    }

    /// A statement.
    pub fn stmt(&self, id: StmtId) -> &StmtNode {
        &self.stmts[id]
    }
}
