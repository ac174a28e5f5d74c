//! What becomes of memory and handles that functions of CUDA have made: whether anybody can still give them back where a
//! function, or a round of a loop, ends.
//!
//! Whatever the walk does not see may own them: what has escaped, what objects with destructors or of classes out of sight
//! hold, what variables at namespace scope lead to. Of the rest nothing is left when the path ends: no pointer leads there.

use super::made::Made;
use super::{Out, Walker};
use crate::facts::{EventKind, LostAt, LostFact, Site};
use crate::host::{ObjId, ObjSet};
use crate::memory::{Freed, ObjectInfo, Place, root};
use crate::quantity::Quantity;
use crate::value::{Kind, Ptr, Val};
use cudalint_program::Name;
use cudalint_program::api::effects::Handle;
use cudalint_program::api::{ApiId, is_plain_type};
use cudalint_program::ir::{ExprId, Function, FunctionId, FunctionRole, StmtId};
use cudalint_program::types::{Container, Ty};
use cudalint_syntax::Span;

/// How deep records hold records that are looked at for destructors.
const MAX_DEPTH: u32 = 4;

impl Walker<'_> {
    /// A function of CUDA has made an object.
    pub(super) fn has_made(&mut self, object: ObjId) {
        if self.dry == 0 {
            let calls = self.frames.iter().skip(1).map(|frame| frame.call).collect();
            self.lifetimes.made.push(Made { object, calls });
        }
    }

    /// A handle comes into being, and is stored where the address leads.
    pub(super) fn create_handle(&mut self, id: ExprId, api: ApiId, name: &str, target: ExprId) -> Option<ObjId> {
        let (out, _, text) = self.out_pointer(target);
        if matches!(out.val.kind, Kind::Null) {
            return None;
        }
        let info = ObjectInfo {
            name: Name::from(text.as_str()),
            site: self.expr_site(id),
            ty: Ty::Void,
            space: crate::facts::MemorySpace::Host,
            origin: crate::facts::Origin::Call(api, Name::from(name)),
            array: false,
            element: None,
        };
        // Nothing has been done with it yet, as far as anybody asks.
        let first = if api.creates(Handle::Program) { Val::zeroed() } else { Val::unknown() };
        let object = self.create_object(info, Val::size(Quantity::Unknown), first);
        let handle = Kind::Ptr(Ptr { obj: object, path: root(), offset: Quantity::Known(0), array: false });
        self.write_through(&out, Val::from(handle));
        self.has_made(object);
        Some(object)
    }

    /// A handle is given back, which some functions are given by its address.
    pub(super) fn destroy_handle(&mut self, id: ExprId, name: &str, argument: ExprId) {
        let mut out = self.eval(argument);
        if let Kind::Ptr(pointer) = &out.val.kind
            && self.memory.get(pointer.obj).info.origin.api().is_none()
            && let Some(inner) = out.ty.pointee().cloned()
        {
            let place = self.pointed_place(&out.val, &inner);
            out = Out::new(self.load(&place, &inner), inner);
        }
        if matches!(out.val.kind, Kind::Ptr(_)) {
            self.free_value(id, name, argument, &out);
        }
    }

    /// All that a device or a context has may have been given back.
    pub(super) fn reset_device(&mut self) {
        let all: Vec<ObjId> = self.lifetimes.made.iter().map(|made| made.object).collect();
        for object in all {
            self.memory.may_be_freed(object);
        }
    }

    /// The function around ends behind its last statement.
    pub(super) fn function_ends(&mut self, function: &Function) {
        let Some(first) = self.frames.last().map(|frame| frame.first_object) else { return };
        let end = function.span.end;
        self.tell_lost(first, LostAt::End, Span { start: end.saturating_sub(1), end }, None);
    }

    /// A path ends with a `return`.
    pub(super) fn return_ends(&mut self, id: StmtId) {
        let Some(first) = self.frames.last().map(|frame| frame.first_object) else { return };
        if self.dry > 0 || !self.may_be_lost(first) {
            return;
        }
        let returned = self.frames.last().and_then(|frame| frame.returned.clone());
        let function = self.function();
        let last = function.and_then(|function| function.body.as_ref()?.last());
        let ty = function.map_or(Ty::Unknown, |function| self.resolve(function.returns));
        let zero_fails = matches!(ty.value(), Ty::Bool | Ty::Pointer(_));
        let fails = returned.as_ref().is_some_and(|out| match &out.val.kind {
            Kind::Null => true,
            _ => out.val.known().is_some_and(|value| (value == 0) == zero_fails),
        });
        let at = if last == Some(&id) { LostAt::End } else { LostAt::Return { fails } };
        let end = self.module().stmts.get(id).map(|stmt| stmt.span).unwrap_or_default();
        self.tell_lost(first, at, end, returned.as_ref());
    }

    /// Tells what is lost of the objects from `first` on, whose variables end here.
    pub(super) fn tell_lost(&mut self, first: u32, at: LostAt, end: Span, returned: Option<&Out>) {
        // Behind a call that does not return nothing happens.
        if self.elided || self.ended || !self.is_reporting() || !self.may_be_lost(first) {
            return;
        }
        let reached = self.reached_from_before(first, returned);
        let depth = self.frames.len() - 1;
        let lost = |w: &Self, made: &Made| w.is_alive(made, first) && !reached.contains(made.object);
        let found: Vec<(ObjId, Option<Site>)> = self
            .lifetimes
            .made
            .iter()
            .filter(|made| lost(self, made))
            // Made in this frame, or in one that a call in it entered.
            .map(|made| (made.object, made.calls.get(depth).copied().flatten()))
            .collect();
        let mut freed: Vec<Name> = Vec::new();
        for made in &self.lifetimes.made {
            let object = self.memory.get(made.object);
            if made.object.0 >= first && object.freed == Freed::Yes && !freed.contains(&object.info.name) {
                freed.push(object.info.name.clone());
            }
        }
        let in_main = self.from_main && depth == 0 && at != LostAt::Round;
        let once = self.from_main && self.lifetimes.loops == 0;
        for (object, call) in found {
            if !matches!(at, LostAt::Return { .. }) {
                self.lifetimes.lost.insert(object);
            }
            let buffer = self.buffer(object);
            let site = call.unwrap_or(buffer.site);
            if !self.log.wants(site) {
                continue;
            }
            let freed = freed.clone();
            let fact = LostFact { buffer, end: self.site(end), at, freed, once, in_main };
            self.leave_trace();
            let path = self.calls("a lambda");
            self.record_event(EventKind::Lost(Box::new(fact)), site, path);
        }
    }

    /// Whether anything that was made since is not surely accounted for.
    fn may_be_lost(&self, first: u32) -> bool {
        self.lifetimes.made.iter().rev().any(|made| self.is_alive(made, first))
    }

    fn is_alive(&self, made: &Made, first: u32) -> bool {
        let id = made.object;
        id.0 >= first
            && self.memory.get(id).freed == Freed::No
            && self.memory.get(id).bytes.known() != Some(0)
            && !self.memory.escaped.contains(id)
            && !self.lifetimes.kept.contains(id)
            && !self.lifetimes.lost.contains(id)
    }

    /// The objects from `first` on that something leads to which outlives them, or that may own others.
    fn reached_from_before(&mut self, first: u32, returned: Option<&Out>) -> ObjSet {
        let mut pending: Vec<ObjId> = Vec::new();
        for (id, object) in self.memory.iter() {
            if id.0 < first {
                object.pointers(&[], &mut pending);
                continue;
            }
            let by_cuda = object.info.origin.api().is_some_and(|api| api.is_cuda_host());
            let may_own = self.memory.escaped.contains(id)
                || self.lifetimes.kept.contains(id)
                || (!by_cuda && self.owns(&object.info.ty, 0));
            if may_own {
                pending.push(id);
            }
        }
        pending.extend(self.memory.shared.iter());
        pending.extend(self.globals.values().chain(self.statics.values()));
        let place_of = |place: &Place| match place {
            Place::Cell(object, _) | Place::Weak(object, _) => Some(*object),
            Place::Unknown | Place::Nowhere => None,
        };
        for frame in &self.frames {
            pending.extend(frame.this.as_ref().and_then(|(place, _)| place_of(place)));
            if let Some(closure) = &frame.closure {
                pending.extend(closure.captured.iter().filter_map(|(_, place, _)| place_of(place)));
                pending.extend(closure.made.iter().filter_map(|(_, place, _)| place_of(place)));
            }
        }
        if let Some(out) = returned {
            out.val.pointers(&mut pending);
            pending.extend(out.place.as_ref().and_then(place_of));
        }
        let mut reached = ObjSet::default();
        while let Some(id) = pending.pop() {
            if id.0 >= first && reached.insert(id) {
                self.memory.get(id).pointers(&[], &mut pending);
            }
        }
        reached
    }

    /// Whether an object of this type may give back what it leads to: it has a destructor, or nobody knows.
    fn owns(&self, ty: &Ty, depth: u32) -> bool {
        if let Some((kind, inner, _)) = ty.value().container() {
            return match kind {
                Container::Vector | Container::Array => depth > MAX_DEPTH || self.owns(inner, depth + 1),
                Container::DeviceVector | Container::String | Container::DevicePointer => false,
                Container::SmartPointer => true,
            };
        }
        match ty.value() {
            Ty::Array(inner, _) => self.owns(inner, depth),
            Ty::Record(entry, env) => {
                let Some(record) = self.project.record_at(*entry).filter(|record| record.defined) else { return true };
                let module = self.project.module(entry.module);
                let ends = |id: &FunctionId| {
                    module.functions.get(*id).is_some_and(|method| method.role == FunctionRole::Destructor)
                };
                depth > MAX_DEPTH
                    || record.has_virtual
                    || !record.bases.is_empty()
                    || record.methods.iter().any(ends)
                    || record.fields.iter().any(|field| self.owns(&self.part_type(*entry, env, field.ty), depth + 1))
            }
            Ty::Library(name, _) => !is_plain_type(name),
            Ty::Auto | Ty::Unknown => true,
            _ => false,
        }
    }

    /// The same for all that an object holds.
    pub(super) fn keep_inside(&mut self, place: &Place) {
        let (Place::Cell(object, path) | Place::Weak(object, path)) = place else { return };
        let mut pointers = Vec::new();
        self.memory.get(*object).pointers(path, &mut pointers);
        self.lifetimes.kept.extend(pointers);
    }

    /// What a value leads to may be given back where the walk does not see, though nobody there writes it.
    pub(super) fn keep(&mut self, val: &Val) {
        let mut pointers = Vec::new();
        val.pointers(&mut pointers);
        self.lifetimes.kept.extend(pointers);
    }
}
