//! The value of lowered expressions that are constant, for conditions of templates and for labels.

use super::state::Lowerer;
use crate::code::{self, BinaryOp, Expr, ExprId, UnaryOp};
use cudalint_numbers::{self as numbers, Integer};

/// Deepest nesting that is folded.
const MAX_NESTING: u32 = 24;

impl Lowerer<'_> {
    /// The integer that an expression always has.
    pub(super) fn fold(&self, id: ExprId) -> Option<i64> {
        self.fold_within(id, 0)
    }

    fn fold_within(&self, id: ExprId, nesting: u32) -> Option<i64> {
        if nesting > MAX_NESTING {
            return None;
        }
        let node = self.code.exprs.get(id)?;
        let below = |id: ExprId| self.fold_within(id, nesting + 1);
        let value = match &node.kind {
            Expr::Int(value) => *value,
            Expr::Convert(inner) => {
                let value = below(*inner)?;
                match node.ty {
                    code::Ty::Bool => i64::from(value != 0),
                    _ => value,
                }
            }
            Expr::Not(inner) => i64::from(below(*inner)? == 0),
            Expr::Unary(UnaryOp::Minus, inner) => below(*inner)?.checked_neg()?,
            Expr::Unary(UnaryOp::BitNot, inner) => !below(*inner)?,
            Expr::And(a, b) => match (below(*a), below(*b)) {
                (Some(0), _) => 0,
                // The left side may have effects.
                (Some(_), Some(b)) => i64::from(b != 0),
                _ => return None,
            },
            Expr::Or(a, b) => match (below(*a), below(*b)) {
                (Some(a), _) if a != 0 => 1,
                (Some(_), Some(b)) => i64::from(b != 0),
                _ => return None,
            },
            Expr::Select(condition, yes, no) => below(if below(*condition)? != 0 { *yes } else { *no })?,
            Expr::Binary(op, a, b) => {
                let code::Ty::Int { bytes, signed } = self.code.exprs.get(*a)?.ty else { return None };
                binary(*op, below(*a)?, below(*b)?, Integer::new(bytes, signed))?
            }
            _ => return None,
        };
        Some(match node.ty {
            code::Ty::Int { .. } | code::Ty::Bool => node.ty.wrap(value),
            _ => return None,
        })
    }
}

fn binary(op: BinaryOp, a: i64, b: i64, ty: Integer) -> Option<i64> {
    // Unsigned 64-bit values beyond `i64` are not followed.
    if ty.is_u64() && (a < 0 || b < 0) {
        return None;
    }
    numbers::binary(op, ty, a, b).map(|outcome| outcome.value)
}
