//! What a block may assign: forgotten where nobody counts how often it runs.

use super::Walker;
use super::heap::Obj;
use super::value::{Kind, Val};
use cudalint_program::Name;
use cudalint_program::ir::{Block, Expr, ExprId, LocalId};
use cudalint_program::visit::{Item, bound_at, targets, walk};

/// Targets of assignments.
#[derive(Clone, Debug, Default)]
pub(super) struct Assigned {
    locals: Vec<LocalId>,
    names: Vec<Name>,
    /// Containers and objects that are changed: the expressions that name them, with the attribute.
    changed: Vec<(ExprId, Option<Name>)>,
}

impl Walker<'_> {
    pub(super) fn assigned_in(&self, block: &Block) -> Assigned {
        let mut found = Assigned::default();
        let Some(function) = self.function() else { return found };
        let module = self.module();
        walk(module, function, block, |item| {
            bound_at(module, item, |target, _| {
                targets(module, target, |id| match self.kind(id) {
                    Some(Expr::Local(local)) => found.locals.push(*local),
                    Some(Expr::Name { path, .. }) => found.names.extend(path.last().cloned()),
                    Some(Expr::Member { base, name, .. }) => found.changed.push((*base, Some(name.clone()))),
                    Some(Expr::Index { base, .. }) => found.changed.push((*base, None)),
                    _ => {}
                });
            });
            match item {
                // `xs.append(x)` and its kin.
                Item::Expr(id) => {
                    if let Some(Expr::Call { callee, .. }) = self.kind(id)
                        && let Some(Expr::Member { base, .. }) = self.kind(*callee)
                        && matches!(self.kind(*base), Some(Expr::Local(_) | Expr::Name { .. }))
                    {
                        found.changed.push((*base, None));
                    }
                }
                Item::Declare(local) => found.locals.push(local),
                Item::Stmt(_) => {}
            }
            true
        });
        found
    }

    pub(super) fn forget(&mut self, assigned: &Assigned) {
        for local in &assigned.locals {
            let old = self.local(*local);
            self.set_local(*local, vague(&old));
        }
        for name in &assigned.names {
            let old = self.lookup(name);
            let Some(site) = self
                .frame()
                .map(|frame| crate::facts::Site { module: frame.module, span: cudalint_syntax::Span::default() })
            else {
                return;
            };
            if !matches!(old.kind, Kind::Package(_)) {
                self.set_name(name, vague(&old), site);
            }
        }
        for (base, attribute) in &assigned.changed {
            self.log.muted += 1;
            let object = self.eval(*base);
            self.log.muted -= 1;
            match (&object.kind, attribute) {
                (Kind::Instance(_), Some(name)) => self.set_attribute(&object, name, Val::unknown()),
                (Kind::Array(array), _) => self.wrote(array.buffer),
                (Kind::List(id), _) => *self.heap.get_mut(*id) = Obj::List(None),
                (Kind::Dict(id), _) => *self.heap.get_mut(*id) = Obj::Dict(None),
                _ => {}
            }
        }
    }
}

/// What is left of a value that is assigned anew: arrays are exchanged for arrays of the same make (double buffering), which
/// is known only of values that are no numbers.
fn vague(old: &Val) -> Val {
    match &old.kind {
        Kind::Int(_) => Val::from(Kind::Int(crate::quantity::Quantity::Unknown)),
        Kind::Float(_) | Kind::Ratio(..) => Val::from(Kind::Float(None)),
        _ => Val::unknown(),
    }
}
