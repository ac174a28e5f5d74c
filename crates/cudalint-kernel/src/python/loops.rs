//! `for` loops, over what Numba and `cupyx.jit` can go through: ranges, tuples, arrays, `enumerate` and `zip` of them.

use super::lower::Lowerer;
use super::types::promote;
use super::value::{Range, Value};
use crate::code::{self, BinaryOp, Effect, Expr, ExprId, Place, Stmt, Ty};
use crate::report::Site;
use cudalint_program::ir::{self, Dialect};
use cudalint_program::visit;

/// Most elements of a tuple that a loop is written out for.
const MAX_UNROLLED: usize = 32;
/// Most copies of a body that such loops inside one another make.
const MAX_COPIES: usize = 512;

impl<'p> Lowerer<'p> {
    pub(super) fn for_loop(
        &mut self,
        target: ir::ExprId,
        iterable: ir::ExprId,
        body: &'p [ir::StmtId],
        otherwise: &'p [ir::StmtId],
        site: Site,
    ) {
        let over = self.expr(iterable);
        let flag = (!otherwise.is_empty() && self.breaks(body)).then(|| {
            let no = self.push(Expr::Int(0), Ty::Bool, site);
            self.register("", no, site)
        });
        self.body.broken.push(flag);
        match over {
            Value::Tuple(all) if all.len() <= MAX_UNROLLED && self.unrolled * all.len() <= MAX_COPIES => {
                let outer = self.unrolled;
                self.unrolled *= all.len().max(1);
                self.over_tuple(target, &all, body, site);
                self.unrolled = outer;
            }
            Value::Range(range) => self.over_range(target, &range, body, site),
            Value::Array(_) | Value::Zip(_) => self.over_positions(target, &over, body, site),
            other => {
                self.gap("loop over what is not known");
                let mut exprs = Vec::new();
                other.leaves(&mut exprs);
                let (block, ()) = self.in_block(|this| {
                    let unknown = this.unknown(Vec::new(), Effect::None, site);
                    this.assign(target, &unknown, site);
                    this.statements(body);
                });
                self.emit(Stmt::Opaque { exprs, blocks: vec![block], effect: Effect::None }, site);
            }
        }
        self.body.broken.pop();
        if otherwise.is_empty() {
            return;
        }
        match flag {
            None => self.statements(otherwise),
            Some(flag) => {
                let broken = self.read_register(flag, site);
                let condition = self.push(Expr::Not(broken), Ty::Bool, site);
                let then = self.nested(otherwise);
                self.emit(Stmt::If { condition, then, otherwise: Vec::new() }, site);
            }
        }
    }

    /// Whether a loop's body has a `break` of its own.
    fn breaks(&self, body: &[ir::StmtId]) -> bool {
        let mut open: Vec<ir::StmtId> = body.to_vec();
        while let Some(id) = open.pop() {
            match self.context.ir.stmts.get(id).map(|node| &node.kind) {
                Some(ir::Stmt::Break) => return true,
                Some(ir::Stmt::If { then, otherwise, .. }) => open.extend(then.iter().chain(otherwise)),
                Some(ir::Stmt::Block(block)) => open.extend(block),
                Some(ir::Stmt::Try { body, handlers }) => {
                    open.extend(body);
                    for handler in handlers {
                        open.extend(handler);
                    }
                }
                Some(ir::Stmt::Python(python)) if !matches!(**python, ir::PythonStmt::For { .. }) => {
                    python.blocks().into_iter().for_each(|block| open.extend(block));
                }
                _ => {}
            }
        }
        false
    }

    /// The body once for each element: the types may differ. With `break` or `continue` in it each copy is a loop of one round.
    fn over_tuple(&mut self, target: ir::ExprId, all: &[Value], body: &'p [ir::StmtId], site: Site) {
        if self.breaks(body) && all.len() > 1 {
            self.gap("break out of a loop over a tuple");
            let mut blocks = Vec::new();
            for value in all {
                let (block, ()) = self.in_block(|this| {
                    this.assign(target, value, site);
                    this.statements(body);
                });
                blocks.push(block);
            }
            return self.emit(Stmt::Opaque { exprs: Vec::new(), blocks, effect: Effect::None }, site);
        }
        for value in all {
            let (block, ()) = self.in_block(|this| {
                this.assign(target, value, site);
                this.statements(body);
            });
            let once = self.push(Expr::Int(0), Ty::Bool, site);
            self.emit(Stmt::Loop { condition: Some(once), body_first: true, step: None, body: block }, site);
        }
    }

    fn over_range(&mut self, target: ir::ExprId, range: &Range, body: &'p [ir::StmtId], site: Site) {
        let stop = self.settle(range.stop);
        let step = self.settle(range.step);
        let down = self.fold(step).map(|step| step < 0).or_else(|| self.is_natural(step).then_some(false));
        // The variable counts by itself where nobody else assigns it and nobody sees it behind the loop.
        let own = match self.node(target).map(|node| &node.kind) {
            Some(ir::Expr::Local(local)) => {
                let variable = self.context.scan.variable(*local, target);
                let uses = self.context.scan.get(variable);
                let same = self.body.slots.get(&variable).and_then(|slot| slot.ty.clone());
                let same = same.is_none_or(|ty| ty == super::types::PyTy::Number(range.ty.clone()));
                (!uses.beyond_loops && same && !self.is_assigned_in(*local, body)).then_some(variable)
            }
            _ => None,
        };
        let start = range.start;
        let rises = down == Some(false) && self.is_natural(start);
        let counter = if let Some(local) = own {
            let name = self.local_name(local);
            let counter = self.register(&name, start, site);
            if !rises {
                self.body.natural.remove(&counter);
            }
            let read = self.read_register(counter, site);
            let slot = self.body.slots.entry(local).or_default();
            slot.value = Some(Value::Number(read, range.ty.clone()));
            slot.ty = Some(super::types::PyTy::Number(range.ty.clone()));
            counter
        } else {
            let counter = self.register("", start, site);
            if !rises {
                self.body.natural.remove(&counter);
            }
            counter
        };
        let read = self.read_register(counter, site);
        let condition = if range.endless { None } else { Some(self.goes_on(read, stop, step, down, site)) };
        let (block, ()) = self.in_block(|this| {
            if own.is_none() {
                let read = this.read_register(counter, site);
                this.assign(target, &Value::Number(read, range.ty.clone()), site);
            }
            this.statements(body);
        });
        let place = Place::Register { variable: counter, first: 0, count: 0 };
        let update = Expr::Update { place, op: BinaryOp::Add, value: step, compute: range.ty.clone(), old: false };
        let step = self.push(update, range.ty.clone(), site);
        self.emit(Stmt::Loop { condition, body_first: false, step: Some(step), body: block }, site);
    }

    fn goes_on(&mut self, at: ExprId, stop: ExprId, step: ExprId, down: Option<bool>, site: Site) -> ExprId {
        let less = |this: &mut Self| this.push(Expr::Binary(BinaryOp::Lt, at, stop), Ty::Bool, site);
        let more = |this: &mut Self| this.push(Expr::Binary(BinaryOp::Gt, at, stop), Ty::Bool, site);
        match down {
            Some(false) => less(self),
            Some(true) => more(self),
            None => {
                let ty = self.ty_of(step);
                let zero = self.push(Expr::Int(0), ty, site);
                let up = self.push(Expr::Binary(BinaryOp::Gt, step, zero), Ty::Bool, site);
                let (less, more) = (less(self), more(self));
                self.push(Expr::Select(up, less, more), Ty::Bool, site)
            }
        }
    }

    /// Whether a block assigns a variable other than as a loop's.
    fn is_assigned_in(&self, local: ir::LocalId, body: &[ir::StmtId]) -> bool {
        let Some(function) = self.context.function else { return true };
        let module = self.context.ir;
        let mut found = false;
        visit::walk(module, function, &body.to_vec(), |item| {
            visit::bound_at(module, item, |target, _| {
                let mut bound = Vec::new();
                super::scan::targets(module, target, &mut bound);
                found |= bound.iter().any(|(bound, _)| *bound == local);
            });
            true
        });
        found
    }

    /// A loop over arrays side by side, by position.
    fn over_positions(&mut self, target: ir::ExprId, over: &Value, body: &'p [ir::StmtId], site: Site) {
        let mut length = None;
        let over = self.side_by_side(over, &mut length, site, 0);
        let Some(length) = length else {
            self.gap("loop over what is not known");
            let (block, ()) = self.in_block(|this| this.statements(body));
            return self.emit(Stmt::Opaque { exprs: Vec::new(), blocks: vec![block], effect: Effect::None }, site);
        };
        let zero = self.long(0, site);
        let counter = self.register("", zero, site);
        let read = self.read_register(counter, site);
        let condition = self.push(Expr::Binary(BinaryOp::Lt, read, length), Ty::Bool, site);
        let (block, ()) = self.in_block(|this| {
            let at = this.read_register(counter, site);
            let value = this.at_position(&over, at, site, 0);
            this.assign(target, &value, site);
            this.statements(body);
        });
        let one = self.long(1, site);
        let place = Place::Register { variable: counter, first: 0, count: 0 };
        let update = Expr::Update { place, op: BinaryOp::Add, value: one, compute: Ty::LONG, old: false };
        let step = self.push(update, Ty::LONG, site);
        self.emit(Stmt::Loop { condition: Some(condition), body_first: false, step: Some(step), body: block }, site);
    }

    /// What a loop goes through, with its parts in registers; `length` becomes that of the shortest.
    fn side_by_side(&mut self, over: &Value, length: &mut Option<ExprId>, site: Site, depth: u32) -> Value {
        let (part, own) = match over {
            Value::Zip(parts) if depth < super::specialization::MAX_NESTING => {
                return Value::Zip(parts.iter().map(|one| self.side_by_side(one, length, site, depth + 1)).collect());
            }
            Value::Array(_) => {
                let part = self.settled(over);
                let own = match &part {
                    Value::Array(array) => array.shape.first().copied(),
                    _ => None,
                };
                (part, own)
            }
            Value::Range(range) => {
                let mut range = (**range).clone();
                range.start = self.settle(range.start);
                range.stop = self.settle(range.stop);
                range.step = self.settle(range.step);
                let own = if range.endless { None } else { Some(self.range_length(&range, site)) };
                (Value::Range(Box::new(range)), own)
            }
            other => (other.clone(), None),
        };
        if let Some(own) = own {
            *length = Some(match *length {
                None => own,
                Some(before) => {
                    let least = self.push(Expr::Intrinsic(code::Intrinsic::Min, vec![before, own]), Ty::LONG, site);
                    self.settle(least)
                }
            });
        }
        part
    }

    /// The element at a position of what a loop goes through.
    fn at_position(&mut self, over: &Value, at: ExprId, site: Site, depth: u32) -> Value {
        match over {
            Value::Zip(parts) if depth < super::specialization::MAX_NESTING => {
                Value::Tuple(parts.iter().map(|one| self.at_position(one, at, site, depth + 1)).collect())
            }
            Value::Range(range) => {
                let at = self.convert(at, &Ty::LONG, &range.ty);
                let moved = self.push(Expr::Binary(BinaryOp::Mul, at, range.step), range.ty.clone(), site);
                let value = self.push(Expr::Binary(BinaryOp::Add, range.start, moved), range.ty.clone(), site);
                Value::Number(value, range.ty.clone())
            }
            other => self.subscript(other, &[Value::Number(at, Ty::LONG)], site),
        }
    }

    fn range_length(&mut self, range: &Range, site: Site) -> ExprId {
        let zero = self.long(0, site);
        let span = self.folded(BinaryOp::Sub, range.stop, range.start, site);
        let length = match self.fold(range.step) {
            Some(1) => span,
            Some(step) if step > 1 => {
                let (more, by) = (self.long(step - 1, site), self.long(step, site));
                let sum = self.folded(BinaryOp::Add, span, more, site);
                self.push(Expr::Binary(BinaryOp::FloorDiv, sum, by), Ty::LONG, site)
            }
            _ => self.push(Expr::Opaque { children: vec![span], effect: Effect::None }, Ty::LONG, site),
        };
        let length = self.push(Expr::Intrinsic(code::Intrinsic::Max, vec![length, zero]), Ty::LONG, site);
        self.settle(length)
    }

    /// `range(…)`: of the common type of all bounds; `cupyx.jit` takes that of the end.
    pub(super) fn range(&mut self, args: &[Value], site: Site) -> Option<Value> {
        let numbers: Option<Vec<(ExprId, Ty)>> = args
            .iter()
            .map(|arg| match arg {
                Value::Number(id, ty) => Some((*id, ty.clone())),
                Value::Opaque(id) => Some((*id, Ty::LONG)),
                _ => None,
            })
            .collect();
        let numbers = numbers?;
        let stop_ty = match numbers.as_slice() {
            [(_, ty)] | [_, (_, ty), ..] => ty.clone(),
            [] => return None,
        };
        let common = numbers.iter().map(|(_, ty)| ty.clone()).reduce(|a, b| promote(&a, &b))?;
        let ty = if self.dialect == Dialect::CupyJit {
            stop_ty
        } else {
            // Numba has ranges of int32, int64 and uint64.
            match common {
                Ty::Bool | Ty::Int { bytes: 1..=2, .. } | Ty::Int { bytes: 4, signed: true } => Ty::INT,
                Ty::Int { signed: false, .. } => Ty::SIZE,
                _ => Ty::LONG,
            }
        };
        let mut all = Vec::new();
        for (id, from) in &numbers {
            let unknown = matches!(self.ty_of(*id), Ty::Opaque { .. });
            let id = if unknown {
                self.push(Expr::Opaque { children: vec![*id], effect: Effect::None }, ty.clone(), site)
            } else {
                self.convert(*id, from, &ty)
            };
            all.push(id);
        }
        let number = |this: &mut Self, value| this.push(Expr::Int(value), ty.clone(), site);
        let (start, stop, step) = match all.as_slice() {
            [stop] => (number(self, 0), *stop, number(self, 1)),
            [start, stop] => (*start, *stop, number(self, 1)),
            [start, stop, step] => (*start, *stop, *step),
            _ => return None,
        };
        Some(Value::Range(Box::new(Range { start, stop, step, ty, endless: false })))
    }
}
