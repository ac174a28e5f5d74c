//! Arguments of a launch as the kernel gets them: their types, and what their parameters are given.

use super::Walker;
use super::emit::amount;
use super::value::{Array, Dim, Dtype, Kind, Layout, Lib, Transfer, Val};
use crate::facts::{Amount, ArrayShape, Buffer, BufferId, MemorySpace, Origin, Site};
use crate::given::{Given, HeldContents};
use crate::quantity::Quantity;
use cudalint_kernel::code::Ty;
use cudalint_kernel::python::{ArgumentType, Order};
use cudalint_program::Name;
use cudalint_syntax::Span;
use std::rc::Rc;
use std::sync::Arc;

/// Numbers of buffers that the launch itself makes: copies of host arrays, memory behind unknown values.
const COPIES: u32 = 0x8000_0000;
const OPENS: u32 = 0x4000_0000;

/// An argument as a kernel gets it.
pub(super) struct Handed {
    pub ty: ArgumentType,
    /// One for each parameter of the kernel's code.
    pub given: Vec<Given>,
}

impl Walker<'_> {
    /// A value as the kernel gets it.
    pub(super) fn hand_over(
        &mut self,
        value: &Val,
        guess: Option<&ArgumentType>,
        stated: bool,
        index: usize,
    ) -> Handed {
        let scalar = |ty: Ty| match guess {
            Some(ArgumentType::Scalar(own)) if stated => own.clone(),
            _ => ty,
        };
        let int = |value: &Val, ty: Ty| {
            let amount = value.amount();
            let given = match (&ty, amount.quantity.is_unknown()) {
                (_, true) => Given::Unknown,
                (Ty::Int { bytes, signed }, _) => Given::Int { amount, bytes: *bytes, signed: *signed },
                (Ty::Bool, _) => Given::Int { amount, bytes: 1, signed: false },
                (Ty::Float { .. }, _) => match value.known() {
                    Some(number) => Given::Float { value: number as f64, assumptions: value.why.clone() },
                    None => Given::Unknown,
                },
                _ => Given::Unknown,
            };
            Handed { ty: ArgumentType::Scalar(ty), given: vec![given] }
        };
        let float = |number: Option<f64>, ty: Ty| {
            let given = match (number, &ty) {
                (Some(value), Ty::Float { .. }) => Given::Float { value, assumptions: None },
                _ => Given::Unknown,
            };
            Handed { ty: ArgumentType::Scalar(ty), given: vec![given] }
        };
        match &value.kind {
            Kind::Int(_) => int(value, scalar(Ty::LONG)),
            Kind::Bool(_) => int(value, scalar(Ty::Bool)),
            Kind::Float(number) => float(number.filter(|_| value.why.is_none()), scalar(Ty::Float { bytes: 8 })),
            Kind::Ratio(..) => float(None, scalar(Ty::Float { bytes: 8 })),
            Kind::Number(dtype @ (Dtype::Int { .. } | Dtype::Bool), inner) => {
                int(&(**inner).clone().because(&value.why), scalar(dtype.ty()))
            }
            Kind::Number(dtype, inner) => float(inner.number().filter(|_| value.why.is_none()), scalar(dtype.ty())),
            Kind::None => Handed { ty: ArgumentType::None, given: Vec::new() },
            Kind::Tuple(items) => {
                let inner: Vec<Handed> = items.iter().map(|item| self.hand_over(item, None, false, index)).collect();
                let types = inner.iter().map(|one| one.ty.clone()).collect();
                Handed { ty: ArgumentType::Tuple(types), given: inner.into_iter().flat_map(|one| one.given).collect() }
            }
            Kind::Array(array) => self.hand_array(&array.clone(), value, guess, index, None),
            Kind::Transfer(kind, inner) => match &inner.kind {
                Kind::Array(array) => self.hand_array(&array.clone(), inner, guess, index, Some(*kind)),
                _ => self.hand_over(&inner.clone(), guess, stated, index),
            },
            Kind::Open(open) => {
                let open = Rc::clone(open);
                self.hand_open(&open, guess)
            }
            _ => unknown_as(guess),
        }
    }

    fn hand_array(
        &mut self,
        array: &Array,
        value: &Val,
        guess: Option<&ArgumentType>,
        index: usize,
        transfer: Option<Transfer>,
    ) -> Handed {
        let guessed = match guess {
            Some(ArgumentType::Array { rank, .. }) => *rank,
            _ => 1,
        };
        let rank = array.rank().map_or(guessed, |rank| u8::try_from(rank).unwrap_or(u8::MAX));
        let order = match &array.layout {
            Layout::C => Order::C,
            Layout::Fortran => Order::Fortran,
            Layout::Strided(_) | Layout::Unknown => Order::Strided,
        };
        let element = match array.dtype {
            Dtype::Unknown | Dtype::Other => Ty::Opaque { bytes: Some(super::dtype::STAND_IN_BYTES as u32) },
            dtype => dtype.ty(),
        };
        let record = self.record(array.dtype).filter(|record| !record.fields.is_empty()).cloned();
        let host = array.lib == Lib::Numpy || transfer.is_some();
        let mut given = vec![self.given_pointer(array, value, host.then_some(index), transfer)];
        for axis in 0..usize::from(rank) {
            let dim = array.shape.as_ref().and_then(|shape| shape.get(axis)).cloned().unwrap_or_else(Dim::unknown);
            given.push(extent(&dim, value));
        }
        if order == Order::Strided {
            // What lies in memory in an order that is not known has strides that are not known.
            let strides = self.strides(array).unwrap_or_default();
            for axis in 0..usize::from(rank) {
                let q = strides.get(axis).cloned().unwrap_or(Quantity::Unknown);
                given.push(extent(&Dim { q, why: None }, value));
            }
        }
        let ty = match record {
            Some(record) => ArgumentType::Records { record, rank, order },
            None => ArgumentType::Array { element, rank, order },
        };
        Handed { ty, given }
    }

    /// The address of an array's first element. Of a host array the launch makes a copy on the device.
    pub(super) fn given_pointer(
        &mut self,
        array: &Array,
        value: &Val,
        copy: Option<usize>,
        transfer: Option<Transfer>,
    ) -> Given {
        let space = if copy.is_some() { Some(MemorySpace::Device) } else { None };
        let Some(mut buffer) = self.buffer_fact(array.buffer, space) else { return Given::Unknown };
        let mut offset = Amount { quantity: array.offset.clone(), assumptions: value.why.clone() };
        let mut held = self.heap.buffer(array.buffer).and_then(|buffer| buffer.held.clone());
        if let Some(index) = copy {
            buffer.id = BufferId(COPIES | ((index as u32) << 20) | (array.buffer.0 & 0xf_ffff));
            let size = array.size();
            let bytes = array.dtype.bytes().unwrap_or(super::dtype::STAND_IN_BYTES);
            if array.layout == Layout::C || array.layout == Layout::Fortran {
                // Only the view is copied.
                buffer.bytes = amount(&Dim { q: size.q.times(&Quantity::Known(bytes)), why: size.why });
                let whole = array.offset.known() == Some(0);
                offset = Amount { quantity: Quantity::Known(0), assumptions: None };
                held = held.filter(|held| match &held.contents {
                    HeldContents::WrittenOnly(_) | HeldContents::WrittenBy(..) => false,
                    // As many integers as the view has.
                    HeldContents::Integers { values, .. } => {
                        whole && array.size().q.known() == i64::try_from(values.len()).ok()
                    }
                    HeldContents::Filled(_) => whole,
                });
            } else {
                held = None;
            }
            if transfer == Some(Transfer::Out) {
                held = None;
            }
        }
        Given::Pointer { buffer: Box::new(buffer), offset, held }
    }

    /// An unknown value: an array where the kernel uses it as one, with its extents as symbols.
    fn hand_open(&mut self, open: &Rc<super::value::Open>, guess: Option<&ArgumentType>) -> Handed {
        match guess {
            Some(ArgumentType::Array { element, rank, .. }) => {
                let root = open.like.as_ref().map_or(open.id, |like| like.id);
                let asked = |w: &Self, what: &str| w.asked.contains_key(&(root, what.to_owned()));
                let mut extents = Vec::new();
                for axis in 0..*rank {
                    let by_shape = format!(".shape[{axis}]");
                    let value = if *rank == 1 {
                        match (asked(self, ".size"), asked(self, &by_shape)) {
                            // Both have been asked for, and nobody has said that they are one.
                            (true, true) => Val::unknown(),
                            (false, true) => self.asked(open, &by_shape),
                            _ => self.asked(open, ".size"),
                        }
                    } else if asked(self, ".size") {
                        Val::unknown()
                    } else {
                        self.asked(open, &by_shape)
                    };
                    extents.push(Dim { q: value.quantity().unwrap_or(Quantity::Unknown), why: None });
                }
                let element = match element {
                    Ty::Opaque { bytes: None } => Ty::Opaque { bytes: Some(super::dtype::STAND_IN_BYTES as u32) },
                    element => element.clone(),
                };
                let bytes = i64::from(element.bytes().unwrap_or(super::dtype::STAND_IN_BYTES as u32));
                let size = extents.iter().fold(Quantity::Known(bytes), |all, dim| all.times(&dim.q));
                let array = ArrayShape { extents: extents.iter().map(amount).collect(), dtype: String::new() };
                let buffer = Buffer {
                    id: BufferId(OPENS | open.id),
                    space: MemorySpace::Device,
                    bytes: amount(&Dim { q: size, why: None }),
                    name: Name::from(open.name.as_str()),
                    site: Site { module: self.module_id(), span: Span::default() },
                    origin: Origin::Parameter,
                    element: None,
                    freed: false,
                    array: Some(Arc::new(array)),
                };
                let zero = Amount { quantity: Quantity::Known(0), assumptions: None };
                let mut given = vec![Given::Pointer { buffer: Box::new(buffer), offset: zero, held: None }];
                let value = Val::unknown();
                given.extend(extents.iter().map(|dim| extent(dim, &value)));
                Handed { ty: ArgumentType::Array { element, rank: *rank, order: Order::C }, given }
            }
            Some(ArgumentType::Scalar(Ty::Int { .. }) | ArgumentType::Unknown) | None
                if self.integers.contains(&open.id) || matches!(guess, Some(ArgumentType::Scalar(_))) =>
            {
                let value = self.asked(open, "");
                let ty = match guess {
                    Some(ArgumentType::Scalar(ty)) => ty.clone(),
                    _ => Ty::LONG,
                };
                let (bytes, signed) = match &ty {
                    Ty::Int { bytes, signed } => (*bytes, *signed),
                    _ => (8, true),
                };
                Handed {
                    ty: ArgumentType::Scalar(ty),
                    given: vec![Given::Int { amount: value.amount(), bytes, signed }],
                }
            }
            _ => unknown_as(guess),
        }
    }
}

fn unknown_as(guess: Option<&ArgumentType>) -> Handed {
    match guess {
        Some(ArgumentType::Array { element, rank, .. }) => {
            let mut given = vec![Given::Somewhere];
            given.extend((0..*rank).map(|_| Given::Unknown));
            let element = match element {
                Ty::Opaque { bytes: None } => Ty::Opaque { bytes: Some(super::dtype::STAND_IN_BYTES as u32) },
                element => element.clone(),
            };
            Handed { ty: ArgumentType::Array { element, rank: *rank, order: Order::C }, given }
        }
        Some(ty @ ArgumentType::Scalar(_)) => Handed { ty: ty.clone(), given: vec![Given::Unknown] },
        _ => Handed { ty: ArgumentType::Unknown, given: vec![Given::Unknown] },
    }
}

pub(super) fn extent(dim: &Dim, value: &Val) -> Given {
    if dim.q.is_unknown() {
        return Given::Unknown;
    }
    let mut amount = amount(dim);
    amount.assumptions = crate::quantity::union(&amount.assumptions, &value.why);
    Given::Int { amount, bytes: 8, signed: true }
}
