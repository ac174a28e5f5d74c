//! What operators give on numbers.

use crate::{BinaryOp, Integer, UnaryOp};

/// The result of an operation on integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The result as kept by its type, wrapped to it; 0 or 1 for comparisons.
    pub value: i64,
    /// Whether that is what the operation gives on unbounded numbers.
    pub exact: bool,
}

/// One operation on two numbers of a type (for shifts: the type of the left one), as kept by [`Integer`], in 64 bits and
/// not yet wrapped to the type; `None` where C++ and the hardware give no value.
#[inline]
pub fn raw(op: BinaryOp, ty: Integer, a: i64, b: i64) -> Option<i64> {
    let unsigned = ty.is_u64();
    Some(match op {
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Sub => a.wrapping_sub(b),
        BinaryOp::Mul => a.wrapping_mul(b),
        BinaryOp::Div | BinaryOp::Rem | BinaryOp::FloorDiv if b == 0 => return None,
        BinaryOp::Div | BinaryOp::FloorDiv if unsigned => ((a as u64) / (b as u64)) as i64,
        BinaryOp::Rem if unsigned => ((a as u64) % (b as u64)) as i64,
        BinaryOp::Div => a.wrapping_div(b),
        BinaryOp::Rem => a.wrapping_rem(b),
        BinaryOp::FloorDiv => a.wrapping_div_euclid(b) - i64::from(b < 0 && a.wrapping_rem(b) != 0),
        BinaryOp::Shl | BinaryOp::Shr if b < 0 || b >= i64::from(ty.bits()) => return None,
        BinaryOp::Shl => a.wrapping_shl(b as u32),
        BinaryOp::Shr if unsigned => ((a as u64) >> b) as i64,
        BinaryOp::Shr => a >> b,
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        BinaryOp::Xor => a ^ b,
        _ if op.is_comparison() => {
            let order = if unsigned { (a as u64).cmp(&(b as u64)) } else { a.cmp(&b) };
            i64::from(op.holds(order)?)
        }
        _ => return None,
    })
}

/// Whether a sum, difference, product or left shift of numbers of 8 bytes goes beyond them.
pub const fn overflows(op: BinaryOp, ty: Integer, a: i64, b: i64) -> bool {
    let unsigned = ty.is_u64();
    match op {
        BinaryOp::Add if unsigned => (a as u64).checked_add(b as u64).is_none(),
        BinaryOp::Sub if unsigned => (a as u64) < (b as u64),
        BinaryOp::Mul if unsigned => (a as u64).checked_mul(b as u64).is_none(),
        BinaryOp::Add => a.checked_add(b).is_none(),
        BinaryOp::Sub => a.checked_sub(b).is_none(),
        BinaryOp::Mul => a.checked_mul(b).is_none(),
        BinaryOp::Shl if unsigned => ((a as u64) << (b & 63)) >> (b & 63) != a as u64,
        BinaryOp::Shl => (a << (b & 63)) >> (b & 63) != a,
        _ => false,
    }
}

/// One operation on two numbers of a type, wrapped to it.
pub fn binary(op: BinaryOp, ty: Integer, a: i64, b: i64) -> Option<Outcome> {
    let raw = raw(op, ty, a, b)?;
    if op.is_comparison() {
        return Some(Outcome { value: raw, exact: true });
    }
    let value = ty.wrap(raw);
    // The smallest number divided by -1 is the only quotient beyond its type; wrapping shows it below 8 bytes.
    let beyond = matches!(op, BinaryOp::Div | BinaryOp::FloorDiv) && ty.signed && a == i64::MIN && b == -1;
    Some(Outcome { value, exact: value == raw && !beyond && !overflows(op, ty, a, b) })
}

/// One operation on numbers without bounds; `None` also where the result does not fit 64 bits.
pub fn exact(op: BinaryOp, a: i64, b: i64) -> Option<i64> {
    binary(op, Integer::LONG, a, b).filter(|outcome| outcome.exact).map(|outcome| outcome.value)
}

/// One operation as Python does it, whose quotients are rounded down and whose integers have no bounds; `None` also where
/// the result does not fit 64 bits or is no integer.
pub fn python(op: BinaryOp, a: i64, b: i64) -> Option<i64> {
    match op {
        BinaryOp::Rem => floor_rem(a, b),
        BinaryOp::Pow => a.checked_pow(u32::try_from(b).ok()?),
        _ => exact(op, a, b),
    }
}

/// Python's `%`: of the divisor's sign.
pub fn floor_rem(a: i64, b: i64) -> Option<i64> {
    if b == 0 {
        return None;
    }
    let rest = a.wrapping_rem(b);
    Some(if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest })
}

/// A unary operation on a number of a type, which is promoted already; `!` gives 0 or 1.
pub const fn unary(op: UnaryOp, ty: Integer, a: i64) -> i64 {
    match op {
        UnaryOp::Plus => a,
        UnaryOp::Minus => ty.wrap(a.wrapping_neg()),
        UnaryOp::BitNot => ty.wrap(!a),
        UnaryOp::Not => (a == 0) as i64,
    }
}

/// The result of an operation on floating-point numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Real {
    /// A number, not yet rounded to its type.
    Number(f64),
    /// What a comparison says.
    Truth(bool),
}

/// One operation on floating-point numbers, as IEEE 754 has it; `None` for operators that they do not have.
pub fn real(op: BinaryOp, a: f64, b: f64) -> Option<Real> {
    Some(Real::Number(match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Div | BinaryOp::TrueDiv => a / b,
        _ if op.is_comparison() => {
            // Of what is no number all comparisons but one are false.
            let truth = a.partial_cmp(&b).map_or(Some(op == BinaryOp::Ne), |order| op.holds(order));
            return truth.map(Real::Truth);
        }
        _ => return None,
    }))
}

/// A number rounded to a type of floating-point numbers of 4 or 8 bytes; `None` for others, which are not computed.
pub const fn rounded(value: f64, bytes: u8) -> Option<f64> {
    match bytes {
        8 => Some(value),
        4 => Some(value as f32 as f64),
        _ => None,
    }
}
