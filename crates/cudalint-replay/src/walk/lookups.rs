//! Questions about code whose answers do not depend on what a walk knows: asked once, then found in the caches.

use super::Walker;
use super::caches::{Assigned, Look};
use cudalint_program::ir::{Block, Expr, ExprId, FunctionId, LocalId, Module, ModuleId, Path, Type, TypeId};
use cudalint_program::types::Ty;
use cudalint_program::visit::{Item, walk};
use std::sync::Arc;

/// A type that means the same everywhere.
pub(super) fn plain_type(module: &Module, ty: TypeId) -> Option<Ty> {
    Some(match module.types.get(ty)? {
        Type::Int { bytes, signed } => Ty::Int { bytes: *bytes, signed: *signed },
        Type::Float { bytes } => Ty::Float { bytes: *bytes },
        Type::Bool => Ty::Bool,
        Type::Void => Ty::Void,
        Type::Auto => Ty::Auto,
        _ => return None,
    })
}

impl Walker<'_> {
    /// Whether looking at an expression again does nothing.
    pub fn is_plain(&self, expr: ExprId) -> bool {
        self.look_again(expr) != Look::Effects
    }

    /// Whether looking at an expression again does nothing and finds the same.
    pub fn is_straight(&self, expr: ExprId) -> bool {
        self.look_again(expr) == Look::Straight
    }

    fn look_again(&self, expr: ExprId) -> Look {
        let key = (self.module_id(), expr);
        if let Some(look) = self.caches.learned.looks.borrow().get(&key) {
            return *look;
        }
        let look = super::conditions::look_again(self.module(), expr);
        self.caches.learned.looks.borrow_mut().insert(key, look);
        look
    }

    /// Whether functions in sight go by a name, so that a call which means none of them for sure may mean any.
    pub fn is_overloaded(&self, path: &Path) -> bool {
        let key = std::ptr::from_ref(path) as usize;
        if let Some(known) = self.caches.learned.overloaded.borrow().get(&key) {
            return *known;
        }
        let overloaded = !self.project.overloads(self.module_id(), &self.scope(), path).is_empty();
        self.caches.learned.overloaded.borrow_mut().insert(key, overloaded);
        overloaded
    }

    /// Whether a local is given a value anywhere but at its declaration.
    pub fn is_assigned(&self, module_id: ModuleId, function_id: FunctionId, local: LocalId) -> bool {
        let key = (module_id, function_id);
        let known = self.caches.learned.assigned.borrow().get(&key).cloned();
        let assigned = known.unwrap_or_else(|| {
            let assigned: Assigned = self.assigned_locals(module_id, function_id).into();
            self.caches.learned.assigned.borrow_mut().insert(key, Arc::clone(&assigned));
            assigned
        });
        assigned.get(local.index()).copied().unwrap_or(false)
    }

    fn assigned_locals(&self, module: ModuleId, function: FunctionId) -> Vec<bool> {
        let module = self.project.module(module);
        let Some(function) = module.functions.get(function) else { return Vec::new() };
        let mut assigned = vec![false; function.locals.len()];
        let Some(body) = &function.body else { return assigned };
        let kind = |id: ExprId| module.exprs.get(id).map(|node| &node.kind);
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
        if let Some(worth) = self.caches.learned.worth.borrow().get(&key) {
            return *worth;
        }
        let worth = self.has_calls(body);
        self.caches.learned.worth.borrow_mut().insert(key, worth);
        worth
    }
}
