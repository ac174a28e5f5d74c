//! Integer literals of C++.

use crate::Integer;

/// An integer literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Literal {
    /// Its value.
    pub value: u64,
    /// Its type.
    pub ty: Integer,
}

/// Reads an integer literal with its suffix and digit separators; `None` for what is none, or does not fit 64 bits.
pub fn literal(text: &str) -> Option<Literal> {
    if let Some(value) = small(text) {
        return Some(Literal { value, ty: Integer::INT });
    }
    let lower: String = text.chars().filter(|c| *c != '\'').map(|c| c.to_ascii_lowercase()).collect();
    let (digits, suffix) = lower.split_at(lower.trim_end_matches(['u', 'l', 'z']).len());
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x', ..] => (16, digits.get(2..)?),
        [b'0', b'b', ..] => (2, digits.get(2..)?),
        [b'0', _, ..] => (8, digits.get(1..)?),
        _ => (10, digits),
    };
    if !digits.starts_with(|c: char| c.is_ascii_hexdigit()) {
        return None;
    }
    let value = u64::from_str_radix(digits, radix).ok()?;
    let long = suffix.contains(['l', 'z']);
    let unsigned = suffix.contains('u');
    // C picks the first of int, unsigned (not for decimals), long, unsigned long that holds the value.
    let ty = if !long && !unsigned && i32::try_from(value).is_ok() {
        Integer::INT
    } else if !long && (unsigned || radix != 10) && u32::try_from(value).is_ok() {
        Integer::UINT
    } else if !unsigned && i64::try_from(value).is_ok() {
        Integer::LONG
    } else {
        Integer::SIZE
    };
    Some(Literal { value, ty })
}

/// A decimal of up to nine digits: most numbers are.
fn small(text: &str) -> Option<u64> {
    let bytes = text.as_bytes();
    let plain = matches!(bytes, [b'0'..=b'9'] | [b'1'..=b'9', ..]) && bytes.len() <= 9;
    if !plain {
        return None;
    }
    bytes.iter().try_fold(0, |value, byte| byte.is_ascii_digit().then(|| value * 10 + u64::from(byte - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_have_the_type_that_c_picks() {
        for (text, value, bytes, signed) in [
            ("0", 0, 4, true),
            ("201703L", 201_703, 8, true),
            ("2147483648", 1 << 31, 8, true),
            ("0x80000000", 1 << 31, 4, false),
            ("1'000'000", 1_000_000, 4, true),
            ("017", 15, 4, true),
            ("0b101u", 5, 4, false),
            ("3uz", 3, 8, false),
            ("18446744073709551615", u64::MAX, 8, false),
        ] {
            assert_eq!(literal(text), Some(Literal { value, ty: Integer::new(bytes, signed) }), "{text}");
        }
        for text in ["", "x", "08", "1.5", "0x", "1f", "u", "+1", "0x+1", "18446744073709551616"] {
            assert_eq!(literal(text), None, "{text}");
        }
    }
}
