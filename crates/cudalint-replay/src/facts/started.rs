//! Work that the host starts and does not wait for.

use cudalint_program::Name;
use cudalint_program::ir::{FunctionId, ModuleId};

/// Work that goes on when the call that starts it returns.
#[derive(Clone, Debug, PartialEq)]
pub enum Started {
    /// A copy or a set.
    Copy {
        /// The function called.
        api: Name,
    },
    /// An algorithm of a library, which touches what its pointers lead to.
    Algorithm {
        /// As it is called.
        name: Name,
    },
    /// A kernel.
    Kernel {
        /// As it is written.
        name: String,
        /// The kernel, where it is in sight.
        kernel: Option<(ModuleId, FunctionId)>,
        /// Which of its parameters leads to the memory, counted from 0.
        parameter: u32,
    },
}
