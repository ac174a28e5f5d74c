//! What runs where objects come into being, and what objects out of sight do: both may look at errors.

use super::build::Builder;
use super::flow::{Action, CallSite, Callee, Fate};
use super::known;
use cudalint_program::ir::{Expr, ExprId, Function, FunctionRole, TypeId};
use cudalint_program::types::{Ty, TypeEnv};
use cudalint_program::{Entry, Name, Scope};
use cudalint_syntax::Span;

/// How deep classes with constructors lie in each other.
const MAX_DEPTH: u32 = 4;
/// How many objects one object is made of, at most.
const MAX_OBJECTS: u32 = 200;

impl Builder<'_> {
    /// An object of a type is made here.
    pub(super) fn construct(&mut self, ty: TypeId, span: Span) {
        let ty = self.scope().resolve(ty);
        let mut left = MAX_OBJECTS;
        self.construct_ty(&ty, span, 0, &mut left);
    }

    fn construct_ty(&mut self, ty: &Ty, span: Span, depth: u32, left: &mut u32) {
        match ty {
            Ty::Record(entry, _) => self.construct_part(*entry, span, depth, left),
            Ty::Array(of, _) => self.construct_ty(of, span, depth, left),
            Ty::Library(name, _) => self.foreign(name),
            _ => {}
        }
    }

    pub(super) fn construct_record(&mut self, entry: Entry, span: Span) {
        let mut left = MAX_OBJECTS;
        self.construct_part(entry, span, 0, &mut left);
    }

    fn construct_part(&mut self, entry: Entry, span: Span, depth: u32, left: &mut u32) {
        let project = self.project;
        let (Some(record), Some(rest)) = (project.record_at(entry), left.checked_sub(1)) else { return };
        if depth > MAX_DEPTH {
            return;
        }
        *left = rest;
        let is_written = |method: &&Function| {
            method.role == FunctionRole::Constructor
                && !project.text(entry.module, method.span).trim_end_matches(';').trim_end().ends_with("default")
        };
        let methods = record.methods.iter().filter_map(|id| project.function_at(entry.module, *id));
        let own = methods.into_iter().any(|method| is_written(&method));
        let scope = Scope::inside(project, entry.module, record.scope.within(record.name.clone()), &TypeEnv::default());
        for ty in record.bases.iter().copied().chain(record.fields.iter().map(|field| field.ty)) {
            let ty = scope.resolve(ty);
            self.construct_ty(&ty, span, depth + 1, left);
        }
        if own {
            self.made_call(Callee::Constructor(record.name.clone()), record.name.clone(), span);
        }
    }

    /// What an object of a class out of sight does: some of them look at errors.
    pub(super) fn foreign(&mut self, class: &str) {
        if known::throws_errors(class) {
            self.push(Action::Hidden);
        } else if known::may_know_errors(class) {
            self.push(Action::Opaque);
        }
    }

    /// An object that an expression leads to is used in a way that calls code of its class.
    pub(super) fn used_object(&mut self, object: ExprId) {
        if !self.of_module.has_throwing_classes {
            return;
        }
        let mut ty = self.scope().type_of(object);
        while let Ty::Reference(of) = &ty {
            ty = (**of).clone();
        }
        if let Ty::Library(name, _) = &ty
            && known::throws_errors(name)
        {
            self.push(Action::Hidden);
        }
    }

    /// The class of what an expression leads to, where the project has it and one may not override the method in another.
    pub(super) fn class_of(&self, object: ExprId, method: &Name) -> Option<Name> {
        let mut ty = self.scope().type_of(object);
        // A variable that is no reference is of that class and of none that inherits from it.
        let is_local = matches!(self.module.exprs.get(object).map(|node| &node.kind), Some(Expr::Local(_)));
        let exact = is_local && matches!(ty, Ty::Record(..));
        while let Ty::Reference(of) | Ty::Pointer(of) = &ty {
            ty = (**of).clone();
        }
        let Ty::Record(entry, _) = ty else { return None };
        let record = self.project.record_at(entry)?;
        (exact || !record.virtual_methods.contains(method)).then(|| record.name.clone())
    }

    /// `delete p`.
    pub(super) fn deleted(&mut self, pointer: ExprId, span: Span) {
        let mut ty = self.scope().type_of(pointer);
        while let Ty::Reference(of) | Ty::Pointer(of) | Ty::Array(of, _) = &ty {
            ty = (**of).clone();
        }
        self.destroyed(&ty, span);
    }

    /// An object that has no name ends where its statement does: `Timer("scan");`.
    pub(super) fn temporary(&mut self, value: ExprId) {
        let Some(node) = self.module.exprs.get(value) else { return };
        if let Expr::Construct { ty, .. } | Expr::Cast { ty, .. } = &node.kind {
            let ty = self.scope().resolve(*ty);
            self.destroyed(&ty, node.span);
        }
    }

    fn destroyed(&mut self, ty: &Ty, span: Span) {
        let Ty::Record(entry, _) = ty else { return };
        let mut found = Vec::new();
        self.destructors_of(*entry, 0, &mut found);
        for (class, destructor) in found.into_iter().filter(|(_, destructor)| !destructor.is_empty()) {
            let callee = Callee::Named { name: destructor.clone(), scope: Some(class) };
            self.made_call(callee, destructor, span);
        }
    }

    pub(super) fn made_call(&mut self, callee: Callee, name: Name, span: Span) {
        let index = self.flow.calls.len() as u32;
        self.flow.calls.push(CallSite {
            compares: known::sounds_like_comparison(&name),
            callee,
            name,
            arguments: 0,
            span,
            fate: Fate::Consumed,
            expansion: None,
            damaged: false,
            initializer: false,
            copies_back: false,
            copies_across: false,
            makes_unused: false,
            given: Box::default(),
            selects_usual_device: false,
            asserted: false,
            stored_is_read: false,
            dead: false,
        });
        self.push(Action::Call(index));
    }

    /// The value of a condition that the source alone fixes.
    pub(super) fn constant(&self, condition: ExprId) -> Option<bool> {
        match self.module.exprs.get(condition).map(|node| &node.kind)? {
            Expr::Int { value, .. } => Some(*value != 0),
            Expr::OnDevice => Some(false),
            Expr::Unary(_, inner) => {
                let plain = matches!(
                    self.module.exprs.get(*inner).map(|node| &node.kind),
                    Some(Expr::Name { .. } | Expr::Int { .. } | Expr::Local(_))
                );
                plain.then(|| self.scope().eval(condition)).flatten().map(|value| value != 0)
            }
            Expr::Name { .. } | Expr::Local(_) => self.scope().eval(condition).map(|value| value != 0),
            _ => None,
        }
    }
}
