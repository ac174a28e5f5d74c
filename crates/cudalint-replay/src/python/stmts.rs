//! Statements, and the paths through them.

use super::value::{Dtype, Kind, Val};
use super::{Flow, Walker};
use crate::quantity::{Assumptions, Condition, Quantity};
use cudalint_program::ir::{Block, ExprId, LoopKind, PythonStmt, Stmt, StmtId};

impl Walker<'_> {
    pub(super) fn block(&mut self, block: &Block) -> Flow {
        for id in block {
            match self.stmt(*id) {
                Flow::Next => {}
                other => return other,
            }
        }
        Flow::Next
    }

    fn stmt(&mut self, id: StmtId) -> Flow {
        if !self.budget.step() || !self.budget.descend() {
            return Flow::Raise;
        }
        let flow = self.stmt_inner(id);
        self.budget.ascend();
        if std::mem::take(&mut self.raised) { Flow::Raise } else { flow }
    }

    fn stmt_inner(&mut self, id: StmtId) -> Flow {
        let Some(stmt) = self.module().stmts.get(id) else { return Flow::Next };
        match &stmt.kind {
            Stmt::Expr(expr) => {
                self.eval(*expr);
                Flow::Next
            }
            Stmt::Declare(local) => {
                if let Some(init) = self.function().and_then(|function| function.locals.get(*local)?.init) {
                    let value = self.eval(init);
                    self.set_local(*local, value);
                }
                Flow::Next
            }
            Stmt::Block(inner) => self.block(inner),
            Stmt::If { condition, then, otherwise, .. } => {
                let condition = self.eval(*condition);
                self.branch(&condition, then, otherwise)
            }
            Stmt::Loop { kind, init, condition, step, body } => {
                self.block(init);
                self.while_loop(*kind == LoopKind::DoWhile, *condition, *step, body, &Vec::new())
            }
            Stmt::ForEach { variable, range, body } => {
                let _ = variable;
                let iterable = self.eval(*range);
                self.for_loop(None, &iterable, body, &Vec::new())
            }
            Stmt::Break => Flow::Break,
            Stmt::Continue => Flow::Continue,
            Stmt::Return(value) => {
                let value = value.map_or_else(Val::none, |value| self.eval(value));
                Flow::Return(value)
            }
            Stmt::Try { body, handlers } => self.try_block(body, handlers),
            Stmt::Python(python) => self.python_stmt(python),
            Stmt::Unknown { exprs, blocks } => {
                for expr in exprs {
                    let value = self.eval(*expr);
                    self.lose(&value);
                }
                for block in blocks {
                    let before = self.heap.clone();
                    self.block(block);
                    self.heap.join(&before, None);
                }
                Flow::Next
            }
            _ => Flow::Next,
        }
    }

    fn python_stmt(&mut self, python: &PythonStmt) -> Flow {
        match python {
            PythonStmt::For { target, iterable, body, otherwise } => {
                let iterable = self.eval(*iterable);
                self.for_loop(Some(*target), &iterable, body, otherwise)
            }
            PythonStmt::With { items, body } => {
                for (item, target) in items {
                    let value = self.eval(*item);
                    let entered = self.entered(&value);
                    if let Some(target) = target {
                        self.assign(*target, entered);
                    }
                }
                // `with pytest.raises(…)`: what happens inside is meant to fail.
                let fails = items.iter().any(|(item, _)| {
                    let text = self.text(*item);
                    text.contains("aises(") || text.contains("assertRaises") || text.contains("suppress(")
                });
                if !fails {
                    return self.block(body);
                }
                let before = self.heap.clone();
                self.log.muted += 1;
                let flow = self.block(body);
                self.log.muted -= 1;
                self.heap.join(&before, None);
                if matches!(flow, Flow::Raise) { Flow::Next } else { flow }
            }
            PythonStmt::Define(function) => {
                self.define(*function);
                Flow::Next
            }
            PythonStmt::Class(record, body) => {
                let module = self.module_id();
                if let Some(found) = self.module().records.get(*record as usize) {
                    let (name, span) = (found.name.clone(), found.span);
                    let site = crate::facts::Site { module, span };
                    self.bind(&name, Val::from(Kind::Class(module, *record)), site);
                }
                self.block(body)
            }
            PythonStmt::Assert(condition, _) => {
                let condition = self.eval(*condition);
                match self.truth(&condition) {
                    Some(false) if condition.why.is_none() => Flow::Raise,
                    Some(_) => Flow::Next,
                    None => {
                        self.assume_condition(&condition, true);
                        Flow::Next
                    }
                }
            }
            PythonStmt::Delete(targets) => {
                for target in targets {
                    self.assign(*target, Val::unknown());
                }
                Flow::Next
            }
            PythonStmt::Import(range) => {
                self.import(range.clone());
                Flow::Next
            }
        }
    }

    /// What `with x as y` binds.
    fn entered(&mut self, value: &Val) -> Val {
        match &value.kind {
            Kind::Package(_) | Kind::Array(_) | Kind::Open(_) => value.clone(),
            _ => Val::unknown(),
        }
    }

    /// Notes what a condition says of the inputs; `false` when it is about nothing that has a symbol.
    pub(super) fn assume_condition(&mut self, condition: &Val, holds: bool) -> bool {
        let poly = match &condition.kind {
            Kind::Bool(Quantity::Symbolic(poly)) | Kind::Int(Quantity::Symbolic(poly)) => poly.clone(),
            Kind::Number(Dtype::Int { .. } | Dtype::Bool, value) => {
                return self.assume_condition(&value.clone(), holds);
            }
            _ => return false,
        };
        self.path.learn(Condition { poly, holds }, 0);
        true
    }

    pub(super) fn branch(&mut self, condition: &Val, then: &Block, otherwise: &Block) -> Flow {
        match self.truth(condition) {
            Some(truth) => {
                let (taken, other) = if truth { (then, otherwise) } else { (otherwise, then) };
                if condition.why.is_none() {
                    return self.block(taken);
                }
                self.assumed_branch(&condition.why, taken, other)
            }
            None => self.fork(condition, then, otherwise),
        }
    }

    /// A branch that is taken as long as an assumption holds.
    fn assumed_branch(&mut self, why: &Assumptions, taken: &Block, other: &Block) -> Flow {
        let before = self.heap.clone();
        let flow = self.block(taken);
        let current = self.heap.clone();
        self.heap.restore(&before);
        self.log.muted += 1;
        let returns = self.frames.last().map_or(0, |frame| frame.returns.len());
        let other_flow = self.block(other);
        self.log.muted -= 1;
        if let Some(frame) = self.frames.last_mut() {
            frame.returns.truncate(returns);
        }
        let after_other = self.heap.clone();
        self.heap.restore(&current);
        if matches!(other_flow, Flow::Next) && matches!(flow, Flow::Next) {
            self.heap.join(&after_other, Some(why));
        }
        match flow {
            Flow::Raise => {
                // As started the program ends here; whoever gives it what it wants gets on.
                self.heap.restore(&after_other);
                other_flow
            }
            flow => flow,
        }
    }

    /// Two paths.
    fn fork(&mut self, condition: &Val, then: &Block, otherwise: &Block) -> Flow {
        let before = self.heap.clone();
        let mark = self.path.known();
        let stated = self.assume_condition(condition, true);
        self.undecided(!stated, 1);
        let first = self.block(then);
        let after_first = self.heap.clone();
        self.path.unlearn(mark);
        self.heap.restore(&before);
        self.assume_condition(condition, false);
        let second = self.block(otherwise);
        self.path.unlearn(mark);
        self.undecided(!stated, -1);
        match (first, second) {
            (Flow::Next, Flow::Next) => {
                self.heap.join(&after_first, None);
                Flow::Next
            }
            (Flow::Next, left) => {
                self.pend(left);
                self.heap.restore(&after_first);
                self.stay(condition, true, stated);
                Flow::Next
            }
            (left, Flow::Next) => {
                let now = self.heap.clone();
                self.heap.restore(&after_first);
                self.pend(left);
                self.heap.restore(&now);
                self.stay(condition, false, stated);
                Flow::Next
            }
            (a, Flow::Raise) => {
                self.heap.restore(&after_first);
                a
            }
            (a, b) => {
                let now = self.heap.clone();
                self.heap.restore(&after_first);
                self.pend(a);
                self.heap.restore(&now);
                b
            }
        }
    }

    /// The other path has left: what kept this one holds from here on.
    fn stay(&mut self, condition: &Val, holds: bool, stated: bool) {
        self.assume_condition(condition, holds);
        self.undecided(!stated, 1);
    }

    fn undecided(&mut self, really: bool, by: i32) {
        if really && let Some(frame) = self.frames.last_mut() {
            frame.undecided = frame.undecided.saturating_add_signed(by);
        }
    }

    /// Keeps the state of a path that leaves for where it goes on.
    pub(super) fn pend(&mut self, flow: Flow) {
        let heap = self.heap.clone();
        let Some(frame) = self.frames.last_mut() else { return };
        match flow {
            Flow::Return(value) => frame.returns.push((heap, value)),
            Flow::Break => {
                if let Some([breaks, _]) = frame.loops.last_mut() {
                    breaks.push(heap);
                }
            }
            Flow::Continue => {
                if let Some([_, continues]) = frame.loops.last_mut() {
                    continues.push(heap);
                }
            }
            Flow::Raise | Flow::Next => {}
        }
    }

    /// The body is taken to succeed; what a handler would leave behind instead counts only where it goes on.
    fn try_block(&mut self, body: &Block, handlers: &[Block]) -> Flow {
        let before = self.heap.clone();
        if let Some(frame) = self.frames.last_mut() {
            frame.tries += 1;
        }
        let flow = self.block(body);
        if let Some(frame) = self.frames.last_mut() {
            frame.tries = frame.tries.saturating_sub(1);
        }
        let after_body = self.heap.clone();
        let mut ended: Vec<super::heap::Heap> = Vec::new();
        let assigned = self.assigned_in(body);
        for handler in handlers {
            self.heap.restore(&before);
            self.heap.join(&after_body, None);
            self.forget(&assigned);
            self.undecided(true, 1);
            let flow = self.block(handler);
            self.undecided(true, -1);
            match flow {
                Flow::Next => ended.push(self.heap.clone()),
                Flow::Raise => {}
                other => self.pend(other),
            }
        }
        self.heap.restore(&after_body);
        match flow {
            Flow::Next => {
                // `except ImportError: cupy = None`: the body does what it is there for.
                let imports = self.is_import(body);
                for heap in ended.iter().filter(|_| !imports) {
                    self.heap.join(heap, None);
                }
                Flow::Next
            }
            Flow::Raise => match ended.split_first() {
                Some((first, rest)) => {
                    self.heap.restore(first);
                    for heap in rest {
                        self.heap.join(heap, None);
                    }
                    Flow::Next
                }
                None => Flow::Raise,
            },
            other if ended.is_empty() => other,
            other => {
                self.pend(other);
                if let Some((first, rest)) = ended.split_first() {
                    self.heap.restore(first);
                    for heap in rest {
                        self.heap.join(heap, None);
                    }
                }
                Flow::Next
            }
        }
    }

    fn is_import(&self, body: &Block) -> bool {
        body.iter().any(|id| {
            matches!(self.module().stmts.get(*id).map(|stmt| &stmt.kind),
                Some(Stmt::Python(python)) if matches!(**python, PythonStmt::Import(_)))
        })
    }

    /// The value of a condition, evaluated for its effect alone.
    pub(super) fn eval_option(&mut self, id: Option<ExprId>) -> Option<Val> {
        id.map(|id| self.eval(id))
    }
}
