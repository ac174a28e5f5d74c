//! Subscripts: elements, rows and slices of arrays, elements of tuples.
//!
//! Numba wraps a negative index of a signed type around once, by adding the extent, and checks nothing (`fix_integer_index` in
//! its `arrayobj.py`); unsigned indices and those of `cupyx.jit` are taken as they are.

use super::Order;
use super::lower::Lowerer;
use super::types::{Fixed, is_integer, is_signed};
use super::value::Reference;
use super::value::{Array, Value};
use crate::code::{BinaryOp, Effect, Expr, ExprId, Intrinsic, Place, Stmt, Ty, UnaryOp};
use crate::report::{AccessKind, Site};
use cudalint_program::ir::Dialect;
use std::sync::Arc;

/// What a subscript leads to.
enum Reached {
    /// The address of an element.
    Element(ExprId, Ty),
    /// A view.
    View(Array),
}

impl Lowerer<'_> {
    /// `base[items]` as a value.
    pub(super) fn subscript(&mut self, base: &Value, items: &[Value], site: Site) -> Value {
        let items = spread(items);
        match base {
            Value::Array(array) if array.record.is_some() && matches!(items.as_slice(), [Value::Fixed(_)]) => {
                let name = match items.as_slice() {
                    [Value::Fixed(Fixed::Str(name))] => Arc::clone(name),
                    _ => Arc::from(""),
                };
                match self.field_of_array(array, &name, site) {
                    Some(view) => view,
                    None => self.lost("field of a record", std::slice::from_ref(base), Effect::None, site),
                }
            }
            Value::Record(of) => match self.field_named(&of.record, &items) {
                Some(name) => self.field_of(of, &name, site),
                None => self.lost("field of a record", std::slice::from_ref(base), Effect::None, site),
            },
            Value::Array(array) => match self.reach(array, &items, AccessKind::Read, site) {
                Some(Reached::Element(address, ty)) => match &array.record {
                    Some(record) => {
                        let (name, record) = (Arc::clone(&array.name), Arc::clone(record));
                        let unit = record.bytes;
                        Value::Record(Box::new(Reference { name, address, record, unit }))
                    }
                    None => self.load_part((address, array.counted()), &ty, site),
                },
                Some(Reached::View(view)) => Value::Array(Box::new(view)),
                None => {
                    let parts: Vec<Value> = std::iter::once(base.clone()).chain(items).collect();
                    self.lost("subscript", &parts, Effect::None, site)
                }
            },
            Value::Tuple(all) => self.tuple_item(all, &items, site),
            Value::Fixed(_) | Value::None => self.lost("subscript", &items, Effect::None, site),
            _ => {
                let parts: Vec<Value> = std::iter::once(base.clone()).chain(items).collect();
                self.lost("subscript of what is not known", &parts, Effect::None, site)
            }
        }
    }

    fn tuple_item(&mut self, all: &[Value], items: &[Value], site: Site) -> Value {
        let at = match items {
            [Value::Number(id, _)] => self.fold(*id),
            [Value::Slice(parts)] => {
                let bound = |this: &Self, part: &Option<Value>, default: i64| match part {
                    None => Some(default),
                    Some(Value::Number(id, _)) => this.fold(*id),
                    Some(_) => None,
                };
                let count = all.len() as i64;
                let wrapped = |value: i64| if value < 0 { (value + count).max(0) } else { value.min(count) } as usize;
                if let (Some(from), Some(to), None) =
                    (bound(self, &parts[0], 0), bound(self, &parts[1], count), &parts[2])
                {
                    let part = all.get(wrapped(from)..wrapped(to)).unwrap_or_default();
                    return Value::Tuple(part.to_vec());
                }
                None
            }
            _ => None,
        };
        let at = at.map(|at| if at < 0 { at + all.len() as i64 } else { at });
        if let Some(found) = at.and_then(|at| usize::try_from(at).ok()).and_then(|at| all.get(at)) {
            return found.clone();
        }
        let parts: Vec<Value> = all.iter().chain(items).cloned().collect();
        self.lost("index of a tuple", &parts, Effect::None, site)
    }

    /// The element or row at a constant position: unpacking.
    pub(super) fn item(&mut self, array: &Array, at: i64, site: Site) -> Value {
        let index = self.integer(at, Ty::LONG, site);
        let base = Value::Array(Box::new(array.clone()));
        self.subscript(&base, &[index], site)
    }

    /// The value of a part of an element of so many bytes.
    pub(super) fn load_part(&mut self, (address, unit): (ExprId, u32), element: &Ty, site: Site) -> Value {
        let id = self.push(Expr::Read(Self::memory_in(address, unit)), element.clone(), site);
        match element {
            Ty::Opaque { .. } => Value::Opaque(id),
            ty => Value::Number(id, ty.clone()),
        }
    }

    /// `base[items] = value`; where `base` is no array, `around` is the one that it is a part of.
    pub(super) fn assign_subscript(
        &mut self,
        base: &Value,
        around: Option<&Array>,
        items: &[Value],
        value: &Value,
        site: Site,
    ) {
        let items = spread(items);
        let parts = |items: Vec<Value>| std::iter::once(value.clone()).chain(items).collect::<Vec<_>>();
        if let Value::Record(of) = base
            && let Some(name) = self.field_named(&of.record, &items)
            && self.assign_field(of, &name, value, site)
        {
            return;
        }
        let Value::Array(array) = base else {
            return self.lost_store("assignment to part of what is not known", around, &parts(items), site);
        };
        // `a["x"] = value`.
        if array.record.is_some()
            && let [Value::Fixed(Fixed::Str(name))] = items.as_slice()
            && let Some(view @ Value::Array(_)) = self.field_of_array(array, name, site)
        {
            let all = Value::Slice(Box::new([None, None, None]));
            return self.assign_subscript(&view, around, &[all], value, site);
        }
        match self.reach(array, &items, AccessKind::Write, site) {
            Some(Reached::Element(address, element)) => {
                self.store_part((address, array.counted()), &element, value, site);
            }
            Some(Reached::View(view)) => self.fill(&view, value, site, 0),
            None => self.lost_store("subscript", Some(array), &parts(items), site),
        }
    }

    /// `view[:] = value`: one element after the other.
    fn fill(&mut self, view: &Array, value: &Value, site: Site, depth: u32) {
        let Value::Array(view) = self.settled(&Value::Array(Box::new(view.clone()))) else { return };
        let value = self.settled(value);
        let Some(extent) = view.shape.first().copied() else { return };
        if depth > 4 {
            return;
        }
        let zero = self.long(0, site);
        let index = self.register("", zero, site);
        self.body.natural.insert(index);
        let read = self.read_register(index, site);
        let condition = self.push(Expr::Binary(BinaryOp::Lt, read, extent), Ty::Bool, site);
        let at = Value::Number(read, Ty::LONG);
        let (body, ()) = self.in_block(|this| {
            let source = match &value {
                Value::Array(from) if from.shape.len() == view.shape.len() => {
                    this.subscript(&value.clone(), std::slice::from_ref(&at), site)
                }
                other => other.clone(),
            };
            match this.reach(&view, std::slice::from_ref(&at), AccessKind::Write, site) {
                Some(Reached::Element(address, element)) => this.store(address, &element, &source, site),
                Some(Reached::View(inner)) => this.fill(&inner, &source, site, depth + 1),
                None => {}
            }
        });
        let one = self.long(1, site);
        let place = Place::Register { variable: index, first: 0, count: 0 };
        let update = Expr::Update { place, op: BinaryOp::Add, value: one, compute: Ty::LONG, old: false };
        let step = self.push(update, Ty::LONG, site);
        self.emit(Stmt::Loop { condition: Some(condition), body_first: false, step: Some(step), body }, site);
    }

    /// `base[items] op= value`.
    pub(super) fn update_subscript(
        &mut self,
        base: &Value,
        items: &[Value],
        op: BinaryOp,
        right: &Value,
        at: Site,
        site: Site,
    ) {
        let items = spread(items);
        let parts = |items: Vec<Value>| std::iter::once(right.clone()).chain(items).collect::<Vec<_>>();
        let Value::Array(array) = base else {
            return self.lost_store("assignment to part of what is not known", None, &parts(items), at);
        };
        let (address, element) = match self.reach(array, &items, AccessKind::UpdateRead, at) {
            Some(Reached::Element(address, element)) => (address, element),
            Some(Reached::View(_)) => return self.lost_store("arithmetic on arrays", Some(array), &parts(items), at),
            None => return self.lost_store("subscript", Some(array), &parts(items), at),
        };
        self.update_at((address, array.counted()), &element, op, right, at, site);
    }

    /// `*address op= value`, of a part of an element of so many bytes.
    pub(super) fn update_at(
        &mut self,
        (address, unit): (ExprId, u32),
        element: &Ty,
        op: BinaryOp,
        right: &Value,
        at: Site,
        site: Site,
    ) {
        if let Value::Number(id, ty) = right
            && let Some((op, compute)) = self.plain_operation(op, element, ty, *id)
        {
            let value = self.convert(*id, ty, &compute);
            let place = Self::memory_in(address, unit);
            let update = Expr::Update { place, op, value, compute, old: false };
            let update = self.push(update, element.clone(), at);
            return self.emit(Stmt::Expr(update), site);
        }
        // The operation is no operator of the code: what comes out is not known, that it is read and written is.
        let mut children = Vec::new();
        right.leaves(&mut children);
        let value = self.push(Expr::Opaque { children, effect: Effect::None }, element.clone(), site);
        let place = Self::memory_in(address, unit);
        let update = Expr::Update { place, op: BinaryOp::Add, value, compute: element.clone(), old: false };
        let update = self.push(update, element.clone(), at);
        self.emit(Stmt::Expr(update), site);
    }

    /// The address of an element, for atomics.
    pub(super) fn element_address(&mut self, array: &Array, items: &[Value], site: Site) -> Option<(ExprId, Ty)> {
        match self.reach(array, &spread(items), AccessKind::Atomic, site)? {
            Reached::Element(address, element) => Some((address, element)),
            Reached::View(_) => None,
        }
    }

    /// Follows a subscript.
    fn reach(&mut self, array: &Array, items: &[Value], access: AccessKind, site: Site) -> Option<Reached> {
        let rank = array.shape.len();
        let indices: Option<Vec<(ExprId, &Ty)>> = items
            .iter()
            .map(|item| match item {
                Value::Number(id, ty) if is_integer(ty) => Some((*id, ty)),
                _ => None,
            })
            .collect();
        if let Some(indices) = indices {
            if indices.len() > rank {
                return None;
            }
            let whole = indices.len() == rank;
            let mut wrapped = Vec::new();
            for (axis, (id, ty)) in indices.into_iter().enumerate() {
                wrapped.push(self.wrapped(array, axis, id, ty, access, site));
            }
            if whole {
                let address = self.address(array, &wrapped, site);
                return Some(Reached::Element(address, array.element.clone()));
            }
            if array.order == Order::C {
                return Some(Reached::View(self.row(array, &wrapped, site)));
            }
            let strided = self.with_strides(array, site);
            let mut data = strided.data;
            for (axis, index) in wrapped.iter().enumerate() {
                data = self.stepped(data, *index, strided.strides[axis], site);
            }
            let count = wrapped.len();
            return Some(Reached::View(Array {
                data,
                shape: strided.shape[count..].to_vec(),
                strides: strided.strides[count..].to_vec(),
                ..strided
            }));
        }
        if items.iter().any(|item| matches!(item, Value::Opaque(_))) && items.len() == rank {
            let children: Vec<ExprId> = items.iter().fold(Vec::new(), |mut all, item| {
                item.leaves(&mut all);
                all
            });
            let index = self.pure("index", children, Ty::LONG, site);
            let data = self.push(Expr::Offset { base: array.data, index, stride: 1 }, Ty::Pointer, site);
            return Some(Reached::Element(data, array.element.clone()));
        }
        self.slices(array, items, access, site).map(Reached::View)
    }

    /// An index as an offset from the first element along an axis.
    pub(super) fn wrapped(
        &mut self,
        array: &Array,
        axis: usize,
        id: ExprId,
        ty: &Ty,
        access: AccessKind,
        site: Site,
    ) -> ExprId {
        if self.dialect == Dialect::CupyJit || !is_signed(ty) || self.is_natural(id) {
            return id;
        }
        let extent = array.shape[axis];
        match (self.fold(id), self.fold(extent)) {
            (Some(index), _) if index >= 0 => return id,
            (Some(index), Some(extent)) => return self.long(index + extent, site),
            // A position from the end that is written as such is meant so.
            (Some(_), None) => return self.folded(BinaryOp::Add, id, extent, site),
            _ => {}
        }
        let at = self.site_of_code(id);
        let from_end = matches!(self.code.exprs.get(id).map(|node| &node.kind), Some(Expr::Unary(UnaryOp::Minus, _)));
        let id = self.convert(id, ty, &Ty::LONG);
        let wrap =
            Intrinsic::WrapIndex { array: Arc::clone(&array.name), axis: axis as u8, access, element: site, from_end };
        self.push(Expr::Intrinsic(wrap, vec![id, extent]), Ty::LONG, at)
    }

    /// `base + index * stride`.
    pub(super) fn stepped(&mut self, base: ExprId, index: ExprId, stride: ExprId, site: Site) -> ExprId {
        if let Some(stride) = self.fold(stride) {
            return self.push(Expr::Offset { base, index, stride }, Ty::Pointer, site);
        }
        let index = self.folded(BinaryOp::Mul, index, stride, site);
        self.push(Expr::Offset { base, index, stride: 1 }, Ty::Pointer, site)
    }

    /// The address of an element.
    fn address(&mut self, array: &Array, indices: &[ExprId], site: Site) -> ExprId {
        let Some(bytes) = array.element.bytes() else {
            let index = self.pure("element", indices.to_vec(), Ty::LONG, site);
            return self.push(Expr::Offset { base: array.data, index, stride: 1 }, Ty::Pointer, site);
        };
        let bytes = i64::from(bytes);
        if array.order == Order::Strided {
            let mut data = array.data;
            for (index, stride) in indices.iter().zip(array.strides.clone()) {
                data = self.stepped(data, *index, stride, site);
            }
            return data;
        }
        let mut pairs: Vec<(ExprId, ExprId)> = indices.iter().copied().zip(array.shape.iter().copied()).collect();
        if array.order == Order::Fortran {
            pairs.reverse();
        }
        // Fixed extents: an offset for each axis, as C++ has it for arrays of arrays.
        let extents: Option<Vec<i64>> = pairs.iter().skip(1).map(|(_, extent)| self.fold(*extent)).collect();
        if let Some(extents) = extents {
            let mut data = array.data;
            for (axis, (index, _)) in pairs.iter().enumerate() {
                let below = extents[axis..].iter().try_fold(bytes, |all, extent| all.checked_mul(*extent));
                data = self.push(
                    Expr::Offset { base: data, index: *index, stride: below.unwrap_or(bytes) },
                    Ty::Pointer,
                    site,
                );
            }
            return data;
        }
        let mut pairs = pairs.into_iter();
        let Some((mut index, _)) = pairs.next() else { return array.data };
        for (next, extent) in pairs {
            let row = self.folded(BinaryOp::Mul, index, extent, site);
            index = self.folded(BinaryOp::Add, row, next, site);
        }
        self.push(Expr::Offset { base: array.data, index, stride: bytes }, Ty::Pointer, site)
    }

    /// `a[i]` of an array with more axes, laid out in C's order.
    fn row(&mut self, array: &Array, indices: &[ExprId], site: Site) -> Array {
        let rest = &array.shape[indices.len()..];
        let mut start: Vec<ExprId> = indices.to_vec();
        for _ in rest {
            let zero = self.long(0, site);
            start.push(zero);
        }
        // The extents stand in the address and in the view.
        let mut array = array.clone();
        for part in &mut array.shape {
            *part = self.settle(*part);
        }
        let data = if array.element.bytes().is_some() {
            self.address(&array, &start, site)
        } else {
            let index = self.pure("element", start.clone(), Ty::LONG, site);
            self.push(Expr::Offset { base: array.data, index, stride: 1 }, Ty::Pointer, site)
        };
        let shape = array.shape[indices.len()..].to_vec();
        Array { data, shape, ..array }
    }
}

/// `a[(i, j)]` is `a[i, j]`.
fn spread(items: &[Value]) -> Vec<Value> {
    match items {
        [Value::Tuple(all)] => all.clone(),
        _ => items.to_vec(),
    }
}
