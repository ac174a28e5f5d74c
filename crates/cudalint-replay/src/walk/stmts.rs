//! Statements of host code.

use super::flow::{Flow, Pending, Truth};
use super::{Out, Slot, Walker};
use crate::memory::{JoinRule, ObjId, Place, root};
use crate::ty::{Container, Ty};
use crate::val::{Kind, Ptr, Val};
use crate::value::Quantity;
use cudalint_program::Name;
use cudalint_program::ir::{Block, Expr, ExprId, LocalId, LoopKind, Space, Stmt, StmtId, SwitchCase, Type};

impl<'p> Walker<'p> {
    /// Runs a block.
    pub fn block(&mut self, block: &'p Block) -> Flow {
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
        rest.iter().position(
            |id| matches!(&module.stmts.get(id.index()).map(|s| &s.kind), Some(Stmt::Label(name)) if name == wanted),
        )
    }

    /// The next label that some pending path waits for, whose state then becomes the current one.
    fn next_label(&mut self, rest: &[StmtId]) -> Option<usize> {
        let module = self.module();
        let base = self.frames.last()?.pending_base;
        if !self.pendings[base.min(self.pendings.len())..].iter().any(|p| matches!(p.flow, Flow::Goto(_))) {
            return None;
        }
        rest.iter().position(|id| match module.stmts.get(id.index()).map(|s| &s.kind) {
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
        let keep = match flow {
            Flow::Stop => None,
            Flow::Return if self.frames.len() == 1 => None,
            other => Some(other),
        };
        if let Some(flow) = keep {
            let diff = self.memory.diff(mark);
            let returned = self.frames.last_mut().and_then(|frame| frame.returned.take());
            self.pendings.push(Pending { flow, mark, diff, returned, rule: JoinRule::Either });
        }
        self.memory.adopt(waiting.diff, mark);
    }

    fn leave(&self, flow: Flow) -> Flow {
        // A dry run wants everything that could be written, so nothing leaves.
        if self.dry > 0 { Flow::Next } else { flow }
    }

    /// Runs a statement.
    pub fn statement(&mut self, id: StmtId) -> Flow {
        if !self.step() || !self.descend() {
            return Flow::Stop;
        }
        let flow = self.statement_inside(id);
        self.depth -= 1;
        if self.stopped.is_some() { Flow::Stop } else { flow }
    }

    fn statement_inside(&mut self, id: StmtId) -> Flow {
        let module = self.module();
        let Some(node) = module.stmts.get(id.index()) else { return Flow::Next };
        match &node.kind {
            Stmt::Expr(expr) => self.expression_statement(*expr),
            Stmt::Declare(local) => {
                self.declare(*local);
                if self.stopped.is_some() { Flow::Stop } else { Flow::Next }
            }
            Stmt::Block(block) => self.block(block),
            Stmt::If { condition, then, otherwise, constant } => {
                let truth = self.condition(*condition);
                if *constant
                    && let Truth::Known(value) = truth
                    && self.dry == 0
                {
                    return self.block(if value { then } else { otherwise });
                }
                self.branch(truth, |w| w.block(then), |w| w.block(otherwise))
            }
            Stmt::Loop { kind, init, condition, step, body } => {
                self.block(init);
                self.run_loop(*kind, *condition, *step, body)
            }
            Stmt::ForEach { variable, range, body } => self.for_each(*variable, *range, body),
            Stmt::Switch { value, cases } => self.switch(*value, cases),
            Stmt::Break => self.leave(Flow::Break),
            Stmt::Continue => self.leave(Flow::Continue),
            Stmt::Return(value) => {
                let out = value.map(|value| self.returned(value));
                if let Some(frame) = self.frames.last_mut() {
                    frame.returned = match (frame.returned.take(), out) {
                        // In a dry run several returns are passed: nothing is known of the value.
                        (Some(_), Some(_)) if self.dry > 0 => Some(Out::unknown()),
                        (_, out) => out,
                    };
                }
                self.leave(Flow::Return)
            }
            Stmt::Goto(label) => {
                if self.frames.last().is_some_and(|frame| frame.labels.contains(label)) {
                    // A loop in disguise: what stands before may run again with other values.
                    self.stopped.get_or_insert("backward goto");
                    return Flow::Stop;
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
                for operand in operands {
                    self.forget_lvalue(*operand);
                }
                Flow::Next
            }
            Stmt::Elided { names } => {
                self.elide(names);
                Flow::Next
            }
            Stmt::Unknown { exprs, blocks } => self.unknown_statement(exprs, blocks),
        }
    }

    fn expression_statement(&mut self, expr: ExprId) -> Flow {
        let module = self.module();
        match module.exprs.get(expr.index()).map(|node| &node.kind) {
            // The branches of a macro's statements leave the function around.
            Some(Expr::Statements(block)) => self.block(block),
            Some(Expr::Throw(value)) => {
                if let Some(value) = value {
                    self.eval(*value);
                }
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
        let Some(variable) = function.locals.get(id.index()) else { return };
        if matches!(variable.space, Space::Static) {
            self.declare_static(id);
            return;
        }
        let ty = self.resolve(variable.ty);
        if let Ty::Ref(inner, _) = &ty {
            let (place, found) = match variable.init {
                Some(init) => self.bind_reference(init),
                None => (Place::Unknown, Ty::Unknown),
            };
            let known = if inner.is_unknown() { found } else { (**inner).clone() };
            self.set_slot(id, Slot::Alias(place, known));
            return;
        }
        // The initializer may mention an outer variable of the same name, so the object comes after it; but
        // `T x = f(&x)` is legal too and needs it before.
        let object = self.create_variable(&variable.name, variable.span, ty.clone(), Val::unknown());
        let unset = Val::from(Kind::Uninit(std::rc::Rc::new((variable.name.clone(), self.site(variable.span)))));
        if self.function_type(variable.ty, |ty| matches!(ty, Type::Auto)) {
            self.set_slot(id, Slot::Object(object));
            let out = variable.init.map_or_else(Out::unknown, |init| self.eval(init));
            let object = self.create_variable(&variable.name, variable.span, out.ty.value().clone(), out.val);
            self.set_slot(id, Slot::Object(object));
            return;
        }
        self.memory.store(&Place::Cell(object, root()), unset);
        self.set_slot(id, Slot::Object(object));
        match variable.init {
            Some(init) => self.initialize(&Place::Cell(object, root()), &ty, init),
            None => self.default_initialize(&Place::Cell(object, root()), &ty),
        }
    }

    /// Whether the declared type of the current module is of a kind.
    fn function_type(&self, ty: cudalint_program::ir::TypeId, test: impl Fn(&Type) -> bool) -> bool {
        let types = &self.module().types;
        let mut current = types.get(ty.index());
        for _ in 0..4 {
            match current {
                Some(Type::Qualified { ty, .. }) => current = types.get(ty.index()),
                Some(ty) => return test(ty),
                None => return false,
            }
        }
        false
    }

    fn declare_static(&mut self, id: LocalId) {
        let (Some(frame), Some(function)) = (self.frames.last(), self.function()) else { return };
        let Some(function_id) = frame.function else { return };
        let key = (frame.module, function_id, id.0);
        let object = match self.statics.get(&key) {
            Some(object) => *object,
            None => {
                let variable = &function.locals[id.index()];
                let ty = self.resolve(variable.ty);
                // Earlier calls may have changed it, unless it cannot change.
                let object = self.create_variable(&variable.name, variable.span, ty.clone(), Val::unknown());
                if let Some(init) = variable.init
                    && self.is_const(variable.ty)
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

    fn run_loop(&mut self, kind: LoopKind, condition: Option<ExprId>, step: Option<ExprId>, body: &'p Block) -> Flow {
        let start = self.memory.mark();
        let base = self.pendings.len();
        let mut assumed: crate::value::Assumptions = None;
        if self.dry == 0 {
            let worth = self.is_worth(body);
            let most = if worth { i64::from(self.options.iterations) } else { 6 };
            if kind != LoopKind::DoWhile && self.trips(condition).is_some_and(|trips| trips > most) {
                return self.abstract_loop(condition, step, body, start, base);
            }
            let mut rounds = 0;
            let mut first = true;
            loop {
                let tested = !(first && kind == LoopKind::DoWhile);
                first = false;
                if tested {
                    if rounds >= most || self.iterations_left == 0 {
                        break;
                    }
                    let before = self.memory.mark();
                    let truth = match condition {
                        Some(condition) => self.condition(condition),
                        None => Truth::Known(true),
                    };
                    match truth {
                        Truth::Known(true) | Truth::Status(true) => {}
                        Truth::Known(false) | Truth::Status(false) => {
                            return self.end_loop(base, true, start, &assumed);
                        }
                        Truth::Assumed(value, why) => {
                            if !value {
                                if rounds == 0 {
                                    return self.skipped_loop(base, condition, step, body, why);
                                }
                                assumed = crate::value::union(&assumed, &why);
                                return self.end_loop(base, true, start, &assumed);
                            }
                            assumed = crate::value::union(&assumed, &why);
                        }
                        Truth::Unknown => {
                            self.memory.undo(before);
                            break;
                        }
                    }
                }
                rounds += 1;
                self.iterations_left = self.iterations_left.saturating_sub(1);
                let flow = self.block(body);
                let (reached, _) =
                    self.collect(base, flow == Flow::Next || flow == Flow::Continue, |f| *f == Flow::Continue);
                if !reached {
                    return match flow {
                        Flow::Break => self.end_loop(base, true, start, &assumed),
                        other => {
                            let reached = self.collect(base, false, |f| *f == Flow::Break).0;
                            if reached { self.end_loop(base, true, start, &assumed) } else { other }
                        }
                    };
                }
                if let Some(step) = step {
                    self.eval(step);
                }
            }
        }
        self.abstract_loop(condition, step, body, start, base)
    }

    /// How often a loop `i < n` with both sides known still runs, if it counts by one.
    fn trips(&mut self, condition: Option<ExprId>) -> Option<i64> {
        let Some(Expr::Binary(op, a, b)) = self.node(condition?).map(|node| &node.kind) else { return None };
        let simple = |w: &Self, id: ExprId| {
            matches!(w.node(id).map(|node| &node.kind), Some(Expr::Local(_) | Expr::Int { .. } | Expr::Name { .. }))
        };
        if !op.is_comparison() || !simple(self, *a) || !simple(self, *b) {
            return None;
        }
        let (left, right) = (self.eval(*a), self.eval(*b));
        Some((left.val.known()? - right.val.known()?).saturating_abs())
    }

    /// The end of a loop whose iterations were all run.
    fn end_loop(&mut self, base: usize, reached: bool, start: usize, assumed: &crate::value::Assumptions) -> Flow {
        let (reached, _) = self.collect(base, reached, |flow| *flow == Flow::Break);
        if assumed.is_some() {
            // How often the loop ran rests on it, and so does all that it wrote.
            self.memory.taint_since(start, assumed);
        }
        if reached { Flow::Next } else { Flow::Stop }
    }

    /// A loop that is not entered under an assumption: its body is run for what it says, and forgotten.
    fn skipped_loop(
        &mut self,
        base: usize,
        condition: Option<ExprId>,
        step: Option<ExprId>,
        body: &'p Block,
        why: crate::value::Assumptions,
    ) -> Flow {
        let mark = self.memory.mark();
        let banned = self.banned.len();
        self.banned.extend(why.iter().flat_map(|list| list.iter().cloned()));
        let other = self.alternative(mark, |w| {
            let start = w.memory.mark();
            let base = w.pendings.len();
            w.abstract_loop(condition, step, body, start, base)
        });
        self.banned.truncate(banned);
        let default = self.alternative(mark, |_| Flow::Next);
        let _ = base;
        self.settle(mark, vec![default, other], &JoinRule::Current(why))
    }

    /// A loop that runs nobody knows how often: what it may write is forgotten first, then its body is run once.
    fn abstract_loop(
        &mut self,
        condition: Option<ExprId>,
        step: Option<ExprId>,
        body: &'p Block,
        start: usize,
        base: usize,
    ) -> Flow {
        self.forget_since(start);
        if self.dry == 0 {
            for _ in 0..2 {
                let mark = self.memory.mark();
                self.dry += 1;
                self.loop_round(condition, step, body);
                self.dry -= 1;
                let written = self.memory.written_since(mark);
                self.memory.undo(mark);
                let mut news = false;
                for id in written {
                    let object = self.memory.get(id);
                    // What a pointer led to in the first round, it need not in the next.
                    let mut pointers = Vec::new();
                    object.pointers(&[], &mut pointers);
                    news |= !pointers.is_empty();
                    self.memory.forget_object(id);
                }
                if !news {
                    break;
                }
            }
            if self.stopped.is_some() {
                return Flow::Stop;
            }
        }
        let mark = self.memory.mark();
        let round = self.alternative(mark, |w| {
            // Paths of iterations that were run one by one wait outside.
            let inside = w.pendings.len();
            let flow = w.loop_round(condition, step, body);
            let reached = !matches!(flow, Flow::Stop | Flow::Return | Flow::Goto(_));
            let (reached, _) = w.collect(inside, reached, |f| matches!(f, Flow::Continue | Flow::Break));
            if reached { Flow::Next } else { flow }
        });
        let none = self.alternative(mark, |_| Flow::Next);
        let flow = self.settle(mark, vec![none, round], &JoinRule::Either);
        self.collect(base, true, |f| matches!(f, Flow::Continue | Flow::Break));
        self.forget_since(start);
        flow
    }

    fn loop_round(&mut self, condition: Option<ExprId>, step: Option<ExprId>, body: &'p Block) -> Flow {
        if let Some(condition) = condition {
            self.eval(condition);
        }
        let flow = self.block(body);
        if let Some(step) = step {
            self.eval(step);
        }
        flow
    }

    fn is_worth(&mut self, body: &Block) -> bool {
        let Some(first) = body.first() else { return false };
        let key = (self.module_id(), first.0);
        if let Some(worth) = self.worth.get(&key) {
            return *worth;
        }
        let worth = self.has_calls(body);
        self.worth.insert(key, worth);
        worth
    }

    /// Whether running a loop's iterations one by one can say something: it calls, launches or allocates.
    fn has_calls(&self, body: &Block) -> bool {
        let (module, Some(function)) = (self.module(), self.function()) else { return false };
        let mut found = false;
        let mut seen = 0;
        cudalint_program::visit::walk(module, function, body, |item| {
            seen += 1;
            if let cudalint_program::visit::Item::Expr(id) = item
                && let Some(node) = module.exprs.get(id.index())
            {
                found |= match &node.kind {
                    Expr::Launch(_) | Expr::New { .. } => true,
                    Expr::Call { callee, .. } => self.is_device_call(*callee),
                    _ => false,
                };
            }
            !found && seen < 2000
        });
        found
    }

    fn for_each(&mut self, variable: LocalId, range: ExprId, body: &'p Block) -> Flow {
        let out = self.eval(range);
        let start = self.memory.mark();
        let base = self.pendings.len();
        let Some(function) = self.function() else { return Flow::Next };
        let Some(local) = function.locals.get(variable.index()) else { return Flow::Next };
        let ty = self.resolve(local.ty);
        let element = match out.ty.value() {
            Ty::Container(Container::Vector | Container::Array, inner, _) | Ty::Array(inner, _) => (**inner).clone(),
            _ => Ty::Unknown,
        };
        match &ty {
            Ty::Ref(inner, is_const) => {
                // A write through the variable reaches the range's elements.
                if !is_const {
                    self.contents_change(&out);
                }
                let place = self.elements_of(&out);
                let known = if inner.is_unknown() { element } else { (**inner).clone() };
                self.set_slot(variable, Slot::Alias(place, known));
            }
            other => {
                let known = if other.is_unknown() { element } else { other.clone() };
                let object: ObjId = self.create_variable(&local.name, local.span, known, Val::unknown());
                self.set_slot(variable, Slot::Object(object));
            }
        }
        self.abstract_loop(None, None, body, start, base)
    }

    /// Some element of a container or array.
    fn elements_of(&self, out: &Out) -> Place {
        match (&out.val.kind, &out.place) {
            (Kind::Ptr(Ptr { obj, path, .. }), _) => Place::Weak(*obj, path.clone()),
            (_, Some(Place::Cell(obj, path))) => {
                let data = crate::memory::extend(path, crate::memory::Key::Field(Name::from("#data")));
                match self.memory.load(&Place::Cell(*obj, data)).kind {
                    Kind::Ptr(Ptr { obj, path, .. }) => Place::Weak(obj, path),
                    _ => Place::Unknown,
                }
            }
            _ => Place::Unknown,
        }
    }

    fn switch(&mut self, value: ExprId, cases: &'p [SwitchCase]) -> Flow {
        let out = self.eval(value);
        let base = self.pendings.len();
        let known = if self.dry == 0 && out.val.why.is_none() { out.val.known() } else { None };
        let labels: Vec<Option<Option<i64>>> =
            cases.iter().map(|case| case.value.map(|value| self.eval(value).val.known())).collect();
        let flow = if let (Some(value), true) = (known, labels.iter().flatten().all(Option::is_some)) {
            let start = labels
                .iter()
                .position(|label| *label == Some(Some(value)))
                .or_else(|| labels.iter().position(Option::is_none));
            match start {
                Some(start) => self.cases(&cases[start..]),
                None => Flow::Next,
            }
        } else {
            let mark = self.memory.mark();
            let banned = self.banned.len();
            let mut alternatives = Vec::new();
            for start in 0..cases.len() {
                // An empty body falls into the next, which is run anyway.
                if cases[start].body.is_empty() && start + 1 < cases.len() {
                    continue;
                }
                alternatives.push(self.alternative(mark, |w| w.cases(&cases[start..])));
                self.banned.truncate(banned);
            }
            if labels.iter().all(Option::is_some) {
                alternatives.push(self.alternative(mark, |_| Flow::Next));
            }
            self.settle(mark, alternatives, &JoinRule::Either)
        };
        let reached = matches!(flow, Flow::Next | Flow::Break);
        let (reached, _) = self.collect(base, reached, |flow| *flow == Flow::Break);
        if reached { Flow::Next } else { flow }
    }

    fn cases(&mut self, cases: &'p [SwitchCase]) -> Flow {
        for case in cases {
            let flow = self.block(&case.body);
            if flow != Flow::Next {
                return flow;
            }
            if self.dry > 0 {
                return Flow::Next;
            }
        }
        Flow::Next
    }

    fn try_block(&mut self, body: &'p Block, handlers: &'p [Block]) -> Flow {
        let mark = self.memory.mark();
        let flow = self.block(body);
        for handler in handlers {
            // A handler starts from any point of the body: whatever the body wrote may or may not have been written.
            let before = self.pendings.len();
            let inner = self.memory.mark();
            self.forget_since(mark);
            let left = self.block(handler);
            let diff = self.memory.diff(inner);
            self.memory.undo(inner);
            if left == Flow::Next {
                self.memory.join(diff, inner, &JoinRule::Either);
            } else if left == Flow::Stop {
                self.pendings.truncate(before);
            }
        }
        flow
    }

    fn unknown_statement(&mut self, exprs: &'p [ExprId], blocks: &'p [Block]) -> Flow {
        for expr in exprs {
            self.eval(*expr);
            self.forget_lvalue(*expr);
        }
        for block in blocks {
            let mark = self.memory.mark();
            let run = self.alternative(mark, |w| w.block(block));
            let none = self.alternative(mark, |_| Flow::Next);
            self.settle(mark, vec![none, run], &JoinRule::Either);
        }
        Flow::Next
    }

    /// Code is missing here: the names it mentions may have been given any value.
    fn elide(&mut self, names: &[Name]) {
        self.elided = true;
        let objects: Vec<ObjId> = self
            .frames
            .iter()
            .flat_map(|frame| frame.slots.iter())
            .filter_map(|slot| match slot {
                Slot::Object(id) => Some(*id),
                _ => None,
            })
            .collect();
        for id in objects {
            let object = self.memory.get(id);
            let unset = matches!(object.root.kind, Kind::Uninit(_));
            if unset || names.contains(&object.info.name) {
                self.memory.forget_reachable(id);
            }
        }
    }
}
