//! The integers that expressions always are.

use super::{BinaryOp, Code, Expr, ExprId, Intrinsic, Ty, UnaryOp};
use cudalint_numbers::floor_rem;

/// Deepest nesting that is looked into.
const MAX_NESTING: u32 = 24;

impl Code {
    /// The integer that an expression always is. `binary` computes as the language does: of an operator, the type of its first
    /// operand, and both.
    pub fn fold(&self, id: ExprId, binary: fn(BinaryOp, &Ty, i64, i64) -> Option<i64>) -> Option<i64> {
        self.fold_within(id, binary, 0)
    }

    fn fold_within(&self, id: ExprId, binary: fn(BinaryOp, &Ty, i64, i64) -> Option<i64>, nesting: u32) -> Option<i64> {
        if nesting > MAX_NESTING {
            return None;
        }
        let node = self.exprs.get(id)?;
        let below = |id: ExprId| self.fold_within(id, binary, nesting + 1);
        let value = match &node.kind {
            Expr::Int(value) => *value,
            Expr::Convert(inner) => below(*inner)?,
            Expr::Not(inner) => i64::from(below(*inner)? == 0),
            Expr::Unary(UnaryOp::Minus, inner) => below(*inner)?.checked_neg()?,
            Expr::Unary(UnaryOp::BitNot, inner) => !below(*inner)?,
            Expr::Select(condition, yes, no) => below(if below(*condition)? == 0 { *no } else { *yes })?,
            // The left side may have effects: it has to be known.
            Expr::And(a, b) => i64::from(below(*a)? != 0 && below(*b)? != 0),
            Expr::Or(a, b) => i64::from(below(*a)? != 0 || below(*b)? != 0),
            Expr::Intrinsic(which, parts) => match (which, parts.as_slice()) {
                (Intrinsic::FloorRem, [a, b]) => floor_rem(below(*a)?, below(*b)?)?,
                (Intrinsic::Min | Intrinsic::Max, [a, b]) => {
                    let (a, b) = (below(*a)?, below(*b)?);
                    // Unsigned 64-bit values beyond `i64` are not followed.
                    if node.ty.integer().is_u64() && (a < 0 || b < 0) {
                        return None;
                    }
                    if *which == Intrinsic::Min { a.min(b) } else { a.max(b) }
                }
                _ => return None,
            },
            Expr::Binary(op, a, b) => binary(*op, &self.exprs.get(*a)?.ty, below(*a)?, below(*b)?)?,
            _ => return None,
        };
        matches!(node.ty, Ty::Int { .. } | Ty::Bool).then(|| node.ty.wrap(value))
    }
}
