//! What is thrown, and where a path goes on that something has been thrown on.

use super::Walker;
use super::walker::Try;
use crate::host::{Flow, JoinRule, Paths, Pending};
use cudalint_program::ir::{Block, ExprId, Stmt};
use cudalint_program::types::Ty;

impl<'p> Walker<'p> {
    /// Something is thrown: what the nearest `try` around leads to, in this function or in one that has called it, may come next. Without a
    /// value it is what is being handled.
    pub(super) fn throws(&mut self, value: Option<ExprId>) {
        if let Some(value) = value {
            self.thrown_type = self.eval(value).ty.value().clone();
        }
        // A walk that is taken over would not tell the `try` again.
        self.leave_trace();
        self.comes_to_try();
    }

    /// What was thrown comes to the nearest `try` around.
    fn comes_to_try(&mut self) {
        let Some(body) = self.frames.iter_mut().rev().find_map(|frame| frame.tries.last_mut()) else { return };
        body.throws = true;
        self.has_been_thrown_at();
    }

    /// A function that was called has surely thrown: so has the path that called it.
    pub(super) fn has_been_thrown_at(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.thrown = true;
        }
    }

    /// The path goes on past a condition that nothing decides, whose other side throws: what follows, up to the end of the `try` that takes it,
    /// comes by only if nothing was thrown.
    pub(super) fn passes_throw(&mut self) {
        if let Some(frame) = self.frames.iter_mut().rev().find(|frame| !frame.tries.is_empty()) {
            frame.passed_throw = true;
        }
    }

    /// Whether the path that has just ended was left by a `throw` inside of a `try`.
    pub(super) fn has_thrown(&mut self) -> bool {
        self.frames.last_mut().is_some_and(|frame| std::mem::take(&mut frame.thrown))
    }

    /// Whether a handler takes what was thrown last; nothing where that hangs on types that are not known, or on bases of classes.
    fn takes_thrown(&mut self, handler: &'p Block) -> Option<bool> {
        let declared = handler.first().and_then(|first| self.module().stmts.get(*first));
        let Some(Stmt::Declare(local)) = declared.map(|node| &node.kind) else { return Some(true) };
        let local = self.function()?.locals.get(*local)?;
        let taken = self.resolve(local.ty).value().clone();
        let is_number = |ty: &Ty| matches!(ty, Ty::Int { .. } | Ty::Float { .. });
        if taken.is_unknown() || self.thrown_type.is_unknown() {
            None
        } else if taken == self.thrown_type {
            Some(true)
        } else {
            // A number is taken as itself alone.
            (is_number(&taken) || is_number(&self.thrown_type)).then_some(false)
        }
    }

    pub(super) fn try_block(&mut self, body: &'p Block, handlers: &'p [Block]) -> Flow {
        let begun = self.begun();
        let flow = self.try_handlers(body, handlers);
        self.forget_begun(begun);
        flow
    }

    fn try_handlers(&mut self, body: &'p Block, handlers: &'p [Block]) -> Flow {
        let mark = self.memory.mark();
        let passed = self.frames.last_mut().is_some_and(|frame| {
            frame.tries.push(Try::default());
            frame.passed_throw
        });
        let mut flow = self.block(body);
        let mut throws = false;
        let returned = self.frames.last_mut().and_then(|frame| {
            let body = frame.tries.pop().unwrap_or_default();
            // What stands behind it happens whether or not something is thrown.
            frame.undecided = frame.undecided.saturating_sub(body.conditions);
            frame.passed_throw = passed;
            throws = body.throws;
            frame.returned.take()
        });
        throws &= flow != Flow::Stop;
        // Whether the body has surely thrown, and no handler has surely taken that.
        let mut thrown = self.has_thrown() && flow == Flow::Stop && self.budget.stopped.is_none();
        let is_thrown = thrown;
        let mut may_be_taken = false;
        for handler in handlers {
            let taken = if is_thrown { self.takes_thrown(handler) } else { None };
            if is_thrown && (!thrown || taken == Some(false)) {
                continue;
            }
            // A handler starts from any point of the body: whatever the body wrote may or may not have been written.
            let before = self.pendings.len();
            let inner = self.memory.mark();
            self.forget_since(mark);
            // Nothing says that anything is thrown.
            self.undecide(1);
            let left = self.block(handler);
            self.undecide(-1);
            let leaves = matches!(left, Flow::Return | Flow::Break | Flow::Continue) && !self.is_dead(&left);
            if (throws || is_thrown) && leaves {
                // Where something is seen to be thrown, the function may be left by this handler.
                let (diff, returned) = (self.memory.diff(mark), self.take_returned(&left));
                let rule = JoinRule::Either;
                self.pendings.push(Pending { flow: left.clone(), mark, diff, returned, rule });
            }
            let diff = self.memory.diff(inner);
            self.memory.undo(inner);
            if left == Flow::Next && thrown && taken == Some(true) && !may_be_taken {
                // The body has thrown: only this leads on.
                self.memory.adopt(diff, inner);
                flow = Flow::Next;
            } else if left == Flow::Next {
                self.memory.join(diff, inner, &JoinRule::Either);
                if thrown {
                    flow = Flow::Next;
                }
            } else if left == Flow::Stop {
                self.pendings.truncate(before);
            }
            may_be_taken = true;
            thrown &= taken != Some(true);
        }
        if thrown && flow == Flow::Stop {
            // It goes on to the `try` around.
            self.comes_to_try();
        }
        // The body is taken to succeed.
        if let Some(frame) = self.frames.last_mut() {
            frame.returned = returned;
        }
        flow
    }
}
