//! Statements, and the paths through them.

use super::Walker;
use super::heap::Obj;
use super::value::{Dtype, Kind, Val};
use crate::host::{Flow, JoinRule, Paths};
use crate::quantity::{Assumptions, Condition, Quantity, assume};
use cudalint_program::ir::{Block, Expr, ExprId, Import, LoopKind, PythonStmt, Stmt, StmtId};

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
        if self.budget.depth == 0 && self.pendings.is_empty() {
            self.heap.commit();
        }
        if !self.budget.step() || !self.budget.descend() {
            return Flow::Stop;
        }
        let flow = self.stmt_inner(id);
        self.budget.ascend();
        if std::mem::take(&mut self.raised) { Flow::Stop } else { flow }
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
                if self.raised { Flow::Stop } else { self.branch(&condition, then, otherwise) }
            }
            Stmt::Loop { kind, init, condition, step, body } => {
                self.block(init);
                self.while_loop(*kind == LoopKind::DoWhile, *condition, *step, body, &Vec::new())
            }
            Stmt::ForEach { variable, range, body } => {
                let _ = variable;
                let iterable = self.eval(*range);
                if self.raised { Flow::Stop } else { self.for_loop(None, &iterable, body, &Vec::new()) }
            }
            Stmt::Break => Flow::Break,
            Stmt::Continue => Flow::Continue,
            Stmt::Return(value) => {
                let value = value.map_or_else(Val::none, |value| self.eval(value));
                if let Some(frame) = self.frames.last_mut() {
                    frame.returned = Some(value);
                }
                Flow::Return
            }
            Stmt::Try { body, handlers } => self.try_block(body, handlers),
            Stmt::Python(python) => self.python_stmt(python),
            Stmt::Unknown { exprs, blocks } => {
                for expr in exprs {
                    let value = self.eval(*expr);
                    self.lose(&value);
                }
                self.undecide(1);
                for block in blocks {
                    let before = self.heap.mark();
                    self.block(block);
                    self.heap.join_mark(before);
                }
                self.undecide(-1);
                Flow::Next
            }
            _ => Flow::Next,
        }
    }

    fn python_stmt(&mut self, python: &PythonStmt) -> Flow {
        match python {
            PythonStmt::For { target, iterable, body, otherwise } => {
                let iterable = self.eval(*iterable);
                if self.raised { Flow::Stop } else { self.for_loop(Some(*target), &iterable, body, otherwise) }
            }
            PythonStmt::With { items, body } => {
                for (item, target) in items {
                    let value = self.eval(*item);
                    let entered = self.entered(&value);
                    if let Some(target) = target {
                        self.assign(*target, entered);
                    }
                }
                if self.raised {
                    return Flow::Stop;
                }
                // `with pytest.raises(…)`: what happens inside is meant to fail.
                let fails = items.iter().any(|(item, _)| {
                    let text = self.text(*item);
                    text.contains("aises(") || text.contains("assertRaises") || text.contains("suppress(")
                });
                if !fails {
                    return self.block(body);
                }
                let before = self.heap.mark();
                self.log.muted += 1;
                let flow = self.block(body);
                self.log.muted -= 1;
                self.heap.join_mark(before);
                if matches!(flow, Flow::Stop) { Flow::Next } else { flow }
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
                self.class(*record, body)
            }
            PythonStmt::Assert(condition, _) => {
                let condition = self.eval(*condition);
                match self.truth(&condition) {
                    Some(false) if condition.why.is_none() => Flow::Stop,
                    Some(_) => Flow::Next,
                    None => {
                        self.assume_condition(&condition, true);
                        Flow::Next
                    }
                }
            }
            PythonStmt::Delete(targets) => {
                for target in targets {
                    self.delete(*target);
                }
                Flow::Next
            }
            PythonStmt::Import(range) => {
                self.import(range.clone());
                Flow::Next
            }
        }
    }

    /// The body of a class: its variables, its other statements, and what its methods' parameters are when nothing is given.
    fn class(&mut self, record: u32, body: &Block) -> Flow {
        let (project, id) = (self.project, self.module_id());
        let module = project.module(id);
        let Some(class) = module.records.get(record as usize) else { return self.block(body) };
        self.class_bodies.push((self.frames.len(), record));
        for field in &class.fields {
            if let Some(init) = field.init {
                let value = self.eval(init);
                self.set_class_variable(id, record, &field.name, value);
            }
        }
        let flow = self.block(body);
        for method in &class.methods {
            self.note_defaults(id, *method);
        }
        self.class_bodies.pop();
        flow
    }

    /// `del x`, `del xs[i]`.
    fn delete(&mut self, target: ExprId) {
        let Some(Expr::Index { base, indices }) = self.kind(target) else { return self.assign(target, Val::unknown()) };
        let object = self.eval(*base);
        let at: Vec<Val> = indices.iter().map(|index| self.eval(*index)).collect();
        match &object.kind {
            Kind::List(list) => {
                if let Obj::List(items) = self.heap.get_mut(*list) {
                    *items = items.take().zip(at.first().and_then(Val::known)).and_then(|(mut items, at)| {
                        let at = if at < 0 { at + items.len() as i64 } else { at };
                        let at = usize::try_from(at).ok().filter(|at| *at < items.len())?;
                        items.remove(at);
                        Some(items)
                    });
                }
            }
            _ => self.lose(&object),
        }
    }

    /// What `with x as y` binds.
    fn entered(&mut self, value: &Val) -> Val {
        match &value.kind {
            Kind::Package(_) | Kind::Array(_) | Kind::Open(_) | Kind::File(_) => value.clone(),
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
        let mark = self.heap.mark();
        let default = self.alternative(mark, |w| w.block(taken));
        self.log.muted += 1;
        let other = self.alternative(mark, |w| w.block(other));
        self.log.muted -= 1;
        // As started the program does not return what the other side does.
        let mut at = 0;
        self.pendings.retain(|pending| {
            at += 1;
            at <= other.first_pending || pending.flow != Flow::Return
        });
        if default.flow == Flow::Stop {
            // As started the program ends here; whoever gives it what it wants gets on.
            return self.settle(mark, [other], &JoinRule::Either);
        }
        let both = default.flow == Flow::Next && other.flow == Flow::Next;
        self.settle(mark, std::iter::once(default).chain(both.then_some(other)), &JoinRule::Current(why.clone()))
    }

    /// Two paths.
    fn fork(&mut self, condition: &Val, then: &Block, otherwise: &Block) -> Flow {
        let mark = self.heap.mark();
        let known = self.path.known();
        let stated = self.assume_condition(condition, true);
        let open = i32::from(!stated);
        self.undecide(open);
        let first = self.alternative(mark, |w| w.block(then));
        self.path.unlearn(known);
        self.assume_condition(condition, false);
        let second = self.alternative(mark, |w| w.block(otherwise));
        self.path.unlearn(known);
        self.undecide(-open);
        let stays = [&first, &second].map(|path| path.flow == Flow::Next);
        let flow = self.settle(mark, [second, first], &JoinRule::Either);
        if stays[0] != stays[1] {
            // The other path has left: what kept this one holds from here on.
            self.assume_condition(condition, stays[0]);
            self.undecide(open);
        }
        flow
    }

    /// The body is taken to succeed; what a handler would leave behind instead counts only where it goes on.
    fn try_block(&mut self, body: &Block, handlers: &[Block]) -> Flow {
        let mark = self.heap.mark();
        let tries = |w: &mut Self, more: bool| {
            if let Some(frame) = w.frames.last_mut() {
                frame.tries = if more { frame.tries + 1 } else { frame.tries.saturating_sub(1) };
            }
        };
        tries(self, true);
        let tried = self.alternative(mark, |w| w.block(body));
        tries(self, false);
        let assigned = self.assigned_in(body);
        // `except ImportError: cupy = None`: the body does what it is there for.
        let imports = if tried.flow == Flow::Next { self.imports_in(body) } else { Vec::new() };
        let missing = imports.iter().find(|import| !self.is_there(&import.path, import.level));
        let rule = missing.map_or(JoinRule::Either, |import| {
            let package = import.path.split('.').next().unwrap_or_default();
            JoinRule::Current(assume(format!("`{package}` can be imported")))
        });
        let succeeds = !imports.is_empty() && missing.is_none();
        let mut paths = Vec::new();
        for handler in handlers {
            let path = self.alternative(mark, |w| {
                w.heap.join(tried.diff.clone(), mark, &JoinRule::Either);
                w.forget(&assigned);
                w.undecide(1);
                let flow = w.block(handler);
                w.undecide(-1);
                flow
            });
            if !(succeeds && path.flow == Flow::Next) {
                paths.push(path);
            }
        }
        self.settle(mark, std::iter::once(tried).chain(paths), &rule)
    }

    /// What a block imports.
    fn imports_in(&self, body: &Block) -> Vec<&'_ Import> {
        let module = self.module();
        let imports = body.iter().filter_map(|id| match module.stmts.get(*id).map(|stmt| &stmt.kind) {
            Some(Stmt::Python(python)) => match &**python {
                PythonStmt::Import(range) => module.imports.get(range.start as usize..range.end as usize),
                _ => None,
            },
            _ => None,
        });
        imports.flatten().collect()
    }

    /// The value of a condition, evaluated for its effect alone.
    pub(super) fn eval_option(&mut self, id: Option<ExprId>) -> Option<Val> {
        id.map(|id| self.eval(id))
    }
}
