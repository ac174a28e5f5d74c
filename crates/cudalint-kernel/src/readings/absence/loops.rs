//! Loops: what their rounds have in common is looked for first, then one round is walked that stands for all.
//!
//! Of a loop in which threads wait for each other, both of two threads are in the same round. What no barrier parts is then:
//! what stands before the loop and the first round up to its first barrier; what stands between two barriers of a round; what
//! stands behind the last barrier of a round and the next round up to its first; and what comes behind the loop.

use super::state::{Enclosing, Flow, Loop, Refusal, State, Truth, Value, without_bases};
use super::sums::{Fact, Sum, Symbol};
use super::symbols::Nature;
use super::walk::{Walked, Walker};
use crate::code::{Expr, ExprId, Item, Place, Stmt, StmtId, Ty};
use std::rc::Rc;

/// How often it is looked what a round keeps.
const MAX_ROUNDS: u32 = 7;

/// What is known of a register at the beginning of each round.
#[derive(Clone, Debug)]
struct Plan {
    register: usize,
    /// All threads have the same value.
    uniform: bool,
    /// What each round adds.
    step: Option<Sum>,
    /// Bounds: the value is at least (or at most) so much.
    bounds: Vec<(bool, Sum)>,
    /// A pointer leads into the same memory.
    same_base: bool,
}

/// What one round comes to.
struct Round {
    end: Option<State>,
    flow: Flow,
    truth: Option<Rc<Truth>>,
    apart: bool,
}

impl<'c> Walker<'c> {
    /// A loop in which no thread waits for another.
    pub(super) fn free_loop(&mut self, of: Loop<'c>, state: &State) -> Walked<Flow> {
        let (divergent, depth) = (self.divergent, self.depth);
        self.free += 1;
        let plans = self.plans(of, state, false)?;
        let (start, _) = self.entered(&plans, state, false, false);
        let round = self.round(of, start, false)?;
        self.free -= 1;
        (self.divergent, self.depth) = (divergent, depth);
        let Round { mut flow, truth, apart, .. } = round;
        let uniform = truth.as_ref().is_none_or(|truth| truth.nature.uniform) && !apart;
        let breaks = std::mem::take(&mut flow.breaks);
        let mut exits = Vec::new();
        if of.condition.is_some() {
            let mut plans = plans.clone();
            for plan in &mut plans {
                plan.uniform &= uniform;
            }
            let (mut exit, rounds) = self.entered(&plans, state, uniform, uniform);
            if of.body_first {
                self.symbols.note(rounds, Fact::at_least(&Sum::symbol(rounds), &Sum::number(1)));
            }
            if let Some(condition) = of.condition.filter(|condition| !of.body_first || self.changes_nothing(*condition))
            {
                let truth = self.condition(condition, &mut exit)?;
                exit.path.extend(truth.no.iter().cloned());
            }
            exits.push(exit);
        }
        for mut exit in breaks {
            if !uniform {
                // Threads leave in different rounds.
                for plan in &plans {
                    self.forget(&mut exit, plan.register);
                }
            }
            exits.push(exit);
        }
        exits.retain(|state| !state.dead);
        let nature = Nature { own: true, uniform };
        flow.next = self.joined(exits, nature).into_iter().collect();
        flow.continues.clear();
        Ok(flow)
    }

    /// A loop in which threads meet.
    pub(super) fn common_loop(&mut self, of: Loop<'c>, state: &State) -> Walked<Flow> {
        let site = self.code.stmt(of.id).site;
        let parts = [of.condition, of.step];
        if parts.into_iter().flatten().any(|part| self.meets_in(part)) {
            return Err(Refusal { cause: "a barrier in the head of a loop", site });
        }
        let plans = self.plans(of, state, true)?;
        let mut flow = Flow::default();
        let (stops, crossed) = (state.stops, state.crossed);
        // The first round, up to its first barrier.
        let mut first = state.clone();
        if !of.body_first {
            self.turn(of, &mut first, (stops, crossed), &mut flow.next)?;
        }
        self.up_to_barrier(of, first, (stops, crossed), &mut flow)?;
        if stops {
            return Ok(flow);
        }
        // A round that stands for all, from its first barrier on.
        let (mut any, _) = self.entered(&plans, state, true, true);
        any.open.clear();
        any.crossed = false;
        if !of.body_first {
            self.turn(of, &mut any, (false, false), &mut Vec::new())?;
        }
        let round = self.body(of, any, true)?;
        // Who leaves before the first barrier is met again below, with what the round before left open.
        flow.next.extend(round.breaks.into_iter().map(|state| State { crossed: true, ..state }));
        flow.returns.extend(round.returns.into_iter().map(|(state, value)| (State { crossed: true, ..state }, value)));
        let mut ends: Vec<State> = round.next.into_iter().chain(round.continues).filter(|state| !state.dead).collect();
        if ends.iter().any(|state| !state.crossed) {
            return Err(Refusal { cause: "a round of a loop that may come by no barrier", site });
        }
        if ends.len() > 3 {
            ends = self.joined(ends, Nature::COMMON).into_iter().collect();
        }
        // Around, and up to the first barrier of the next.
        for mut end in ends {
            if let Some(step) = of.step {
                self.eval(step, &mut end)?;
            }
            self.turn(of, &mut end, (false, true), &mut flow.next)?;
            self.up_to_barrier(of, end, (false, true), &mut flow)?;
        }
        Ok(flow)
    }

    /// The condition before a round: who leaves goes on behind the loop, the others go on here.
    fn turn(&mut self, of: Loop<'c>, state: &mut State, flags: (bool, bool), exits: &mut Vec<State>) -> Walked<()> {
        let Some(condition) = of.condition else { return Ok(()) };
        let truth = self.condition(condition, state)?;
        if !truth.nature.uniform {
            let site = self.code.expr(condition).site;
            return Err(Refusal { cause: "a loop with a barrier whose rounds are not the same for all threads", site });
        }
        let refuted = self.is_refuted(&truth.no, &state.path);
        if !refuted {
            let mut exit = state.clone();
            exit.path.extend(truth.no.iter().cloned());
            (exit.stops, exit.crossed) = flags;
            exits.push(exit);
        }
        state.dead |= self.is_refuted(&truth.yes, &state.path);
        state.path.extend(truth.yes.iter().cloned());
        Ok(())
    }

    fn is_refuted(&mut self, facts: &[Fact], path: &[Fact]) -> bool {
        !facts.is_empty() && self.symbols.contradict(facts, path)
    }

    /// The body up to its first barrier.
    fn up_to_barrier(&mut self, of: Loop<'c>, mut state: State, flags: (bool, bool), flow: &mut Flow) -> Walked<()> {
        if state.dead {
            return Ok(());
        }
        state.stops = true;
        state.crossed = false;
        let round = self.body(of, state, true)?;
        if round.next.iter().chain(&round.continues).any(|state| !state.dead) {
            let site = self.code.stmt(of.id).site;
            return Err(Refusal { cause: "a round of a loop that may come by no barrier", site });
        }
        for mut state in round.breaks.into_iter().filter(|state| !state.dead) {
            (state.stops, state.crossed) = flags;
            flow.next.push(state);
        }
        for (mut state, value) in round.returns.into_iter().filter(|(state, _)| !state.dead) {
            (state.stops, state.crossed) = flags;
            flow.returns.push((state, value));
        }
        Ok(())
    }

    fn body(&mut self, of: Loop<'c>, state: State, barrier: bool) -> Walked<Flow> {
        self.enclosing.push(Enclosing { barrier, divergent: self.divergent, apart: false, switch: false });
        let flow = self.block(of.body, vec![state]);
        self.enclosing.pop();
        flow
    }

    /// One round, with the condition before it or behind it.
    fn round(&mut self, of: Loop<'c>, mut state: State, common: bool) -> Walked<Round> {
        let mut truth = None;
        if let Some(condition) = of.condition.filter(|_| !of.body_first) {
            let known = self.condition(condition, &mut state)?;
            state.path.extend(known.yes.iter().cloned());
            truth = Some(known);
        }
        let apart = u32::from(truth.as_ref().is_some_and(|truth| !truth.nature.uniform));
        if common && apart > 0 {
            let site = of.condition.map_or_else(|| self.code.stmt(of.id).site, |id| self.code.expr(id).site);
            return Err(Refusal { cause: "a loop with a barrier whose rounds are not the same for all threads", site });
        }
        self.enclosing.push(Enclosing { barrier: common, divergent: self.divergent, apart: false, switch: false });
        self.divergent += apart;
        let flow = self.block(of.body, vec![state]);
        self.divergent -= apart;
        let left = self.enclosing.pop().is_some_and(|it| it.apart);
        let mut flow = flow?;
        let ends: Vec<State> = flow.next.drain(..).chain(flow.continues.drain(..)).filter(|it| !it.dead).collect();
        let mut end = self.joined(ends, Nature { own: self.free > 0, uniform: !left });
        if let Some(end) = &mut end {
            if let Some(step) = of.step {
                self.eval(step, end)?;
            }
            if let Some(condition) = of.condition.filter(|_| of.body_first) {
                let known = self.condition(condition, end)?;
                end.path.extend(known.yes.iter().cloned());
                truth = Some(known);
            }
        }
        Ok(Round { end, flow, truth, apart: left })
    }

    /// What is known of the registers that a loop assigns.
    fn plans(&mut self, of: Loop<'c>, state: &State, common: bool) -> Walked<Vec<Plan>> {
        let mut plans: Vec<Plan> = Vec::new();
        let registers = self.assigned(of);
        for register in registers {
            let value = state.frames.last().and_then(|frame| frame.get(register)).cloned().flatten();
            let Some(value) = value else { continue };
            let mut bounds = Vec::new();
            if let (Value::Number(sum), true) = (&value, self.is_integer(register)) {
                for least in [0, 1] {
                    if self.symbols.follows(&state.path, Fact::at_least(sum, &Sum::number(least))) {
                        bounds.push((true, Sum::number(least)));
                    }
                }
                bounds.push((true, sum.clone()));
                bounds.push((false, sum.clone()));
            }
            let uniform = self.nature(&value).uniform;
            plans.push(Plan { register, uniform, step: None, bounds, same_base: true });
        }
        self.probing += 1;
        let settled = self.settle(of, state, common, &mut plans);
        self.probing -= 1;
        if !settled? {
            for plan in &mut plans {
                *plan = Plan { uniform: false, step: None, bounds: Vec::new(), same_base: false, ..plan.clone() };
            }
        }
        Ok(plans)
    }

    /// Looks what holds of a round's end if it holds of its beginning, until all of it does.
    fn settle(&mut self, of: Loop<'c>, state: &State, common: bool, plans: &mut [Plan]) -> Walked<bool> {
        for number in 0..MAX_ROUNDS {
            let mark = self.symbols.mark();
            let (start, _) = self.entered(plans, state, common, true);
            let mut begin = start.clone();
            begin.crossed = false;
            begin.stops = false;
            let (divergent, depth) = (self.divergent, self.depth);
            let round = self.round(of, begin, common)?;
            (self.divergent, self.depth) = (divergent, depth);
            let Some(end) = round.end else { return Ok(true) };
            let mut changed = false;
            for plan in plans.iter_mut() {
                let value = |state: &State| state.frames.last().and_then(|f| f.get(plan.register)).cloned().flatten();
                changed |= self.weaken(value(&start), value(&end), &end, (number == 0).then_some(mark), plan);
            }
            if !changed {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Takes back what a round does not keep; whether that was anything.
    fn weaken(
        &mut self,
        start: Option<Value>,
        end: Option<Value>,
        state: &State,
        first: Option<Symbol>,
        plan: &mut Plan,
    ) -> bool {
        let mut changed = false;
        let (Some(start), Some(end)) = (start, end) else {
            let weaker = plan.uniform || plan.step.is_some() || !plan.bounds.is_empty() || plan.same_base;
            *plan = Plan { uniform: false, step: None, bounds: Vec::new(), same_base: false, ..plan.clone() };
            return weaker;
        };
        if plan.uniform && !self.nature(&end).uniform {
            plan.uniform = false;
            changed = true;
        }
        if plan.same_base && !same_bases(&start, &end) {
            plan.same_base = false;
            changed = true;
        }
        let added = match (&start, &end) {
            (Value::Number(a), Value::Number(b)) | (Value::Address(_, a), Value::Address(_, b)) => b.plus_times(a, -1),
            _ => None,
        };
        if let Some(mark) = first {
            if let Some(step) = added.filter(|step| step.symbols().all(|symbol| symbol < mark)) {
                plan.step = Some(step);
                plan.bounds.clear();
                return true;
            }
        } else if plan.step.is_some() {
            if plan.step != added {
                plan.step = None;
                changed = true;
            }
            return changed;
        }
        if let Value::Number(value) = &end {
            let count = plan.bounds.len();
            let bounds = std::mem::take(&mut plan.bounds);
            for (above, bound) in bounds {
                let fact = if above { Fact::at_least(value, &bound) } else { Fact::at_least(&bound, value) };
                if self.symbols.follows(&state.path, fact) {
                    plan.bounds.push((above, bound));
                }
            }
            changed |= plan.bounds.len() != count;
        }
        changed
    }

    /// The state at the beginning of some round: of registers what the plans say. Also the number of the round.
    fn entered(&mut self, plans: &[Plan], state: &State, common: bool, uniform: bool) -> (State, Symbol) {
        let mut entered = state.clone();
        let free = Nature { own: self.free > 0, uniform: true };
        let rounds = self.symbols.add(Nature { own: !common, uniform }.and(free));
        let round = Sum::symbol(rounds);
        self.symbols.note(rounds, Fact::at_least(&round, &Sum::default()));
        for plan in plans {
            let before = state.frames.last().and_then(|frame| frame.get(plan.register)).cloned().flatten();
            let Some(before) = before else { continue };
            let nature = Nature { own: !(common && plan.uniform), uniform: plan.uniform }.and(free);
            let value = self.of_plan(&before, plan, &round, nature);
            if let Some(slot) = entered.frames.last_mut().and_then(|frame| frame.get_mut(plan.register)) {
                *slot = Some(value);
            }
        }
        (entered, rounds)
    }

    fn of_plan(&mut self, before: &Value, plan: &Plan, round: &Sum, nature: Nature) -> Value {
        let stepped = |start: &Sum| start.plus_times(&plan.step.as_ref()?.times(round)?, 1);
        match before {
            Value::Number(start) => {
                if let Some(sum) = stepped(start) {
                    return Value::Number(sum);
                }
                let symbol = self.symbols.add(nature);
                let own = Sum::symbol(symbol);
                if let Some(ty) = self.register_type(plan.register) {
                    self.symbols.note_range(symbol, &ty);
                }
                for (above, bound) in &plan.bounds {
                    let fact = if *above { Fact::at_least(&own, bound) } else { Fact::at_least(bound, &own) };
                    self.symbols.note(symbol, fact);
                }
                Value::Number(own)
            }
            Value::Address(base, start) => {
                let sum = stepped(start).unwrap_or_else(|| Sum::symbol(self.symbols.add(nature)));
                let value = Value::Address(*base, sum);
                if plan.same_base { value } else { without_bases(&value) }
            }
            Value::Truth(_) => Value::Truth(Rc::new(Truth { yes: Vec::new(), no: Vec::new(), nature })),
            Value::Parts(parts) => {
                let plan = Plan { step: None, bounds: Vec::new(), ..plan.clone() };
                Value::Parts(Rc::new(
                    parts
                        .iter()
                        .map(|part| match part {
                            Value::Number(_) => self.fresh(nature),
                            other => self.of_plan(other, &plan, round, nature),
                        })
                        .collect(),
                ))
            }
        }
    }

    /// A register of which nothing is known any more.
    fn forget(&mut self, state: &mut State, register: usize) {
        let value = state.frames.last().and_then(|frame| frame.get(register)).cloned().flatten();
        let Some(value) = value else { return };
        let plan = Plan { register, uniform: false, step: None, bounds: Vec::new(), same_base: true };
        let value = self.of_plan(&value, &plan, &Sum::default(), Nature::OWN);
        if let Some(slot) = state.frames.last_mut().and_then(|frame| frame.get_mut(register)) {
            *slot = Some(value);
        }
    }

    fn register_type(&self, register: usize) -> Option<Ty> {
        let (function, _) = self.functions.last()?;
        Some(self.code.functions.get(*function)?.variables.raw.get(register)?.ty.clone())
    }

    fn is_integer(&self, register: usize) -> bool {
        matches!(self.register_type(register), Some(Ty::Int { .. }))
    }

    /// Registers that a loop gives values to.
    fn assigned(&self, of: Loop<'c>) -> Vec<usize> {
        let mut found = Vec::new();
        let mut look = |item: Item| {
            if let Item::Expr(id) = item
                && let Expr::Write(Place::Register { variable, .. }, _)
                | Expr::Update { place: Place::Register { variable, .. }, .. } = &self.code.expr(id).kind
                && !found.contains(&variable.index())
            {
                found.push(variable.index());
            }
            if let Item::Stmt(id) = item
                && let Stmt::Declare(variable) = &self.code.stmt(id).kind
                && !found.contains(&variable.index())
            {
                found.push(variable.index());
            }
            true
        };
        let whole: Vec<StmtId> = vec![of.id];
        self.code.walk(&whole, &mut look);
        found
    }

    fn changes_nothing(&self, id: ExprId) -> bool {
        let mut plain = true;
        self.code.walk_expr(id, |_, kind| {
            plain &= !matches!(
                kind,
                Expr::Write(..) | Expr::Update { .. } | Expr::Call(..) | Expr::Intrinsic(..) | Expr::Statements(..)
            );
            plain
        });
        plain
    }
}

/// Whether pointers lead into the same memory.
fn same_bases(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Address(a, _), Value::Address(b, _)) => a == b,
        (Value::Parts(a), Value::Parts(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| same_bases(a, b))
        }
        (Value::Number(_), Value::Number(_)) | (Value::Truth(_), Value::Truth(_)) => true,
        _ => false,
    }
}
