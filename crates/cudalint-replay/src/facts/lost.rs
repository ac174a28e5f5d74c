//! Memory and handles of CUDA that nobody can give back any more.

use super::{Buffer, Site};
use cudalint_program::Name;
use cudalint_program::api::effects::{Effect, Handle};

/// What a function of CUDA has made, and that no pointer leads to where a path of the function that holds it ends.
#[derive(Clone, Debug, PartialEq)]
pub struct LostFact {
    /// The memory, or what stands for the handle.
    pub buffer: Buffer,
    /// Where the path ends.
    pub end: Site,
    /// How it ends.
    pub at: LostAt,
    /// What else of the same function has been given back on this path, by name.
    pub freed: Vec<Name>,
    /// Whether the function runs once in the program: `main` calls it, and no loop in sight is around.
    pub once: bool,
    /// Whether the program ends with the function.
    pub in_main: bool,
}

/// How a path ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostAt {
    /// At the end of the function.
    End,
    /// At a `return` before its end, which may say that something has failed.
    Return {
        /// Whether its value says so: a number that is not zero, `false` or a null pointer.
        fails: bool,
    },
    /// At the end of a loop's round.
    Round,
}

impl LostFact {
    /// The kind of handle that it is; none for memory.
    pub fn handle(&self) -> Option<Handle> {
        self.buffer.origin.api()?.effects.iter().find_map(|effect| match effect {
            Effect::Creates(kind, _) => Some(*kind),
            _ => None,
        })
    }
}
