//! How statements end, and paths that wait for where they go on.

use super::{Diff, JoinRule, Mark};
use cudalint_program::Name;

/// How a statement ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    Next,
    Break,
    Continue,
    /// With the value that the frame says.
    Return,
    Goto(Name),
    /// An exception, the end of the program, or of everything that this walk can say about it.
    Stop,
}

/// A path that left a statement early and waits for where it goes on.
#[derive(Debug)]
pub(crate) struct Pending<O, R> {
    pub flow: Flow,
    /// What the diff is relative to.
    pub mark: Mark,
    pub diff: Diff<O>,
    pub returned: Option<R>,
    pub rule: JoinRule,
}
