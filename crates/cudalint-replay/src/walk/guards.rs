//! Destructors of local variables that are there for what they do at the end of a block: counters, timers, settings that are put
//! back. Owners of memory are not among them: who owns it after copies, moves and returns is not followed, so that nothing is
//! said of what they free.

use super::calls::Invocation;
use super::{Out, Slot, Walker};
use crate::host::Flow;
use crate::memory::{Place, root};
use crate::value::Kind;

use cudalint_program::ir::{Expr, ExprId, FunctionId, FunctionRole, LocalId, ModuleId, Path, Type, Variable};
use cudalint_program::types::{Argument, Ty};

/// How deep objects within objects are looked at.
const MAX_DEPTH: u32 = 4;

impl Walker<'_> {
    /// The destructor of a type that writes something and owns nothing.
    pub fn guard(&self, ty: &Ty) -> Option<(ModuleId, FunctionId)> {
        let Ty::Record(entry, _) = ty.value() else { return None };
        let (module, record) = (entry.module, self.project.record_at(*entry)?);
        let is_destructor = |id: &&FunctionId| {
            let method = self.project.function_at(module, **id);
            method.is_some_and(|method| method.role == FunctionRole::Destructor && method.body.is_some())
        };
        let id = *record.methods.iter().find(is_destructor)?;
        let traits = self.scan.traits.of(module, id);
        // What it was given to call may write anything.
        let called = |field: &Variable| match self.project.module(module).types.get(field.ty) {
            Some(Type::Named { path, .. }) => path.last().is_some_and(|name| {
                name == "function" || record.template_params.iter().any(|param| param.name == *name)
            }),
            _ => false,
        };
        let writes = traits.shared || record.fields.iter().any(called);
        (writes && !traits.gpu && !traits.memory).then_some((module, id))
    }

    /// A variable of this type lives from here on.
    pub fn begin_guard(&mut self, id: LocalId, ty: &Ty) {
        if self.ends_on_device(ty) {
            self.guards_device();
        }
        self.wait_for_end(id, ty);
    }

    /// What runs where this variable ends writes something: it is kept in mind.
    pub fn wait_for_end(&mut self, id: LocalId, ty: &Ty) {
        if self.is_guard(ty, 0)
            && let Some(frame) = self.frames.last_mut()
        {
            frame.guards.push(id);
        }
    }

    /// Whether a destructor that writes something runs where an object of this type ends: its own, or that of a part or a base.
    fn is_guard(&self, ty: &Ty, depth: u32) -> bool {
        if depth > MAX_DEPTH || matches!(ty, Ty::Reference(_)) {
            return false;
        }
        match ty.value() {
            Ty::Array(inner, _) => self.is_guard(inner, depth + 1),
            Ty::Library(name, args) => {
                let refers = ["reference_wrapper", "weak_ptr", "span", "function"];
                let held = |arg: &Argument| matches!(arg, Argument::Type(ty) if self.is_guard(ty, depth + 1));
                args.iter().any(held) && !refers.contains(&cudalint_program::types::last_segment(name))
            }
            Ty::Record(entry, env) => {
                let known = self.caches.learned.guarded.borrow().get(entry).copied().filter(|_| env.is_empty());
                if let Some(known) = known {
                    return known;
                }
                let Some(record) = self.project.record_at(*entry) else { return false };
                let part = |ty| self.is_guard(&self.part_type(*entry, env, ty), depth + 1);
                let found = self.guard(ty).is_some()
                    || (!record.is_union && record.fields.iter().any(|field| part(field.ty)))
                    || record.bases.iter().any(|base| part(*base));
                // What was looked at from further in was not looked at to its bottom.
                if env.is_empty() && depth == 0 {
                    self.caches.learned.guarded.borrow_mut().insert(*entry, found);
                }
                found
            }
            _ => false,
        }
    }

    /// An object ends: its destructor runs, then those of its parts, the last one first, and those of its bases.
    fn end_object(&mut self, place: &Place, ty: &Ty, depth: u32) {
        if !self.is_guard(ty, depth) {
            return;
        }
        match ty.value() {
            Ty::Array(inner, _) => match self.elements(place, ty) {
                Some(elements) => {
                    for element in elements.iter().rev() {
                        self.end_object(element, inner, depth + 1);
                    }
                }
                None => self.ends_unseen(place, ty),
            },
            Ty::Record(entry, env) => {
                let Some(record) = self.project.record_at(*entry) else { return };
                let (entry, env) = (*entry, env.clone());
                if let Some((module, id)) = self.guard(ty) {
                    let this = Some((place.clone(), ty.clone()));
                    let env = env.clone();
                    let invocation = Invocation { module, id, env, this, closure: None, exprs: &[], args: Vec::new() };
                    self.invoke(ExprId(u32::MAX), invocation);
                }
                for field in record.fields.iter().rev().filter(|_| !record.is_union) {
                    let part = self.field_place(place, &field.name);
                    self.end_object(&part, &self.part_type(entry, &env, field.ty), depth + 1);
                }
                for base in record.bases.iter().rev() {
                    self.end_object(place, &self.part_type(entry, &env, *base), depth + 1);
                }
            }
            _ => self.ends_unseen(place, ty),
        }
    }

    /// Objects end of which it is not known how many there are, at the place or wherever it leads: what their destructors write is
    /// not known any more.
    fn ends_unseen(&mut self, place: &Place, ty: &Ty) {
        let mut pointers = Vec::new();
        if let Place::Cell(object, path) | Place::Weak(object, path) = place {
            self.memory.get(*object).pointers(path, &mut pointers);
        }
        self.memory.escape_reachable(pointers);
        let mut all = Vec::new();
        self.guards_in(ty, 0, &mut all);
        let mark = self.memory.mark();
        for (module, id, ty) in all {
            let Ty::Record(_, env) = ty.value() else { continue };
            let (env, this) = (env.clone(), Some((Place::Unknown, ty)));
            let invocation = Invocation { module, id, env, this, closure: None, exprs: &[], args: Vec::new() };
            self.invoke(ExprId(u32::MAX), invocation);
        }
        self.forget_since(mark);
    }

    /// The destructors that write something, of an object of this type and of what it holds.
    fn guards_in(&self, ty: &Ty, depth: u32, all: &mut Vec<(ModuleId, FunctionId, Ty)>) {
        if !self.is_guard(ty, depth) {
            return;
        }
        match ty.value() {
            Ty::Array(inner, _) => self.guards_in(inner, depth + 1, all),
            Ty::Library(_, args) => {
                for arg in args.iter() {
                    if let Argument::Type(held) = arg {
                        self.guards_in(held, depth + 1, all);
                    }
                }
            }
            Ty::Record(entry, env) => {
                all.extend(self.guard(ty).map(|(module, id)| (module, id, ty.value().clone())));
                let Some(record) = self.project.record_at(*entry) else { return };
                for part in record.fields.iter().map(|field| field.ty).chain(record.bases.iter().copied()) {
                    self.guards_in(&self.part_type(*entry, env, part), depth + 1, all);
                }
            }
            _ => {}
        }
    }

    /// A container or a smart pointer may drop what it holds.
    pub(super) fn may_drop(&mut self, place: &Place, ty: &Ty) {
        if self.is_guard(ty, 0) {
            self.ends_unseen(place, ty);
        }
    }

    /// The object ends that a statement makes and does not keep (`Guard(n);`).
    pub(super) fn end_temporary(&mut self, id: ExprId, out: &Out) {
        let Ty::Record(entry, _) = &out.ty else { return };
        let is_made = match self.kind(id) {
            Some(Expr::Construct { .. }) => true,
            Some(Expr::Call { callee, .. }) => {
                let record = self.project.record_at(*entry);
                let named = |path: &Path| path.last().is_some_and(|name| record.is_some_and(|it| it.name == *name));
                matches!(self.kind(*callee), Some(Expr::Name { path, .. }) if named(path))
            }
            _ => false,
        };
        if let Some(place) = out.place.clone().filter(|_| is_made) {
            self.end_object(&place, &out.ty, 0);
        }
    }

    /// The object ends that `delete` is given.
    pub(super) fn end_deleted(&mut self, out: &Out) {
        let Some(inner) = out.ty.pointee().cloned() else { return };
        let place = self.pointed_place(&out.val, &inner);
        match &out.val.kind {
            Kind::Null => {}
            Kind::Ptr(pointer) if !pointer.array => {
                let dynamic = self.memory.get(pointer.obj).info.ty.clone();
                if self.same_record(&dynamic, &inner) {
                    self.end_object(&place, &inner, 0);
                } else {
                    self.may_drop(&place, &inner);
                    self.may_drop(&place, &dynamic);
                }
            }
            _ => self.may_drop(&place, &inner),
        }
    }

    /// Whether the destructor of a type has to do with the device, so that it may wait.
    fn ends_on_device(&self, ty: &Ty) -> bool {
        let Ty::Record(entry, _) = ty.value() else { return false };
        let Some(record) = self.project.record_at(*entry) else { return true };
        record.methods.iter().any(|id| {
            let method = self.project.function_at(entry.module, *id);
            method.is_some_and(|method| method.role == FunctionRole::Destructor)
                && self.scan.traits.of(entry.module, *id).gpu
        })
    }

    /// How many variables wait for their destructors.
    pub fn guards(&self) -> usize {
        self.frames.last().map_or(0, |frame| frame.guards.len())
    }

    /// Runs the destructors of all variables that wait but the first `outside` and the one that is kept, the last one first.
    pub fn destroy(&mut self, outside: usize, kept: Option<LocalId>) {
        for at in (outside..self.guards()).rev() {
            let Some(frame) = self.frames.last() else { return };
            if kept.is_some() && frame.guards.get(at).copied() == kept {
                continue;
            }
            let Some(Slot::Object(object)) = frame.guards.get(at).and_then(|local| frame.slots.get(*local)) else {
                continue;
            };
            let object = *object;
            let ty = self.memory.get(object).info.ty.clone();
            self.end_object(&Place::Cell(object, root()), &ty, 0);
        }
    }

    /// Runs what a `break` leaves.
    pub fn breakable(&mut self, run: impl FnOnce(&mut Self) -> Flow) -> Flow {
        let inside = self.guards();
        let Some(frame) = self.frames.last_mut() else { return Flow::Next };
        let outside = std::mem::replace(&mut frame.guards_outside, inside);
        let flow = run(self);
        if let Some(frame) = self.frames.last_mut() {
            frame.guards_outside = outside;
        }
        flow
    }
}
