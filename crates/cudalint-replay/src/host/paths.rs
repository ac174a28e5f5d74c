//! Paths through code: alternatives that run from one mark, and how they are joined with those that wait.

use super::{Common, Diff, Flow, JoinRule, Mark, Pending, Store, Stored};
use std::ops::DerefMut;

/// One way to go on from a mark.
pub(crate) struct Alternative<O, R> {
    pub flow: Flow,
    pub diff: Diff<O>,
    pub returned: Option<R>,
    /// The paths that it left waiting.
    pub first_pending: usize,
    pub last_pending: usize,
}

/// A walk that follows several paths.
pub(crate) trait Paths<'p>: DerefMut<Target = Common<'p, Self::Local, Self::Object, Self::Returned>> {
    /// What a frame holds in this language.
    type Local;
    type Object: Stored;
    type Returned;

    /// The objects.
    fn store(&mut self) -> &mut Store<Self::Object>;

    /// Whether a path that ends like this says nothing about what comes after, here and in the callers.
    fn is_dead(&self, flow: &Flow) -> bool;

    /// The value that the current path returns, taken from the frame.
    fn take_returned(&mut self, flow: &Flow) -> Option<Self::Returned> {
        if *flow == Flow::Return { self.frames.last_mut()?.returned.take() } else { None }
    }

    /// Runs one alternative from the mark and returns to it.
    fn alternative(
        &mut self,
        mark: Mark,
        run: impl FnOnce(&mut Self) -> Flow,
    ) -> Alternative<Self::Object, Self::Returned> {
        let first_pending = self.pendings.len();
        let flow = run(self);
        let returned = self.take_returned(&flow);
        let diff = self.store().diff(mark);
        // A jump out of it may have settled what waited before, too.
        let first_pending = first_pending.min(self.pendings.len());
        let mut inside = self.pendings.split_off(first_pending);
        for pending in &mut inside {
            self.store().rebase(&mut pending.diff, pending.mark, mark);
            pending.mark = mark;
        }
        self.pendings.append(&mut inside);
        self.store().undo(mark);
        Alternative { flow, diff, returned, first_pending, last_pending: self.pendings.len() }
    }

    /// Goes on from the alternatives, all relative to the mark: the first is the one that a rule's default keeps.
    fn settle(
        &mut self,
        mark: Mark,
        alternatives: impl IntoIterator<Item = Alternative<Self::Object, Self::Returned>>,
        rule: &JoinRule,
    ) -> Flow {
        let mut left = Vec::new();
        let mut goes_on = false;
        for alternative in alternatives {
            match alternative.flow {
                Flow::Next if goes_on => self.store().join(alternative.diff, mark, rule),
                Flow::Next => {
                    self.store().replace(alternative.diff, mark);
                    goes_on = true;
                }
                Flow::Stop => {}
                _ => left.push(alternative),
            }
        }
        let flow = if goes_on {
            Flow::Next
        } else if let Some(last) = left.pop() {
            self.store().replace(last.diff, mark);
            if let Some(frame) = self.frames.last_mut() {
                frame.returned = last.returned;
            }
            last.flow
        } else {
            Flow::Stop
        };
        for alternative in left {
            if self.is_dead(&alternative.flow) {
                continue;
            }
            self.pendings.push(Pending {
                flow: alternative.flow,
                mark,
                diff: alternative.diff,
                returned: alternative.returned,
                // Which of the paths that meet later comes from which side is not kept.
                rule: if matches!(rule, JoinRule::Where(_)) { JoinRule::Either } else { rule.clone() },
            });
        }
        flow
    }

    /// Joins the paths that wait for this point into the current state (or takes them for it when `flow` says that
    /// nothing else gets here), and returns whether anything gets here.
    fn collect(
        &mut self,
        from: usize,
        reached: bool,
        wanted: impl Fn(&Flow) -> bool,
    ) -> (bool, Vec<Option<Self::Returned>>) {
        let mut reached = reached;
        let from = from.min(self.pendings.len());
        let waiting: Vec<_> = self.pendings.extract_if(from.., |pending| wanted(&pending.flow)).collect();
        let mut returned = Vec::with_capacity(waiting.len());
        for pending in waiting {
            if reached {
                self.store().join(pending.diff, pending.mark, &pending.rule);
            } else {
                // Writes since the mark belong to paths that went elsewhere: only this one gets here. They are not undone,
                // since other paths that wait still need the journal.
                self.store().adopt(pending.diff, pending.mark);
                reached = true;
            }
            returned.push(pending.returned);
        }
        (reached, returned)
    }

    /// The current path, which ends like `flow`, meets those that wait for this point: how it goes on from here. Where it
    /// leads elsewhere itself it waits, with what it has written since the mark.
    fn meet(&mut self, mark: Mark, from: usize, flow: Flow, wanted: impl Fn(&Flow) -> bool) -> Flow {
        let reached = flow == Flow::Next || wanted(&flow);
        if !reached {
            if !self.pendings.iter().skip(from).any(|pending| wanted(&pending.flow)) {
                return flow;
            }
            self.wait(mark, flow);
        }
        self.collect(from, reached, wanted);
        Flow::Next
    }

    /// Sets the current path aside, with what it has written since the mark.
    fn wait(&mut self, mark: Mark, flow: Flow) {
        if self.is_dead(&flow) {
            return;
        }
        let returned = self.take_returned(&flow);
        let diff = self.store().diff(mark);
        self.pendings.push(Pending { flow, mark, diff, returned, rule: JoinRule::Either });
    }
}
