//! Destructors of local variables that are there for what they do at the end of a block: counters, timers, settings that are put
//! back. Owners of memory are not among them: who owns it after copies, moves and returns is not followed, so that nothing is
//! said of what they free.

use super::calls::Invocation;
use super::{Slot, Walker};
use crate::host::Flow;
use crate::memory::{Place, root};
use cudalint_program::ir::{ExprId, FunctionId, FunctionRole, LocalId, ModuleId, Type, Variable};
use cudalint_program::types::Ty;

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
        if self.guard(ty).is_some()
            && let Some(frame) = self.frames.last_mut()
        {
            frame.guards.push(id);
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
            let (Some((module, id)), Ty::Record(_, env)) = (self.guard(&ty), ty.value()) else { continue };
            let env = env.clone();
            let this = Some((Place::Cell(object, root()), ty.clone()));
            let invocation = Invocation { module, id, env, this, closure: None, exprs: &[], args: Vec::new() };
            self.invoke(ExprId(u32::MAX), invocation);
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
