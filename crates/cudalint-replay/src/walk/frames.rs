//! Functions that are walked in place: their parameters come into being, and what they return leaves them.

use super::containers::is_move;
use super::places::Access;
use super::{Frame, Out, Slot, Walker};
use crate::host::{Flow, Paths};
use crate::memory::{Place, root};
use crate::value::{Kind, Val};
use cudalint_program::ir::{Expr, ExprId, Function, LocalId, Space, Type};
use cudalint_program::types::Ty;

impl<'p> Walker<'p> {
    /// Parameters come into being: copies of what is handed over, or other names of it.
    pub(super) fn bind_parameters(&mut self, function: &'p Function, args: Vec<Out>) {
        let mut args = args.into_iter();
        for index in 0..function.param_count {
            let Some(variable) = function.locals.get(LocalId(index)) else { break };
            let id = LocalId(index);
            let ty = self.resolve(variable.ty);
            let out = args.next();
            if let Ty::Reference(inner) = &ty {
                let (place, found) = match (out, variable.init) {
                    (Some(Out { place: Some(place), ty, .. }), _) => (place, ty),
                    (Some(out), _) => {
                        let value_ty = out.ty.value().clone();
                        let object = self.create_variable(&variable.name, variable.span, value_ty, out.val);
                        (Place::Cell(object, root()), out.ty)
                    }
                    (None, Some(init)) => self.bind_reference(init),
                    (None, None) => (Place::Unknown, Ty::Unknown),
                };
                let slot = self.referred(variable, place, &found, inner);
                self.set_slot(id, slot);
                continue;
            }
            let ty = match ty {
                Ty::Array(inner, _) => Ty::Pointer(inner),
                other => other,
            };
            let out = match (out, variable.init) {
                (Some(out), _) => out,
                (None, Some(init)) => self.eval(init),
                (None, None) => Out::unknown(),
            };
            let ty = if ty.is_unknown() && !out.ty.is_unknown() {
                match out.ty.value() {
                    Ty::Array(inner, _) => Ty::Pointer(inner.clone()),
                    other => other.clone(),
                }
            } else {
                ty
            };
            let val = self.cast(&out, ty.clone()).val;
            let object = self.create_variable(&variable.name, variable.span, ty.clone(), Val::unknown());
            let place = Place::Cell(object, root());
            let val =
                if out.place.is_some() && !self.is_moved_in(id) { self.copy_of(val, Some(&place), 0) } else { val };
            self.memory.store(&place, val);
            self.set_slot(id, Slot::Object(object));
            self.wait_for_end(id, &ty);
        }
    }

    /// Whether the caller moves an object into a parameter.
    fn is_moved_in(&self, parameter: LocalId) -> bool {
        let [.., caller, frame] = self.frames.as_slice() else { return false };
        let argument = frame.arguments.get(parameter.index()).copied().flatten();
        argument.is_some_and(|argument| is_move(self.project.module(caller.module), argument))
    }

    /// The end of a function walked in place: all its ways out are joined.
    pub(super) fn leave_function(&mut self, function: &'p Function, flow: Flow, base: usize) -> Out {
        let reached = matches!(flow, Flow::Next | Flow::Return);
        let mut value = if reached { self.frames.last_mut().and_then(|frame| frame.returned.take()) } else { None };
        let mut any = reached;
        let (now, others) = self.collect(base, reached, |flow| *flow == Flow::Return);
        for other in others {
            value = match (any, value, other) {
                (false, _, other) => other,
                (true, Some(a), Some(b)) => {
                    let mut lost = Vec::new();
                    let val = Val::join(&a.val, &b.val, None, &mut lost);
                    self.memory.escaped.extend(lost);
                    if let (Some(one), Some(two)) = (&a.place, &b.place) {
                        let (one, two) = (one.clone(), two.clone());
                        self.escape(&one);
                        self.escape(&two);
                    }
                    Some(Out::new(val, a.ty))
                }
                (true, ..) => Some(Out::unknown()),
            };
            any = true;
        }
        // A jump that never arrived: what it carried is lost.
        if self.pendings.len() > base {
            let mark = self.pendings[base..].iter().map(|pending| pending.mark).min();
            self.pendings.truncate(base);
            if let Some(mark) = mark {
                self.forget_since(mark);
            }
        }
        if !now {
            self.frames.pop();
            self.ended = true;
            return Out::unknown();
        }
        let returns = self.resolve(function.returns);
        if self.is_reporting()
            && let Some(Frame { module, function: Some(id), .. }) = self.frames.last()
        {
            let walked = (*module, *id);
            self.visited.insert(walked);
            if self.recording.open > 0 {
                self.recording.entered.push((walked.0, walked.1, true));
            }
        }
        self.frames.pop();
        match (value, returns) {
            (Some(out), Ty::Reference(inner)) => {
                let ty = if inner.is_unknown() { out.ty.value().clone() } else { (*inner).clone() };
                Out { ty, ..out }
            }
            (Some(out), ty) if !ty.is_unknown() => {
                let cast = self.cast(&out, ty);
                // Truths about statuses stay what they are.
                match out.val.kind {
                    Kind::Success(_) | Kind::Flag(_) | Kind::Status => Out::new(out.val, cast.ty),
                    _ => cast,
                }
            }
            (Some(out), _) => Out::new(out.val, out.ty.value().clone()),
            (None, ty) => Out::new(Val::unknown(), ty),
        }
    }

    /// The value of a `return`.
    pub fn returned(&mut self, value: ExprId) -> Out {
        let reference = self
            .function()
            .is_some_and(|function| matches!(self.module().types.get(function.returns), Some(Type::Reference(_))));
        if reference {
            let (place, ty) = self.place(value, Access::Address);
            let val = self.load(&place, &ty);
            return Out { val, ty, place: Some(place) };
        }
        if let Some(Expr::InitList(_)) = self.kind(value)
            && let Some(function) = self.function()
        {
            let ty = self.resolve(function.returns);
            return self.build(&ty, value);
        }
        let out = self.eval(value);
        // A local variable is moved out of the function, anything else is copied.
        let own = match self.kind(value) {
            Some(Expr::Local(local)) => {
                let slot = self.frames.last().and_then(|frame| frame.slots.get(*local));
                let variable = self.function().and_then(|function| function.locals.get(*local));
                matches!(slot, Some(Slot::Object(_)))
                    && variable.is_some_and(|variable| !matches!(variable.space, Space::Static))
            }
            _ => out.place.is_none() && !self.is_lvalue(value),
        };
        let val = if own || is_move(self.module(), value) { out.val } else { self.copy_of(out.val, None, 0) };
        Out::new(val, out.ty.value().clone())
    }
}
