//! Lambdas coming into being: what they capture, by copy or by reference, and what their capture lists make.

use super::{Out, Walker};
use crate::memory::Place;
use crate::value::{Closure, Kind, Val};
use cudalint_program::Name;
use cudalint_program::ir::{Expr, ExprId, FunctionId, LocalId, Stmt, StmtId};
use cudalint_program::types::Ty;
use cudalint_program::visit::{Item, walk};
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
