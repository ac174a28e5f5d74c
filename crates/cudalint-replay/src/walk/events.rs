//! Events as rules see them: values turned into amounts, pointers and paths.

use super::{Out, Slot, Walker};
use crate::facts::{Amount, Buffer, BufferId, EventKind, MemorySpace, Origin, Pointer, PointerArgument, Step};
use crate::host::ObjId;
use crate::host::steps;
use crate::memory::{Freed, Key, Object, ObjectInfo, Place};
use crate::quantity::Quantity;
use crate::value::{Kind, Ptr, Val};
use cudalint_program::Name;
use cudalint_program::ir::{Expr, ExprId, LocalId};
use cudalint_program::types::{Container, Ty};
use cudalint_syntax::Span;
use std::rc::Rc;

impl Walker<'_> {
    /// Whether events are recorded now.
    pub fn is_reporting(&self) -> bool {
        self.dry == 0 && self.is_told()
    }

    /// Whether another outcome at this place is wanted: loops meet one place many times.
    pub fn wants(&mut self, id: ExprId) -> bool {
        if !self.is_reporting() {
            return false;
        }
        self.leave_trace();
        let site = self.expr_site(id);
        self.log.wants(site)
    }

    /// An integer for rules.
    pub fn amount(&self, val: &Val) -> Amount {
        Amount { quantity: val.quantity(), assumptions: val.why.clone() }
    }

    /// The size in bytes of an object.
    fn object_bytes(&mut self, id: ObjId) -> Val {
        let object = self.memory.get(id);
        if matches!(object.info.origin, Origin::Local | Origin::Global) {
            let ty = object.info.ty.clone();
            return Val::size(self.size_of(&ty));
        }
        object.bytes.clone()
    }

    /// An object as a buffer.
    pub fn buffer(&mut self, id: ObjId) -> Buffer {
        let bytes = self.object_bytes(id);
        let bytes = self.admit(bytes);
        let object: &Object = self.memory.get(id);
        Buffer {
            id: BufferId(id.0),
            space: object.info.space,
            bytes: self.amount(&bytes),
            name: object.info.name.clone(),
            site: object.info.site,
            origin: object.info.origin.clone(),
            element: object.info.element,
            freed: object.freed == Freed::Yes,
            array: None,
        }
    }

    /// A pointer value for rules.
    pub fn pointer(&mut self, val: &Val) -> Pointer {
        let val = self.admit(val.clone());
        match &val.kind {
            Kind::Null => Pointer::Null,
            Kind::Int(_) if val.known() == Some(0) => Pointer::Null,
            Kind::Uninit(origin) => Pointer::Uninitialized { name: origin.0.clone(), declared: origin.1 },
            Kind::Somewhere(space, why) => Pointer::Somewhere { space: *space, why: why.to_string() },
            Kind::Str(_) => Pointer::Somewhere { space: MemorySpace::Host, why: "a string literal".into() },
            Kind::Ptr(pointer) => {
                let offset = self.whole_offset(pointer);
                let buffer = self.buffer(pointer.obj);
                let offset = Amount { quantity: offset, assumptions: val.why.clone() };
                Pointer::Into { buffer, offset }
            }
            _ => Pointer::Unknown,
        }
    }

    /// Bytes from the start of the object.
    pub(super) fn whole_offset(&mut self, pointer: &Ptr) -> Quantity {
        let mut total = pointer.offset.clone();
        let mut ty = self.memory.get(pointer.obj).info.ty.clone();
        for key in pointer.path.iter() {
            match key {
                Key::At(offset) => {
                    total = total.plus(&Quantity::Known(*offset));
                    if let Ty::Array(inner, _) = ty.value() {
                        ty = (**inner).clone();
                    }
                }
                Key::Field(name) => match self.field_offset(&ty, name) {
                    Some(offset) => {
                        total = total.plus(&Quantity::Known(offset));
                        ty = self.field_type(&ty, name).unwrap_or(Ty::Unknown);
                    }
                    None => return Quantity::Unknown,
                },
            }
        }
        total
    }

    /// A pointer argument for rules.
    pub fn argument(&mut self, expr: ExprId, out: &Out) -> PointerArgument {
        let inner = self.without_casts(expr);
        let ty = if inner == expr { out.ty.clone() } else { self.type_of(inner) };
        let ty = if ty.pointee().is_some() { ty } else { out.ty.clone() };
        let pointee = ty.pointee().cloned().unwrap_or(Ty::Unknown);
        let element = match &pointee {
            Ty::Void => None,
            other if other.is_unknown() => None,
            other => self.size_of(other).known(),
        };
        PointerArgument {
            pointer: self.pointer(&out.val),
            text: self.text(expr),
            span: self.span(expr),
            element,
            element_name: self.type_name(&pointee),
            array: self.named_array(inner),
        }
    }

    /// Bytes of the array that an expression names: by itself, or by its first element's address.
    fn named_array(&mut self, expr: ExprId) -> Option<i64> {
        let named = match self.kind(expr) {
            Some(Expr::AddressOf(element)) => match self.kind(*element) {
                Some(Expr::Index { base, .. }) => *base,
                _ => return None,
            },
            _ => expr,
        };
        let ty = self.type_of(named);
        matches!(ty.value(), Ty::Array(..)).then(|| self.size_of(ty.value()).known()).flatten()
    }

    /// An expression under the casts around it.
    pub fn without_casts(&self, expr: ExprId) -> ExprId {
        let mut current = expr;
        for _ in 0..8 {
            match self.kind(current) {
                Some(Expr::Cast { value, .. }) => current = *value,
                _ => break,
            }
        }
        current
    }

    /// A type's name for messages.
    pub fn type_name(&self, ty: &Ty) -> String {
        match ty.value() {
            Ty::Record(entry, _) => {
                self.project.record_at(*entry).map(|record| record.name.to_string()).unwrap_or_default()
            }
            Ty::Pointer(inner) => format!("{}*", self.type_name(inner)),
            Ty::Array(inner, _) => self.type_name(inner),
            // Host code counts with it.
            Ty::Int { bytes: 8, signed: false } => "size_t".into(),
            other if other.container().is_some() => String::new(),
            other => other.name(),
        }
    }

    /// Records an event.
    pub fn emit(&mut self, kind: EventKind, span: Span, mentioned: &[ExprId]) {
        if !self.is_reporting() {
            return;
        }
        self.leave_trace();
        let (site, path) = (self.site(span), self.path(mentioned));
        self.record_event(kind, site, path);
    }

    /// The way here: the calls from the entry, and what the mentioned variables hold.
    fn path(&self, mentioned: &[ExprId]) -> Vec<Step> {
        let mut way = self.calls("a lambda");
        let Some(function) = self.function() else { return way };
        let module = self.module();
        let mut named: Vec<u32> = Vec::new();
        for expr in mentioned {
            cudalint_program::visit::walk_expr(module, *expr, |_, kind| {
                if let Expr::Local(local) = kind
                    && !named.contains(&local.0)
                {
                    named.push(local.0);
                }
                named.len() < steps::MAX_DEFINITIONS
            });
        }
        for local in named {
            let Some(variable) = function.locals.get(LocalId(local)) else { continue };
            let Some(Slot::Object(object)) = self.frames.last().and_then(|frame| frame.slots.get(LocalId(local)))
            else {
                continue;
            };
            let object = self.memory.get(*object);
            if !object.info.ty.is_scalar() || object.cells.is_some() {
                continue;
            }
            let value = &object.root;
            if let Some(number) = value.known() {
                way.push(steps::holds(self.site(variable.span), &variable.name, number, &value.why));
            }
        }
        way
    }

    /// Host code touches what a pointer leads to.
    pub fn host_access(&mut self, whole: ExprId, pointer: ExprId, out: &Out, write: bool) {
        // A proxy of thrust reads and writes by copying.
        let proxy = matches!(out.ty.value().container(), Some((Container::DevicePointer, ..)));
        if !write && self.bound_argument == Some(whole) {
            self.held_access = Some((whole, pointer, out.clone()));
            return;
        }
        self.touches(whole, pointer, out, write);
        let seen = self.surely_device(&out.val) || self.is_freed_by_cuda(&out.val);
        if !seen || !self.is_reporting() || self.may_run_on_device() || proxy {
            return;
        }
        let mut argument = self.argument(pointer, out);
        argument.pointer = self.pointer(&out.val);
        let span = self.span(whole);
        self.emit(EventKind::HostAccess { argument, write }, span, &[]);
    }

    /// Whether a pointer leads to memory of CUDA that has surely been given back.
    fn is_freed_by_cuda(&self, val: &Val) -> bool {
        let Kind::Ptr(pointer) = &val.kind else { return false };
        let object = self.memory.get(pointer.obj);
        object.freed == Freed::Yes && object.info.origin.api().is_some_and(|api| api.is_cuda_host())
    }

    /// Whether the walk began in a function of both sides: no host code in sight calls it.
    fn may_run_on_device(&self) -> bool {
        let entry = self.frames.first().and_then(|frame| self.project.function_at(frame.module, frame.function?));
        entry.is_some_and(|entry| entry.space.device)
    }

    /// An allocation's first home gives it its name.
    pub fn name_allocation(&mut self, val: &Val, place: &Place, ty: &Ty) {
        let Kind::Ptr(pointer) = &val.kind else { return };
        let object = self.memory.get(pointer.obj);
        if !object.info.name.is_empty() || object.info.origin == Origin::Local {
            return;
        }
        let info = object.info.clone();
        let element = match ty.pointee() {
            Some(Ty::Void) | None => None,
            Some(inner) => {
                let inner = inner.clone();
                self.size_of(&inner).known()
            }
        };
        let name = self.place_name(place);
        let named = ObjectInfo {
            name: Name::from(name.as_str()),
            site: info.site,
            ty: info.ty.clone(),
            space: info.space,
            origin: info.origin.clone(),
            array: info.array,
            element: element.or(info.element),
        };
        self.memory.get_mut(pointer.obj).info = Rc::new(named);
    }

    /// The name of a place in the source.
    pub fn place_name(&self, place: &Place) -> String {
        match place {
            Place::Cell(obj, path) | Place::Weak(obj, path) => {
                let mut name = self.memory.get(*obj).info.name.to_string();
                for key in path.iter() {
                    match key {
                        Key::Field(field) if name.is_empty() || name == "this" => name = field.to_string(),
                        Key::Field(field) => name = format!("{name}.{field}"),
                        Key::At(_) => name.push_str("[]"),
                    }
                }
                name
            }
            _ => String::new(),
        }
    }
}
