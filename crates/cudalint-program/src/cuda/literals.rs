//! Literals, and names of the standard headers that are as good as literals.

use crate::ir::Expr;
use cudalint_numbers::{Literal, literal};

/// A number as written, with suffixes and digit separators.
pub(crate) fn number(text: &str) -> Expr {
    if let Some(literal) = literal(text) {
        return integer(literal);
    }
    // The grammar takes a sign into the literal.
    if let Some(rest) = text.strip_prefix('-') {
        return match number(rest.trim_start_matches(['-', '+', ' '])) {
            Expr::Int { value, bytes, signed: true } => Expr::Int { value: value.wrapping_neg(), bytes, signed: true },
            Expr::Int { value, bytes: 4, signed: false } => {
                Expr::Int { value: i64::from((value as u32).wrapping_neg()), bytes: 4, signed: false }
            }
            Expr::Int { value, bytes, signed } => Expr::Int { value: value.wrapping_neg(), bytes, signed },
            Expr::Float { value, bytes } => Expr::Float { value: -value, bytes },
            other => other,
        };
    }
    let text = text.trim_start_matches('+');
    let clean: String = text.chars().filter(|c| *c != '\'').collect();
    let lower = clean.to_ascii_lowercase();
    let hex = lower.starts_with("0x");
    let is_float = if hex {
        lower.contains('p') || lower.contains('.')
    } else {
        lower.contains(['.', 'e']) || !lower.starts_with("0b") && lower.ends_with('f')
    };
    match literal(text) {
        _ if is_float => float(&lower, hex),
        Some(literal) => integer(literal),

        None => Expr::Unknown(Vec::new()),
    }
}

const fn integer(literal: Literal) -> Expr {
    Expr::Int { value: literal.value as i64, bytes: literal.ty.bytes, signed: literal.ty.signed }
}

fn float(lower: &str, hex: bool) -> Expr {
    let (body, bytes) = if let Some(body) = lower.strip_suffix('f').filter(|_| !hex || lower.contains('p')) {
        (body, 4)
    } else {
        (lower.trim_end_matches('l'), 8)
    };
    let value = match bytes {
        _ if hex => hex_float(body).and_then(|value| cudalint_numbers::rounded(value, bytes)),
        // `0.3f` is the nearest `float`.
        4 => body.parse::<f32>().ok().map(f64::from),
        _ => body.parse().ok(),
    };
    match value {
        Some(value) => Expr::Float { value, bytes },
        None => Expr::Unknown(Vec::new()),
    }
}

fn hex_float(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.strip_prefix("0x")?.split_once('p')?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let value = u64::from_str_radix(&digits, 16).ok()? as f64;
    let exponent: i32 = exponent.parse().ok()?;
    Some(value * 2f64.powi(exponent - 4 * fraction.len() as i32))
}

/// A character literal with its prefix and quotes.
pub(crate) fn character(text: &str) -> Expr {
    let bytes = match text.split('\'').next() {
        Some("L" | "U") => 4,
        Some("u") => 2,
        _ => 1,
    };
    let inner = text.split_once('\'').map_or("", |(_, rest)| rest.strip_suffix('\'').unwrap_or(rest));
    let mut decoded = String::new();
    unescape(inner, &mut decoded);
    let mut chars = decoded.chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) => {
            let value = if bytes == 1 { i64::from(c as u32 as u8 as i8) } else { i64::from(c as u32) };
            Expr::Int { value, bytes, signed: true }
        }
        _ => Expr::Unknown(Vec::new()),
    }
}

/// A string literal with its prefix and quotes, decoded and appended.
pub(crate) fn string(text: &str, out: &mut String) {
    let Some((_, rest)) = text.split_once('"') else { return };
    let inner = rest.strip_suffix('"').unwrap_or(rest);
    unescape(inner, out);
}

/// A raw string literal.
pub(crate) fn raw_string(text: &str) -> String {
    let inner = text.split_once('(').map_or("", |(_, rest)| rest);
    inner.rsplit_once(')').map_or(inner, |(body, _)| body).to_owned()
}

fn unescape(text: &str, out: &mut String) {
    if !text.contains('\\') {
        out.push_str(text);
        return;
    }
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('a') => out.push('\u{7}'),
            Some('b') => out.push('\u{8}'),
            Some('f') => out.push('\u{c}'),
            Some('v') => out.push('\u{b}'),
            Some('\n') | None => {}
            Some('x') => {
                let mut value = 0u32;
                while let Some(digit) = chars.peek().and_then(|c| c.to_digit(16)) {
                    value = value.wrapping_mul(16).wrapping_add(digit);
                    chars.next();
                }
                out.push(char::from_u32(value & 0xff).unwrap_or('?'));
            }
            Some(c) if c.is_digit(8) => {
                let mut value = c.to_digit(8).unwrap_or(0);
                for _ in 0..2 {
                    let Some(digit) = chars.peek().and_then(|c| c.to_digit(8)) else { break };
                    value = value * 8 + digit;
                    chars.next();
                }
                out.push(char::from_u32(value & 0xff).unwrap_or('?'));
            }
            Some(c) => out.push(c),
        }
    }
}

/// Constants of `<limits.h>`, `<stdlib.h>`, `<float.h>`, `<math.h>` and `<stdint.h>` on the platforms that CUDA has.
pub(crate) fn constant(name: &str) -> Option<Expr> {
    // All begin with a capital, so most names end here.
    if !name.as_bytes().first().is_some_and(u8::is_ascii_uppercase) {
        return None;
    }
    let int = |value: i64| Some(Expr::Int { value, bytes: 4, signed: true });
    let uint = |value: i64| Some(Expr::Int { value, bytes: 4, signed: false });
    let long = |value: i64, signed| Some(Expr::Int { value, bytes: 8, signed });
    let float = |value: f64, bytes| Some(Expr::Float { value, bytes });
    match name {
        "NULL" => Some(Expr::Null),
        "EXIT_SUCCESS" => int(0),
        "EXIT_FAILURE" => int(1),
        "TRUE" => int(1),
        "FALSE" => int(0),
        "CHAR_BIT" => int(8),
        "SCHAR_MAX" | "CHAR_MAX" | "INT8_MAX" => int(127),
        "SCHAR_MIN" | "CHAR_MIN" | "INT8_MIN" => int(-128),
        "UCHAR_MAX" | "UINT8_MAX" => int(255),
        "SHRT_MAX" | "INT16_MAX" => int(32767),
        "SHRT_MIN" | "INT16_MIN" => int(-32768),
        "USHRT_MAX" | "UINT16_MAX" => int(65535),
        "INT_MAX" | "INT32_MAX" | "RAND_MAX" => int(i64::from(i32::MAX)),
        "INT_MIN" | "INT32_MIN" => int(i64::from(i32::MIN)),
        "UINT_MAX" | "UINT32_MAX" => uint(i64::from(u32::MAX)),
        "INT64_MAX" | "LLONG_MAX" => long(i64::MAX, true),
        "INT64_MIN" | "LLONG_MIN" => long(i64::MIN, true),
        "UINT64_MAX" | "ULLONG_MAX" | "SIZE_MAX" => long(-1, false),
        "FLT_MAX" => float(f64::from(f32::MAX), 4),
        "FLT_MIN" => float(f64::from(f32::MIN_POSITIVE), 4),
        "FLT_EPSILON" => float(f64::from(f32::EPSILON), 4),
        "DBL_MAX" => float(f64::MAX, 8),
        "DBL_MIN" => float(f64::MIN_POSITIVE, 8),
        "DBL_EPSILON" => float(f64::EPSILON, 8),
        "INFINITY" | "HUGE_VALF" => float(f64::INFINITY, 4),
        "HUGE_VAL" => float(f64::INFINITY, 8),
        "NAN" => float(f64::NAN, 4),
        "M_PI" => float(std::f64::consts::PI, 8),
        "M_PI_2" => float(std::f64::consts::FRAC_PI_2, 8),
        "M_PI_4" => float(std::f64::consts::FRAC_PI_4, 8),
        "M_E" => float(std::f64::consts::E, 8),
        "M_SQRT2" => float(std::f64::consts::SQRT_2, 8),
        "M_LN2" => float(std::f64::consts::LN_2, 8),
        "CUDART_INF_F" => float(f64::INFINITY, 4),
        "CUDART_PI_F" => float(std::f64::consts::PI, 4),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic)]
    use super::*;

    #[test]
    fn integers_take_the_first_type_that_holds_them() {
        for (text, value, bytes, signed) in [
            ("0", 0, 4, true),
            ("017", 15, 4, true),
            ("0x7fffffff", 0x7fff_ffff, 4, true),
            ("0x80000000", 0x8000_0000, 4, false),
            ("2147483648", 0x8000_0000, 8, true),
            ("1u", 1, 4, false),
            ("1'000ull", 1000, 8, false),
            ("0b101", 5, 4, true),
            ("10L", 10, 8, true),
            ("-1", -1, 4, true),
            ("-1u", 0xffff_ffff, 4, false),
        ] {
            let Expr::Int { value: v, bytes: b, signed: s } = number(text) else { panic!("{text} is no integer") };
            assert_eq!((v, b, s), (value, bytes, signed), "{text}");
        }
    }

    #[test]
    fn floats_know_their_width() {
        for (text, value, bytes) in [
            ("1.5f", 1.5, 4),
            ("1e3", 1000.0, 8),
            ("3.", 3.0, 8),
            ("0x1.8p1", 3.0, 8),
            ("2.5L", 2.5, 8),
            ("1.f", 1.0, 4),
        ] {
            let Expr::Float { value: v, bytes: b } = number(text) else { panic!("{text} is no float") };
            assert!((v - value).abs() < 1e-12 && b == bytes, "{text}");
        }
    }

    #[test]
    fn characters_and_strings_are_decoded() {
        assert!(matches!(character("'a'"), Expr::Int { value: 97, bytes: 1, .. }));
        assert!(matches!(character("'\\n'"), Expr::Int { value: 10, .. }));
        assert!(matches!(character("'\\0'"), Expr::Int { value: 0, .. }));
        let mut out = String::new();
        string("\"a\\tb\\x41\\101\"", &mut out);
        assert_eq!(out, "a\tbAA");
        assert_eq!(raw_string("R\"x(a(b)c)x\""), "a(b)c");
    }
}
