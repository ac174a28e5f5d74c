//! Types of values in a Python kernel, and what the compilers' rules make of two of them.
//!
//! Numba's rules are those of its integer typing proposal (NBEP 1): arithmetic on integers is done in at least 64 bits,
//! signed when one side is; floats follow the casts that `typeconv/rules.py` calls safe. `cupyx.jit` looks up the loop of
//! a ufunc by the order `?bBhHiIlLqQefd`, which comes out as C's rules without its promotion to `int`.

use super::{Order, Record};
use crate::code::{self, BinaryOp, Layout, Leaf, Ty};
use cudalint_numbers::{Scalar, cuda_vector};
use cudalint_program::ir::{Dialect, FunctionId, ModuleId};
use std::sync::Arc;

pub(super) const FLOAT: Ty = Ty::Float { bytes: 4 };
pub(super) const DOUBLE: Ty = Ty::Float { bytes: 8 };

/// Type of a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum PyTy {
    /// `None`, and what a function without `return` gives.
    None,
    /// A number.
    Number(Ty),
    /// An array.
    Array { element: Ty, record: Option<Arc<Record>>, rank: u8, order: Order },
    /// A record in memory.
    Record(Arc<Record>),
    /// A tuple.
    Tuple(Vec<PyTy>),
    /// What has no value when the kernel runs.
    Fixed(Fixed),
    /// Not known; [`Ty::Opaque`] with its size if that is.
    Opaque,
}

/// What the compiler knows and the kernel never holds.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Fixed {
    /// A string.
    Str(Arc<str>),
    /// A type of numbers.
    Type(Ty),
    /// A structured type.
    Record(Arc<Record>),
    /// A module or function of a package by its dotted path.
    Package(Arc<str>),
    /// A function of the project; what it captures is in the lowerer's table.
    Function(ModuleId, FunctionId, u32),
    /// A number that a call is compiled for.
    Literal(i64, Ty),
    /// `cuda.cg.this_grid()`.
    Grid,
    /// `cg.this_thread_block()` of `cupyx.jit`.
    Block,
}

impl PyTy {
    /// Types of the registers that hold a value of the type, in order.
    pub fn leaves(&self, out: &mut Vec<Ty>) {
        match self {
            Self::None | Self::Fixed(_) => {}
            Self::Number(ty) => out.push(ty.clone()),
            Self::Array { rank, order, .. } => {
                out.push(Ty::Pointer);
                let numbers = usize::from(*rank) * if *order == Order::Strided { 2 } else { 1 };
                out.extend(std::iter::repeat_n(Ty::LONG, numbers));
            }
            Self::Record(_) => out.push(Ty::Pointer),
            Self::Tuple(all) => all.iter().for_each(|one| one.leaves(out)),
            Self::Opaque => out.push(Ty::Opaque { bytes: None }),
        }
    }

    /// The type as a function returns it.
    pub fn as_returned(&self) -> Ty {
        let mut leaves = Vec::new();
        self.leaves(&mut leaves);
        match leaves.as_slice() {
            [] => Ty::Void,
            [one] => one.clone(),
            all => {
                let leaves: Vec<Leaf> = all
                    .iter()
                    .enumerate()
                    .map(|(index, ty)| Leaf { offset: index as u32 * 8, ty: ty.clone() })
                    .collect();
                Ty::Aggregate(Arc::new(Layout { bytes: leaves.len() as u32 * 8, align: 8, leaves }))
            }
        }
    }
}

/// Whether a number is an integer (or a truth value).
pub(super) const fn is_integer(ty: &Ty) -> bool {
    matches!(ty, Ty::Int { .. } | Ty::Bool)
}

pub(super) const fn is_signed(ty: &Ty) -> bool {
    matches!(ty, Ty::Int { signed: true, .. } | Ty::Bool)
}

/// A function and the types that it is compiled for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Key {
    pub module: ModuleId,
    pub function: FunctionId,
    /// Into the lowerer's captures.
    pub captured: u32,
    pub arguments: Vec<PyTy>,
}

/// A function that was lowered for some types.
pub(super) struct Instance {
    pub key: Key,
    pub id: code::FunctionId,
    pub returns: PyTy,
    pub wants_literals: bool,
}

/// Bytes of a number.
fn size(ty: &Ty) -> u32 {
    ty.bytes().unwrap_or(8)
}

/// An integer of 64 bits, signed when one of the two is.
fn wide(a: &Ty, b: &Ty) -> Ty {
    if is_signed(a) || is_signed(b) { Ty::LONG } else { Ty::SIZE }
}

/// Numba: the type of floats in which an operation on the two is done.
fn float_of(a: &Ty, b: &Ty) -> Ty {
    let needs = |ty: &Ty| match ty {
        Ty::Bool | Ty::Int { bytes: 1, .. } => 2,
        Ty::Int { bytes: 2, signed: true } => 4,
        Ty::Float { bytes } => *bytes,
        _ => 8,
    };
    Ty::Float { bytes: needs(a).max(needs(b)) }
}

/// Place of a type in `?bBhHiIlLqQefd`.
fn rank(ty: &Ty) -> u32 {
    match ty {
        Ty::Bool => 0,
        Ty::Int { bytes, signed } => {
            let size = match bytes {
                1 => 1,
                2 => 3,
                4 => 5,
                _ => 7,
            };
            size + u32::from(!signed)
        }
        Ty::Float { bytes: 2 } => 10,
        Ty::Float { bytes: 4 } => 11,
        _ => 12,
    }
}

fn later(a: &Ty, b: &Ty) -> Ty {
    if rank(a) >= rank(b) { a.clone() } else { b.clone() }
}

/// The type in which both operands are brought, and that of the result. Numbers only.
pub(super) fn operation(dialect: Dialect, op: BinaryOp, a: &Ty, b: &Ty) -> (Ty, Ty) {
    let (compute, result) = match dialect {
        Dialect::CupyJit => cupy(op, a, b),
        _ => numba(op, a, b),
    };
    (compute, if op.is_comparison() { Ty::Bool } else { result })
}

fn same(ty: Ty) -> (Ty, Ty) {
    (ty.clone(), ty)
}

fn cupy(op: BinaryOp, a: &Ty, b: &Ty) -> (Ty, Ty) {
    let both = later(a, b);
    same(match op {
        BinaryOp::TrueDiv if is_integer(&both) => DOUBLE,
        BinaryOp::Sub | BinaryOp::Mul | BinaryOp::FloorDiv | BinaryOp::Rem | BinaryOp::Pow | BinaryOp::Shl
            if both == Ty::Bool =>
        {
            Ty::Int { bytes: 1, signed: true }
        }
        _ => both,
    })
}

fn numba(op: BinaryOp, a: &Ty, b: &Ty) -> (Ty, Ty) {
    let integers = is_integer(a) && is_integer(b);
    if !integers {
        return same(float_of(a, b));
    }
    match op {
        BinaryOp::TrueDiv => same(DOUBLE),
        BinaryOp::Shl | BinaryOp::Shr => same(wide(a, a)),
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor if (a, b) == (&Ty::Bool, &Ty::Bool) => same(Ty::Bool),
        _ if op.is_comparison() => {
            if a == b {
                same(a.clone())
            } else if is_signed(a) == is_signed(b) {
                same(if size(a) >= size(b) { a.clone() } else { b.clone() })
            } else {
                same(Ty::LONG)
            }
        }
        _ => same(wide(a, b)),
    }
}

/// `-x`, `+x`, `~x`.
pub(super) fn unary(dialect: Dialect, ty: &Ty, invert: bool) -> Ty {
    match (dialect, ty) {
        (Dialect::CupyJit, _) | (_, Ty::Float { .. }) => ty.clone(),
        (_, Ty::Bool) if invert => Ty::Bool,
        _ => wide(ty, ty),
    }
}

/// The type of a variable that is given values of both types; of numbers as `numpy.promote_types` has it.
pub(super) fn unify(dialect: Dialect, a: &PyTy, b: &PyTy) -> PyTy {
    match (a, b) {
        _ if a == b => a.clone(),
        // A variable of `cupyx.jit` keeps the type that it was declared with.
        (PyTy::Number(_), PyTy::Number(_)) if dialect == Dialect::CupyJit => a.clone(),
        (PyTy::Number(a), PyTy::Number(b)) => PyTy::Number(promote(a, b)),
        (
            PyTy::Array { element: x, record, rank: m, order: p },
            PyTy::Array { element: y, record: other, rank: n, order: q },
        ) if x == y && record == other && m == n => {
            let order = if p == q { *p } else { Order::Strided };
            PyTy::Array { element: x.clone(), record: record.clone(), rank: *m, order }
        }
        (PyTy::Tuple(x), PyTy::Tuple(y)) if x.len() == y.len() => {
            PyTy::Tuple(x.iter().zip(y).map(|(a, b)| unify(dialect, a, b)).collect())
        }
        _ => PyTy::Opaque,
    }
}

/// `numpy.promote_types`.
pub(super) fn promote(a: &Ty, b: &Ty) -> Ty {
    match (a.scalar(), b.scalar()) {
        _ if a == b => a.clone(),
        (Some(a), Some(b)) => Ty::of_scalar(a.numpy_common(b)),
        _ => Ty::Opaque { bytes: None },
    }
}

/// The vector type that a name of `numba.cuda` stands for: its element and how many there are.
pub(super) fn vector(name: &str) -> Option<(Ty, usize)> {
    let lanes = name.bytes().last().filter(|last| (b'1'..=b'4').contains(last))?;
    let count = usize::from(lanes - b'0');
    let element = match name.get(..name.len() - 1)?.strip_suffix('x') {
        Some(element) => named(element)?,
        None => Ty::of_scalar(cuda_vector(name).filter(|_| name != "dim3")?.0),
    };
    Some((element, count))
}

/// The type that a name of Numba, `NumPy`, `CuPy` or a dtype string stands for.
pub(super) fn named(name: &str) -> Option<Ty> {
    Scalar::of_numba(name).map(Ty::of_scalar)
}
