//! Statements.

use super::lower::Lowerer;
use super::types::PyTy;
use super::value::Value;
use crate::code::{self, Effect, Expr, ExprId, Intrinsic, Stmt, Ty, UnaryOp};
use crate::report::Site;
use cudalint_program::ir::{self, LocalId, PythonExpr, PythonStmt};
use rustc_hash::FxHashSet;

impl<'p> Lowerer<'p> {
    /// Lowers a list of statements into the block under construction.
    pub(super) fn statements(&mut self, block: &'p [ir::StmtId]) {
        for id in block {
            let module: &'p ir::Module = self.context.ir;
            let Some(node) = module.stmts.get(*id) else { continue };
            let site = self.site(node.span);
            if self.deeper(|this| this.statement(&node.kind, site)).is_none() {
                self.emit(Stmt::Opaque { exprs: Vec::new(), blocks: Vec::new(), effect: Effect::Anything }, site);
            }
        }
    }

    pub(super) fn nested(&mut self, block: &'p [ir::StmtId]) -> code::Block {
        self.in_block(|this| this.statements(block)).0
    }

    fn statement(&mut self, stmt: &'p ir::Stmt, site: Site) {
        match stmt {
            ir::Stmt::Expr(value) => self.expression_statement(*value, site),
            ir::Stmt::Block(block) => self.statements(block),
            ir::Stmt::If { condition, then, otherwise, .. } => self.branch(*condition, then, otherwise, site),
            ir::Stmt::Loop { init, condition, body, .. } => {
                self.statements(init);
                self.while_loop(*condition, body, site);
            }
            ir::Stmt::Break => {
                if let Some(Some(flag)) = self.body.broken.last().copied() {
                    let yes = self.push(Expr::Int(1), Ty::Bool, site);
                    let write = self.write_register(flag, yes, site);
                    self.emit(Stmt::Expr(write), site);
                }
                self.emit(Stmt::Break, site);
            }
            ir::Stmt::Continue => self.emit(Stmt::Continue, site),
            ir::Stmt::Return(value) => self.return_statement(*value, site),
            ir::Stmt::Python(python) => self.python_statement(python, site),
            ir::Stmt::Unknown { exprs, blocks } => {
                self.gap("statement not read");
                self.opaque_statement(exprs, blocks, Effect::Anything, site);
            }
            ir::Stmt::Try { body, handlers } => {
                self.gap("try");
                let mut blocks = vec![self.nested(body)];
                blocks.extend(handlers.iter().map(|handler| self.nested(handler)));
                self.emit(Stmt::Opaque { exprs: Vec::new(), blocks, effect: Effect::Writes }, site);
            }
            _ => {
                self.gap("statement of another language");
                self.opaque_statement(&[], &[], Effect::Anything, site);
            }
        }
    }

    fn opaque_statement(&mut self, exprs: &[ir::ExprId], blocks: &'p [ir::Block], effect: Effect, site: Site) {
        let mut children = Vec::new();
        for expr in exprs {
            let value = self.expr(*expr);
            value.leaves(&mut children);
        }
        let blocks = blocks.iter().map(|block| self.nested(block)).collect();
        self.emit(Stmt::Opaque { exprs: children, blocks, effect }, site);
    }

    /// An expression for its effect. What the value alone would cost (a string, a name) is nothing.
    fn expression_statement(&mut self, id: ir::ExprId, site: Site) {
        let node = self.node(id);
        if let Some(ir::Expr::Assign { op, target, value }) = node.map(|node| &node.kind) {
            return match op {
                Some(op) => self.augmented(*op, *target, *value, site),
                None => self.assignment(*target, *value, site),
            };
        }
        let value = self.expr(id);
        self.evaluate(&value, site);
    }

    /// Puts what a value does into the block.
    pub(super) fn evaluate(&mut self, value: &Value, site: Site) {
        let mut leaves = Vec::new();
        value.leaves(&mut leaves);
        for leaf in leaves {
            if !self.is_constant(leaf) {
                self.emit(Stmt::Expr(leaf), site);
            }
        }
    }

    fn assignment(&mut self, target: ir::ExprId, value: ir::ExprId, site: Site) {
        let name = match self.node(target).map(|node| &node.kind) {
            Some(ir::Expr::Local(local)) => Some(self.local_name(*local)),
            _ => None,
        };
        let outer = std::mem::replace(&mut self.naming, name);
        // `a = b = value` comes as an assignment inside another.
        let value = self.expr(value);
        self.naming = outer;
        self.assign(target, &value, site);
    }

    /// `target = value`.
    pub(super) fn assign(&mut self, target: ir::ExprId, value: &Value, site: Site) {
        let Some(node) = self.node(target) else { return };
        match &node.kind {
            ir::Expr::Local(local) => {
                let variable = self.context.scan.variable(*local, target);
                self.assign_local(variable, Some(target), value, site);
            }
            ir::Expr::Index { base, indices } => {
                let at = self.site(node.span);
                self.assign_element(*base, indices, value, at);
            }
            ir::Expr::Python(python) => match &**python {
                PythonExpr::Tuple(targets) | PythonExpr::List(targets) => self.assign_all(targets, value, site),
                _ => self.assign_lost(target, value, site),
            },
            ir::Expr::Member { base, name, .. } => {
                let at = self.site(node.span);
                self.assign_attribute(target, *base, &name.clone(), value, at);
            }
            _ => self.assign_lost(target, value, site),
        }
    }

    /// `a, b = values`: all values are computed before the first is stored.
    fn assign_all(&mut self, targets: &[ir::ExprId], value: &Value, site: Site) {
        let values: Vec<Value> = match value {
            Value::Tuple(all) => all.clone(),
            // Rows of an array, or its elements.
            Value::Array(array) => {
                let array = self.settled(&Value::Array(array.clone()));
                let Value::Array(array) = array else { return };
                (0..targets.len()).map(|at| self.item(&array, at as i64, site)).collect()
            }
            other => {
                let mut children = Vec::new();
                other.leaves(&mut children);
                let lost = self.unknown(children, Effect::None, site);
                let lost = self.settled(&lost);
                targets.iter().map(|_| lost.clone()).collect()
            }
        };
        if values.len() != targets.len() {
            let lost = self.lost("number of values", &values, Effect::None, site);
            self.evaluate(&lost, site);
            return;
        }
        let values = if self.in_order(targets, &values) {
            values
        } else {
            values.iter().map(|value| self.settled_apart(value)).collect()
        };
        for (target, value) in targets.iter().zip(&values) {
            self.assign(*target, value, site);
        }
    }

    /// As [`Self::settled`], also for registers.
    fn settled_apart(&mut self, value: &Value) -> Value {
        self.settled(value)
    }

    /// Whether the values can be stored one after the other as they are: no target is part of a later value.
    fn in_order(&self, targets: &[ir::ExprId], values: &[Value]) -> bool {
        let mut written: FxHashSet<LocalId> = FxHashSet::default();
        for (target, value) in targets.iter().zip(values) {
            let mut leaves = Vec::new();
            value.leaves(&mut leaves);
            if leaves.iter().any(|leaf| !self.is_constant(*leaf)) && !written.is_empty() {
                return false;
            }
            match self.node(*target).map(|node| &node.kind) {
                Some(ir::Expr::Local(local)) => {
                    let variable = self.context.scan.variable(*local, *target);
                    if self.context.scan.get(variable).definitions > 1 {
                        written.insert(variable);
                    }
                }
                _ => return targets.len() == 1,
            }
        }
        true
    }

    /// `target op= value`.
    fn augmented(&mut self, op: ir::BinaryOp, target: ir::ExprId, value: ir::ExprId, site: Site) {
        let Some(node) = self.node(target) else { return };
        let at = self.site(node.span);
        match &node.kind {
            ir::Expr::Local(local) => {
                let local = self.context.scan.variable(*local, target);
                let right = self.expr(value);
                let left = self.read_local(local, at);
                if let (Value::Number(_, a), Value::Number(b_id, b)) = (&left, &right)
                    && let Some((op, compute)) = self.plain_operation(op, a, b, *b_id)
                {
                    let operand = self.convert(*b_id, b, &compute);
                    if self.update_local(local, op, operand, &compute, site) {
                        return;
                    }
                }
                let result = self.binary(op, &left, &right, site);
                self.assign_local(local, None, &result, site);
            }
            ir::Expr::Index { base, indices } => {
                let right = self.expr(value);
                self.update_element(*base, indices, op, &right, at, site);
            }
            ir::Expr::Member { base, name, .. } => {
                let right = self.expr(value);
                let of = self.expr(*base);
                if let Value::Record(of) = &of
                    && self.update_field(of, name, op, &right, at, site)
                {
                    return;
                }
                self.assign_lost(target, &right, site);
            }
            _ => {
                let right = self.expr(value);
                self.assign_lost(target, &right, site);
            }
        }
    }

    /// A condition as a truth value.
    pub(super) fn condition(&mut self, id: ir::ExprId) -> ExprId {
        let Some(node) = self.node(id) else {
            return self.push(Expr::Opaque { children: Vec::new(), effect: Effect::None }, Ty::Bool, self.site_of(id));
        };
        let site = self.site(node.span);
        let done = self.deeper(|this| match &node.kind {
            ir::Expr::AndThen(a, b) => {
                let a = this.condition(*a);
                if this.fold(a) == Some(0) {
                    return a;
                }
                let b = this.apart(|this| this.condition(*b));
                this.push(Expr::And(a, b), Ty::Bool, site)
            }
            ir::Expr::OrElse(a, b) => {
                let a = this.condition(*a);
                if this.fold(a).is_some_and(|value| value != 0) {
                    return a;
                }
                let b = this.apart(|this| this.condition(*b));
                this.push(Expr::Or(a, b), Ty::Bool, site)
            }
            ir::Expr::Unary(UnaryOp::Not, inner) => {
                let inner = this.condition(*inner);
                this.push(Expr::Not(inner), Ty::Bool, site)
            }
            _ => {
                let value = this.expr(id);
                this.truth(&value, site)
            }
        });
        done.unwrap_or_else(|| {
            self.push(Expr::Opaque { children: Vec::new(), effect: Effect::Anything }, Ty::Bool, site)
        })
    }

    fn branch(&mut self, condition: ir::ExprId, then: &'p [ir::StmtId], otherwise: &'p [ir::StmtId], site: Site) {
        let condition = self.condition(condition);
        // What cannot be reached is not compiled either.
        if let Some(value) = self.fold(condition) {
            return self.statements(if value == 0 { otherwise } else { then });
        }
        let then = self.nested(then);
        let otherwise = self.nested(otherwise);
        self.emit(Stmt::If { condition, then, otherwise }, site);
    }

    fn while_loop(&mut self, condition: Option<ir::ExprId>, body: &'p [ir::StmtId], site: Site) {
        let condition = condition.map(|condition| self.apart(|this| this.condition(condition)));
        if condition.is_some_and(|condition| self.fold(condition) == Some(0)) {
            return;
        }
        let condition = condition.filter(|condition| self.fold(*condition).is_none());
        self.body.broken.push(None);
        let body = self.nested(body);
        self.body.broken.pop();
        self.emit(Stmt::Loop { condition, body_first: false, step: None, body }, site);
    }

    fn return_statement(&mut self, value: Option<ir::ExprId>, site: Site) {
        let value = value.map_or(Value::None, |value| self.expr(value));
        if !self.in_kernel() {
            let ty = value.ty().unwrap_or(PyTy::Opaque);
            let ty = self.returned(ty);
            let value = self.coerce(&value, &ty, site);
            let mut leaves = Vec::new();
            value.leaves(&mut leaves);
            let result = match leaves.as_slice() {
                [] => None,
                [one] => Some(*one),
                _ => Some(self.push(Expr::Aggregate(leaves), ty.as_returned(), site)),
            };
            return self.emit(Stmt::Return(result), site);
        }
        self.evaluate(&value, site);
        self.emit(Stmt::Return(None), site);
    }

    /// Lanes that raise an exception do not come back, neither from a kernel nor from what it calls.
    fn leave(&mut self, site: Site) {
        let exit = self.push(Expr::Intrinsic(Intrinsic::Exit, Vec::new()), Ty::Void, site);
        self.emit(Stmt::Expr(exit), site);
    }

    pub(super) fn raise(&mut self, site: Site) -> Value {
        self.leave(site);
        Value::None
    }

    fn python_statement(&mut self, stmt: &'p PythonStmt, site: Site) {
        match stmt {
            PythonStmt::For { target, iterable, body, otherwise } => {
                self.for_loop(*target, *iterable, body, otherwise, site);
            }
            PythonStmt::Assert(condition, _) => {
                let condition = self.condition(*condition);
                if self.fold(condition).is_some_and(|value| value != 0) {
                    return;
                }
                let fails = self.push(Expr::Not(condition), Ty::Bool, site);
                let (then, ()) = self.in_block(|this| this.leave(site));
                self.emit(Stmt::If { condition: fails, then, otherwise: Vec::new() }, site);
            }
            PythonStmt::Define(function) => {
                // A function inside is a constant; its variable holds it.
                let found = self.context.ir.functions.get(*function);
                let local = found.and_then(|inner| {
                    let locals = &self.context.function?.locals;
                    locals.iter().position(|local| local.name == inner.name)
                });
                if let Some(local) = local {
                    let value = Self::function_value(self.context.module, *function, self.context.captured);
                    self.assign_local(LocalId(local as u32), None, &value, site);
                }
            }
            PythonStmt::Import(names) => {
                let module: &'p ir::Module = self.context.ir;
                for import in module.imports.get(names.start as usize..names.end as usize).unwrap_or_default() {
                    let locals = self.context.function.map(|function| function.locals.as_slice()).unwrap_or_default();
                    if let Some(local) = locals.iter().position(|local| local.name == import.local) {
                        let value = self.import(import, site);
                        self.assign_local(LocalId(local as u32), None, &value, site);
                    }
                }
            }
            PythonStmt::Delete(_) => {}
            PythonStmt::With { items, body } => {
                self.gap("with");
                for (item, _) in items {
                    let value = self.expr(*item);
                    self.evaluate(&value, site);
                }
                self.statements(body);
            }
            PythonStmt::Class(..) => self.gap("class"),
        }
    }

    /// A number as a truth value.
    pub(super) fn truth(&mut self, value: &Value, site: Site) -> ExprId {
        match value {
            Value::Number(id, Ty::Bool) => *id,
            Value::Number(id, ty) => {
                if let Some(value) = self.fold(*id) {
                    return self.push(Expr::Int(i64::from(value != 0)), Ty::Bool, site);
                }
                let zero = match ty {
                    Ty::Float { .. } => self.push(Expr::Float(0.0), ty.clone(), site),
                    _ => self.push(Expr::Int(0), ty.clone(), site),
                };
                self.push(Expr::Binary(ir::BinaryOp::Ne, *id, zero), Ty::Bool, site)
            }
            Value::None => self.push(Expr::Int(0), Ty::Bool, site),
            Value::Tuple(all) => self.push(Expr::Int(i64::from(!all.is_empty())), Ty::Bool, site),
            Value::Fixed(_) => self.push(Expr::Int(1), Ty::Bool, site),
            other => {
                let mut children = Vec::new();
                other.leaves(&mut children);
                self.push(Expr::Opaque { children, effect: Effect::None }, Ty::Bool, site)
            }
        }
    }

    /// `-number`, folded.
    pub(super) fn negated(&mut self, id: ExprId, ty: &Ty, site: Site) -> ExprId {
        match self.code.exprs.get(id).map(|node| node.kind.clone()) {
            Some(Expr::Int(value)) if value != i64::MIN => self.push(Expr::Int(ty.wrap(-value)), ty.clone(), site),
            Some(Expr::Float(value)) => self.push(Expr::Float(-value), ty.clone(), site),
            _ => self.push(Expr::Unary(UnaryOp::Minus, id), ty.clone(), site),
        }
    }
}
