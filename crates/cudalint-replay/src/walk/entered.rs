//! What a walk remembers of the blocks of the function in which it began.

use cudalint_program::ir::{ExprId, StmtId};
use rustc_hash::FxHashSet;

/// Why a walk stops at a jump backwards.
pub(super) const BACKWARD: &str = "backward goto";

/// Which blocks a walk has entered and passed by, each named by its first statement.
#[derive(Default)]
pub(super) struct Entered {
    /// Blocks that were run.
    pub entered: FxHashSet<StmtId>,
    /// Blocks that were passed by, each with the condition, in the order in which that happened first.
    pub passed: Vec<(Vec<StmtId>, ExprId)>,
}
