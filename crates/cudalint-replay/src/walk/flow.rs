//! Branches and loops over the state: alternatives run from one mark and joined.

use super::Walker;
use crate::host::{Flow, JoinRule, Mark, Paths};
use crate::memory::Aside;
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

impl Walker<'_> {
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
                self.failed += 1;
                let begun = self.begun();
                let timeline = std::mem::take(&mut self.timeline);
                if taken {
                    self.alternative(mark, otherwise);
                    self.leave_aside(aside, before, banned);
                    self.forget_begun(begun);
                    self.timeline = timeline;
                    then(self)
                } else {
                    self.alternative(mark, then);
                    self.leave_aside(aside, before, banned);
                    self.forget_begun(begun);
                    self.timeline = timeline;
                    otherwise(self)
                }
            }
            Truth::Assumed(taken, why) => {
                let mark = self.memory.mark();
                let banned = self.path.excluded().len();
                self.path.exclude(&why);
                // Whether anybody gets to the other side is open.
                self.undecide(1);
                let begun = self.begun();
                let (default, other);
                if taken {
                    other = self.alternative(mark, otherwise);
                    self.forget_begun(begun);
                    self.path.readmit(banned);
                    self.undecide(-1);
                    self.has_thrown();
                    default = self.alternative(mark, then);
                } else {
                    other = self.alternative(mark, then);
                    self.forget_begun(begun);
                    self.path.readmit(banned);
                    self.undecide(-1);
                    self.has_thrown();
                    default = self.alternative(mark, otherwise);
                }
                self.forget_begun(begun);
                let has_thrown = self.has_thrown();
                if has_thrown && other.flow == Flow::Next {
                    self.passes_throw();
                    if let Some(body) = self.frames.last_mut().and_then(|frame| frame.tries.last_mut()) {
                        // What follows in the `try` is behind the other side alone.
                        body.conditions += 1;
                        self.undecide(1);
                        self.path.exclude(&why);
                        return self.settle(mark, [default, other], &JoinRule::Either);
                    }
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
            Truth::Unknown => self.open(None, false, then, otherwise),
        }
    }

    /// The end of a path of which nothing comes.
    fn leave_aside(&mut self, aside: Aside, pendings: usize, banned: usize) {
        self.memory.step_back(aside);
        self.failed -= 1;
        self.pendings.truncate(pendings);
        self.path.readmit(banned);
    }

    /// Runs both sides of a condition that nothing decides; what they leave is put together by its value where that is
    /// given, as 1 or 0. `choice`: the condition does not ask what the device has.
    pub fn open(
        &mut self,
        truth: Option<Poly>,
        choice: bool,
        then: impl FnOnce(&mut Self) -> Flow,
        otherwise: impl FnOnce(&mut Self) -> Flow,
    ) -> Flow {
        let mark = self.memory.mark();
        let banned = self.path.excluded().len();
        self.undecide_as(1, choice);
        self.has_thrown();
        let begun = self.begun();
        let first = self.alternative(mark, then);
        self.forget_begun(begun);
        let thrown = self.has_thrown();
        self.path.readmit(banned);
        let second = self.alternative(mark, otherwise);
        self.forget_begun(begun);
        let thrown = [thrown, self.has_thrown()];
        self.path.readmit(banned);
        // Where one side has left, the other goes on under the condition; where it has thrown, as far as the `try` goes.
        let left = |flow: &Flow| !matches!(flow, Flow::Next | Flow::Stop);
        if thrown[0] != thrown[1] {
            self.passes_throw();
        }
        let frame = self.frames.last_mut();
        match (left(&first.flow) || left(&second.flow), frame.and_then(|frame| frame.tries.last_mut())) {
            (false, Some(body)) if thrown[0] != thrown[1] => body.conditions += 1,
            (false, _) => self.undecide_as(-1, choice),
            (true, _) => {}
        }
        let rule = truth.map_or(JoinRule::Either, JoinRule::Where);
        self.settle(mark, [first, second], &rule)
    }

    /// Forgets what was written since the mark.
    pub fn forget_since(&mut self, mark: Mark) {
        for id in self.memory.written_since(mark) {
            self.memory.forget_object(id);
        }
    }
}
