//! Loops over ranges.

use super::state::{At, Ends, Lowerer, Out};
use crate::code::{self, Effect, Expr, Place, Stmt};
use crate::report::Site;
use cudalint_numbers::Quantity;
use cudalint_program::ir;
use cudalint_program::types::Ty;

impl<'p> Lowerer<'p> {
    /// `for (T x : array)`.
    pub(super) fn for_each(
        &mut self,
        local: ir::LocalId,
        range: ir::ExprId,
        body: &'p [ir::StmtId],
        site: Site,
        out: &mut code::Block,
    ) {
        let range = self.expr(range);
        if let Ty::Record(..) = range.ty
            && let Some(ends) = self.ends(&range, site)
        {
            return self.for_each_between(local, &range, ends, body, site, out);
        }
        let (Ty::Array(of, Quantity::Known(count)), false) = (range.ty.clone(), matches!(range.at, At::Value(_)))
        else {
            return self.for_each_unknown(local, &range, body, site, out);
        };
        let mut whole = Vec::new();
        let index = self.variable("", code::Ty::INT, site);
        let base = self.address(&range);
        let pointer = self.variable("", code::Ty::Pointer, site);
        let write = self.write_register(pointer, base, site);
        self.emit(Stmt::Expr(write), site, &mut whole);
        let zero = self.int(0, code::Ty::INT, site);
        let write = self.write_register(index, zero, site);
        self.emit(Stmt::Expr(write), site, &mut whole);
        let at = self.read_register(index, site);
        let end = self.int(count, code::Ty::INT, site);
        let condition = self.push(Expr::Binary(code::BinaryOp::Lt, at, end), code::Ty::Bool, site);
        let one = self.int(1, code::Ty::INT, site);
        let place = Place::Register { variable: index, first: 0, count: 0 };
        let update = Expr::Update { place, op: code::BinaryOp::Add, value: one, compute: code::Ty::INT, old: false };
        let step = self.push(update, code::Ty::INT, site);

        let size = self.size_of(&of).unwrap_or(0);
        let base = self.read_register(pointer, site);
        let at = self.read_register(index, site);
        let address = self.push(Expr::Offset { base, index: at, stride: i64::from(size) }, code::Ty::Pointer, site);
        let element = Out {
            at: At::Memory { address, element: size },
            ty: (*of).clone(),
            volatile: range.volatile,
            site: range.site,
        };
        let mut inner = Vec::new();
        self.declare_with(local, &element, site, &mut inner);
        inner.extend(self.block_with(body, Ends::Continue));
        let looped = Stmt::Loop { condition: Some(condition), body_first: false, step: Some(step), body: inner };
        self.emit(looped, site, &mut whole);
        self.emit(Stmt::Block(whole), site, out);
    }

    fn for_each_unknown(
        &mut self,
        local: ir::LocalId,
        range: &Out,
        body: &'p [ir::StmtId],
        site: Site,
        out: &mut code::Block,
    ) {
        self.gap("range of a loop");
        let children = self.effect_of(range).into_iter().collect();
        self.bind_unknown(local, site);
        let blocks = vec![self.block_with(body, Ends::Continue)];
        self.emit(Stmt::Opaque { exprs: children, blocks, effect: Effect::Writes }, site, out);
    }

    /// What `begin()` and `end()` of a record give, each with statements of its own; `None` where it has no such methods.
    fn ends(&mut self, range: &Out, site: Site) -> Option<[(Out, code::Block); 2]> {
        let Ty::Record(entry, env) = range.ty.clone() else { return None };
        // A range that is made for the loop lives as long as the loop.
        let mut made = Vec::new();
        let range = if let At::Value(id) = range.at {
            let ty = self.ty(&range.ty);
            let variable = self.variable("", ty, site);
            let write = self.write_register(variable, id, site);
            let stmt = self.push_stmt(Stmt::Expr(write), site);
            made.push(stmt);
            self.variable_place(variable, &range.ty, false, site)
        } else {
            range.clone()
        };
        let begin = self.method_of(entry, &env, &"begin".into(), &[], &[])?;
        let end = self.method_of(entry, &env, &"end".into(), &[], &[])?;
        let begin = self.invoke_method(&begin, &range, &[], site)?;
        let end = self.invoke_method(&end, &range, &[], site)?;
        let walks = |ty: &Ty| matches!(ty, Ty::Pointer(_) | Ty::Record(..));
        (walks(&begin.ty) && walks(&end.ty)).then_some([(begin, made), (end, Vec::new())])
    }

    /// The loop from one iterator to the other: pointers, or records with `!=`, `++` and `*`.
    fn for_each_between(
        &mut self,
        local: ir::LocalId,
        range: &Out,
        [(begin, made), (end, _)]: [(Out, code::Block); 2],
        body: &'p [ir::StmtId],
        site: Site,
        out: &mut code::Block,
    ) {
        let mut whole = made;
        let mut hold = |this: &mut Self, value: &Out| {
            let id = this.load(value);
            let ty = this.code_ty(id);
            let variable = this.variable("", ty, site);
            let write = this.write_register(variable, id, site);
            let stmt = this.push_stmt(Stmt::Expr(write), site);
            whole.push(stmt);
            (variable, value.ty.clone(), value.volatile)
        };
        let (at, at_ty, volatile) = hold(self, &begin);
        let (last, last_ty, _) = hold(self, &end);
        let place = |this: &mut Self| this.variable_place(at, &at_ty, volatile, site);
        let current = place(self);
        let last = self.variable_place(last, &last_ty, volatile, site);
        let differs = self.binary(code::BinaryOp::Ne, &current, &last, site);
        let condition = Some(self.truth(&differs));
        let current = place(self);
        let step = self.step(&current, 1, true, site);
        let step = self.effect_of(&step);
        let current = place(self);
        let element = self.deref(&current, range.site);
        let mut inner = Vec::new();
        self.declare_with(local, &element, site, &mut inner);
        inner.extend(self.block_with(body, Ends::Continue));
        self.emit(Stmt::Loop { condition, body_first: false, step, body: inner }, site, &mut whole);
        self.emit(Stmt::Block(whole), site, out);
    }
}
