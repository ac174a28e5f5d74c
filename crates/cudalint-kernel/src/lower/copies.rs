//! `Record r = a[i];` reads what is used of it: the compiler drops the rest, and so must the executor, or other threads
//! that write other fields would race with it.

use super::state::Lowerer;
use crate::code::{self, Expr, ExprId, Leaf, Place, VariableId};

/// Deepest address that is looked through.
const MAX_NESTING: u32 = 16;

impl Lowerer<'_> {
    /// Replaces whole reads of records by reads of the leaves that the function uses.
    pub(super) fn narrow(&mut self) {
        for copy in std::mem::take(&mut self.body.copies) {
            let Some(node) = self.code.exprs.get(copy) else { continue };
            let Expr::Write(Place::Register { variable, count: 0, .. }, value) = node.kind else { continue };
            let Some(found) = self.body.variables.get(variable).filter(|found| !found.in_memory) else {
                continue;
            };
            let code::Ty::Aggregate(layout) = found.ty.clone() else { continue };
            let Some(used) = self.used_leaves(variable, layout.leaves.len()) else { continue };
            if used.iter().all(|used| *used) {
                continue;
            }
            let Some(value_node) = self.code.exprs.get(value).cloned() else { continue };
            let Expr::Read(Place::Memory { address, element, volatile: false }) = value_node.kind else { continue };
            if value_node.ty != found.ty || !self.can_repeat(address, 0) {
                continue;
            }
            let mut parts = Vec::new();
            for (leaf, used) in layout.leaves.iter().zip(used) {
                parts.push(if used {
                    let at = self.offset(address, leaf.offset, value_node.site);
                    let place = Place::Memory { address: at, element, volatile: false };
                    self.push(Expr::Read(place), leaf.ty.clone(), value_node.site)
                } else {
                    self.unused(leaf, value_node.site)
                });
            }
            if let Some(node) = self.code.exprs.get_mut(value) {
                node.kind = Expr::Aggregate(parts);
            }
        }
    }

    /// Any value stands for a leaf that nothing reads.
    fn unused(&mut self, leaf: &Leaf, site: crate::report::Site) -> ExprId {
        let kind = match leaf.ty {
            code::Ty::Float { .. } => Expr::Float(0.0),
            code::Ty::Bool | code::Ty::Int { .. } | code::Ty::Pointer => Expr::Int(0),
            _ => Expr::Opaque { children: Vec::new(), effect: code::Effect::None },
        };
        self.push(kind, leaf.ty.clone(), site)
    }

    /// Which leaves of a variable are read anywhere; `None` for all of them.
    fn used_leaves(&self, variable: VariableId, leaves: usize) -> Option<Vec<bool>> {
        let mut used = vec![false; leaves];
        for id in &self.body.register_uses {
            let node = self.code.exprs.get(*id)?;
            let (Expr::Read(place) | Expr::Update { place, .. }) = &node.kind else { continue };
            let Place::Register { variable: of, first, count } = place else { continue };
            if *of != variable {
                continue;
            }
            if *count == 0 {
                return None;
            }
            for leaf in used.iter_mut().skip(usize::from(*first)).take(usize::from(*count)) {
                *leaf = true;
            }
        }
        Some(used)
    }

    /// Whether evaluating an address once more changes nothing.
    fn can_repeat(&self, id: ExprId, nesting: u32) -> bool {
        if nesting > MAX_NESTING {
            return false;
        }
        let below = |id: &ExprId| self.can_repeat(*id, nesting + 1);
        match self.kind(id) {
            Some(
                Expr::Int(_)
                | Expr::Builtin(_)
                | Expr::VariableAddress(_)
                | Expr::ObjectAddress(_)
                | Expr::Read(Place::Register { .. }),
            ) => true,
            Some(Expr::Read(Place::Memory { address, volatile: false, .. })) => below(address),
            Some(Expr::Offset { base, index, .. }) => below(base) && below(index),
            Some(Expr::Convert(inner) | Expr::Unary(_, inner) | Expr::Not(inner)) => below(inner),
            Some(Expr::Leaves { of, .. }) => below(of),
            Some(Expr::Binary(_, a, b)) => below(a) && below(b),
            _ => false,
        }
    }
}
