//! Pointers that a kernel only reads through, whatever their type says: each use is an element or a member that is read.
//!
//! What is not understood, handed on, kept, bound to a reference or taken into a lambda may be written.

use cudalint_program::api::ApiId;
use cudalint_program::ir::{Expr, ExprId, Function, LocalId, Module, Stmt, Type, TypeId};
use cudalint_program::visit::{Item, walk};
use rustc_hash::FxHashSet;

/// Parts of a place that is written that are looked through.
const MAX_PARTS: u32 = 16;

/// Of each parameter of a kernel, whether it is a pointer to numbers, or to pointers to numbers, and the kernel's code surely writes none of
/// what it leads to itself.
pub(crate) fn only_read(module: &Module, kernel: &Function) -> Vec<bool> {
    let count = kernel.param_count as usize;
    let is_number = |ty: TypeId| matches!(plain(module, ty), Some(Type::Bool | Type::Int { .. } | Type::Float { .. }));
    let leads_to_numbers = |ty: TypeId| matches!(plain(module, ty), Some(Type::Pointer(to)) if is_number(*to));
    let leads_to_pointers = |ty: TypeId| matches!(plain(module, ty), Some(Type::Pointer(to)) if leads_to_numbers(*to));
    let params = kernel.params().iter();
    let mut only: Vec<bool> =
        params.map(|parameter| leads_to_numbers(parameter.ty) || leads_to_pointers(parameter.ty)).collect();
    let Some(body) = kernel.body.as_ref().filter(|_| !kernel.damaged && only.iter().any(|only| *only)) else {
        return vec![false; count];
    };
    let mut uses = Uses { module, count, read: FxHashSet::default(), lost: FxHashSet::default(), all: false };
    let mut met = Vec::new();
    walk(module, kernel, body, |item| {
        match item {
            Item::Stmt(id) => {
                let kind = module.stmts.get(id).map(|node| &node.kind);
                uses.all |= matches!(kind, None | Some(Stmt::Asm { .. } | Stmt::Elided { .. } | Stmt::Unknown { .. }));
            }
            Item::Declare(local) => uses.declared(kernel, local),
            Item::Expr(id) => {
                if let Some(Expr::Local(local)) = uses.kind(id)
                    && local.index() < count
                {
                    met.push((id, local.index()));
                }
                uses.expression(id);
            }
        }
        true
    });
    if uses.all {
        return vec![false; count];
    }
    for (place, parameter) in met {
        only[parameter] &= uses.read.contains(&place) && !uses.lost.contains(&parameter);
    }
    only
}

/// What a type is, without qualifiers.
fn plain(module: &Module, mut ty: TypeId) -> Option<&Type> {
    for _ in 0..MAX_PARTS {
        match module.types.get(ty)? {
            Type::Qualified { ty: inner, .. } => ty = *inner,
            other => return Some(other),
        }
    }
    None
}

/// What is known of a kernel's parameters while its body is gone through.
struct Uses<'p> {
    module: &'p Module,
    count: usize,
    /// Uses as the base of an element or a member.
    read: FxHashSet<ExprId>,
    /// Parameters through which something may be written.
    lost: FxHashSet<usize>,
    /// Whether anything may be.
    all: bool,
}

impl<'p> Uses<'p> {
    fn kind(&self, id: ExprId) -> Option<&'p Expr> {
        self.module.exprs.get(id).map(|node| &node.kind)
    }

    /// A variable that is bound to a place: a reference, or one whose type says nothing.
    fn declared(&mut self, kernel: &Function, local: LocalId) {
        let Some(variable) = kernel.locals.get(local) else { return };
        let is_value = matches!(
            plain(self.module, variable.ty),
            Some(Type::Bool | Type::Int { .. } | Type::Float { .. } | Type::Array(..))
        );
        if let Some(init) = variable.init.filter(|_| !is_value) {
            self.may_write(init);
        }
    }

    fn expression(&mut self, id: ExprId) {
        match self.kind(id) {
            Some(Expr::Index { base, .. } | Expr::Deref(base)) => {
                self.read.insert(*base);
            }
            Some(Expr::Assign { target, .. } | Expr::Step { target, .. }) => self.may_write(*target),
            Some(Expr::AddressOf(of)) => self.may_write(*of),
            Some(Expr::Call { callee, args }) => {
                // Functions of the device's own library take numbers by value.
                let is_known = match self.kind(*callee) {
                    Some(Expr::Name { path, .. }) => path.last().is_some_and(|name| ApiId::named(name).is_some()),
                    _ => false,
                };
                if !is_known {
                    self.may_write_any(args);
                }
            }
            Some(Expr::Construct { args, .. } | Expr::InitList(args)) => {
                self.may_write_any(args);
            }
            Some(Expr::Lambda { .. } | Expr::Statements(_) | Expr::Unknown(_) | Expr::Python(_)) | None => {
                self.all = true;
            }
            _ => {}
        }
    }

    fn may_write_any(&mut self, places: &[ExprId]) {
        for place in places {
            self.may_write(*place);
        }
    }

    /// A place that may be written: through which parameter it is reached. What is two elements away is what the parameter's own elements
    /// lead to.
    fn may_write(&mut self, place: ExprId) {
        let mut at = vec![(place, 0)];
        for _ in 0..MAX_PARTS {
            let Some((id, away)) = at.pop() else { return };
            match self.kind(id) {
                Some(Expr::Local(local)) if local.index() < self.count && away < 2 => {
                    self.lost.insert(local.index());
                }
                Some(Expr::Index { base, .. } | Expr::Deref(base)) => at.push((*base, away + 1)),
                Some(Expr::Member { base, .. } | Expr::Cast { value: base, .. }) => at.push((*base, away)),
                Some(Expr::Select(_, a, b) | Expr::Binary(_, a, b)) => at.extend([(*a, away), (*b, away)]),
                Some(Expr::Comma(all)) => at.extend(all.iter().map(|part| (*part, away))),
                _ => {}
            }
        }
        self.all = true;
    }
}
