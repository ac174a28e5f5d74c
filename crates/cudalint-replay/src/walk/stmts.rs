//! Statements of host code.

use super::entered::BACKWARD;
use super::flow::Truth;
use super::{Out, Slot, Walker};
use crate::host::{Flow, JoinRule, ObjId, Paths};
use crate::memory::{Place, root};
use crate::quantity::Quantity;
use crate::value::{Kind, Val};
use cudalint_program::Name;
use cudalint_program::ir::{Block, Expr, ExprId, LocalId, Space, Stmt, StmtId, Type};
use cudalint_program::types::Ty;
use cudalint_syntax::Span;

impl<'p> Walker<'p> {
    /// Runs a block, with the destructors of its variables.
    pub fn block(&mut self, block: &'p [StmtId]) -> Flow {
        let outside = self.guards();
        let flow = self.statements(block);
        if flow == Flow::Next {
            self.destroy(outside, None);
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.guards.truncate(outside);
        }
        flow
    }

    fn statements(&mut self, block: &'p [StmtId]) -> Flow {
        self.enters(block);
        let mut index = 0;
        while let Some(id) = block.get(index) {
            index += 1;
            let flow = self.statement(*id);
            match flow {
                Flow::Next => {}
                Flow::Goto(ref label) => match self.find_label(&block[index..], label) {
                    Some(ahead) => index += ahead,
                    None => match self.next_label(&block[index..]) {
                        // Another path may still wait for a label further on in this block.
                        Some(ahead) => {
                            self.park(flow);
                            index += ahead + 1;
                        }
                        None => return flow,
                    },
                },
                other => match self.next_label(&block[index..]) {
                    Some(ahead) => {
                        self.park(other);
                        index += ahead + 1;
                    }
                    None => return other,
                },
            }
        }
        Flow::Next
    }

    fn find_label(&self, rest: &[StmtId], wanted: &Name) -> Option<usize> {
        let module = self.module();
        rest.iter()
            .position(|id| matches!(&module.stmts.get(*id).map(|s| &s.kind), Some(Stmt::Label(name)) if name == wanted))
    }

    /// The next label that some pending path waits for, whose state then becomes the current one.
    fn next_label(&mut self, rest: &[StmtId]) -> Option<usize> {
        let module = self.module();
        let base = self.frames.last()?.pending_base;
        if !self.pendings[base.min(self.pendings.len())..].iter().any(|p| matches!(p.flow, Flow::Goto(_))) {
            return None;
        }
        rest.iter().position(|id| match module.stmts.get(*id).map(|s| &s.kind) {
            Some(Stmt::Label(name)) => {
                self.pendings[base..].iter().any(|p| matches!(&p.flow, Flow::Goto(label) if label == name))
            }
            _ => false,
        })
    }

    /// Sets the current path aside (unless it ended) and takes the state of the paths that wait for the label which
    /// follows: those are joined when the label itself is run, so the current state only has to be one of them.
    fn park(&mut self, flow: Flow) {
        let Some(base) = self.frames.last().map(|frame| frame.pending_base) else { return };
        let Some(at) = self.pendings[base..].iter().position(|p| matches!(p.flow, Flow::Goto(_))) else { return };
        let waiting = self.pendings.remove(base + at);
        let mark = waiting.mark;
        self.wait(mark, flow);
        self.memory.adopt(waiting.diff, mark);
        // What was made and started behind the jump is not there on the path that jumped.
        if let Some(made) = self.frames.last().and_then(|frame| frame.jumped) {
            self.lifetimes.forget_after(made);
        }
        self.timeline.results.clear();
        self.may_wait();
    }

    fn leave(&self, flow: Flow) -> Flow {
        // A dry run wants everything that could be written, so nothing leaves.
        if self.dry > 0 { Flow::Next } else { flow }
    }

    /// Runs a statement.
    pub fn statement(&mut self, id: StmtId) -> Flow {
        if !self.budget.step() || !self.budget.descend() {
            return Flow::Stop;
        }
        let flow = self.statement_inside(id);
        self.budget.ascend();
        // What it called has ended the program, or thrown: of a declaration, a condition or a value that is returned, too.
        let ended = std::mem::take(&mut self.ended) && self.dry == 0;
        if ended || self.budget.stopped.is_some() { Flow::Stop } else { flow }
    }

    fn statement_inside(&mut self, id: StmtId) -> Flow {
        let module = self.module();
        let Some(node) = module.stmts.get(id) else { return Flow::Next };
        match &node.kind {
            Stmt::Expr(expr) => self.expression_statement(*expr),
            Stmt::Declare(local) => {
                self.declare(*local);
                if self.budget.stopped.is_some() { Flow::Stop } else { Flow::Next }
            }
            Stmt::Block(block) => self.block(block),
            Stmt::If { condition, then, otherwise, constant } => {
                let (before, globals) = (self.budget.steps, self.globals.len());
                let out = self.eval(*condition);
                let truth = self.truth(&out);
                if let Truth::Known(value) = truth {
                    self.passes(if value { otherwise } else { then }, *condition);
                }
                if *constant
                    && let Truth::Known(value) = truth
                    && self.dry == 0
                {
                    return self.block(if value { then } else { otherwise });
                }
                if matches!(truth, Truth::Unknown) && self.is_reporting() {
                    // A variable that came into being at this look costs no steps at the next.
                    let looked =
                        (self.globals.len() == globals).then(|| (out.val.quantity(), before - self.budget.steps));
                    return self.asking(*condition, |w| {
                        let choice = w.chooses(*condition);
                        w.open_branch(*condition, looked, then, otherwise, choice)
                    });
                }
                self.branch(truth, |w| w.block(then), |w| w.block(otherwise))
            }
            Stmt::Loop { kind, init, condition, step, body } => {
                self.statements(init);
                self.breakable(|w| w.run_loop(*kind, *condition, *step, body))
            }
            Stmt::ForEach { variable, range, body } => self.breakable(|w| w.for_each(*variable, *range, body)),
            Stmt::Switch { value, cases } => self.asking(*value, |w| w.breakable(|w| w.switch(*value, cases))),
            Stmt::Break | Stmt::Continue => {
                let outside = self.frames.last().map_or(0, |frame| frame.guards_outside);
                self.destroy(outside, None);
                self.leave(if matches!(node.kind, Stmt::Break) { Flow::Break } else { Flow::Continue })
            }
            Stmt::Return(value) => {
                let out = value.map(|value| self.returned(value));
                let dry = self.dry > 0;
                if let Some(frame) = self.frames.last_mut() {
                    frame.returned = match (frame.returned.take(), out) {
                        // In a dry run several returns are passed: nothing is known of the value.
                        (Some(_), Some(_)) if dry => Some(Out::unknown()),
                        (_, out) => out,
                    };
                }
                // A variable that is returned lives on in the caller.
                let handed_out = value.and_then(|value| match self.kind(value) {
                    Some(Expr::Local(local)) => Some(*local),
                    _ => None,
                });
                self.destroy(0, handed_out);
                self.return_ends(id);
                self.leave(Flow::Return)
            }
            Stmt::Goto(label) => {
                if self.frames.last().is_some_and(|frame| frame.labels.contains(label)) {
                    // A loop in disguise: what stands before may run again with other values.
                    self.budget.stopped.get_or_insert(BACKWARD);
                    return Flow::Stop;
                }
                let made = self.lifetimes.count();
                if let Some(frame) = self.common.frames.last_mut().filter(|_| self.common.failed == 0) {
                    frame.jumped.get_or_insert(made);
                }
                self.leave(Flow::Goto(label.clone()))
            }
            Stmt::Label(label) => {
                if let Some(frame) = self.frames.last_mut() {
                    frame.labels.push(label.clone());
                }
                let base = self.frames.last().map_or(0, |frame| frame.pending_base);
                self.collect(base, true, |flow| matches!(flow, Flow::Goto(name) if name == label));
                Flow::Next
            }
            Stmt::Try { body, handlers } => self.try_block(body, handlers),
            Stmt::Asm { operands, .. } => {
                // Outputs stand there by their addresses; what an input points to may be written as well.
                for operand in operands {
                    let out = self.eval(*operand);
                    self.hand_out(&out);
                }
                Flow::Next
            }
            Stmt::Elided { names } => {
                self.elide(names, node.span);
                self.supply_left_out(node.span);
                Flow::Next
            }
            Stmt::Python(_) => Flow::Next,
            Stmt::Unknown { exprs, blocks } => self.unknown_statement(exprs, blocks),
        }
    }

    fn expression_statement(&mut self, expr: ExprId) -> Flow {
        let module = self.module();
        match module.exprs.get(expr).map(|node| &node.kind) {
            // The branches of a macro's statements leave the function around.
            Some(Expr::Statements(block)) => self.statements(block),
            Some(Expr::Throw(value)) => {
                self.throws(*value);
                self.leave(Flow::Stop)
            }
            _ => {
                let ended = self.eval_for_effect(expr);
                if ended { self.leave(Flow::Stop) } else { Flow::Next }
            }
        }
    }

    /// What a condition says; its effects happen.
    pub fn condition(&mut self, id: ExprId) -> Truth {
        let out = self.eval(id);
        self.truth(&out)
    }

    /// A value as a truth value.
    pub fn truth(&mut self, out: &Out) -> Truth {
        if self.dry > 0 {
            return Truth::Unknown;
        }
        let val = self.admit(out.val.clone());
        let truth = match &val.kind {
            Kind::Int(int) => match int.q {
                Quantity::Known(value) => Truth::Known(value != 0),
                _ => return Truth::Unknown,
            },
            Kind::Float(value) => Truth::Known(*value != 0.0),
            Kind::Null => Truth::Known(false),
            // An allocation that failed would have ended the program, or should have.
            Kind::Ptr(_) | Kind::Str(_) | Kind::Function(..) | Kind::Somewhere(..) => {
                return Truth::Status(true);
            }
            // Statuses are 0 on success.
            Kind::Status => return Truth::Status(false),
            Kind::Success(value) => return Truth::Status(*value),
            Kind::Flag(value) => Truth::Known(*value),
            _ => return Truth::Unknown,
        };
        match (truth, &val.why) {
            (Truth::Known(value), Some(_)) => Truth::Assumed(value, val.why.clone()),
            (Truth::Known(_), None) if matches!(val.kind, Kind::Flag(_)) => Truth::Unknown,
            (truth, _) => truth,
        }
    }

    /// A local variable comes into being.
    pub fn declare(&mut self, id: LocalId) {
        let Some(function) = self.function() else { return };
        let Some(variable) = function.locals.get(id) else { return };
        if matches!(variable.space, Space::Static) {
            self.declare_static(id);
            return;
        }
        let ty = self.resolve(variable.ty);
        if let Ty::Reference(inner) = &ty {
            let (place, found) = match variable.init {
                Some(init) => self.bind_reference(init),
                None => (Place::Unknown, Ty::Unknown),
            };
            let slot = self.referred(variable, place, &found, inner);
            self.set_slot(id, slot);
            return;
        }
        let ty = self.counted(ty, variable.init);
        // The initializer may mention an outer variable of the same name, so the object comes after it; but
        // `T x = f(&x)` is legal too and needs it before.
        if self.function_type(variable.ty, |ty| matches!(ty, Type::Auto)) {
            let object = self.create_variable(&variable.name, variable.span, ty.clone(), Val::unknown());
            self.set_slot(id, Slot::Object(object));
            let out = variable.init.map_or_else(Out::unknown, |init| self.eval(init));
            let known = !matches!(out.val.kind, Kind::Unknown | Kind::Int(_)) || out.val.known().is_some();
            let object = self.create_variable(&variable.name, variable.span, out.ty.value().clone(), Val::unknown());
            let place = Place::Cell(object, root());
            let val = match variable.init {
                Some(init) => self.received(init, &out, out.val.clone(), &place),
                None => out.val,
            };
            self.memory.store(&place, val);
            if let Some(init) = variable.init {
                self.finds_out_by(&Place::Cell(object, root()), init, known);
            }
            self.set_slot(id, Slot::Object(object));
            self.begin_guard(id, &out.ty);
            return;
        }
        let unset = Val::from(Kind::Uninit(std::rc::Rc::new((variable.name.clone(), self.site(variable.span)))));
        let object = self.create_variable(&variable.name, variable.span, ty.clone(), unset);
        self.set_slot(id, Slot::Object(object));
        match variable.init {
            Some(init) => {
                self.initialize(&Place::Cell(object, root()), &ty, init);
                self.given_undeclared(init, &Place::Cell(object, root()), &ty);
            }
            None => self.default_initialize(&Place::Cell(object, root()), &ty),
        }
        self.begin_guard(id, &ty);
    }

    /// Whether the declared type of the current module is of a kind.
    fn function_type(&self, ty: cudalint_program::ir::TypeId, test: impl Fn(&Type) -> bool) -> bool {
        let types = &self.module().types;
        let mut current = types.get(ty);
        for _ in 0..4 {
            match current {
                Some(Type::Qualified { ty, .. }) => current = types.get(*ty),
                Some(ty) => return test(ty),
                None => return false,
            }
        }
        false
    }

    fn declare_static(&mut self, id: LocalId) {
        self.leave_trace();
        let (Some(frame), Some(function)) = (self.frames.last(), self.function()) else { return };
        let Some(function_id) = frame.function else { return };
        let key = (frame.module, function_id, id.0);
        let variable = &function.locals[id];
        if let Ty::Reference(to) = self.resolve(variable.ty) {
            // It was bound when the function was called for the first time, which need not be now.
            if let Some(init) = variable.init {
                let (place, _) = self.bind_reference(init);
                self.escape(&place);
            }
            return self.set_slot(id, Slot::Alias(Place::Unknown, (*to).clone()));
        }
        let object = match self.statics.get(&key) {
            Some(object) => *object,
            None => {
                let ty = self.resolve(variable.ty);
                let ty = self.counted(ty, variable.init);
                // Earlier calls may have changed it, unless it cannot change.
                let object = self.create_variable(&variable.name, variable.span, ty.clone(), Val::unknown());
                if let Some(init) = variable.init
                    && self.module().is_const(variable.ty)
                {
                    self.initialize(&Place::Cell(object, root()), &ty, init);
                }
                self.memory.shared.insert(object);
                self.statics.insert(key, object);
                object
            }
        };
        self.set_slot(id, Slot::Object(object));
    }

    fn unknown_statement(&mut self, exprs: &'p [ExprId], blocks: &'p [Block]) -> Flow {
        for expr in exprs {
            let out = self.eval(*expr);
            self.lose(&out);
            self.forget_lvalue(*expr);
        }
        for block in blocks {
            let mark = self.memory.mark();
            let run = self.alternative(mark, |w| w.block(block));
            let none = self.alternative(mark, |_| Flow::Next);
            self.settle(mark, [none, run], &JoinRule::Either);
        }
        Flow::Next
    }

    /// Code is missing here: the names it mentions may have been given any value.
    fn elide(&mut self, names: &[Name], comment: Span) {
        self.elided = true;
        // Whoever handles errors reads no results.
        let words = self.project.text(self.module_id(), comment).to_ascii_lowercase();
        if !words.contains("error") {
            self.timeline.results.clear();
        }
        self.leave_trace();
        let objects: Vec<ObjId> = self
            .frames
            .iter()
            .flat_map(|frame| frame.slots.iter())
            .filter_map(|slot| match slot {
                Slot::Object(id) => Some(*id),
                _ => None,
            })
            .collect();
        // Of memory that other code that is left out allocates, what it holds is told until such code speaks of it, or of nothing.
        let supplied = self.left_out.iter().filter(|(name, _)| names.is_empty() || names.contains(name));
        let mut pointers = Vec::new();
        supplied.for_each(|(_, out)| out.val.pointers(&mut pointers));
        for object in pointers {
            self.memory.set_held(object, None);
        }
        for id in objects {
            let object = self.memory.get(id);
            let unset = matches!(object.root.kind, Kind::Uninit(_));
            if unset || names.contains(&object.info.name) {
                self.memory.forget_reachable(id);
            }
        }
    }
}
