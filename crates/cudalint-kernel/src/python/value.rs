//! What an expression of a Python kernel lowers to.

use super::types::{Fixed, PyTy};
use super::{Order, Record};
use crate::code::{ExprId, Ty};
use cudalint_program::Name;
use std::sync::Arc;

/// A value: expressions of the code, which are evaluated where they are put, with their type. Who uses a part more than once
/// settles it first (see [`super::lower::Lowerer::settle`]).
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// `None`.
    None,
    /// A number; the expression is of that type.
    Number(ExprId, Ty),
    /// Nothing is known of it.
    Opaque(ExprId),
    /// An array or a view of one.
    Array(Box<Array>),
    /// A record in memory.
    Record(Box<Reference>),
    /// A tuple.
    Tuple(Vec<Value>),
    /// What the compiler knows alone.
    Fixed(Fixed),
    /// `start:stop:step` in a subscript.
    Slice(Box<[Option<Value>; 3]>),
    /// `...` in a subscript.
    Ellipsis,
    /// `range(…)`.
    Range(Box<Range>),
    /// `enumerate(x)` and `zip(a, b)`.
    Zip(Vec<Value>),
    /// A method of a value, before its call.
    Method(Box<Value>, Name),
}

/// A record in memory.
#[derive(Clone, Debug)]
pub(super) struct Reference {
    /// As messages name the array that it is in.
    pub name: Arc<str>,
    /// Its first byte.
    pub address: ExprId,
    pub record: Arc<Record>,
    /// Bytes of an element of the array that it is in.
    pub unit: u32,
}

/// An array: everything is kept as expressions, so that views cost nothing.
#[derive(Clone, Debug)]
pub(super) struct Array {
    /// As messages name it.
    pub name: Arc<str>,
    /// Type of an element.
    pub element: Ty,
    /// Of records: what an element is.
    pub record: Option<Arc<Record>>,
    /// Of one field of records: bytes of a record, by which its elements are told.
    pub unit: Option<u32>,
    /// How it lies.
    pub order: Order,
    /// Address of the first element.
    pub data: ExprId,
    /// Extents, `int64`.
    pub shape: Vec<ExprId>,
    /// Strides in bytes, when [`Order::Strided`].
    pub strides: Vec<ExprId>,
}

/// `range(start, stop, step)`.
#[derive(Clone, Debug)]
pub(super) struct Range {
    pub start: ExprId,
    pub stop: ExprId,
    pub step: ExprId,
    /// Type of all three and of the variable.
    pub ty: Ty,
    /// `enumerate` from `start` without end.
    pub endless: bool,
}

impl Array {
    /// Bytes of what messages count.
    pub fn counted(&self) -> u32 {
        self.unit.or_else(|| self.element.bytes()).unwrap_or(1)
    }
}

impl Value {
    /// Its type; `None` for what no variable can hold.
    pub fn ty(&self) -> Option<PyTy> {
        Some(match self {
            Self::None => PyTy::None,
            Self::Number(_, ty) => PyTy::Number(ty.clone()),
            Self::Opaque(_) => PyTy::Opaque,
            Self::Array(array) => PyTy::Array {
                element: array.element.clone(),
                record: array.record.clone(),
                rank: array.shape.len() as u8,
                order: array.order,
            },
            Self::Record(record) => PyTy::Record(Arc::clone(&record.record)),
            Self::Tuple(all) => PyTy::Tuple(all.iter().map(Self::ty).collect::<Option<_>>()?),
            Self::Fixed(fixed) => PyTy::Fixed(fixed.clone()),
            Self::Slice(_) | Self::Ellipsis | Self::Range(_) | Self::Zip(_) | Self::Method(..) => return None,
        })
    }

    /// The expressions it is made of, as [`PyTy::leaves`] lists their types.
    pub fn leaves(&self, out: &mut Vec<ExprId>) {
        match self {
            Self::Number(id, _) | Self::Opaque(id) => out.push(*id),
            Self::Array(array) => {
                out.push(array.data);
                out.extend(&array.shape);
                if array.order == Order::Strided {
                    out.extend(&array.strides);
                }
            }
            Self::Record(record) => out.push(record.address),
            Self::Tuple(all) | Self::Zip(all) => all.iter().for_each(|one| one.leaves(out)),
            Self::Range(range) => out.extend([range.start, range.stop, range.step]),
            Self::Slice(parts) => parts.iter().flatten().for_each(|one| one.leaves(out)),
            Self::Method(of, _) => of.leaves(out),
            Self::None | Self::Fixed(_) | Self::Ellipsis => {}
        }
    }

    /// A value of a type from its parts.
    pub fn from_leaves(ty: &PyTy, name: &Arc<str>, leaves: &mut impl Iterator<Item = ExprId>) -> Option<Self> {
        Some(match ty {
            PyTy::None => Self::None,
            PyTy::Number(ty) => Self::Number(leaves.next()?, ty.clone()),
            PyTy::Opaque => Self::Opaque(leaves.next()?),
            PyTy::Record(record) => {
                let (name, record) = (Arc::clone(name), Arc::clone(record));
                let unit = record.bytes;
                Self::Record(Box::new(Reference { name, address: leaves.next()?, record, unit }))
            }
            PyTy::Array { element, record, rank, order } => {
                let data = leaves.next()?;
                let rank = usize::from(*rank);
                let shape: Vec<ExprId> = leaves.by_ref().take(rank).collect();
                let strides = if *order == Order::Strided { leaves.by_ref().take(rank).collect() } else { Vec::new() };
                let (name, element, record) = (Arc::clone(name), element.clone(), record.clone());
                let array = Array { name, element, record, unit: None, order: *order, data, shape, strides };
                Self::Array(Box::new(array))
            }
            PyTy::Tuple(all) => {
                let part = |one: &PyTy| Self::from_leaves(one, name, leaves);
                Self::Tuple(all.iter().map(part).collect::<Option<_>>()?)
            }
            PyTy::Fixed(fixed) => Self::Fixed(fixed.clone()),
        })
    }
}
