//! Lvalues: which object an expression names, through indices, fields, pointers and references.

use super::meaning::Meaning;
use super::unseen::const_type;
use super::{Out, Slot, Walker};
use crate::facts::{MemorySpace, Origin};
use crate::host::ObjId;
use crate::memory::{Key, Place, extend, root};
use crate::quantity::Quantity;
use crate::value::{Int, Kind, Ptr, Val};
use cudalint_program::Name;
use cudalint_program::ir::{Expr, ExprId, Type, Variable};
use cudalint_program::types::{Container, Ty};
use std::rc::Rc;
use std::sync::Arc;

/// What is done with an lvalue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
    /// Only its address is taken, or a reference is bound.
    Address,
}

impl<'p> Walker<'p> {
    /// Whether the address of a place is that of the variable's shadow on the host: all that code for the host gets of `&x` of a
    /// `__device__` variable.
    pub(super) fn is_shadow(&self, place: &Place) -> bool {
        let (Place::Cell(object, _) | Place::Weak(object, _)) = place else { return false };
        let info = &self.memory.get(*object).info;
        info.origin == Origin::Global && info.space == MemorySpace::Device
    }

    /// The place an expression names and its type; temporaries get a place of their own.
    pub fn place(&mut self, id: ExprId, access: Access) -> (Place, Ty) {
        if !self.budget.step() || !self.budget.descend() {
            return (Place::Unknown, Ty::Unknown);
        }
        let result = self.place_inside(id, access);
        self.budget.ascend();
        result
    }

    fn place_inside(&mut self, id: ExprId, access: Access) -> (Place, Ty) {
        let Some(node) = self.node(id) else { return (Place::Unknown, Ty::Unknown) };
        match &node.kind {
            Expr::Local(local) => self.local_place(*local).unwrap_or((Place::Unknown, Ty::Unknown)),
            Expr::Name { path, targs } => match self.meaning(path, targs) {
                Meaning::Place(place, ty) => (place, ty),
                Meaning::Value(out) => self.temporary(out),
                Meaning::None => (Place::Unknown, Ty::Unknown),
            },
            Expr::Deref(pointer) => {
                let out = self.eval(*pointer);
                if let Some(inner) = self.smart_pointer_data(&out) {
                    return self.dereference(id, *pointer, &inner, access);
                }
                self.escape_from_class(&out);
                self.dereference(id, *pointer, &out, access)
            }
            Expr::Index { base, indices } => self.index_place(id, *base, indices, access),
            Expr::Member { base, name, arrow } => self.member_place(id, *base, name, *arrow, access),
            Expr::Cast { ty, value } => {
                // A cast names an lvalue only through a reference.
                let ty = self.resolve(*ty);
                if let Ty::Reference(inner) = &ty {
                    let (place, _) = self.place(*value, access);
                    return (place, (**inner).clone());
                }
                let out = self.eval(id);
                self.temporary(out)
            }
            Expr::Comma(parts) => {
                let Some((last, before)) = parts.split_last() else { return (Place::Unknown, Ty::Unknown) };
                for part in before {
                    self.eval(*part);
                }
                self.place(*last, access)
            }
            Expr::Assign { .. } | Expr::Step { .. } => {
                let out = self.eval(id);
                match out.place {
                    Some(place) => (place, out.ty),
                    None => self.temporary(out),
                }
            }
            Expr::Select(_, a, b) => {
                // Either may be meant, so the address of both gets out.
                for side in [*a, *b] {
                    if self.is_lvalue(side) {
                        let (place, _) = self.place(side, Access::Address);
                        self.escape(&place);
                    }
                }
                let out = self.eval(id);
                (Place::Unknown, out.ty)
            }
            _ => {
                let out = self.eval(id);
                match (out.place, &node.kind) {
                    (Some(place), _) => (place, out.ty),
                    // `object->*member`, or an operator of a class that gives a reference: to what, only it knows.
                    (None, Expr::Binary(_, a, b)) if access == Access::Write => {
                        self.lose_part(*a);
                        self.lose_part(*b);
                        (Place::Unknown, Ty::Unknown)
                    }
                    (None, Expr::Unknown(_)) => (Place::Unknown, Ty::Unknown),
                    (None, _) => self.temporary(Out { place: None, ..out }),
                }
            }
        }
    }

    /// Code out of sight may know the address.
    pub fn escape(&mut self, place: &Place) {
        if let Place::Cell(obj, _) | Place::Weak(obj, _) = place {
            self.memory.escaped.insert(*obj);
        }
    }

    /// An operator of a class gives a reference (`*iterator`, `handle->`): to the object, or to whatever it leads to.
    pub fn escape_from_class(&mut self, out: &Out) {
        if out.ty.pointee().is_some() {
            return;
        }
        let mut reached = Vec::new();
        out.val.pointers(&mut reached);
        if let Some(Place::Cell(obj, _) | Place::Weak(obj, _)) = &out.place {
            reached.push(*obj);
        }
        self.memory.escape_reachable(reached);
    }

    /// A value without a place, given one.
    fn temporary(&mut self, out: Out) -> (Place, Ty) {
        let object =
            self.create_variable(&Name::from(""), cudalint_syntax::Span::default(), out.ty.clone(), Val::unknown());
        self.memory.store(&Place::Cell(object, root()), out.val);
        (Place::Cell(object, root()), out.ty)
    }

    /// Whether an expression may name an object.
    pub fn is_lvalue(&self, id: ExprId) -> bool {
        matches!(
            self.kind(id),
            Some(
                Expr::Local(_)
                    | Expr::Name { .. }
                    | Expr::Deref(_)
                    | Expr::Index { .. }
                    | Expr::Member { .. }
                    | Expr::Select(..)
                    | Expr::Comma(_)
                    | Expr::Assign { .. }
            )
        )
    }

    /// `*p` and the like: where a pointer value leads.
    pub fn dereference(&mut self, whole: ExprId, pointer: ExprId, out: &Out, access: Access) -> (Place, Ty) {
        let ty = out.ty.pointee().cloned().unwrap_or(Ty::Unknown);
        let val = self.admit(out.val.clone());
        // An array is only looked into: nothing is read yet.
        if access != Access::Address && !ty.is_array() {
            self.host_access(whole, pointer, &Out::new(val.clone(), out.ty.clone()), access == Access::Write);
        }
        (self.pointed_place(&val, &ty), ty)
    }

    /// The place a pointer value leads to.
    pub fn pointed_place(&mut self, val: &Val, ty: &Ty) -> Place {
        match &val.kind {
            Kind::Ptr(pointer) => {
                let place = pointer_place(pointer);
                self.check_stride(&place, ty)
            }
            Kind::Null | Kind::Somewhere(..) | Kind::Str(_) => Place::Nowhere,
            _ => Place::Unknown,
        }
    }

    /// Reads and writes of differing widths in one buffer make its cells meaningless.
    fn check_stride(&mut self, place: &Place, ty: &Ty) -> Place {
        let Place::Cell(obj, path) = place else { return place.clone() };
        let Some((Key::At(_), parent)) = path.split_last() else {
            return if ty.is_scalar() && self.shows_bytes(*obj, path, ty) { weaken(place) } else { place.clone() };
        };
        // An inner array is only gone through.
        if ty.is_array() {
            return place.clone();
        }
        let size = self.size_of(ty).known().unwrap_or(0);
        let parent: crate::memory::CellPath = Rc::from(parent);
        let stride = *self.strides.entry((*obj, parent.clone())).or_insert(size);
        if stride == size {
            return place.clone();
        }
        self.memory.forget(*obj, &parent);
        Place::Weak(*obj, parent)
    }

    /// Whether a pointer of this type shows the bytes of a variable, or of a part of it, that holds something else.
    fn shows_bytes(&self, obj: ObjId, path: &[Key], ty: &Ty) -> bool {
        let declared = path.iter().try_fold(self.memory.get(obj).info.ty.clone(), |ty, key| match key {
            Key::Field(name) => self.field_type(&ty, name),
            Key::At(_) => ty.pointee().cloned(),
        });
        let width = |ty: &Ty| ty.integer().map(|(bytes, _)| bytes);
        match (declared.as_ref().map(Ty::value), ty.value()) {
            (Some(Ty::Float { bytes }), Ty::Float { bytes: read }) => bytes != read,
            (Some(Ty::Pointer(_)), Ty::Pointer(_)) => false,
            (Some(declared), read) if declared.is_scalar() => {
                width(declared).is_none() || width(declared) != width(read)
            }
            (Some(Ty::Record(..) | Ty::Vector { .. }), _) => true,
            _ => false,
        }
    }

    fn index_place(&mut self, id: ExprId, base: ExprId, indices: &'p [ExprId], access: Access) -> (Place, Ty) {
        let [index] = indices else {
            for index in indices {
                self.eval(*index);
            }
            return (Place::Unknown, Ty::Unknown);
        };
        let out = self.eval(base);
        let at = self.eval(*index);
        if let Some((kind, inner, _)) = out.ty.value().container() {
            let inner = inner.clone();
            if matches!(kind, Container::DeviceVector | Container::DevicePointer) {
                return (Place::Nowhere, inner);
            }
            if kind == Container::Array {
                let Some(place) = &out.place else { return (Place::Unknown, inner) };
                let start = self.address(place, &Ty::Array(Arc::new(inner.clone()), Quantity::Unknown));
                let moved = self.advance(&start, &at.val, &inner);
                return (self.pointed_place(&moved, &inner), inner);
            }
            {
                let data = self.container_data(&out);
                let moved = self.advance(&data, &at.val, &inner);
                let pointer = Out::new(moved, Ty::pointer_to(inner.clone()));
                if access != Access::Address && kind == Container::SmartPointer {
                    self.host_access(id, base, &pointer, access == Access::Write);
                }
                return (self.pointed_place(&pointer.val, &inner), inner);
            }
        }
        let Some(element) = out.ty.pointee().cloned() else {
            // `operator[]` of a class: it may do anything with the object.
            if matches!(out.ty.value(), Ty::Record(..) | Ty::Library(..) | Ty::Unknown | Ty::Auto)
                && let Some(place) = &out.place
            {
                let place = place.clone();
                self.escape(&place);
                self.forget_place(&place);
            }
            return (Place::Unknown, Ty::Unknown);
        };
        let moved = self.advance(&out.val, &at.val, &element);
        let pointer = Out::new(moved, Ty::pointer_to(element));
        self.dereference(id, base, &pointer, access)
    }

    fn member_place(&mut self, id: ExprId, base: ExprId, name: &Name, arrow: bool, access: Access) -> (Place, Ty) {
        if access != Access::Read {
            self.may_write_member(name);
        }
        let (place, ty) = if arrow {
            let out = self.eval(base);
            let pointer = self.smart_pointer_data(&out).unwrap_or(out);
            match pointer.ty.pointee() {
                Some(to) => {
                    let reads = access != Access::Read || self.is_read_as_field(&to.clone(), name);
                    self.dereference(id, base, &pointer, if reads { access } else { Access::Address })
                }
                None => {
                    self.escape_from_class(&pointer);
                    (Place::Unknown, Ty::Unknown)
                }
            }
        } else if access == Access::Read && self.is_lvalue(base) {
            self.read_part(id, base, name)
        } else {
            self.place(base, access)
        };
        let field = self.field_type(&ty, name).unwrap_or(Ty::Unknown);
        // The members of a union share their bytes.
        if let Ty::Record(entry, _) = ty.value()
            && self.project.record_at(*entry).is_some_and(|record| record.is_union)
        {
            return (weaken(&place), field);
        }
        // A field of a type out of sight is still a field; what it is, only stores tell.
        self.through_reference(self.field_place(&place, name), field)
    }

    /// Whether reading a field reads the object's memory: an array is only gone to, and what is not known may be one.
    fn is_read_as_field(&self, object: &Ty, name: &Name) -> bool {
        self.field_type(object, name).is_some_and(|field| !field.is_array() && !field.is_unknown())
    }

    /// The object in front of `.name`, of which that field is read, and nothing else. A reference that is bound to the field reads nothing.
    fn read_part(&mut self, whole: ExprId, base: ExprId, name: &Name) -> (Place, Ty) {
        let around = self.bound_argument.replace(base);
        self.held_access = None;
        let found = self.place(base, Access::Read);
        self.bound_argument = around;
        let held = self.held_access.take();
        if self.is_read_as_field(&found.1, name)
            && let Some((of, pointer, out)) = held
        {
            if around == Some(whole) {
                self.held_access = Some((of, pointer, out));
            } else {
                self.host_access(of, pointer, &out, false);
            }
        }
        found
    }

    /// The object that a member or a variable at namespace scope names: where it is a reference, the one that it is bound
    /// to, whose address stands in its place.
    pub fn through_reference(&mut self, place: Place, ty: Ty) -> (Place, Ty) {
        let Ty::Reference(to) = &ty else { return (place, ty) };
        let bound = self.admit(self.memory.load(&place));
        let found = match &bound.kind {
            Kind::Ptr(pointer) if to.is_unknown() && pointer.path.is_empty() => {
                self.memory.get(pointer.obj).info.ty.clone()
            }
            _ => (**to).clone(),
        };
        (self.pointed_place(&bound, &found), found)
    }

    /// Binds a reference that is a member or a variable at namespace scope: its place gets the object's address.
    pub fn bind_at(&mut self, place: &Place, to: &Ty, init: ExprId) {
        let init = match self.kind(init) {
            Some(Expr::InitList(items)) if items.len() == 1 => items[0],
            _ => init,
        };
        let (target, found) = self.bind_reference(init);
        self.bind_to(place, to, target, &found);
    }

    /// The same for an object that has been found already.
    pub fn bind_to(&mut self, place: &Place, to: &Ty, target: Place, found: &Ty) {
        let target = if is_another_number(to, found.value()) {
            let val = self.load(&target, found);
            let val = crate::arith::convert(&mut self.atoms, &val, to);
            let made = self.create_variable(&Name::from(""), cudalint_syntax::Span::default(), to.clone(), val);
            Place::Cell(made, root())
        } else {
            target
        };
        if !matches!(place, Place::Cell(..)) {
            self.escape(&target);
        }
        let address = self.address(&target, if to.is_unknown() { found.value() } else { to });
        self.memory.store(place, address);
    }

    /// A pointer moved by an index of elements.
    pub fn advance(&mut self, pointer: &Val, index: &Val, element: &Ty) -> Val {
        let why = crate::quantity::union(&pointer.why, &index.why);
        let kind = match &pointer.kind {
            Kind::Ptr(at) => {
                let bytes = self.size_of(element).times(&signed_quantity(index));
                let offset = at.offset.plus(&bytes);
                Kind::Ptr(Ptr { offset, ..at.clone() })
            }
            Kind::Somewhere(..) | Kind::Uninit(_) => pointer.kind.clone(),
            _ => Kind::Unknown,
        };
        Val { kind, why }
    }

    /// The address of a place.
    pub fn address(&self, place: &Place, ty: &Ty) -> Val {
        match place {
            Place::Cell(obj, path) => {
                // An element of an array: a pointer into the whole array, so that it may move.
                if let Some((Key::At(offset), parent)) = path.split_last() {
                    return Val::from(Kind::Ptr(Ptr {
                        obj: *obj,
                        path: Rc::from(parent),
                        offset: Quantity::Known(*offset),
                        array: true,
                    }));
                }
                Val::from(Kind::Ptr(Ptr {
                    obj: *obj,
                    path: path.clone(),
                    offset: Quantity::Known(0),
                    array: ty.is_array() || (path.is_empty() && self.memory.get(*obj).info.array),
                }))
            }
            Place::Weak(obj, path) => {
                Val::from(Kind::Ptr(Ptr { obj: *obj, path: path.clone(), offset: Quantity::Unknown, array: true }))
            }
            Place::Unknown | Place::Nowhere => Val::unknown(),
        }
    }

    /// The value at a place as its type shows it.
    pub fn load(&mut self, place: &Place, ty: &Ty) -> Val {
        if let Ty::Array(..) = ty.value() {
            return self.address(place, ty);
        }
        let val = self.memory.load(place);
        self.shown(val, ty)
    }

    /// A stored value as the type of its place shows it.
    pub fn shown(&self, val: Val, ty: &Ty) -> Val {
        let val = self.admit(val);
        if val.is_zeroed() {
            return match ty.value() {
                Ty::Pointer(_) => Val::from(Kind::Null),
                Ty::Float { .. } => Val::from(Kind::Float(0.0)),
                Ty::Int { bytes, signed } => Val::typed(Quantity::Known(0), *bytes, *signed),
                Ty::Bool => Val::boolean(false),
                _ => val,
            };
        }
        match (&val.kind, ty.value()) {
            (Kind::Unknown, Ty::Int { bytes, signed }) => {
                Val { kind: Kind::Int(Int { q: Quantity::Unknown, bytes: *bytes, signed: *signed }), why: val.why }
            }
            _ => val,
        }
    }

    /// Stores a value, converted to the type of the place.
    pub fn store(&mut self, place: &Place, ty: &Ty, val: Val) {
        let converted = if ty.is_scalar() { crate::arith::convert(&mut self.atoms, &val, ty) } else { val };
        self.memory.store(place, converted);
    }

    /// Forgets what stands at a place.
    pub fn forget_place(&mut self, place: &Place) {
        match place {
            Place::Cell(obj, path) | Place::Weak(obj, path) => self.memory.forget(*obj, &path.clone()),
            Place::Unknown => self.memory.forget_escaped(),
            Place::Nowhere => {}
        }
    }

    /// Evaluates a part of something that is not followed, and forgets what that may change.
    pub fn lose_part(&mut self, id: ExprId) {
        let out = self.eval(id);
        self.lose(&out);
        self.forget_lvalue(id);
    }

    /// Forgets what an expression names, when it names something.
    pub fn forget_lvalue(&mut self, id: ExprId) {
        if self.is_lvalue(id) {
            let (place, _) = self.place(id, Access::Address);
            if let Place::Cell(obj, _) | Place::Weak(obj, _) = &place {
                self.memory.escaped.insert(*obj);
            }
            self.forget_place(&place);
        }
    }

    /// Where a reference is bound, and the type of what it names.
    pub fn bind_reference(&mut self, init: ExprId) -> (Place, Ty) {
        let init = match self.kind(init) {
            Some(Expr::Construct { args, .. }) if args.len() == 1 => args[0],
            _ => init,
        };
        self.place(init, Access::Address)
    }

    /// What a reference of this type names: the object it is bound to, or, where a number of another type is given to a
    /// `T const&`, a new object with the number as a `T`.
    pub fn referred(&mut self, variable: &Variable, place: Place, found: &Ty, to: &Ty) -> Slot {
        let types = &self.module().types;
        let is_const = matches!(types.get(variable.ty), Some(Type::Reference(to)) if const_type(types, *to));
        let found = found.value();
        if is_const && is_another_number(to, found) {
            let val = self.load(&place, found);
            let val = crate::arith::convert(&mut self.atoms, &val, to);
            return Slot::Object(self.create_variable(&variable.name, variable.span, to.clone(), val));
        }
        Slot::Alias(place, if to.is_unknown() { found.clone() } else { to.clone() })
    }

    /// Whether a pointer value surely leads to device memory.
    pub fn surely_device(&self, val: &Val) -> bool {
        match &val.kind {
            Kind::Ptr(pointer) => self.memory.get(pointer.obj).info.space == MemorySpace::Device,
            Kind::Somewhere(MemorySpace::Device, _) => true,
            _ => false,
        }
    }
}

/// Whether both are types of numbers, and not the same: a reference to one is not bound to an object of the other.
fn is_another_number(to: &Ty, found: &Ty) -> bool {
    let number = |ty: &Ty| matches!(ty, Ty::Bool | Ty::Int { .. } | Ty::Float { .. });
    number(to) && number(found) && found.name() != to.name()
}

/// An index as a signed number of elements.
fn signed_quantity(index: &Val) -> Quantity {
    index.quantity()
}

/// Where a pointer leads.
fn pointer_place(pointer: &Ptr) -> Place {
    match (&pointer.offset, pointer.array) {
        (Quantity::Known(offset), true) => Place::Cell(pointer.obj, extend(&pointer.path, Key::At(*offset))),
        (Quantity::Known(0), false) => Place::Cell(pointer.obj, pointer.path.clone()),
        // Next to an object that is no array: in a struct that may be another member.
        (_, false) => Place::Weak(pointer.obj, root()),
        (_, true) => Place::Weak(pointer.obj, pointer.path.clone()),
    }
}

fn weaken(place: &Place) -> Place {
    match place {
        Place::Cell(obj, path) => Place::Weak(*obj, path.clone()),
        other => other.clone(),
    }
}
