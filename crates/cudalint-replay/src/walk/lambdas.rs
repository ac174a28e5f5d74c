//! Lambdas coming into being: what they capture, by copy or by reference, and what their capture lists make.

use super::{Out, Slot, Walker};
use crate::facts::Site;
use crate::host::{self, Flow, Paths};
use crate::memory::Place;
use crate::value::{Closure, Kind, Val};
use cudalint_program::Name;
use cudalint_program::ir::{Expr, ExprId, FunctionId, LocalId, Stmt, StmtId};
use cudalint_program::types::Ty;
use cudalint_program::visit::{Item, walk};
use cudalint_syntax::Span;
use std::rc::Rc;

impl Walker<'_> {
    /// A lambda with what it captures.
    pub(super) fn lambda(&mut self, function: FunctionId, by_reference: bool) -> Out {
        let Some(current) = self.function() else { return Out::unknown() };
        let Some(lambda) = self.module().functions.get(function) else { return Out::unknown() };
        let makers = lambda.body.as_ref().and_then(|body| body.get(..lambda.made_captures as usize)).unwrap_or(&[]);
        let mut captured = Vec::new();
        // What the capture list makes is made of the variables themselves, not of copies.
        let mut around = Vec::new();
        let outer = self.frames.last().and_then(|frame| frame.closure.clone());
        if let Some(outer) = outer {
            captured.extend(outer.captured.iter().cloned());
        }
        // Several variables of one name may have been there: it is the one that the lambda's body means.
        let is_hidden = |local: LocalId, name: &Name| {
            lambda.captures.iter().any(|(used, meant)| used == name && meant.is_some_and(|meant| meant != local))
        };
        for (local, variable) in current.locals.iter_enumerated() {
            if is_hidden(local, &variable.name) {
                continue;
            }
            if let Some((place, ty)) = self.local_place(local) {
                let otherwise = lambda.captured_otherwise.contains(&variable.name);
                let by_copy = by_reference == otherwise;
                if !makers.is_empty() {
                    around.push((variable.name.clone(), place.clone(), ty.clone()));
                }
                let place = if by_copy {
                    // A copy is made of what it holds now.
                    let val = self.memory.load(&place);
                    let copy = self.create_variable(&variable.name, variable.span, ty.clone(), Val::unknown());
                    let place = Place::Cell(copy, crate::memory::root());
                    let val = self.copy_of(val, Some(&place), 0);
                    self.memory.store(&place, val);
                    place
                } else {
                    place
                };
                captured.push((variable.name.clone(), place, ty));
            }
        }
        let Some(frame) = self.frames.last() else { return Out::unknown() };
        let (this, this_ty) = frame.this.clone().map_or((None, Ty::Unknown), |(place, ty)| (Some(place), ty));
        let mut closure = Closure {
            module: frame.module,
            function,
            captured: Rc::new(captured),
            made: Vec::new(),
            this,
            this_ty,
            env: frame.env.clone(),
        };
        if !makers.is_empty() {
            self.make_captures(&mut closure, around, makers);
        }
        Out::new(Val::from(Kind::Closure(Rc::new(closure))), Ty::Function)
    }

    /// A lambda is called some time later, as a deleter is: what it writes of the variables around is not known from now on.
    pub(super) fn called_later(&mut self, out: &Out) {
        let Kind::Closure(closure) = &out.val.kind else { return };
        let module = self.project.module(closure.module);
        let kind = |id: ExprId| module.exprs.get(id).map(|node| &node.kind);
        let Some(function) = module.functions.get(closure.function) else { return };
        let Some(body) = &function.body else { return };
        let mut written = Vec::new();
        walk(module, function, body, |item| {
            if let Item::Expr(id) = item
                && let Some(Expr::Assign { target, .. } | Expr::Step { target, .. }) = kind(id)
                && let Some(Expr::Name { path, .. }) = kind(*target)
            {
                written.extend(path.last());
            }
            true
        });
        for (name, place, _) in closure.captured.iter() {
            if written.contains(&name) {
                self.escape(place);
                self.forget_place(place);
            }
        }
    }

    /// Code out of sight has got lambdas: whatever it does with them, it may call them, now or later, and nobody knows with what. What
    /// they do of the device's then holds whenever they run. What they capture by reference, or reach through pointers, may have
    /// changed by then.
    pub(super) fn perhaps_called(&mut self, exprs: &[ExprId], outs: &[Out]) {
        if !self.is_reporting() {
            return;
        }
        for (index, out) in outs.iter().enumerate() {
            let Kind::Closure(closure) = &out.val.kind else { continue };
            let site = exprs.get(index).map_or_else(|| self.site(Span::default()), |expr| self.expr_site(*expr));
            self.perhaps_run(&Rc::clone(closure), site);
        }
    }

    /// Walks a lambda that may be called from a place, for what it says, and goes on as if it had not run.
    fn perhaps_run(&mut self, closure: &Rc<Closure>, call: Site) {
        let (module, id) = (closure.module, closure.function);
        let Some(function) = self.project.function_at(module, id) else { return };
        let Some(body) = &function.body else { return };
        let on_host = function.space.host || !function.space.device;
        let is_worth = on_host && self.scan.traits.of(module, id).gpu;
        if !is_worth || self.frames.len() >= host::MAX_FRAMES || self.entered(module, id) > 0 {
            return;
        }
        self.leave_trace();
        let (mark, begun, known) = (self.memory.mark(), self.begun(), self.path.known());
        let (banned, waiting, ended) = (self.path.excluded().len(), self.pendings.len(), self.ended);
        self.alternative(mark, |w| {
            w.anything_happens();
            w.memory.forget_shared();
            for (_, place, _) in closure.captured.iter() {
                w.forget_place(place);
            }
            w.push_frame(module, Some(id), closure.env.clone(), Some(call));
            if let Some(frame) = w.frames.last_mut() {
                frame.this = closure.this.clone().map(|place| (place, closure.this_ty.clone()));
                frame.closure = Some(Rc::clone(closure));
            }
            // Nobody knows whether it is called, and nothing here asks what the device has.
            w.undecide_as(1, true);
            w.bind_parameters(function, vec![Out::unknown(); function.param_count as usize]);
            let base = w.pendings.len();
            for (local, place, ty) in &closure.made {
                w.forget_place(place);
                w.set_slot(*local, Slot::Alias(place.clone(), ty.clone()));
            }
            let there = if closure.made.len() == function.made_captures as usize { closure.made.len() } else { 0 };
            let flow = w.block(body.get(there..).unwrap_or(body));
            if flow == Flow::Next {
                w.destroy(0, None);
                w.function_ends(function);
            }
            w.leave_function(function, flow, base);
            Flow::Next
        });
        self.pendings.truncate(waiting);
        self.ended = ended;
        self.path.unlearn(known);
        self.path.readmit(banned);
        self.forget_begun(begun);
    }

    /// What a capture list makes (`[n = f()]`) comes into being with the lambda.
    fn make_captures(&mut self, closure: &mut Closure, around: Vec<(Name, Place, Ty)>, makers: &[StmtId]) {
        let module = self.module();
        self.push_frame(closure.module, Some(closure.function), closure.env.clone(), None);
        if let Some(frame) = self.frames.last_mut() {
            let captured = Rc::new(closure.captured.iter().cloned().chain(around).collect());
            frame.closure = Some(Rc::new(Closure { captured, ..closure.clone() }));
            frame.this = closure.this.clone().map(|place| (place, closure.this_ty.clone()));
        }
        for maker in makers {
            let Some(Stmt::Declare(local)) = module.stmts.get(*maker).map(|node| &node.kind) else { continue };
            self.declare(*local);
            if let Some((place, ty)) = self.local_place(*local) {
                closure.made.push((*local, place, ty));
            }
        }
        self.frames.pop();
    }
}
