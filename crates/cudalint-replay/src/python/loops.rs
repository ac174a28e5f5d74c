//! Loops: run one by one where their bounds are known and small, else once for any iteration.

use super::Walker;
use super::exprs::range_length;
use super::heap::Obj;
use super::value::{Kind, Val};
use crate::host::{Flow, JoinRule, Mark, Paths};
use crate::quantity::AtomKind;
use cudalint_program::ir::{Block, ExprId};

impl Walker<'_> {
    pub(super) fn for_loop(&mut self, target: Option<ExprId>, iterable: &Val, body: &Block, otherwise: &Block) -> Flow {
        let most = self.options.iterations as usize;
        let few = match &iterable.kind {
            Kind::Range(range) => match (range[0].known(), range[1].known(), range[2].known()) {
                (Some(start), Some(stop), Some(step)) => {
                    range_length(start, stop, step).is_some_and(|count| count <= most as i64)
                }
                _ => false,
            },
            _ => true,
        };
        let items = if few { self.items(iterable).filter(|items| items.len() <= most) } else { None };
        let Some(items) = items else { return self.any_iteration(target, iterable, body, otherwise) };
        let inside = self.enter_loop();
        let mut flow = Flow::Next;
        let mut went_on = true;
        let steps = self.budget.steps;
        let mut items = items;
        let mut at = 0;
        loop {
            // A list may grow and shrink while it is gone through.
            if let (Kind::List(list), true) = (&iterable.kind, at > 0) {
                match self.heap.get(*list) {
                    Obj::List(Some(now)) if now.len() <= most => {
                        if now.len() != items.len() || at < now.len() && !Val::same(&now[at], &items[at]) {
                            items.clone_from(now);
                        }
                    }
                    _ => {
                        self.leave_loop(inside, Flow::Next);
                        return self.other_iterations(target, iterable, body, otherwise);
                    }
                }
            }
            let Some(item) = items.get(at).cloned() else { break };
            let count = items.len() as u32;
            // What would take all steps is looked at once for all that is left of it.
            let left = count.saturating_sub(at as u32);
            if at == 1 && (steps - self.budget.steps).saturating_mul(left) > self.budget.steps / 4 * 3 {
                self.leave_loop(inside, Flow::Next);
                return self.other_iterations(target, iterable, body, otherwise);
            }
            if let Some(target) = target {
                self.assign(target, item.because(&iterable.why));
            }
            flow = self.iteration(inside, body);
            at += 1;
            match flow {
                Flow::Next => {}
                Flow::Break => {
                    went_on = false;
                    flow = Flow::Next;
                    break;
                }
                _ => {
                    went_on = false;
                    break;
                }
            }
        }
        if went_on { self.otherwise(inside, otherwise) } else { self.leave_loop(inside, flow) }
    }

    /// A loop begins: the state now, and where the paths will begin that leave it.
    fn enter_loop(&mut self) -> (Mark, usize) {
        (self.heap.mark(), self.pendings.len())
    }

    /// Once through the body.
    fn iteration(&mut self, (mark, base): (Mark, usize), body: &Block) -> Flow {
        let flow = self.block(body);
        self.meet(mark, base, flow, |flow| *flow == Flow::Continue)
    }

    fn leave_loop(&mut self, (mark, base): (Mark, usize), flow: Flow) -> Flow {
        self.meet(mark, base, flow, |flow| *flow == Flow::Break)
    }

    /// The `else` of a loop: only paths that did not break out come through it.
    fn otherwise(&mut self, (mark, base): (Mark, usize), block: &Block) -> Flow {
        let broken = self.pendings.split_off(base);
        let flow = self.block(block);
        let leaves = flow != Flow::Next && broken.iter().any(|path| path.flow == Flow::Break);
        if leaves {
            self.wait(mark, flow.clone());
        }
        let base = self.pendings.len();
        self.pendings.extend(broken);
        if flow != Flow::Next && !leaves {
            return flow;
        }
        self.collect(base, !leaves, |flow| *flow == Flow::Break);
        Flow::Next
    }

    /// A loop whose iterations are not known, or many: the first, where there surely is one, then any.
    fn any_iteration(&mut self, target: Option<ExprId>, iterable: &Val, body: &Block, otherwise: &Block) -> Flow {
        if let Kind::Range(range) = &iterable.kind
            && let (Some(start), Some(stop), Some(step)) = (range[0].known(), range[1].known(), range[2].known())
            && range_length(start, stop, step).is_some_and(|count| count > 0)
            && let Some(target) = target
        {
            self.assign(target, Val::int(start).because(&iterable.why));
            let inside = self.enter_loop();
            let flow = self.iteration(inside, body);
            // A loop that surely ends in its first iteration.
            if !matches!(flow, Flow::Next) {
                return self.leave_loop(inside, flow);
            }
            self.leave_loop(inside, Flow::Next);
        }
        self.other_iterations(target, iterable, body, otherwise)
    }

    /// Any iteration of a loop.
    fn other_iterations(&mut self, target: Option<ExprId>, iterable: &Val, body: &Block, otherwise: &Block) -> Flow {
        self.generic(body, |w| {
            if let Some(target) = target {
                let item = w.any_item(iterable);
                w.assign(target, item);
            }
        });
        self.block(otherwise)
    }

    /// The body for any iteration, which `begins` with what is done before it: afterwards it has run some number of times.
    fn generic(&mut self, body: &Block, begins: impl FnOnce(&mut Self)) {
        let assigned = self.assigned_in(body);
        let known = self.path.known();
        let mark = self.heap.mark();
        let round = self.alternative(mark, |w| {
            w.forget(&assigned);
            w.heap.forget_contents();
            begins(w);
            w.undecide(1);
            let inside = w.enter_loop();
            let flow = w.iteration(inside, body);
            let flow = w.leave_loop(inside, flow);
            w.undecide(-1);
            flow
        });
        let none = self.alternative(mark, |_| Flow::Next);
        self.settle(mark, [none, round], &JoinRule::Either);
        self.path.unlearn(known);
        self.forget(&assigned);
        self.heap.forget_contents();
    }

    /// Any one of what an iterable holds.
    pub(super) fn any_item(&mut self, iterable: &Val) -> Val {
        match &iterable.kind {
            Kind::Range(_) => {
                let q = self.atoms.fresh("an index", AtomKind::Opaque);
                Val { kind: Kind::Int(q), why: iterable.why.clone() }
            }
            Kind::Open(open) => {
                let name = format!("an item of {}", open.name);
                self.open(&name, false)
            }
            _ => Val::unknown(),
        }
    }

    pub(super) fn while_loop(
        &mut self,
        body_first: bool,
        condition: Option<ExprId>,
        step: Option<ExprId>,
        body: &Block,
        otherwise: &Block,
    ) -> Flow {
        let inside = self.enter_loop();
        let mut flow = Flow::Next;
        let mut left = false;
        let mut first = body_first;
        for _ in 0..self.options.iterations {
            if !std::mem::take(&mut first) {
                let value = self.eval_option(condition);
                if self.raised {
                    return self.leave_loop(inside, Flow::Stop);
                }
                match value.map(|value| (self.truth(&value), value.why)) {
                    Some((Some(false), _)) => {
                        left = true;
                        break;
                    }
                    None | Some((Some(true), None)) => {}
                    Some(_) => break,
                }
            }
            flow = self.iteration(inside, body);
            if !matches!(flow, Flow::Next) {
                left = true;
                break;
            }
            self.eval_option(step);
        }
        if left {
            let flow = self.leave_loop(inside, flow);
            return if flow == Flow::Next { self.block(otherwise) } else { flow };
        }
        self.leave_loop(inside, Flow::Next);
        self.generic(body, |w| {
            w.eval_option(condition);
        });
        self.block(otherwise)
    }
}
