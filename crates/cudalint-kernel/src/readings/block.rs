//! What a kernel says of the blocks that it is made for: the axes of `threadIdx` that it reads, and the sizes of its arrays in
//! shared memory.

use crate::code::{Builtin, Code, Expr, Item, ObjectSpace};

/// Which axes of `threadIdx` the kernel itself reads.
pub fn axes(code: &Code) -> [bool; 3] {
    let mut axes = [false; 3];
    let Some(kernel) = code.functions.first() else { return axes };
    code.walk(&kernel.body, |item| {
        let Item::Expr(id) = item else { return true };
        match code.expr(id).kind {
            Expr::Builtin(Builtin::ThreadIdx(axis)) => {
                if let Some(used) = axes.get_mut(usize::from(axis)) {
                    *used = true;
                }
            }
            // A copy of all three says nothing of which is used.
            Expr::Aggregate(_) => return false,
            _ => {}
        }
        true
    });
    axes
}

/// The extents of the arrays in shared memory.
pub fn tiles(code: &Code) -> impl Iterator<Item = &[i64]> {
    let shared = code.objects.iter().filter(|object| object.space == ObjectSpace::Shared);
    shared.map(|object| object.extents.as_slice())
}
