//! Loops: round by round, as long as what is left pays for them.

use super::lanes::{Lanes, Mask, OFF};
use super::machine::{BREAK_MAYBE, BREAK_SURE, CONTINUE_MAYBE, CONTINUE_SURE, Machine};
use super::record::Iteration;
use super::state::{Divergence, Open};
use crate::code::{Block, Code, Expr, ExprId, Intrinsic, Stmt, StmtId};
use crate::report::OpenKind;

/// A loop that has cost one part in so many of what is left is expensive.
const EXPENSIVE: u64 = 10;

/// Most rounds of a loop that are followed however little they cost.
const MOST_ROUNDS: u32 = 4096;

impl Machine<'_> {
    pub(super) fn run_loop(
        &mut self,
        id: StmtId,
        condition: Option<ExprId>,
        body_first: bool,
        step: Option<ExprId>,
        body: &Block,
    ) {
        const INNER: u8 = BREAK_SURE | BREAK_MAYBE | CONTINUE_SURE | CONTINUE_MAYBE;
        if self.take_lock(id, condition) {
            return;
        }
        let only_waits = only_fences(self.code, body, MAX_BLOCKS);
        let entry = self.act.clone();
        let (guards, splits) = (self.guards.len(), self.splits.len());
        let (unguarded, gone) = (self.unguarded, self.gone);
        let outer = self.set_aside(INNER);
        let site = self.code.stmt(id).site;
        let parent = self.iteration;
        self.trace.instances += 1;
        let instance = self.trace.instances;
        let start = self.operations;
        let patient = self.patient;
        // What one round leaves to the next is seen in the second, so that loops inside the first must leave something.
        let patience = if self.scan.nature(self.code, id).has_barrier { 2 } else { 0 };
        // A loop around barriers in another's first round has left enough already.
        let nested = patience > 0 && patient < self.limit;
        let limit = if nested { patient } else { start + patient.saturating_sub(start) / 2 };
        let mut running = entry.clone();
        let mut number = 0;
        let mut last = false;
        let mut undecided = false;
        while !last {
            self.trace.iterations.push(Iteration { parent, instance, site, number, interval: self.interval });
            self.iteration = self.trace.iterations.len() as u32;
            self.guards.truncate(guards);
            self.splits.truncate(splits);
            self.act = self.restored(&running);
            if self.act.is_empty() {
                break;
            }
            // Too long to follow: the rest of the rounds is one round of which nothing is known, and the last one.
            let idle = self.act.sure() == 0 && number >= if self.uncounted { 1 } else { 3 };
            let round_cost = (self.operations - start) / u64::from(number.max(1));
            let next = if number == 0 || number < patience { 0 } else { round_cost };
            let share = if number < patience { self.limit } else { limit };
            let expensive = (self.operations - start) * EXPENSIVE > self.limit.saturating_sub(start);
            let many = number >= MOST_ROUNDS || (expensive && number >= self.budget.iterations);
            let tired = many || self.operations + next > share;
            let affordable = |machine: &Self, rounds: u64| machine.operations + rounds * round_cost < patient;
            self.patient = if number + 1 < patience { start + patient.saturating_sub(start) / 3 * 2 } else { patient };
            let mut unknown = self.nobody.clone();
            if let Some(condition) = condition
                && !(body_first && number == 0)
            {
                let polling = std::mem::replace(&mut self.polling, true);
                let waiting = std::mem::replace(&mut self.waiting, only_waits);
                let mut value = self.eval(condition);
                (self.polling, self.waiting) = (polling, waiting);
                self.seen_outside(&value);
                if let Some(name) = self.uniform_name(&value) {
                    value = self.answer(condition, name, true, OpenKind::Rounds).unwrap_or(value);
                }
                let parting = self.part(&value);
                unknown = parting.unknown;
                if value.varies() || !unknown.is_empty() {
                    let open = if unknown.is_empty() { None } else { self.open(condition, &value) };
                    let open = open.map(|open| Open { looped: true, ..open });
                    self.guard(condition, if unknown.is_empty() { Divergence::None } else { Divergence::Other });
                    self.guards.last_mut().into_iter().for_each(|guard| guard.open = open);
                }
                self.push_split(condition, &entry, &parting.yes);
                if unknown.is_empty() {
                    running = parting.yes.clone();
                } else {
                    undecided = true;
                    running = Mask::new(Lanes::from_fn(self.n, |lane| {
                        if unknown.levels()[lane] == OFF { parting.yes.levels()[lane] } else { OFF }
                    }));
                }
                self.act = parting.yes;
                if self.act.is_empty() {
                    break;
                }
            }
            let mut final_round = None;
            let inside = self.act.clone();
            if tired || idle {
                self.unguarded += 1;
                if tired {
                    self.cause("long loop");
                    self.complete = false;
                    if unknown.is_empty() && !body_first && affordable(self, 4) {
                        final_round = self.last_round(id, condition, step, body);
                    }
                }
                last = true;
                unknown = inside.or(&unknown);
                running = self.nobody.clone();
                self.act = inside.as_may_active();
            }
            let uncounted = self.uncounted;
            // Where all lanes are only may-active, what one such round did is met by a second one.
            let rest = unknown.count() > 0 && running.is_empty();
            for pass in 0..if rest { 2 } else { 1 } {
                self.uncounted |= rest && (number > 0 || pass > 0);
                let assigned = if unknown.is_empty() { [].into() } else { self.scan.assigned(self.code, id) };
                let loosened = self.loosen(&assigned, &unknown);
                let round = self.act.clone();
                self.run_block(body);
                if self.left_any & CONTINUE_MAYBE != 0 {
                    let may_active = self.lanes_left(CONTINUE_MAYBE);
                    for &stmt in body {
                        let assigned = self.scan.assigned(self.code, stmt);
                        self.forget_registers(&assigned, &may_active);
                    }
                }
                self.act = self.finish_round(&round);
                if let Some(step) = step
                    && !self.act.is_empty()
                {
                    self.eval(step);
                }
                self.settle_loosened(&assigned, &loosened, &unknown);
                if self.stopped || self.act.is_empty() || !affordable(self, 3) {
                    break;
                }
            }
            self.uncounted = uncounted;
            if self.stopped {
                break;
            }
            number += 1;
            if let (Some(round), Some(condition)) = (final_round, condition) {
                self.act = self.restored(&inside);
                if !self.act.is_empty() {
                    self.run_last_round(&round, condition, step, body);
                }
            }
        }
        self.patient = patient;
        if self.left_any & BREAK_MAYBE != 0 {
            undecided = true;
            let may_active = self.lanes_left(BREAK_MAYBE);
            let assigned = self.scan.assigned(self.code, id);
            self.forget_registers(&assigned, &may_active);
        }
        self.put_back(INNER, outer);
        self.iteration = parent;
        self.guards.truncate(guards);
        self.splits.truncate(splits);
        self.act = self.restored(&entry);
        if self.gone == gone {
            // Whoever left a round, or the loop, is here again.
            self.unguarded = unguarded;
        }
        if undecided && self.scan.nature(self.code, id).may_wait {
            self.acquire();
        }
    }

    /// The lanes of a round that go on to its end or have said `continue`.
    pub(super) fn finish_round(&mut self, round: &Mask) -> Mask {
        self.clear_left(CONTINUE_SURE | CONTINUE_MAYBE);
        self.restored(round)
    }
}

/// How deep blocks stand in each other in a body that only waits.
const MAX_BLOCKS: u32 = 4;

/// Whether a loop's body does nothing but order accesses: `while (flag[0] != 0) __threadfence();`.
fn only_fences(code: &Code, body: &Block, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let fences = |id: &StmtId| match &code.stmt(*id).kind {
        Stmt::Expr(expr) => matches!(code.expr(*expr).kind, Expr::Intrinsic(Intrinsic::Fence(_), _)),
        Stmt::Block(inner) => only_fences(code, inner, depth),
        _ => false,
    };
    !body.is_empty() && body.iter().all(fences)
}
