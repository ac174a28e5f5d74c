//! How statements end, and paths that wait for where they go on.

use super::out::Out;
use crate::memory::{Diff, JoinRule};
use cudalint_program::Name;

/// How a statement ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    Next,
    Break,
    Continue,
    Return,
    Goto(Name),
    /// The program, or everything this walk can say about it, ends here.
    Stop,
}

/// A path that left a statement early and waits for where it goes on.
#[derive(Debug)]
pub(crate) struct Pending {
    pub flow: Flow,
    /// What the diff is relative to.
    pub mark: usize,
    pub diff: Diff,
    pub returned: Option<Out>,
    pub rule: JoinRule,
}
