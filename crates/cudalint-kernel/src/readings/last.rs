//! Branches that end a kernel: whoever does not take one has nothing left to do.

use crate::code::{Block, Code, Stmt, StmtId};
use crate::report::Site;

/// How deep branches stand in each other.
const MAX_DEPTH: u32 = 32;

/// Whether threads that do not pass a condition of the kernel end with that: it is that of an `if` without `else` that nothing stands behind.
pub fn ends_behind(code: &Code, condition: Site) -> bool {
    code.functions.first().is_some_and(|kernel| is_last(code, &kernel.body, condition, MAX_DEPTH))
}

fn is_last(code: &Code, block: &Block, condition: Site, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let does_something = |id: &&StmtId| !matches!(code.stmt(**id).kind, Stmt::Return(None) | Stmt::Declare(_));
    let Some(last) = block.iter().rev().find(does_something) else { return false };
    match &code.stmt(*last).kind {
        Stmt::Block(inner) => is_last(code, inner, condition, depth),
        Stmt::If { condition: own, then, otherwise } => {
            let site = code.expr(*own).site;
            let is_it = site.module == condition.module && site.span.contains(condition.span);
            if is_it {
                otherwise.is_empty()
            } else {
                [then, otherwise].into_iter().any(|side| is_last(code, side, condition, depth))
            }
        }
        _ => false,
    }
}
