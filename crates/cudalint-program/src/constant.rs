//! Constants with their C types, and what operators make of them.

use crate::ir::{BinaryOp, UnaryOp};
use crate::types::Ty;
use cudalint_numbers::{self as numbers, Integer, Real};

/// A constant with its C type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Constant {
    /// An integer, in the range of its type.
    Int {
        /// The value.
        value: i128,
        /// Size of the type.
        bytes: u8,
        /// Signedness of the type.
        signed: bool,
    },
    /// A floating-point number; `bytes` is 4 or 8.
    Float {
        /// The value.
        value: f64,
        /// Size of the type.
        bytes: u8,
    },
}

impl Constant {
    /// An integer wrapped to its type.
    pub fn int(value: i128, bytes: u8, signed: bool) -> Self {
        Self::Int { value: Integer::new(bytes, signed).reduced(value), bytes, signed }
    }

    /// The integer of a type that is kept so.
    const fn kept(value: i64, ty: Integer) -> Self {
        Self::Int { value: ty.number(value), bytes: ty.bytes, signed: ty.signed }
    }

    pub(crate) fn boolean(value: bool) -> Self {
        Self::Int { value: i128::from(value), bytes: 1, signed: false }
    }

    /// As an integer that fits `i64`; of a floating-point number nothing.
    pub fn as_i64(self) -> Option<i64> {
        match self {
            Self::Int { value, .. } => i64::try_from(value).ok(),
            Self::Float { .. } => None,
        }
    }

    pub(crate) fn as_f64(self) -> f64 {
        match self {
            Self::Int { value, .. } => value as f64,
            Self::Float { value, .. } => value,
        }
    }

    /// Whether it counts as true.
    pub fn truth(self) -> bool {
        match self {
            Self::Int { value, .. } => value != 0,
            Self::Float { value, .. } => value != 0.0,
        }
    }

    pub(crate) fn ty(self) -> Ty {
        match self {
            Self::Int { bytes, signed, .. } => Ty::Int { bytes, signed },
            Self::Float { bytes, .. } => Ty::Float { bytes },
        }
    }

    /// Converted to a type, as a cast does; a floating-point number out of the integer's range has no value.
    pub fn cast(self, ty: &Ty) -> Option<Self> {
        match ty.value() {
            Ty::Bool => Some(Self::boolean(self.truth())),
            Ty::Float { bytes } => Some(Self::float(self.as_f64(), *bytes)),
            other => {
                let (bytes, signed) = other.integer()?;
                match self {
                    Self::Int { value, .. } => Some(Self::int(value, bytes, signed)),
                    Self::Float { value, .. } => {
                        let whole = value.trunc();
                        if !whole.is_finite() || whole.abs() > 1e30 {
                            return None;
                        }
                        let whole = whole as i128;
                        let fits = Integer::new(bytes, signed).reduced(whole) == whole;
                        fits.then_some(Self::Int { value: whole, bytes, signed })
                    }
                }
            }
        }
    }

    /// A number rounded to its type, where that is computed.
    pub(crate) fn float(value: f64, bytes: u8) -> Self {
        Self::Float { value: numbers::rounded(value, bytes).unwrap_or(value), bytes }
    }
}

/// A result of a library function of one floating-point argument: `float` stays `float`.
pub(crate) fn real(value: f64, of: Constant) -> Constant {
    Constant::float(value, if matches!(of, Constant::Float { bytes: 4, .. }) { 4 } else { 8 })
}

pub(crate) fn unary(op: UnaryOp, value: Constant) -> Option<Constant> {
    if op == UnaryOp::Not {
        return Some(Constant::boolean(!value.truth()));
    }
    match value.cast(&value.ty().promoted()?)? {
        Constant::Int { value, bytes, signed } => {
            let ty = Integer::new(bytes, signed);
            Some(Constant::kept(numbers::unary(op, ty, value as i64), ty))
        }
        Constant::Float { value, bytes } => match op {
            UnaryOp::Minus => Some(Constant::float(-value, bytes)),
            UnaryOp::Plus => Some(Constant::float(value, bytes)),
            UnaryOp::BitNot | UnaryOp::Not => None,
        },
    }
}

pub(crate) fn binary(op: BinaryOp, a: Constant, b: Constant) -> Option<Constant> {
    let shift = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
    let ty = if shift { a.ty().promoted()? } else { a.ty().common(&b.ty())? };
    let left = a.cast(&ty)?;
    let right = if shift { b } else { b.cast(&ty)? };
    match (left, right) {
        (Constant::Int { value: x, bytes, signed }, Constant::Int { value: y, .. }) => {
            let ty = Integer::new(bytes, signed);
            let value = numbers::binary(op, ty, x as i64, y as i64)?.value;
            Some(if op.is_comparison() { Constant::boolean(value != 0) } else { Constant::kept(value, ty) })
        }
        (Constant::Float { value: x, bytes }, right) => {
            let y = right.as_f64();
            // What a division by zero gives, and whether two are equal, is nothing to build on.
            let firm =
                !matches!(op, BinaryOp::Eq | BinaryOp::Ne | BinaryOp::TrueDiv) && (op != BinaryOp::Div || y != 0.0);
            match numbers::real(op, x, y).filter(|_| firm)? {
                Real::Number(value) => Some(Constant::float(value, bytes)),
                Real::Truth(truth) => Some(Constant::boolean(truth)),
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn operators_use_the_common_type() {
        let int = |value| Constant::int(value, 4, true);
        let size = |value| Constant::int(value, 8, false);
        let product = binary(BinaryOp::Mul, int(65536), int(65536)).unwrap();
        assert_eq!(product, int(0), "int * int wraps");
        assert_eq!(binary(BinaryOp::Mul, int(65536), size(65536)).unwrap().as_i64(), Some(1 << 32));
        assert_eq!(binary(BinaryOp::Sub, size(1), int(2)).unwrap().as_i64(), None, "beyond i64");
        assert!(!binary(BinaryOp::Lt, int(-1), Constant::int(1, 4, false)).unwrap().truth());
        assert_eq!(binary(BinaryOp::Div, int(1), int(0)), None);
        assert_eq!(binary(BinaryOp::Shl, int(1), int(32)), None);
        assert_eq!(binary(BinaryOp::Div, int(-7), int(2)).unwrap(), int(-3));
    }

    #[test]
    fn casts_of_floating_point_numbers_truncate_within_range() {
        let value = Constant::Float { value: -2.9, bytes: 8 };
        assert_eq!(value.cast(&Ty::INT).unwrap().as_i64(), Some(-2));
        assert_eq!(Constant::Float { value: 1e12, bytes: 8 }.cast(&Ty::INT), None);
        assert_eq!(Constant::Float { value: f64::NAN, bytes: 8 }.cast(&Ty::INT), None);
    }
}
