//! What lowered expressions always are: their value where it is constant, and whether they can be negative.

use super::lower::Lowerer;
use crate::code::{BinaryOp, Bits, Expr, ExprId, Intrinsic, Place, Ty};

/// Deepest nesting that is looked into.
const MAX_NESTING: u32 = 24;

impl Lowerer<'_> {
    /// The integer that an expression always is.
    pub(super) fn fold(&self, id: ExprId) -> Option<i64> {
        self.code.fold(id, |op, _, a, b| cudalint_numbers::python(op, a, b))
    }

    /// Whether an integer is surely not negative.
    pub(super) fn is_natural(&self, id: ExprId) -> bool {
        self.natural_within(id, 0)
    }

    fn natural_within(&self, id: ExprId, nesting: u32) -> bool {
        let Some(node) = self.code.exprs.get(id) else { return false };
        if nesting > MAX_NESTING {
            return false;
        }
        if matches!(node.ty, Ty::Bool | Ty::Int { signed: false, .. }) {
            return true;
        }
        let below = |id: &ExprId| self.natural_within(*id, nesting + 1);
        match &node.kind {
            Expr::Int(value) => *value >= 0,
            Expr::Builtin(_) => true,
            Expr::Convert(inner) => {
                // What is cut short may change its sign.
                let fits = self.ty_of(*inner).bytes() < node.ty.bytes() || self.ty_of(*inner) == node.ty;
                fits && matches!(self.ty_of(*inner), Ty::Int { .. } | Ty::Bool) && below(inner)
            }
            Expr::Read(Place::Register { variable, count: 0, .. }) => self.body.natural.contains(variable),
            Expr::Binary(BinaryOp::And, a, b) => below(a) || below(b),
            Expr::Binary(
                BinaryOp::Add
                | BinaryOp::Mul
                | BinaryOp::Div
                | BinaryOp::FloorDiv
                | BinaryOp::Rem
                | BinaryOp::Shr
                | BinaryOp::Or
                | BinaryOp::Xor,
                a,
                b,
            )
            | Expr::Select(_, a, b) => below(a) && below(b),
            Expr::Binary(BinaryOp::Shl, a, _) => below(a),
            Expr::Intrinsic(which, parts) => match which {
                Intrinsic::FloorRem => parts.get(1).is_some_and(below),
                Intrinsic::Max => parts.iter().any(below),
                Intrinsic::Min => parts.iter().all(below),
                Intrinsic::Bits(Bits::PopCount | Bits::LeadingZeros | Bits::FirstSet)
                | Intrinsic::GroupRank(_)
                | Intrinsic::GroupSize(_)
                | Intrinsic::DynamicSharedBytes
                | Intrinsic::Abs => true,
                _ => false,
            },
            Expr::Statements(_, Some(value)) => below(value),
            Expr::Sequence(parts) => parts.last().is_some_and(below),
            _ => false,
        }
    }
}
