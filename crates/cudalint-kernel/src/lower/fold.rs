//! The value of lowered expressions that are constant, for conditions of templates and for labels.

use super::Lowerer;
use crate::code::{self, BinaryOp, Expr, ExprId, UnaryOp};

/// Deepest nesting that is folded.
const MAX_NESTING: u32 = 24;

/// An integer in the range of its type.
pub(super) fn wrap(value: i64, bytes: u8, signed: bool) -> i64 {
    match (bytes, signed) {
        (1, true) => i64::from(value as i8),
        (1, false) => i64::from(value as u8),
        (2, true) => i64::from(value as i16),
        (2, false) => i64::from(value as u16),
        (4, true) => i64::from(value as i32),
        (4, false) => i64::from(value as u32),
        _ => value,
    }
}

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
                let code::Ty::Int { signed, bytes } = self.code.exprs.get(*a)?.ty else { return None };
                binary(*op, below(*a)?, below(*b)?, signed, bytes)?
            }
            _ => return None,
        };
        Some(match node.ty {
            code::Ty::Int { bytes, signed } => wrap(value, bytes, signed),
            code::Ty::Bool => i64::from(value != 0),
            _ => return None,
        })
    }
}

fn binary(op: BinaryOp, a: i64, b: i64, signed: bool, bytes: u8) -> Option<i64> {
    // Unsigned 64-bit values beyond `i64` are not followed.
    if !signed && bytes == 8 && (a < 0 || b < 0) {
        return None;
    }
    let shift = || u32::try_from(b).ok().filter(|by| *by < u32::from(bytes) * 8);
    Some(match op {
        BinaryOp::Add => a.checked_add(b)?,
        BinaryOp::Sub => a.checked_sub(b)?,
        BinaryOp::Mul => a.checked_mul(b)?,
        BinaryOp::Div => a.checked_div(b)?,
        BinaryOp::Rem => a.checked_rem(b)?,
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        BinaryOp::Xor => a ^ b,
        BinaryOp::Shl => a.checked_shl(shift()?)?,
        BinaryOp::Shr => a.checked_shr(shift()?)?,
        BinaryOp::Lt => i64::from(a < b),
        BinaryOp::Le => i64::from(a <= b),
        BinaryOp::Gt => i64::from(a > b),
        BinaryOp::Ge => i64::from(a >= b),
        BinaryOp::Eq => i64::from(a == b),
        BinaryOp::Ne => i64::from(a != b),
        BinaryOp::FloorDiv | BinaryOp::TrueDiv | BinaryOp::Pow => return None,
    })
}
