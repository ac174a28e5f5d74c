//! Operations on values of which only names are known: equal names are equal values.

use super::value::{Data, KNOWN, NUMBER, SOMEWHERE, Tags, UNKNOWN, Val, map2, mix, object_of};
use crate::code::{BinaryOp, Ty};

/// An operation on operands of which at least one is not known.
pub(super) struct Opaque {
    op: BinaryOp,
    salt: u64,
    /// A zero on either side makes it zero.
    zeroing: bool,
    /// What adds nothing changes nothing (but the sign of a zero): a zero on the left, on the right.
    neutral: [bool; 2],
    /// It asks whether two addresses are the same.
    addresses: bool,
}

impl Opaque {
    pub(super) fn new(op: BinaryOp, ty: &Ty) -> Self {
        let pointer = *ty == Ty::Pointer;
        let left = !pointer && matches!(op, BinaryOp::Add | BinaryOp::Or | BinaryOp::Xor);
        let right = !pointer && matches!(op, BinaryOp::Sub | BinaryOp::Shl | BinaryOp::Shr);
        Self {
            op,
            salt: salt(op, ty),
            zeroing: matches!(op, BinaryOp::And | BinaryOp::Mul) && !ty.is_float(),
            neutral: [left, left || right],
            addresses: pointer && matches!(op, BinaryOp::Eq | BinaryOp::Ne),
        }
    }

    /// Bits and tag of the result where they are the same in all lanes.
    pub(super) fn alike(&self, a: &Val, b: &Val) -> Option<(i64, u8)> {
        match (a.alike(), b.alike()) {
            (Some(a), Some(b)) => Some(self.of(a, b)),
            (Some((_, UNKNOWN)), _) if !self.zeroing || b.never_zero() => Some((0, UNKNOWN)),
            (_, Some((_, UNKNOWN))) if !self.zeroing || a.never_zero() => Some((0, UNKNOWN)),
            _ => None,
        }
    }

    /// Bits and tag of the result in one lane.
    #[inline]
    pub(super) fn of(&self, a: (i64, u8), b: (i64, u8)) -> (i64, u8) {
        if a.1 == NUMBER && b.1 == NUMBER {
            return (named(self.op, self.salt, a.0, b.0), NUMBER);
        }
        let zero = |x: (i64, u8)| x.0 == 0 && x.1 == KNOWN;
        if self.zeroing && (zero(a) || zero(b)) {
            return (0, KNOWN);
        }
        if self.neutral[0] && zero(a) {
            return b;
        }
        if self.neutral[1] && zero(b) {
            return a;
        }
        // An address is known not to be null wherever in its object it lies.
        if self.addresses {
            let other =
                |x: (i64, u8), y: (i64, u8)| x.1 == SOMEWHERE && y.1 != UNKNOWN && object_of(x.0) != object_of(y.0);
            if (other(a, b) && b.1 != NUMBER) || (other(b, a) && a.1 != NUMBER) {
                return (i64::from(self.op == BinaryOp::Ne), KNOWN);
            }
        }
        if a.1 > NUMBER || b.1 > NUMBER {
            return (0, UNKNOWN);
        }
        (named(self.op, self.salt, a.0, b.0), NUMBER)
    }
}

/// A number for the type in value names: types that hold the same value otherwise have other names.
pub(super) fn class(ty: &Ty) -> u64 {
    match ty {
        Ty::Bool => 1,
        Ty::Int { bytes, signed } => 16 + u64::from(*bytes) * 2 + u64::from(*signed),
        Ty::Float { bytes } => 64 + u64::from(*bytes),
        Ty::Pointer => 3,
        _ => 5,
    }
}

/// What makes names of results of different operations differ.
fn salt(op: BinaryOp, ty: &Ty) -> u64 {
    mix(op as u64 + 1, class(ty))
}

/// The name of a result, of the names or values of its operands.
#[inline]
const fn named(op: BinaryOp, salt: u64, a: i64, b: i64) -> i64 {
    let (a, b) = (a as u64, b as u64);
    let both = match op {
        BinaryOp::Add | BinaryOp::Mul | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => {
            a.wrapping_add(b).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (a ^ b)
        }
        _ => a.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ b.rotate_left(29),
    };
    mix(both, salt) as i64
}

/// The names of all results at once, where one side has a name in every lane and the other has, or is one number.
pub(super) fn names(op: BinaryOp, ty: &Ty, a: &Val, b: &Val, n: usize) -> Option<Val> {
    let all = |v: &Val| match &v.data {
        Data::Lanes(_, Tags::One(tag)) => *tag == NUMBER,
        Data::Uniform(_, tag) => *tag == NUMBER,
        _ => false,
    };
    let usable = |v: &Val| match &v.data {
        Data::Lanes(_, Tags::One(KNOWN)) => true,
        Data::Uniform(bits, KNOWN) => *bits != 0,
        _ => false,
    };
    let (ours, theirs) = (all(a), all(b));
    // Zero lanes of a factor would be known.
    let zeros = matches!(op, BinaryOp::And | BinaryOp::Mul) && !ty.is_float();
    let other = if ours { b } else { a };
    if !(ours && theirs) && (!(ours || theirs) || !usable(other) || (zeros && other.varies()) || *ty == Ty::Pointer) {
        return None;
    }
    let salt = salt(op, ty);
    let bits = map2(n, a.bits(), b.bits(), |x, y| named(op, salt, x, y));
    Some(Data::Lanes(bits.into(), Tags::One(NUMBER)).into())
}
