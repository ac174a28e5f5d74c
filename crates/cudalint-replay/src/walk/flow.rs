//! Branches and loops over the state: alternatives run from one mark and joined.

use super::exits::{Flow, Pending};
use super::{Out, Walker};
use crate::memory::{Aside, Diff, JoinRule};
use crate::quantity::Assumptions;
use crate::quantity::Poly;
use crate::value::{Kind, Val};

/// What a condition says.
#[derive(Clone, Debug)]
pub(crate) enum Truth {
    Known(bool),
    /// Under assumptions.
    Assumed(bool, Assumptions),
    /// Because the call before succeeded.
    Status(bool),
    Unknown,
}

impl Truth {
    #[must_use]
    pub fn not(self) -> Self {
        match self {
            Self::Known(value) => Self::Known(!value),
            Self::Assumed(value, why) => Self::Assumed(!value, why),
            Self::Status(value) => Self::Status(!value),
            Self::Unknown => Self::Unknown,
        }
    }

    /// As a value.
    pub fn val(&self) -> Val {
        match self {
            Self::Known(value) => Val::boolean(*value),
            Self::Assumed(value, why) => Val { kind: Kind::Flag(*value), why: why.clone() },
            Self::Status(true) => Val::from(Kind::Success(true)),
            Self::Status(false) => Val::from(Kind::Success(false)),
            Self::Unknown => Val::typed(crate::quantity::Quantity::Unknown, 1, false),
        }
    }
}

/// One way to go on from a mark.
pub(crate) struct Alternative {
    flow: Flow,
    diff: Diff,
    returned: Option<Out>,
    first_pending: usize,
    last_pending: usize,
}

impl Walker<'_> {
    /// Runs one alternative from the mark and returns to it.
    pub fn alternative(&mut self, mark: usize, run: impl FnOnce(&mut Self) -> Flow) -> Alternative {
        let first_pending = self.pendings.len();
        let flow = run(self);
        let returned =
            if flow == Flow::Return { self.frames.last_mut().and_then(|frame| frame.returned.take()) } else { None };
        let diff = self.memory.diff(mark);
        for pending in self.pendings.iter_mut().skip(first_pending) {
            self.memory.rebase(&mut pending.diff, pending.mark, mark);
            pending.mark = mark;
        }
        self.memory.undo(mark);
        Alternative { flow, diff, returned, first_pending, last_pending: self.pendings.len() }
    }

    /// Whether a path that ends like this says nothing about what comes after, here and in the callers.
    fn is_dead(&self, flow: &Flow) -> bool {
        *flow == Flow::Stop || (*flow == Flow::Return && self.frames.len() == 1)
    }

    /// Goes on from the alternatives, all relative to the mark: the first is the one that a rule's default keeps.
    pub fn settle(
        &mut self,
        mark: usize,
        alternatives: impl IntoIterator<Item = Alternative>,
        rule: &JoinRule,
    ) -> Flow {
        let mut left = Vec::new();
        let mut goes_on = false;
        for alternative in alternatives {
            match alternative.flow {
                Flow::Next if goes_on => self.memory.join(alternative.diff, mark, rule),
                Flow::Next => {
                    self.memory.replace(alternative.diff, mark);
                    goes_on = true;
                }
                Flow::Stop => {}
                _ => left.push(alternative),
            }
        }
        let flow = if goes_on {
            Flow::Next
        } else if let Some(last) = left.pop() {
            self.memory.replace(last.diff, mark);
            if let Some(frame) = self.frames.last_mut() {
                frame.returned = last.returned;
            }
            last.flow
        } else {
            Flow::Stop
        };
        for alternative in left {
            if self.frames.len() == 1 && alternative.flow == Flow::Return {
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

    /// Runs the two sides of a condition as it demands.
    pub fn branch(
        &mut self,
        truth: Truth,
        then: impl FnOnce(&mut Self) -> Flow,
        otherwise: impl FnOnce(&mut Self) -> Flow,
    ) -> Flow {
        let truth = if self.dry > 0 { Truth::Unknown } else { truth };
        match truth {
            Truth::Known(true) => then(self),
            Truth::Known(false) => otherwise(self),
            Truth::Status(taken) => {
                let mark = self.memory.mark();
                let before = self.pendings.len();
                let banned = self.path.excluded().len();
                let aside = self.memory.step_aside();
                if taken {
                    self.alternative(mark, otherwise);
                    self.leave_aside(aside, before, banned);
                    then(self)
                } else {
                    self.alternative(mark, then);
                    self.leave_aside(aside, before, banned);
                    otherwise(self)
                }
            }
            Truth::Assumed(taken, why) => {
                let mark = self.memory.mark();
                let banned = self.path.excluded().len();
                self.path.exclude(&why);
                // Whether anybody gets to the other side is open.
                self.undecide(1);
                let (default, other);
                if taken {
                    other = self.alternative(mark, otherwise);
                    self.path.readmit(banned);
                    self.undecide(-1);
                    default = self.alternative(mark, then);
                } else {
                    other = self.alternative(mark, then);
                    self.path.readmit(banned);
                    self.undecide(-1);
                    default = self.alternative(mark, otherwise);
                }
                if self.is_dead(&default.flow) && !self.is_dead(&other.flow) {
                    // The program only goes on where the assumption does not hold.
                    let end = default.last_pending.min(self.pendings.len());
                    self.pendings.drain(default.first_pending.min(end)..end);
                    self.path.exclude(&why);
                    return self.settle(mark, [other], &JoinRule::Either);
                }
                let leaves = |flow: &Flow| !matches!(flow, Flow::Next | Flow::Stop);
                if leaves(&default.flow) && other.flow == Flow::Next {
                    // What follows is behind the other side alone.
                    self.undecide(1);
                }
                self.settle(mark, [default, other], &JoinRule::Current(why))
            }
            Truth::Unknown => self.open(None, then, otherwise),
        }
    }

    /// The end of a path of which nothing comes.
    fn leave_aside(&mut self, aside: Aside, pendings: usize, banned: usize) {
        self.memory.step_back(aside);
        self.pendings.truncate(pendings);
        self.path.readmit(banned);
    }

    /// Runs both sides of a condition that nothing decides; what they leave is put together by its value where that is
    /// given, as 1 or 0.
    pub fn open(
        &mut self,
        truth: Option<Poly>,
        then: impl FnOnce(&mut Self) -> Flow,
        otherwise: impl FnOnce(&mut Self) -> Flow,
    ) -> Flow {
        let mark = self.memory.mark();
        let banned = self.path.excluded().len();
        self.undecide(1);
        let first = self.alternative(mark, then);
        self.path.readmit(banned);
        let second = self.alternative(mark, otherwise);
        self.path.readmit(banned);
        // Where one side has left, the other goes on under the condition.
        let left = |flow: &Flow| !matches!(flow, Flow::Next | Flow::Stop);
        if !left(&first.flow) && !left(&second.flow) {
            self.undecide(-1);
        }
        let rule = truth.map_or(JoinRule::Either, JoinRule::Where);
        self.settle(mark, [first, second], &rule)
    }

    /// Enters or leaves a condition that nothing decides.
    pub fn undecide(&mut self, by: i32) {
        if let Some(frame) = self.frames.last_mut() {
            frame.undecided = frame.undecided.saturating_add_signed(by);
        }
    }

    /// Joins the paths that wait for this point into the current state (or takes them for it when `flow` says that
    /// nothing else gets here), and returns whether anything gets here.
    pub fn collect(&mut self, from: usize, reached: bool, wanted: impl Fn(&Flow) -> bool) -> (bool, Vec<Option<Out>>) {
        let mut reached = reached;
        let waiting: Vec<Pending> =
            self.pendings.extract_if(from.min(self.pendings.len()).., |pending| wanted(&pending.flow)).collect();
        let mut returned = Vec::with_capacity(waiting.len());
        for pending in waiting {
            if reached {
                self.memory.join(pending.diff, pending.mark, &pending.rule);
            } else {
                // Writes since the mark belong to paths that went elsewhere: only this one gets here.
                self.take(pending.diff, pending.mark);
                reached = true;
            }
            returned.push(pending.returned);
        }
        (reached, returned)
    }

    /// Makes the state that of a diff without undoing the journal, which other pending paths still need.
    fn take(&mut self, diff: Diff, mark: usize) {
        self.memory.adopt(diff, mark);
    }

    /// Forgets what was written since the mark.
    pub fn forget_since(&mut self, mark: usize) {
        for id in self.memory.written_since(mark) {
            self.memory.forget_object(id);
        }
    }
}
