//! The value of lowered expressions that are constant, for conditions of templates and for labels.

use super::state::Lowerer;
use crate::code::{BinaryOp, ExprId, Ty};
use cudalint_numbers::{self as numbers, Integer};

impl Lowerer<'_> {
    /// The integer that an expression always has.
    pub(super) fn fold(&self, id: ExprId) -> Option<i64> {
        self.code.fold(id, binary)
    }
}

fn binary(op: BinaryOp, ty: &Ty, a: i64, b: i64) -> Option<i64> {
    let Ty::Int { bytes, signed } = *ty else { return None };
    let ty = Integer::new(bytes, signed);
    // Unsigned 64-bit values beyond `i64` are not followed.
    if ty.is_u64() && (a < 0 || b < 0) {
        return None;
    }
    numbers::binary(op, ty, a, b).map(|outcome| outcome.value)
}
