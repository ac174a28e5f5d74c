//! Loops: those with known bounds run one by one as far as that is worth it, others once with everything forgotten that
//! they may write.

use super::choices::compares_texts;
use super::flow::Truth;
use super::{Out, Slot, Walker};
use crate::facts::LostAt;
use crate::host::{Flow, JoinRule, Mark, ObjId, Paths};
use crate::memory::{Freed, Place, root};
use crate::quantity::Quantity;
use crate::value::{Kind, Ptr, Val};
use cudalint_program::Name;
use cudalint_program::ir::{BinaryOp, Block, Expr, ExprId, LocalId, LoopKind, Stmt, Type};
use cudalint_program::types::{Container, Ty};
use cudalint_program::visit::{Item, walk};

/// Deepest nesting of loops whose first rounds are run by themselves: each level doubles the work.
const MAX_FIRST_ROUNDS: u32 = 2;

/// What is done in each round of a loop.
#[derive(Clone, Copy)]
struct Rounds<'p> {
    condition: Option<ExprId>,
    step: Option<ExprId>,
    body: &'p Block,
}

/// The last round of a loop that counts.
struct LastRound {
    /// The counter.
    counter: ExprId,
    /// Its value then.
    value: Val,
    /// What the counter is compared with, and its value.
    bound: (ExprId, i64),
}

impl<'p> Walker<'p> {
    /// A loop with a condition.
    pub fn run_loop(
        &mut self,
        kind: LoopKind,
        condition: Option<ExprId>,
        step: Option<ExprId>,
        body: &'p Block,
    ) -> Flow {
        let known = self.path.known();
        self.lifetimes.loops += 1;
        let passed = self.passed_by();
        let mut flow = self.run_rounds(kind, Rounds { condition, step, body });
        self.leaves_rounds(passed);
        self.lifetimes.loops -= 1;
        if flow == Flow::Next && self.is_endless(kind, condition, body) {
            flow = Flow::Stop;
        }
        // What an iteration that was left early says holds for the rest of that iteration.
        self.path.leave_frame(known, 1);
        flow
    }

    /// Whether nothing comes behind a loop: its condition is a number that is not zero, or there is none, and nothing in it leads out but
    /// out of the function.
    fn is_endless(&self, kind: LoopKind, condition: Option<ExprId>, body: &Block) -> bool {
        let goes_on = match condition {
            Some(condition) => matches!(self.kind(condition), Some(Expr::Int { value, .. }) if *value != 0),
            None => kind == LoopKind::For,
        };
        let (true, Some(function)) = (goes_on, self.function()) else { return false };
        let (module, mut leads_out) = (self.module(), false);
        walk(module, function, body, |item| {
            if let Item::Stmt(id) = item {
                let statement = module.stmts.get(id).map(|node| &node.kind);
                leads_out |= matches!(
                    statement,
                    Some(Stmt::Break | Stmt::Goto(_) | Stmt::Unknown { .. } | Stmt::Elided { .. }) | None
                );
            }
            !leads_out
        });
        !leads_out
    }

    fn run_rounds(&mut self, kind: LoopKind, rounds: Rounds<'p>) -> Flow {
        let Rounds { condition, step, body } = rounds;
        let start = self.memory.mark();
        let base = self.pendings.len();
        let mut assumed: crate::quantity::Assumptions = None;
        if self.dry == 0 {
            let worth = self.is_worth(body);
            let most = if worth { i64::from(self.options.iterations) } else { 6 };
            if kind != LoopKind::DoWhile && self.trips(condition, step).is_some_and(|trips| trips > most) {
                return self.long_loop(rounds, start, base);
            }
            let mut done = 0;
            let mut first = true;
            let start_steps = self.budget.steps;
            loop {
                let tested = !(first && kind == LoopKind::DoWhile);
                first = false;
                if tested {
                    // An expensive body leaves something for what comes after the loop.
                    let over = 2 * i64::from(self.budget.steps) - i64::from(start_steps);
                    let expensive = done >= 3 && over < 0;
                    if done >= 3 {
                        self.recording.margins.note_loop(over);
                    }
                    if done >= most || self.iterations_left == 0 || expensive {
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
                            if let (0, Truth::Known(_), Some(condition)) = (done, truth, condition) {
                                self.passes(body, condition);
                            }
                            return self.end_loop(base, true, start, &assumed);
                        }
                        Truth::Assumed(value, why) => {
                            if !value {
                                if done == 0 {
                                    return self.skipped_loop(rounds, why);
                                }
                                assumed = crate::quantity::union(&assumed, &why);
                                return self.end_loop(base, true, start, &assumed);
                            }
                            assumed = crate::quantity::union(&assumed, &why);
                        }
                        Truth::Unknown => {
                            self.memory.undo(before);
                            if done == 0 {
                                return self.long_loop(rounds, start, base);
                            }
                            break;
                        }
                    }
                }
                done += 1;
                self.iterations_left = self.iterations_left.saturating_sub(1);
                let flow = self.round(body);
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
        self.abstract_loop(rounds, start, base)
    }

    /// How often a loop `i < n` with both sides known still runs at most: as often as it counts by one, or less where it
    /// goes in leaps.
    fn trips(&mut self, condition: Option<ExprId>, step: Option<ExprId>) -> Option<i64> {
        let leaps = step.and_then(|step| self.node(step)).is_some_and(|node| {
            let factor = |op: &BinaryOp| matches!(op, BinaryOp::Mul | BinaryOp::Div | BinaryOp::Shl | BinaryOp::Shr);
            match &node.kind {
                Expr::Assign { op: Some(op), .. } => factor(op),
                Expr::Assign { op: None, value, .. } => {
                    matches!(self.kind(*value), Some(Expr::Binary(op, ..)) if factor(op))
                }
                _ => false,
            }
        });
        let Some(Expr::Binary(op, a, b)) = self.kind(condition?) else { return None };
        let simple =
            |w: &Self, id: ExprId| matches!(w.kind(id), Some(Expr::Local(_) | Expr::Int { .. } | Expr::Name { .. }));
        if !op.is_comparison() || !simple(self, *a) || !simple(self, *b) {
            return None;
        }
        let (left, right) = (self.eval(*a), self.eval(*b));
        let distance = left.val.known()?.checked_sub(right.val.known()?)?.saturating_abs();
        Some(if leaps { i64::from(i64::BITS - distance.leading_zeros()) } else { distance })
    }

    /// A loop that runs too often, or nobody knows how often. Its first round, if there is one, finds everything as it is now:
    /// where that can say something, it is run before what the loop writes is forgotten.
    fn long_loop(&mut self, rounds: Rounds<'p>, start: Mark, base: usize) -> Flow {
        let Rounds { condition, step, body } = rounds;
        let goes = self.is_worth(body) && self.iterations_left > 0 && self.loops_inside < MAX_FIRST_ROUNDS;
        let Some(written) = goes.then(|| self.written_in_rounds(step, body)).flatten() else {
            return self.abstract_loop(rounds, start, base);
        };
        let last = condition.zip(step).and_then(|(condition, step)| self.last_of(condition, step, body));
        self.iterations_left -= 1;
        self.loops_inside += 1;
        if let Some(frame) = self.frames.last_mut() {
            frame.first_rounds.push(written);
        }
        let (mark, begun) = (self.memory.mark(), self.begun());
        let first = self.alternative(mark, |w| {
            let inside = w.pendings.len();
            let flow = w.loop_round(rounds);
            let reached = !matches!(flow, Flow::Stop | Flow::Return | Flow::Goto(_));
            let (reached, _) = w.collect(inside, reached, |f| matches!(f, Flow::Continue | Flow::Break));
            if reached { Flow::Next } else { flow }
        });
        if let Some(frame) = self.frames.last_mut() {
            frame.first_rounds.pop();
        }
        self.loops_inside -= 1;
        self.forget_begun(begun);
        let none = self.alternative(mark, |_| Flow::Next);
        self.settle(mark, [none, first], &JoinRule::Either);
        if self.budget.stopped.is_some() {
            return Flow::Stop;
        }
        let flow = self.abstract_loop(rounds, start, base);
        if let Some(last) = last.filter(|_| self.dry == 0 && self.iterations_left > 0) {
            self.last_round(&last, body);
            if self.budget.stopped.is_some() {
                return Flow::Stop;
            }
        }
        flow
    }

    /// The counter of a loop that counts by one between known numbers and is left only at its end, with its value in the
    /// last round.
    fn last_of(&mut self, condition: ExprId, step: ExprId, body: &Block) -> Option<LastRound> {
        let Some(Expr::Step { by, target, .. }) = self.kind(step) else { return None };
        let Some(Expr::Binary(op, a, b)) = self.kind(condition) else { return None };
        let (Some(Expr::Local(stepped)), Some(Expr::Local(tested))) = (self.kind(*target), self.kind(*a)) else {
            return None;
        };
        let (op, by, b) = (*op, *by, *b);
        let counter = (stepped == tested && self.runs_through(body, &[*target, *a, b])).then_some(*a)?;
        let Kind::Int(first) = self.eval(counter).val.kind else { return None };
        let bound = self.plain_quantity(b).known()?;
        let value = match (op, by) {
            (BinaryOp::Lt, 1) => bound.checked_sub(1)?,
            (BinaryOp::Le, 1) | (BinaryOp::Ge, -1) => bound,
            (BinaryOp::Gt, -1) => bound.checked_add(1)?,
            _ => return None,
        };
        let from = first.q.known()?;
        // Other rounds lie between, so that this one finds nothing as it was before the loop.
        let rounds = value.checked_sub(from)?.checked_mul(i64::from(by))?;
        let value = Val::typed(Quantity::Known(value), first.bytes, first.signed);
        (rounds > 0).then_some(LastRound { counter, value, bound: (b, bound) })
    }

    /// Whether nothing in a loop's body leaves it early or writes the variables that these expressions name.
    fn runs_through(&self, body: &Block, bounds: &[ExprId]) -> bool {
        let kind = |id: ExprId| self.kind(id);
        let locals: Vec<LocalId> = bounds
            .iter()
            .filter_map(|id| if let Some(Expr::Local(local)) = kind(*id) { Some(*local) } else { None })
            .collect();
        self.leaves_alone(body, &locals, true)
    }

    /// Whether nothing in a block writes these variables, as far as it shows; `to_the_end`: nor leaves it early.
    pub(super) fn leaves_alone(&self, body: &Block, locals: &[LocalId], to_the_end: bool) -> bool {
        let (module, Some(function)) = (self.module(), self.function()) else { return false };
        let kind = |id: ExprId| module.exprs.get(id).map(|node| &node.kind);
        let names_one = |id: ExprId| matches!(kind(id), Some(Expr::Local(local)) if locals.contains(local));
        let mut through = true;
        let mut seen = 0;
        walk(module, function, body, |item| {
            seen += 1;
            match item {
                Item::Stmt(id) => {
                    let statement = module.stmts.get(id).map(|node| &node.kind);
                    let leaves =
                        matches!(statement, Some(Stmt::Break | Stmt::Return(_) | Stmt::Goto(_) | Stmt::Label(_)));
                    through &= !(leaves && to_the_end);
                }
                Item::Expr(id) => {
                    through &= !match kind(id) {
                        Some(Expr::Assign { target, .. } | Expr::Step { target, .. }) => names_one(*target),
                        Some(Expr::AddressOf(value)) => names_one(*value),
                        // A reference may be bound to it.
                        Some(Expr::Call { callee, args }) => {
                            let only_reads = matches!(kind(*callee), Some(Expr::Name { path, .. })
                                if path.last().is_some_and(|name| name.ends_with("printf") || compares_texts(name)));
                            !only_reads && args.iter().any(|arg| names_one(*arg))
                        }
                        Some(Expr::Lambda { .. } | Expr::Place { .. } | Expr::Unknown(_)) => true,
                        _ => false,
                    };
                }
                Item::Declare(_) => {}
            }
            through && seen < 2000
        });
        through && seen < 2000
    }

    /// The last round of a loop, from a state in which what the loop writes is forgotten: run for what it says.
    fn last_round(&mut self, last: &LastRound, body: &'p Block) {
        // A bound that the loop may change is forgotten by now.
        if self.plain_quantity(last.bound.0).known() != Some(last.bound.1) {
            return;
        }
        self.iterations_left -= 1;
        let (mark, waiting, banned) = (self.memory.mark(), self.pendings.len(), self.path.excluded().len());
        let begun = self.begun();
        self.alternative(mark, |w| {
            if let Some(place) = w.eval(last.counter).place {
                w.memory.store(&place, last.value.clone());
            }
            let inside = w.pendings.len();
            let flow = w.block(body);
            let (_, _) = w.collect(inside, false, |f| matches!(f, Flow::Continue | Flow::Break));
            flow
        });
        self.forget_begun(begun);
        self.pendings.truncate(waiting);
        self.path.readmit(banned);
    }

    /// The end of a loop whose iterations were all run.
    fn end_loop(&mut self, base: usize, reached: bool, start: Mark, assumed: &crate::quantity::Assumptions) -> Flow {
        let (reached, _) = self.collect(base, reached, |flow| *flow == Flow::Break);
        if assumed.is_some() {
            // How often the loop ran rests on it, and so does all that it wrote.
            self.memory.taint_since(start, assumed);
        }
        if reached { Flow::Next } else { Flow::Stop }
    }

    /// A loop that is not entered under an assumption: its body is run for what it says, and forgotten.
    fn skipped_loop(&mut self, rounds: Rounds<'p>, why: crate::quantity::Assumptions) -> Flow {
        let mark = self.memory.mark();
        let banned = self.path.excluded().len();
        self.path.exclude(&why);
        let other = self.alternative(mark, |w| {
            let start = w.memory.mark();
            let base = w.pendings.len();
            w.abstract_loop(rounds, start, base)
        });
        self.path.readmit(banned);
        let default = self.alternative(mark, |_| Flow::Next);
        self.settle(mark, [default, other], &JoinRule::Current(why))
    }

    /// A loop that runs nobody knows how often: what it may write is forgotten first, then its body is run once.
    fn abstract_loop(&mut self, rounds: Rounds<'p>, start: Mark, base: usize) -> Flow {
        self.forget_rounds(start);
        if self.dry == 0 {
            for _ in 0..2 {
                let mark = self.memory.mark();
                self.dry += 1;
                self.loop_round(rounds);
                self.dry -= 1;
                let written = self.memory.written_since(mark);
                let lives = |w: &Self, id: ObjId| w.memory.get(id).freed == Freed::No;
                let alive: Vec<bool> = written.iter().map(|id| lives(self, *id)).collect();
                self.memory.undo(mark);
                let mut news = false;
                for (id, alive) in written.into_iter().zip(alive) {
                    let object = self.memory.get(id);
                    // What a pointer led to in the first round, it need not in the next.
                    let mut pointers = Vec::new();
                    object.pointers(&[], &mut pointers);
                    news |= !pointers.is_empty();
                    self.forget_round(id, alive);
                }
                if !news {
                    break;
                }
            }
            if self.budget.stopped.is_some() {
                return Flow::Stop;
            }
        }
        let (mark, begun) = (self.memory.mark(), self.begun());
        let round = self.alternative(mark, |w| {
            // Paths of iterations that were run one by one wait outside.
            let inside = w.pendings.len();
            let flow = w.loop_round(rounds);
            let reached = !matches!(flow, Flow::Stop | Flow::Return | Flow::Goto(_));
            let (reached, _) = w.collect(inside, reached, |f| matches!(f, Flow::Continue | Flow::Break));
            if reached { Flow::Next } else { flow }
        });
        self.forget_begun(begun);
        let none = self.alternative(mark, |_| Flow::Next);
        let flow = self.settle(mark, [none, round], &JoinRule::Either);
        self.collect(base, true, |f| matches!(f, Flow::Continue | Flow::Break));
        self.forget_rounds(start);
        flow
    }

    /// Forgets what rounds have written since the mark; what none of them has freed is still there.
    fn forget_rounds(&mut self, mark: Mark) {
        for id in self.memory.written_since(mark) {
            self.forget_round(id, true);
        }
    }

    /// Forgets what an object that rounds write holds, and whether it is there unless it is behind each round.
    fn forget_round(&mut self, id: ObjId, alive: bool) {
        if alive && self.memory.get(id).freed == Freed::No {
            self.memory.forget(id, &root());
        } else {
            self.memory.forget_object(id);
        }
    }

    fn loop_round(&mut self, Rounds { condition, step, body }: Rounds<'p>) -> Flow {
        if let Some(condition) = condition {
            if self.dry == 0 {
                // Forgotten again at the loop's end.
                self.assume(condition, usize::MAX);
            }
            self.eval(condition);
        }
        let flow = self.round(body);
        if let Some(step) = step {
            self.eval(step);
        }
        flow
    }

    /// A round of a loop, at whose end the variables of its body end.
    fn round(&mut self, body: &'p Block) -> Flow {
        let first = self.memory.count();
        let flow = self.block(body);
        if flow == Flow::Next
            && let Some(last) = body.last()
        {
            let end = self.module().stmts.get(*last).map(|stmt| stmt.span).unwrap_or_default();
            self.tell_lost(first, LostAt::Round, end, None);
        }
        flow
    }

    /// Whether running a loop's iterations one by one can say something: it calls, launches or allocates.
    pub fn has_calls(&self, body: &Block) -> bool {
        let (module, Some(function)) = (self.module(), self.function()) else { return false };
        let mut found = false;
        let mut seen = 0;
        walk(module, function, body, |item| {
            seen += 1;
            if let Item::Expr(id) = item
                && let Some(node) = module.exprs.get(id)
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

    /// `for (x : range)`.
    pub fn for_each(&mut self, variable: LocalId, range: ExprId, body: &'p Block) -> Flow {
        let out = self.eval(range);
        let start = self.memory.mark();
        let base = self.pendings.len();
        let Some(function) = self.function() else { return Flow::Next };
        let Some(local) = function.locals.get(variable) else { return Flow::Next };
        let ty = self.resolve(local.ty);
        // The iterators of a class of its own lead wherever the object leads: a write through the variable may reach all that.
        let read_only = match self.module().types.get(local.ty) {
            Some(Type::Reference(to)) => self.module().is_const(*to),
            _ => !matches!(ty, Ty::Reference(_)),
        };
        if !(read_only && ty.value().is_scalar()) && matches!(self.elements_of(&out), Place::Unknown) {
            self.escape_from_class(&out);
        }
        let element = match (out.ty.value(), out.ty.value().container()) {
            (Ty::Array(inner, _), _) => (**inner).clone(),
            (_, Some((Container::Vector | Container::Array, inner, _))) => inner.clone(),
            _ => Ty::Unknown,
        };
        match &ty {
            Ty::Reference(inner) => {
                // A write through the variable reaches the range's elements.
                if !read_only {
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
        let known = self.path.known();
        self.lifetimes.loops += 1;
        let flow = self.abstract_loop(Rounds { condition: None, step: None, body }, start, base);
        self.lifetimes.loops -= 1;
        self.path.leave_frame(known, 1);
        flow
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
}
