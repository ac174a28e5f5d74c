//! Loops: run one by one where their bounds are known and small, else once for any iteration.

use super::exprs::range_length;
use super::heap::Heap;
use super::value::{Kind, Val};
use super::{Flow, Walker};
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
        self.enter_loop();
        let mut flow = Flow::Next;
        let mut went_on = true;
        let count = items.len() as u32;
        let steps = self.budget.steps;
        for (at, item) in items.into_iter().enumerate() {
            // What would take all steps is looked at once for all that is left of it.
            let left = count.saturating_sub(at as u32);
            if at == 1 && (steps - self.budget.steps).saturating_mul(left) > self.budget.steps / 4 * 3 {
                let flow = self.leave_loop(Flow::Next);
                return match flow {
                    Flow::Next => self.other_iterations(target, iterable, body, otherwise),
                    flow => flow,
                };
            }
            if let Some(target) = target {
                self.assign(target, item.because(&iterable.why));
            }
            flow = self.iteration(body);
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
        if went_on {
            flow = self.block(otherwise);
        }
        self.leave_loop(flow)
    }

    fn enter_loop(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.loops.push([Vec::new(), Vec::new()]);
        }
    }

    /// Once through the body.
    fn iteration(&mut self, body: &Block) -> Flow {
        let flow = self.block(body);
        let continued: Vec<Heap> = match self.frames.last_mut().and_then(|frame| frame.loops.last_mut()) {
            Some([_, continues]) => std::mem::take(continues),
            None => Vec::new(),
        };
        match flow {
            Flow::Next | Flow::Continue => {
                for heap in continued {
                    self.heap.join(&heap, None);
                }
                Flow::Next
            }
            other => match continued.split_first() {
                Some((first, rest)) => {
                    self.pend(other);
                    self.heap.restore(first);
                    for heap in rest {
                        self.heap.join(heap, None);
                    }
                    Flow::Next
                }
                None => other,
            },
        }
    }

    fn leave_loop(&mut self, flow: Flow) -> Flow {
        let broken = self.frames.last_mut().and_then(|frame| frame.loops.pop()).map(|[breaks, _]| breaks);
        let mut broken = broken.unwrap_or_default();
        match flow {
            Flow::Next => {
                for heap in broken {
                    self.heap.join(&heap, None);
                }
                Flow::Next
            }
            other => match broken.pop() {
                Some(first) => {
                    self.pend(other);
                    self.heap.restore(&first);
                    for heap in broken {
                        self.heap.join(&heap, None);
                    }
                    Flow::Next
                }
                None => other,
            },
        }
    }

    /// A loop whose iterations are not known, or many: the first, where there surely is one, then any.
    fn any_iteration(&mut self, target: Option<ExprId>, iterable: &Val, body: &Block, otherwise: &Block) -> Flow {
        if let Kind::Range(range) = &iterable.kind
            && let (Some(start), Some(stop), Some(step)) = (range[0].known(), range[1].known(), range[2].known())
            && range_length(start, stop, step).is_some_and(|count| count > 0)
            && let Some(target) = target
        {
            self.assign(target, Val::int(start).because(&iterable.why));
            self.enter_loop();
            let flow = self.iteration(body);
            // A loop that surely ends in its first iteration.
            if !matches!(flow, Flow::Next) {
                let flow = if matches!(flow, Flow::Break) { Flow::Next } else { flow };
                return self.leave_loop(flow);
            }
            self.leave_loop(Flow::Next);
        }
        self.other_iterations(target, iterable, body, otherwise)
    }

    /// Any iteration of a loop.
    fn other_iterations(&mut self, target: Option<ExprId>, iterable: &Val, body: &Block, otherwise: &Block) -> Flow {
        let assigned = self.assigned_in(body);
        let before = self.heap.clone();
        self.forget(&assigned);
        self.heap.forget_contents();
        if let Some(target) = target {
            let item = self.any_item(iterable);
            self.assign(target, item);
        }
        self.generic(body, &assigned, &before);
        self.block(otherwise)
    }

    /// The body for any iteration: afterwards it has run some number of times.
    fn generic(&mut self, body: &Block, assigned: &super::assigned::Assigned, before: &Heap) {
        let mark = self.path.known();
        if let Some(frame) = self.frames.last_mut() {
            frame.undecided += 1;
        }
        self.enter_loop();
        let flow = self.iteration(body);
        let goes_on = matches!(flow, Flow::Next | Flow::Break);
        if !goes_on {
            self.pend(flow);
            self.heap.restore(before);
        }
        self.leave_loop(Flow::Next);
        if let Some(frame) = self.frames.last_mut() {
            frame.undecided = frame.undecided.saturating_sub(1);
        }
        self.path.unlearn(mark);
        self.forget(assigned);
        self.heap.forget_contents();
        self.heap.join(before, None);
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
        self.enter_loop();
        let mut flow = Flow::Next;
        let mut left = false;
        let mut first = body_first;
        for _ in 0..self.options.iterations {
            if !std::mem::take(&mut first) {
                let value = self.eval_option(condition);
                match value.map(|value| (self.truth(&value), value.why)) {
                    Some((Some(false), _)) => {
                        left = true;
                        break;
                    }
                    None | Some((Some(true), None)) => {}
                    Some(_) => break,
                }
            }
            flow = self.iteration(body);
            if !matches!(flow, Flow::Next) {
                left = true;
                break;
            }
            self.eval_option(step);
        }
        if left {
            let flow = if matches!(flow, Flow::Break) { Flow::Next } else { flow };
            let flow = self.leave_loop(flow);
            return if matches!(flow, Flow::Next) { self.block(otherwise) } else { flow };
        }
        self.leave_loop(Flow::Next);
        let assigned = self.assigned_in(body);
        let before = self.heap.clone();
        self.forget(&assigned);
        self.heap.forget_contents();
        self.eval_option(condition);
        self.generic(body, &assigned, &before);
        self.block(otherwise)
    }
}
