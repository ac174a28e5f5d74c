//! The question that is asked of a kernel's code: a launch with terms in place of numbers.

use super::term::{Constraint, TermId, Terms, Variable};

/// A launch with terms in place of numbers.
#[derive(Clone, Debug)]
pub struct Problem {
    /// All terms below.
    pub terms: Terms,
    /// Inputs whose values are looked for.
    pub inputs: Vec<Variable>,
    /// Blocks along x, y, z.
    pub grid: [TermId; 3],
    /// Threads of a block along x, y, z.
    pub block: [TermId; 3],
    /// One for each parameter of the kernel.
    pub arguments: Vec<TermArgument>,
    /// Size in bytes of each buffer, where it is known as a term.
    pub buffers: Vec<Option<TermId>>,
    /// Dynamic shared memory in bytes, where it is known as a term.
    pub dynamic_shared: Option<TermId>,
    /// What the path to the launch says of the inputs.
    pub conditions: Vec<Constraint>,
}

/// An argument of such a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TermArgument {
    /// Nothing is known.
    Unknown,
    /// An integer.
    Int(TermId),
    /// Into a buffer, at a byte offset.
    Pointer {
        /// Which of [`Problem::buffers`].
        buffer: usize,
        /// Bytes from its start.
        offset: TermId,
    },
}
