//! Library containers: what they hold, how large it is, and where it lives.

use super::{Out, Walker};
use crate::facts::{MemorySpace, Origin};
use crate::given::{Held, HeldContents};
use crate::host::ObjId;
use crate::memory::{CellPath, Key, ObjectInfo, Place, extend, root};
use crate::quantity::Quantity;
use crate::value::{Kind, Ptr, Val};
use cudalint_program::Name;
use cudalint_program::ir::{Expr, ExprId, Module};
use cudalint_program::types::{Container, Ty};
use std::rc::Rc;
use std::sync::Arc;

/// The hidden part of a container that points to its storage.
const DATA: &str = "#data";
/// How deep containers in containers are copied with what they hold.
const MAX_NESTED: u32 = 3;
/// Most elements of a list that are kept.
const MAX_ITEMS: usize = 256;
/// The hidden part of a container that counts its elements.
const COUNT: &str = "#count";

impl<'p> Walker<'p> {
    fn hidden(&self, place: &Place, name: &str) -> Place {
        match place {
            Place::Cell(obj, path) => Place::Cell(*obj, extend(path, Key::Field(Name::from(name)))),
            other => other.clone(),
        }
    }

    /// Where a container keeps how many elements it has.
    pub(super) fn container_size(&self, place: &Place) -> Place {
        self.hidden(place, COUNT)
    }

    /// New storage of a container.
    pub fn resize_container(&mut self, place: &Place, ty: &Ty, count: &Val, fresh: bool) {
        let Some((kind, inner, _)) = ty.value().container() else { return };
        if kind == Container::Array {
            return;
        }
        if kind == Container::DevicePointer {
            return self.memory.store(place, Val::unknown());
        }
        let Place::Cell(obj, path) = place else { return self.forget_place(place) };
        if kind == Container::SmartPointer {
            let at = self.hidden(place, DATA);
            return self.memory.store(&at, Val::from(Kind::Null));
        }
        let size = self.size_of(inner);
        let site = self.memory.get(*obj).info.site;
        let name = self.place_name(&Place::Cell(*obj, path.clone()));
        let q = count.quantity();
        let space = if kind == Container::DeviceVector { MemorySpace::Device } else { MemorySpace::Host };
        let info = ObjectInfo {
            name: Name::from(name.as_str()),
            site,
            ty: inner.clone(),
            space,
            origin: if kind == Container::String { Origin::Text } else { Origin::Vector },
            array: true,
            element: size.known(),
        };
        let bytes = Val::size(size.times(&q)).because(&count.why);
        let first = if fresh { Val::zeroed() } else { Val::unknown() };
        let first = if inner.is_scalar() { first } else { Val::unknown() };
        let zeroed = fresh && inner.is_scalar() && space == MemorySpace::Device;
        let storage = self.create_object(info, bytes, first);
        if zeroed {
            let held = Held { contents: HeldContents::Filled(0), assumptions: None };
            self.memory.set_held(storage, Some(Arc::new(held)));
        }
        let pointer = Kind::Ptr(Ptr { obj: storage, path: root(), offset: Quantity::Known(0), array: true });
        let (data, length) = (self.hidden(place, DATA), self.hidden(place, COUNT));
        let replaced = space == MemorySpace::Host && self.replaces_new();
        self.memory.store(&data, if replaced { Val::unknown() } else { Val::from(pointer) });
        self.memory.store(&length, Val::size(q).because(&count.why));
    }

    /// A container of the elements that a list gives.
    pub fn fill_container(&mut self, place: &Place, ty: &Ty, items: &[Out]) {
        for out in items {
            self.hand_out(out);
        }
        self.resize_container(place, ty, &Val::size(Quantity::Known(items.len() as i64)), false);
        let Some((Container::Vector, inner, _)) = ty.value().container() else { return };
        let (true, Some(storage), Some(size)) = (inner.is_scalar(), self.storage(place), self.size_of(inner).known())
        else {
            return;
        };
        if items.len() > MAX_ITEMS {
            return;
        }
        self.strides.insert((storage, root()), size);
        for (index, out) in items.iter().enumerate() {
            let at = Place::Cell(storage, extend(&root(), Key::At(size * index as i64)));
            self.store(&at, inner, out.val.clone());
        }
    }

    /// What an object at `place` gets of a value that comes from this expression: its own, where it is moved or made there.
    pub(super) fn received(&mut self, from: ExprId, out: &Out, val: Val, place: &Place) -> Val {
        let there = (out.place.is_some() || self.is_lvalue(from)) && !is_move(self.module(), from);
        if there { self.copy_of(val, Some(place), 0) } else { val }
    }

    /// The value of a copy of an object: the containers in it have storage of their own, with the same elements.
    pub(super) fn copy_of(&mut self, val: Val, place: Option<&Place>, depth: u32) -> Val {
        let Kind::Aggregate(parts) = &val.kind else { return val };
        let storage = |(path, part): (&CellPath, &Val)| match (path.last(), &part.kind) {
            (Some(Key::Field(name)), Kind::Ptr(pointer)) if name == DATA => {
                let origin = &self.memory.get(pointer.obj).info.origin;
                matches!(origin, Origin::Vector | Origin::Text).then(|| (path.clone(), pointer.clone()))
            }
            _ => None,
        };
        let shared: Vec<(CellPath, Ptr)> = parts.cells.iter().filter_map(storage).collect();
        if shared.is_empty() {
            return val;
        }
        let mut cells = parts.cells.clone();
        for (path, pointer) in shared {
            let mut copy = self.memory.get(pointer.obj).clone();
            if let (Some(Place::Cell(holder, at)), Some((_, inside))) = (place, path.split_last()) {
                let part = Place::Cell(*holder, at.iter().chain(inside).cloned().collect());
                let name = Name::from(self.place_name(&part).as_str());
                copy.info = Rc::new(ObjectInfo {
                    name,
                    site: self.memory.get(*holder).info.site,
                    ty: copy.info.ty.clone(),
                    origin: copy.info.origin.clone(),
                    ..*copy.info
                });
            }
            let held = copy.held.take();
            let elements = copy.read(&[]);
            let elements = if depth < MAX_NESTED { self.copy_of(elements, None, depth + 1) } else { Val::unknown() };
            copy.write(&root(), elements);
            let stride = self.strides.get(&(pointer.obj, root())).copied();
            let own = self.memory.add(copy);
            self.memory.set_held(own, held);
            self.strides.extend(stride.map(|stride| ((own, root()), stride)));
            let why = cells.get(&path).and_then(|old| old.why.clone());
            Rc::make_mut(&mut cells).insert(path, Val { kind: Kind::Ptr(Ptr { obj: own, ..pointer }), why });
        }
        Val { why: val.why.clone(), ..Val::aggregate(parts.whole.clone(), cells) }
    }

    /// The pointer to a container's storage.
    pub fn container_data(&mut self, out: &Out) -> Val {
        match &out.place {
            Some(place) => {
                let at = self.hidden(place, DATA);
                self.memory.load(&at)
            }
            None => out.val.part(&[Key::Field(Name::from(DATA))]),
        }
    }

    fn container_count(&mut self, place: &Place, ty: &Ty) -> Val {
        if let Some((Container::Array, _, count)) = ty.value().container() {
            return Val::size(count);
        }
        let at = self.hidden(place, COUNT);
        let val = self.memory.load(&at);
        match val.kind {
            Kind::Int(_) => val,
            // A container from outside: its size is a number of its own, the same at each look.
            _ if matches!(place, Place::Cell(..)) && self.dry == 0 => {
                let name = format!("{}.size()", self.place_name(place));
                let val = Val::size(self.atoms.fresh(&name, crate::quantity::AtomKind::Opaque));
                self.memory.store(&at, val.clone());
                val
            }
            _ => Val::size(Quantity::Unknown),
        }
    }

    /// A smart pointer's pointer, as what it points with.
    pub fn smart_pointer_data(&mut self, out: &Out) -> Option<Out> {
        let (Container::SmartPointer, inner, _) = out.ty.value().container()? else { return None };
        Some(Out::new(self.container_data(out), Ty::pointer_to(inner.clone())))
    }

    /// An element that is an object of a class may keep a reference to what it is made of.
    fn kept_by_elements(&mut self, inner: &Ty, args: &[ExprId], outs: &[Out]) {
        if inner.container().is_some() || !matches!(inner, Ty::Record(..) | Ty::Library(..) | Ty::Unknown) {
            return;
        }
        for (arg, out) in args.iter().zip(outs) {
            if let Some(place) = &out.place
                && self.is_lvalue(*arg)
                && !self.same_record(inner, &out.ty)
            {
                self.escape(place);
            }
        }
    }

    /// Makes `T x(args)` of a container.
    pub fn construct_container(&mut self, place: &Place, ty: &Ty, args: &'p [ExprId], braces: bool) {
        let Some((kind, inner, _)) = ty.value().container() else { return };
        let outs = self.arguments(args);
        self.kept_by_elements(inner, args, &outs);
        // Braces make a list of what can be elements; else they are as good as parentheses.
        let list = if !braces || outs.is_empty() {
            Some(false)
        } else if kind == Container::DeviceVector && may_be_count(&outs) {
            // Thrust takes lists since 2.1.0 (its changelog): before, `{n, value}` is as good as `(n, value)`.
            None
        } else {
            let mut all = args.iter().zip(&outs).map(|(arg, out)| self.is_element(inner, *arg, out));
            all.try_fold(true, |all, one| Some(all && one?))
        };
        let Some(braces) = list else {
            for out in &outs {
                self.hand_out(out);
            }
            return self.memory.store(place, Val::unknown());
        };
        match (kind, outs.as_slice()) {
            // A memory resource of its own: where the memory comes from is not known, nor how much.
            (Container::DeviceVector, [_, _, _, ..]) if !braces => {
                self.memory.store(place, Val::unknown());
                let at = self.hidden(place, DATA);
                self.memory.store(&at, Val::size(Quantity::Unknown));
            }
            (Container::DevicePointer, [first]) => self.memory.store(place, first.val.clone()),
            (Container::SmartPointer, [first, rest @ ..]) => {
                for deleter in rest {
                    self.called_later(deleter);
                }
                let at = self.hidden(place, DATA);
                let val =
                    if first.ty.value().container().is_some() { self.container_data(first) } else { first.val.clone() };
                self.name_allocation(&val, place, &Ty::pointer_to(inner.clone()));
                self.memory.store(&at, val);
            }
            (_, []) => self.resize_container(place, ty, &Val::size(Quantity::Known(0)), true),
            (Container::Vector | Container::DeviceVector, [count])
                if !braces && matches!(count.val.kind, Kind::Int(_)) =>
            {
                self.resize_container(place, ty, &count.val, true);
            }
            (Container::Vector | Container::DeviceVector, [count, value])
                if !braces && matches!(count.val.kind, Kind::Int(_)) && !count.ty.is_pointer() =>
            {
                self.hand_out(value);
                self.resize_container(place, ty, &count.val, false);
            }
            (Container::Vector | Container::DeviceVector, [first, last])
                if !braces && first.ty.is_pointer() && last.ty.is_pointer() =>
            {
                // `(p, p + n)`: as many elements as lie between.
                let count = self.operate(cudalint_program::ir::BinaryOp::Sub, last, first);
                self.resize_container(place, ty, &count.val, false);
            }
            // `{n}` of numbers is a list of one.
            (Container::Vector | Container::DeviceVector, _) if braces => self.fill_container(place, ty, &outs),
            (_, [other]) if other.ty.value().container().is_some() => self.assign_container(place, ty, other),
            _ => {
                for out in &outs {
                    self.hand_out(out);
                }
                self.memory.store(place, Val::unknown());
            }
        }
    }

    /// Whether a value in braces can be an element, where that is known.
    fn is_element(&self, inner: &Ty, arg: ExprId, out: &Out) -> Option<bool> {
        let number = |ty: &Ty| matches!(ty, Ty::Bool | Ty::Int { .. } | Ty::Float { .. });
        let (to, from) = (inner.value(), out.ty.value());
        let pointer = matches!(from, Ty::Pointer(_) | Ty::Array(..));
        match (to.container(), from.container()) {
            // A list for an element is an element.
            _ if matches!(self.kind(arg), Some(Expr::InitList(_))) => Some(true),
            _ if number(to) && number(from) => Some(true),
            (_, other) if number(to) && (pointer || other.is_some() || matches!(from, Ty::Vector { .. })) => {
                Some(false)
            }
            (None, _) if matches!(to, Ty::Pointer(_)) && pointer => Some(true),
            (Some((Container::String, ..)), _) if pointer => Some(true),
            (Some((a, ..)), Some((b, ..))) if a == b => Some(true),
            _ if matches!(to, Ty::Vector { .. }) && to == from => Some(true),
            _ => self.same_record(to, from).then_some(true),
        }
    }

    /// A container assigned from a value.
    pub fn assign_container(&mut self, place: &Place, ty: &Ty, out: &Out) {
        let Some((kind, ..)) = ty.value().container() else { return };
        if kind == Container::DevicePointer {
            return self.memory.store(place, out.val.clone());
        }
        if kind == Container::SmartPointer {
            let val = if out.ty.value().container().is_some() { self.container_data(out) } else { out.val.clone() };
            let at = self.hidden(place, DATA);
            return self.memory.store(&at, val);
        }
        if kind == Container::Array {
            return self.memory.store(place, Val::unknown());
        }
        let count = match (out.ty.value().container(), &out.place) {
            (Some(_), Some(other)) => {
                let other = other.clone();
                self.container_count(&other, &out.ty)
            }
            (Some(_), None) => out.val.part(&[Key::Field(Name::from(COUNT))]),
            _ => Val::size(Quantity::Unknown),
        };
        if matches!(count.kind, Kind::Int(_)) {
            self.resize_container(place, ty, &count, false);
        } else {
            self.memory.store(place, Val::unknown());
        }
    }

    fn storage(&mut self, place: &Place) -> Option<ObjId> {
        let at = self.hidden(place, DATA);
        match self.memory.load(&at).kind {
            Kind::Ptr(pointer) => Some(pointer.obj),
            _ => None,
        }
    }

    /// `container.name(args)`.
    pub fn container_call(&mut self, id: ExprId, place: &Place, ty: &Ty, name: &Name, args: &'p [ExprId]) -> Out {
        let outs = self.arguments(args);
        let Some((kind, inner, _)) = ty.value().container() else { return Out::unknown() };
        let inner = inner.clone();
        self.kept_by_elements(&inner, args, &outs);
        if kind == Container::DevicePointer {
            if name == "get" {
                let val = self.load(place, ty);
                return Out::new(val, Ty::pointer_to(inner));
            }
            self.forget_place(place);
            return self.unknown_call(args, &outs, None);
        }
        let pointer_ty = if kind == Container::DeviceVector {
            Ty::library_of("device_ptr", inner.clone())
        } else {
            Ty::pointer_to(inner.clone())
        };
        match (name.as_str(), outs.as_slice()) {
            ("size" | "length", []) => Out::new(self.container_count(place, ty), Ty::SIZE),
            ("empty", []) => {
                let count = Out::new(self.container_count(place, ty), Ty::SIZE);
                self.operate(cudalint_program::ir::BinaryOp::Eq, &count, &Out::new(Val::int(0), Ty::INT))
            }
            ("data" | "get" | "c_str" | "begin" | "cbegin" | "release", []) => {
                let val = if kind == Container::Array {
                    self.address(place, &Ty::Array(Arc::new(inner), Quantity::Unknown))
                } else {
                    self.container_data(&Out { val: Val::unknown(), ty: ty.clone(), place: Some(place.clone()) })
                };
                let val = match (&val.kind, kind) {
                    (Kind::Unknown, Container::DeviceVector) => {
                        Val::from(Kind::Somewhere(MemorySpace::Device, Rc::from("storage of a device vector")))
                    }
                    _ => val,
                };
                if name == "release" {
                    let at = self.hidden(place, DATA);
                    self.memory.store(&at, Val::from(Kind::Null));
                }
                Out::new(val, pointer_ty)
            }
            ("end" | "cend", []) => {
                let data =
                    self.container_data(&Out { val: Val::unknown(), ty: ty.clone(), place: Some(place.clone()) });
                let count = self.container_count(place, ty);
                Out::new(self.advance(&data, &count, &inner), pointer_ty)
            }
            ("resize" | "assign", [count, ..]) if matches!(count.val.kind, Kind::Int(_)) => {
                let count = count.val.clone();
                self.resize_container(place, ty, &count, false);
                Out::new(Val::unknown(), Ty::Void)
            }
            ("clear", []) => {
                self.resize_container(place, ty, &Val::size(Quantity::Known(0)), false);
                Out::new(Val::unknown(), Ty::Void)
            }
            // Room is not size, but a pointer to the room may be used.
            ("reserve" | "shrink_to_fit", _) => {
                let count = self.container_count(place, ty);
                self.resize_container(place, ty, &Val::size(Quantity::Unknown), false);
                let at = self.hidden(place, COUNT);
                self.memory.store(&at, count);
                Out::new(Val::unknown(), Ty::Void)
            }
            ("push_back" | "emplace_back", _) => {
                for out in &outs {
                    self.hand_out(out);
                }
                let count = Out::new(self.container_count(place, ty), Ty::SIZE);
                let more = self.operate(cudalint_program::ir::BinaryOp::Add, &count, &Out::new(Val::int(1), Ty::INT));
                self.resize_container(place, ty, &more.val, false);
                Out::new(Val::unknown(), inner)
            }
            ("reset", rest) => {
                let val = rest.first().map_or_else(|| Val::from(Kind::Null), |out| out.val.clone());
                let at = self.hidden(place, DATA);
                self.memory.store(&at, val);
                Out::new(Val::unknown(), Ty::Void)
            }
            ("at" | "front" | "back", _) => {
                let element = match self.storage(place) {
                    Some(storage) if kind != Container::DeviceVector => Place::Weak(storage, root()),
                    _ => Place::Unknown,
                };
                Out { val: Val::unknown(), ty: inner, place: Some(element) }
            }
            ("capacity" | "max_size", []) => Out::new(Val::size(Quantity::Unknown), Ty::SIZE),
            ("fill", _) => {
                self.forget_place(place);
                Out::new(Val::unknown(), Ty::Void)
            }
            _ => {
                let _ = id;
                // Anything else may change it.
                self.forget_place(place);
                self.unknown_call(args, &outs, None)
            }
        }
    }
}

/// Whether values may be a number of elements, and what each of these is, as well as elements.
fn may_be_count(outs: &[Out]) -> bool {
    let number = |out: &Out| matches!(out.ty.value(), Ty::Bool | Ty::Int { .. } | Ty::Float { .. });
    match outs {
        [count] => matches!(count.ty.value(), Ty::Int { .. }),
        [count, value] => matches!(count.ty.value(), Ty::Int { .. }) && number(value),
        _ => false,
    }
}

/// Whether an expression hands on an object that nobody needs any more: `std::move(x)`.
pub(super) fn is_move(module: &Module, expr: ExprId) -> bool {
    let kind = |id: ExprId| module.exprs.get(id).map(|node| &node.kind);
    match kind(expr) {
        Some(Expr::Call { callee, args }) if args.len() == 1 => {
            matches!(kind(*callee), Some(Expr::Name { path, .. }) if path.last().is_some_and(|name| name == "move"))
        }
        _ => false,
    }
}
