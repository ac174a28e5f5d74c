//! `new (at) T(args)`: objects that come into being in memory that is there already.

use super::state::{Lowerer, Out};
use super::types::canonical;
use crate::code::{self, Effect, Expr, Stmt};
use crate::report::Site;
use cudalint_program::ir;
use cudalint_program::types::Ty;

impl<'p> Lowerer<'p> {
    /// `new (at) T(args)`, `new (at) T[count]`: gives the address.
    pub(super) fn construct_in_place(
        &mut self,
        at: ir::ExprId,
        ty: ir::TypeId,
        count: Option<ir::ExprId>,
        args: &'p [ir::ExprId],
        site: Site,
    ) -> Out {
        let at = self.expr(at);
        let ty = canonical(self.resolve(ty));
        if !matches!(at.ty, Ty::Pointer(_) | Ty::Array(..)) || matches!(ty, Ty::Unknown | Ty::Auto | Ty::Void) {
            let values: Vec<ir::ExprId> = count.iter().chain(args).copied().collect();
            return self.not_read(&values, "construction in place", Effect::Anything, site);
        }
        let pointer = self.variable("", code::Ty::Pointer, site);
        let pointer_ty = Ty::pointer_to(ty.clone());
        let held = self.variable_place(pointer, &pointer_ty, false, site);
        let address = self.load(&at);
        let mut block = vec![self.push_stmt(Stmt::Declare(pointer), site)];
        let stored = self.store(&held, address);
        self.emit_effect(&stored, site, &mut block);
        let mut operands = Vec::new();
        if let Some(count) = count {
            let count = self.expr(count);
            operands.push(self.load(&count));
        }
        let held_address = self.load(&held);
        let target = self.pointed(held_address, ty.clone(), false, site);
        match (&ty, operands.is_empty() && !matches!(ty, Ty::Array(..)), args) {
            // Numbers get a value only where one is written.
            (Ty::Record(..), true, []) => self.default_initialize(&target, &mut block),
            (_, true, []) => {}
            (_, true, args) => self.construct_at(&target, args, false, site, &mut block),
            (Ty::Record(..) | Ty::Array(..), false, _) => {
                operands.push(held_address);
                let id = self.push(Expr::Opaque { children: operands, effect: Effect::Writes }, code::Ty::Void, site);
                block.push(self.push_stmt(Stmt::Expr(id), site));
            }
            (_, false, _) => {
                for operand in operands {
                    block.push(self.push_stmt(Stmt::Expr(operand), site));
                }
            }
        }
        let id = self.push(Expr::Statements(block, Some(held_address)), code::Ty::Pointer, site);
        self.computed(id, pointer_ty, site)
    }
}
