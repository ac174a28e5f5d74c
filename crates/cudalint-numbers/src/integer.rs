//! Types of integers: what fits, what wraps, what is promoted to what.

use std::cmp::Ordering;

/// A type of integers of 1, 2, 4 or 8 bytes. A number of such a type is kept in an `i64`: by its value, or, for an
/// unsigned one of 8 bytes, by its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Integer {
    /// Size.
    pub bytes: u8,
    /// Signedness.
    pub signed: bool,
}

impl Integer {
    /// `int`.
    pub const INT: Self = Self::new(4, true);
    /// `unsigned int`.
    pub const UINT: Self = Self::new(4, false);
    /// `long` and `long long`.
    pub const LONG: Self = Self::new(8, true);
    /// `size_t`, `unsigned long` and `unsigned long long`.
    pub const SIZE: Self = Self::new(8, false);

    /// Of a size and signedness.
    pub const fn new(bytes: u8, signed: bool) -> Self {
        Self { bytes, signed }
    }

    /// Bits of a number.
    pub const fn bits(self) -> u32 {
        self.bytes as u32 * 8
    }

    /// Whether all 64 bits are used, without a sign.
    pub const fn is_u64(self) -> bool {
        self.bytes == 8 && !self.signed
    }

    /// The low bits of a 64-bit number as a number of this type.
    #[inline]
    pub const fn wrap(self, value: i64) -> i64 {
        match (self.bytes, self.signed) {
            (1, true) => value as i8 as i64,
            (1, false) => value as u8 as i64,
            (2, true) => value as i16 as i64,
            (2, false) => value as u16 as i64,
            (4, true) => value as i32 as i64,
            (4, false) => value as u32 as i64,
            _ => value,
        }
    }

    /// The number that is kept as `kept`.
    #[inline]
    pub const fn number(self, kept: i64) -> i128 {
        if self.is_u64() { kept as u64 as i128 } else { kept as i128 }
    }

    /// A number brought into the range of the type, as a conversion does.
    pub const fn reduced(self, number: i128) -> i128 {
        self.number(self.wrap(number as i64))
    }

    /// The type of arithmetic on one operand.
    #[must_use]
    pub const fn promoted(self) -> Self {
        if self.bytes < 4 { Self::INT } else { self }
    }

    /// The type of arithmetic on two operands, by the usual arithmetic conversions: of equal size unsigned wins, else
    /// the larger with its own sign.
    #[must_use]
    pub fn common(self, other: Self) -> Self {
        let (a, b) = (self.promoted(), other.promoted());
        match a.bytes.cmp(&b.bytes) {
            Ordering::Less => b,
            Ordering::Greater => a,
            Ordering::Equal => Self::new(a.bytes, a.signed && b.signed),
        }
    }

    /// The smallest usual type (`int` or larger) that holds an enumerator or a literal without a suffix.
    #[must_use]
    pub fn of(value: i128) -> Self {
        if i32::try_from(value).is_ok() {
            Self::INT
        } else if i64::try_from(value).is_ok() {
            Self::LONG
        } else {
            Self::SIZE
        }
    }
}
