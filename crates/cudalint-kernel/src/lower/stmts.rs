//! Statements.

use super::lifetime::Own;
use super::state::{At, Binding, Bound, Ends, Lent, Lowerer};
use crate::code::{self, Effect, Expr, Place, Stmt};
use crate::report::Site;
use cudalint_program::ir::{self, LoopKind};
use cudalint_program::types::Ty;

impl<'p> Lowerer<'p> {
    /// Lowers a list of statements.
    pub(super) fn block(&mut self, block: &'p [ir::StmtId]) -> code::Block {
        self.block_with(block, Ends::Return)
    }

    /// Lowers a list of statements that is left in some way.
    pub(super) fn block_with(&mut self, block: &'p [ir::StmtId], ends: Ends) -> code::Block {
        let mut out = Vec::with_capacity(block.len());
        self.open(ends);
        self.statements(block, &mut out);
        self.close(&mut out);
        out
    }

    fn statements(&mut self, block: &'p [ir::StmtId], out: &mut code::Block) {
        for id in block {
            self.statement(*id, out);
        }
    }

    fn statement(&mut self, id: ir::StmtId, out: &mut code::Block) {
        let module: &'p ir::Module = self.context.ir;
        let Some(node) = module.stmts.get(id) else { return };
        let site = self.site(node.span);
        let done = self.deeper(|this| this.statement_inner(&node.kind, site, out));
        if done.is_none() {
            self.opaque_statement(&[], Vec::new(), Effect::Anything, site, out);
        }
        self.end_temporaries(site, out);
    }

    pub(super) fn emit(&mut self, kind: Stmt, site: Site, out: &mut code::Block) {
        let id = self.push_stmt(kind, site);
        out.push(id);
    }

    fn statement_inner(&mut self, stmt: &'p ir::Stmt, site: Site, out: &mut code::Block) {
        match stmt {
            ir::Stmt::Expr(value) => {
                self.discarded = Some(self.site_of(*value));
                let value = self.expr(*value);
                self.discarded = None;
                let object = matches!(value.at, At::Value(_)) && self.has_own(Own::Destructor, &value.ty);
                let done = if object { Some(self.address(&value)) } else { self.effect_of_statement(&value) };
                if let Some(id) = done {
                    self.emit(Stmt::Expr(id), site, out);
                }
            }
            ir::Stmt::Declare(local) => self.declare(*local, site, out),
            ir::Stmt::Block(block) => {
                let block = self.block(block);
                self.emit(Stmt::Block(block), site, out);
            }
            ir::Stmt::If { condition, then, otherwise, .. } => self.branch(*condition, then, otherwise, site, out),
            ir::Stmt::Loop { kind, init, condition, step, body } => {
                let mut whole = Vec::new();
                self.open(Ends::Return);
                self.statements(init, &mut whole);
                let condition = condition.map(|condition| self.condition(condition));
                let body = self.block_with(body, Ends::Continue);
                let step = step.and_then(|step| {
                    let step = self.expr(step);
                    self.effect_of(&step)
                });
                let body_first = *kind == LoopKind::DoWhile;
                self.emit(Stmt::Loop { condition, body_first, step, body }, site, &mut whole);
                self.close(&mut whole);
                if whole.len() == 1 {
                    out.append(&mut whole);
                } else {
                    self.emit(Stmt::Block(whole), site, out);
                }
            }
            ir::Stmt::ForEach { variable, range, body } => self.for_each(*variable, *range, body, site, out),
            ir::Stmt::Switch { value, cases } => self.switch(*value, cases, site, out),
            ir::Stmt::Break => {
                self.leave(|ends| ends != Ends::Return, None, out);
                self.emit(Stmt::Break, site, out);
            }
            ir::Stmt::Continue => {
                self.leave(|ends| ends == Ends::Continue, None, out);
                self.emit(Stmt::Continue, site, out);
            }
            ir::Stmt::Return(value) => self.return_statement(*value, site, out),
            ir::Stmt::Goto(_) | ir::Stmt::Label(_) => {
                self.gap("goto");
                self.opaque_statement(&[], Vec::new(), Effect::Anything, site, out);
            }
            ir::Stmt::Try { body, handlers } => {
                self.gap("try");
                let mut blocks = vec![self.block(body)];
                blocks.extend(handlers.iter().map(|handler| self.block(handler)));
                self.opaque_statement(&[], blocks, Effect::Writes, site, out);
            }
            ir::Stmt::Asm { text, outputs, operands } => {
                let (outputs, inputs) = operands.split_at_checked(*outputs as usize).unwrap_or((operands, &[]));
                self.assembly(text, outputs, inputs, site, out);
            }
            ir::Stmt::Elided { .. } => {
                self.gap("code left out");
                self.opaque_statement(&[], Vec::new(), Effect::Anything, site, out);
            }
            ir::Stmt::Python(_) => {
                self.gap("Python");
                self.opaque_statement(&[], Vec::new(), Effect::Anything, site, out);
            }
            ir::Stmt::Unknown { exprs, blocks } => {
                self.gap("statement not read");
                let blocks = blocks.iter().map(|block| self.block(block)).collect();
                self.opaque_statement(exprs, blocks, Effect::Anything, site, out);
            }
        }
    }

    fn opaque_statement(
        &mut self,
        exprs: &[ir::ExprId],
        blocks: Vec<code::Block>,
        effect: Effect,
        site: Site,
        out: &mut code::Block,
    ) {
        let mut children = Vec::new();
        for expr in exprs {
            let value = self.expr(*expr);
            children.extend(self.effect_of(&value));
        }
        self.emit(Stmt::Opaque { exprs: children, blocks, effect }, site, out);
    }

    /// An expression as a truth value.
    pub(super) fn condition(&mut self, id: ir::ExprId) -> code::ExprId {
        let value = self.expr(id);
        self.truth(&value)
    }

    fn branch(
        &mut self,
        condition: ir::ExprId,
        then: &'p [ir::StmtId],
        otherwise: &'p [ir::StmtId],
        site: Site,
        out: &mut code::Block,
    ) {
        // The `if constexpr` of a template, and the plain `if` that was written before there was one: the branch that is
        // not taken is not looked at, so that recursion in templates ends.
        let condition = self.condition(condition);
        if let Some(value) = self.fold(condition) {
            let live = if value != 0 { then } else { otherwise };
            let block = self.block(live);
            self.emit(Stmt::Block(block), site, out);
            return;
        }
        let then = self.block(then);
        let otherwise = self.block(otherwise);
        self.emit(Stmt::If { condition, then, otherwise }, site, out);
    }

    fn switch(&mut self, value: ir::ExprId, cases: &'p [ir::SwitchCase], site: Site, out: &mut code::Block) {
        let value = self.expr(value);
        let ty = value.ty.promoted().unwrap_or(Ty::Unknown);
        let value = self.convert(&value, &ty);
        let mut lowered = Vec::new();
        let mut known = true;
        for case in cases {
            let label = case.value.map(|value| self.constant(value));
            known &= !matches!(label, Some(None));
            lowered.push((label.flatten(), self.block_with(&case.body, Ends::Break)));
        }
        if known {
            return self.emit(Stmt::Switch { value, cases: lowered }, site, out);
        }
        self.gap("switch label");
        let blocks = lowered.into_iter().map(|(_, block)| block).collect();
        self.emit(Stmt::Opaque { exprs: vec![value], blocks, effect: Effect::None }, site, out);
    }

    /// The value of an expression that must be constant.
    pub(super) fn constant(&mut self, id: ir::ExprId) -> Option<i64> {
        if let Some(value) = self.context.scope.eval(id) {
            return Some(value);
        }
        let value = self.expr(id);
        let value = self.load(&value);
        self.fold(value)
    }

    fn return_statement(&mut self, value: Option<ir::ExprId>, site: Site, out: &mut code::Block) {
        let Some(value) = value else {
            self.leave(|_| false, None, out);
            return self.emit(Stmt::Return(None), site, out);
        };
        // A variable that is returned becomes the result: it is neither copied nor ended here.
        let handed_on = match self.node(value).map(|node| &node.kind) {
            Some(ir::Expr::Local(local)) => Some(self.local_out(*local, site)),
            _ => None,
        };
        let list = matches!(self.node(value).map(|node| &node.kind), Some(ir::Expr::InitList(_)));
        let returned = match &self.body.returns {
            Some(Ty::Reference(to)) if !matches!(**to, Ty::Auto) => {
                let to = (**to).clone();
                let value = self.place_of(value);
                self.bind_reference(&value, &to, Lent::Changeable)
            }
            Some(Ty::Void) => {
                let value = self.expr(value);
                if let Some(id) = self.effect_of(&value) {
                    self.emit(Stmt::Expr(id), site, out);
                }
                self.end_temporaries(site, out);
                self.leave(|_| false, None, out);
                return self.emit(Stmt::Return(None), site, out);
            }
            Some(to) if list => {
                let to = to.clone();
                let value = self.value_of_type(value, &to);
                self.convert(&value, &to)
            }
            Some(to) => {
                let to = to.clone();
                match &handed_on {
                    Some(variable) if variable.ty == to => self.load(variable),
                    Some(variable) => self.convert(variable, &to),
                    None => {
                        let value = self.expr(value);
                        self.convert(&value, &to)
                    }
                }
            }
            None if self.context.function.is_some_and(
                |function| matches!(self.resolve(function.returns), Ty::Reference(to) if *to == Ty::Auto),
            ) =>
            {
                let value = self.place_of(value);
                self.body.returns = Some(Ty::Reference(value.ty.clone().into()));
                self.bind_reference(&value, &value.ty, Lent::Changeable)
            }
            None => {
                let value = self.expr(value);
                let ty = value.ty.decayed();
                self.body.returns = Some(ty.clone());
                if ty == Ty::Void { self.discard(&value) } else { self.load(&value) }
            }
        };
        let mut returned = returned;
        if self.has_ending_objects() || !self.body.temporaries.is_empty() {
            // The value is there before anything ends.
            let ty = self.code_ty(returned);
            let variable = self.variable("", ty, site);
            let write = self.write_register(variable, returned, site);
            self.emit(Stmt::Expr(write), site, out);
            self.end_temporaries(site, out);
            self.leave(|_| false, handed_on.as_ref(), out);
            returned = self.read_register(variable, site);
        }
        self.emit(Stmt::Return(Some(returned)), site, out);
    }

    pub(super) fn bind_unknown(&mut self, local: ir::LocalId, site: Site) {
        let name = self.local(local).map(|found| found.name.to_string()).unwrap_or_default();
        let variable = self.variable(&name, code::Ty::Opaque { bytes: None }, site);
        self.context
            .bindings
            .insert(local, Binding { what: Bound::Variable(variable), ty: Ty::Unknown, volatile: false });
    }

    pub(super) fn write_register(
        &mut self,
        variable: code::VariableId,
        value: code::ExprId,
        site: Site,
    ) -> code::ExprId {
        let ty = self.body.variables.get(variable).map_or(code::Ty::Pointer, |found| found.ty.clone());
        let place = Place::Register { variable, first: 0, count: 0 };
        let id = self.push(Expr::Write(place, value), ty, site);
        self.body.register_uses.push(id);
        id
    }
}
