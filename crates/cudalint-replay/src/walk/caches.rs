//! What the walks of one module find out about its code once: none of it depends on what a walk knows.

use super::Walker;
use crate::ty::Ty;
use cudalint_program::ir::{Block, Expr, ExprId, FunctionId, LocalId, ModuleId, Path, Type, TypeId};
use cudalint_program::visit::{Item, walk};
use cudalint_program::{Entry, Name};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;

/// Answers, by the addresses of the paths that were asked for (they stand in the modules) or by module and position.
#[derive(Debug, Default)]
pub(crate) struct Caches {
    /// Whether functions in sight go by a name.
    overloaded: RefCell<FxHashMap<usize, bool>>,
    /// What a name means as a type, asked from a function.
    types: RefCell<FxHashMap<(usize, Option<FunctionId>), TypeName>>,
    /// By function: which locals are given values anywhere but at their declarations.
    assigned: RefCell<FxHashMap<(ModuleId, FunctionId), Assigned>>,
    /// By the address of a called name's text: what the C library has under it.
    standard: RefCell<FxHashMap<usize, Standard>>,
    /// Types of code without template arguments, by the function around, where finding them evaluates nothing.
    resolved: RefCell<FxHashMap<Asked, Ty>>,
    /// Whether looking at an expression again does nothing.
    plain: RefCell<FxHashMap<(ModuleId, ExprId), bool>>,
    /// By the first statement of a loop's body: whether its iterations are worth running one by one.
    worth: RefCell<FxHashMap<(ModuleId, u32), bool>>,
}

/// A type of a module, and the function that it is asked from.
type Asked = (ModuleId, Option<FunctionId>, TypeId);

/// By local.
type Assigned = Rc<[bool]>;

/// What the project knows as a type by a name.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TypeName {
    Alias(Entry),
    Record(Entry),
    Enum,
    Other,
}

/// What a function of the standard library does that needs to know nothing of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standard {
    /// It does not return.
    Final,
    /// It reads a number from text.
    Number,
    /// It neither keeps nor changes anything reachable from its arguments.
    Pure,
    /// It is none of these.
    Other,
}

impl Walker<'_> {
    /// What the standard library has under a name.
    pub fn standard(&self, name: &Name) -> Standard {
        let key = name.as_str().as_ptr() as usize;
        let known = self.caches.standard.borrow().get(&key).copied();
        known.unwrap_or_else(|| {
            let standard = super::library::standard(name);
            self.caches.standard.borrow_mut().insert(key, standard);
            standard
        })
    }

    /// A type of the current frame's module under its template arguments.
    pub fn resolve(&mut self, ty: TypeId) -> Ty {
        let Some(frame) = self.frames.last() else { return Ty::Unknown };
        match self.project.module(frame.module).types.get(ty.index()) {
            Some(Type::Int { bytes, signed }) => return Ty::Int { bytes: *bytes, signed: *signed },
            Some(Type::Float { bytes }) => return Ty::Float { bytes: *bytes },
            Some(Type::Bool) => return Ty::Bool,
            Some(Type::Void) => return Ty::Void,
            Some(Type::Auto) => return Ty::Auto,
            _ => {}
        }
        if !frame.env.entries.is_empty() || self.frames.len() > super::MAX_FRAMES {
            return self.resolve_at(ty, 0);
        }
        let key = (frame.module, frame.function, ty);
        if let Some(known) = self.caches.resolved.borrow().get(&key) {
            return known.clone();
        }
        let steps = self.steps;
        let resolved = self.resolve_at(ty, 0);
        // A count that had to be evaluated may be another one the next time.
        if self.steps == steps && self.stopped.is_none() {
            self.caches.resolved.borrow_mut().insert(key, resolved.clone());
        }
        resolved
    }

    /// Whether looking at an expression again does nothing.
    pub fn is_plain(&self, expr: ExprId) -> bool {
        let key = (self.module_id(), expr);
        if let Some(plain) = self.caches.plain.borrow().get(&key) {
            return *plain;
        }
        let plain = super::conditions::is_plain(self.module(), expr);
        self.caches.plain.borrow_mut().insert(key, plain);
        plain
    }

    /// Whether functions in sight go by a name, so that a call which means none of them for sure may mean any.
    pub fn is_overloaded(&self, path: &Path) -> bool {
        let key = std::ptr::from_ref(path) as usize;
        if let Some(known) = self.caches.overloaded.borrow().get(&key) {
            return *known;
        }
        let overloaded = !self.project.overloads(self.module_id(), &self.scope(), path).is_empty();
        self.caches.overloaded.borrow_mut().insert(key, overloaded);
        overloaded
    }

    /// What a name means as a type.
    pub fn type_named(&self, path: &Path) -> TypeName {
        let key = (std::ptr::from_ref(path) as usize, self.frames.last().and_then(|frame| frame.function));
        if let Some(known) = self.caches.types.borrow().get(&key) {
            return *known;
        }
        let (module, inside) = (self.module_id(), self.scope());
        let found = if let Some(entry) = self.project.alias(module, &inside, path) {
            TypeName::Alias(entry)
        } else if let Some(entry) = self.project.record(module, &inside, path) {
            TypeName::Record(entry)
        } else if self.project.enum_type(module, &inside, path).is_some() {
            TypeName::Enum
        } else {
            TypeName::Other
        };
        self.caches.types.borrow_mut().insert(key, found);
        found
    }

    /// Whether a local is given a value anywhere but at its declaration.
    pub fn is_assigned(&self, module_id: ModuleId, function_id: FunctionId, local: LocalId) -> bool {
        let key = (module_id, function_id);
        let known = self.caches.assigned.borrow().get(&key).cloned();
        let assigned = known.unwrap_or_else(|| {
            let assigned: Assigned = self.assigned_locals(module_id, function_id).into();
            self.caches.assigned.borrow_mut().insert(key, Rc::clone(&assigned));
            assigned
        });
        assigned.get(local.index()).copied().unwrap_or(false)
    }

    fn assigned_locals(&self, module: ModuleId, function: FunctionId) -> Vec<bool> {
        let module = self.project.module(module);
        let Some(function) = module.functions.get(function.index()) else { return Vec::new() };
        let mut assigned = vec![false; function.locals.len()];
        let Some(body) = &function.body else { return assigned };
        let kind = |id: ExprId| module.exprs.get(id.index()).map(|node| &node.kind);
        walk(module, function, body, |item| {
            if let Item::Expr(id) = item
                && let Some(Expr::Assign { target, .. } | Expr::Step { target, .. } | Expr::AddressOf(target)) =
                    kind(id)
                && let Some(Expr::Local(local)) = kind(*target)
                && let Some(slot) = assigned.get_mut(local.index())
            {
                *slot = true;
            }
            true
        });
        assigned
    }

    /// Whether a loop's iterations are worth running one by one.
    pub fn is_worth(&self, body: &Block) -> bool {
        let Some(first) = body.first() else { return false };
        let key = (self.module_id(), first.0);
        if let Some(worth) = self.caches.worth.borrow().get(&key) {
            return *worth;
        }
        let worth = self.has_calls(body);
        self.caches.worth.borrow_mut().insert(key, worth);
        worth
    }
}
