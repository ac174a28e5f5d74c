//! What a kernel says of the blocks that it is made for: the axes of `threadIdx` that it reads, and the sizes of its arrays in
//! shared memory.

use crate::code::{Builtin, Code, Expr, Intrinsic, Item, ObjectSpace};

/// Which axes of `threadIdx` the kernel itself reads; those of its callees where it reads none.
pub fn axes(code: &Code) -> [bool; 3] {
    let own = axes_in(code, 1, true, thread_axis);
    if own == [false; 3] { thread_axes(code) } else { own }
}

/// Which axes of `threadIdx` the kernel and its callees read in any way.
pub fn thread_axes(code: &Code) -> [bool; 3] {
    axes_in(code, usize::MAX, false, thread_axis)
}

/// Which axes of `blockIdx` the kernel and its callees read.
pub fn block_axes(code: &Code) -> [bool; 3] {
    axes_in(code, usize::MAX, true, |builtin| match builtin {
        Builtin::BlockIdx(axis) => Some(axis),
        _ => None,
    })
}

const fn thread_axis(builtin: Builtin) -> Option<u8> {
    match builtin {
        Builtin::ThreadIdx(axis) => Some(axis),
        _ => None,
    }
}

/// The axes that the first functions read. A copy of all three says nothing of which is used: such are left out where asked for.
fn axes_in(code: &Code, functions: usize, leave_copies: bool, axis: impl Fn(Builtin) -> Option<u8>) -> [bool; 3] {
    let mut axes = [false; 3];
    for function in code.functions.iter().take(functions) {
        code.walk(&function.body, |item| {
            let Item::Expr(id) = item else { return true };
            match code.expr(id).kind {
                Expr::Builtin(builtin) => {
                    if let Some(used) = axis(builtin).and_then(|axis| axes.get_mut(usize::from(axis))) {
                        *used = true;
                    }
                }
                Expr::Aggregate(_) => return !leave_copies,
                _ => {}
            }
            true
        });
    }
    axes
}

/// Whether lanes of a warp hand each other values.
pub fn works_with_warps(code: &Code) -> bool {
    let hands =
        |expr: &Expr| matches!(expr, Expr::Intrinsic(Intrinsic::Shuffle { .. } | Intrinsic::WarpVote { .. }, _));
    code.exprs.iter().any(|node| hands(&node.kind))
}

/// The extents of the arrays in shared memory.
pub fn tiles(code: &Code) -> impl Iterator<Item = &[i64]> {
    let shared = code.objects.iter().filter(|object| object.space == ObjectSpace::Shared);
    shared.map(|object| object.extents.as_slice())
}
