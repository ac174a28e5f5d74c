//! Numbers and strings.

use crate::ir::{Expr, ExprId};

/// A number as written. Complex numbers, and integers that eight bytes do not hold, are unknown.
pub(super) fn number(text: &str) -> Expr {
    if text.len() < 19 && !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.parse().map_or(Expr::Unknown(Vec::new()), |value| Expr::Int { value, bytes: 8, signed: true });
    }
    let clean: String = text.chars().filter(|c| *c != '_').collect::<String>().to_ascii_lowercase();
    let unknown = Expr::Unknown(Vec::new());
    let int = |digits: &str, radix: u32| match i64::from_str_radix(digits.trim_end_matches('l'), radix) {
        Ok(value) => Expr::Int { value, bytes: 8, signed: true },
        Err(_) => Expr::Unknown(Vec::new()),
    };
    match clean.get(..2) {
        Some("0x") => return int(&clean[2..], 16),
        Some("0o") => return int(&clean[2..], 8),
        Some("0b") => return int(&clean[2..], 2),
        _ => {}
    }
    if clean.ends_with('j') {
        return unknown;
    }
    if clean.contains(['.', 'e']) {
        return clean.parse().map_or(unknown, |value| Expr::Float { value, bytes: 8 });
    }
    // Python 2 wrote octal numbers with a leading zero; Python 3 has only zeros there.
    let radix = if clean.len() > 1 && clean.starts_with('0') { 8 } else { 10 };
    int(&clean, radix)
}

/// A part of a string.
pub(super) enum Piece {
    Text(String),
    Hole(ExprId),
    /// With a format or a conversion.
    Formatted(ExprId),
}

/// Adds what `content` of a literal stands for to what was read so far.
pub(super) fn push_text(pieces: &mut Vec<Piece>, content: &str, literal: Literal<'_>) {
    if let Some(Piece::Text(text)) = pieces.last_mut() {
        decode(content, literal, text);
    } else {
        let mut text = String::new();
        decode(content, literal, &mut text);
        pieces.push(Piece::Text(text));
    }
}

/// A string literal taken apart.
#[derive(Clone, Copy)]
pub(super) struct Literal<'t> {
    /// What stands between the quotes.
    pub content: &'t str,
    pub formatted: bool,
    raw: bool,
    bytes: bool,
}

impl<'t> Literal<'t> {
    /// Of a literal with prefix and quotes; one that does not end is read as far as it goes.
    pub fn read(text: &'t str) -> Self {
        let quote = text.find(['"', '\'']).unwrap_or(text.len());
        let (prefix, rest) = text.split_at(quote);
        let has = |wanted: char| prefix.chars().any(|c| c.eq_ignore_ascii_case(&wanted));
        let mark = match rest.get(..3) {
            Some(three @ ("\"\"\"" | "'''")) => three,
            _ => rest.get(..1).unwrap_or(""),
        };
        let content = rest.get(mark.len()..).unwrap_or("");
        Self {
            content: content.strip_suffix(mark).unwrap_or(content),
            formatted: has('f') || has('t'),
            raw: has('r'),
            bytes: has('b'),
        }
    }
}

/// Adds what `content` of a literal stands for.
pub(super) fn decode(content: &str, literal: Literal<'_>, out: &mut String) {
    let special = |c: char| match c {
        '\\' => !literal.raw,
        '\r' => true,
        '{' | '}' => literal.formatted,
        _ => false,
    };
    let mut rest = content;
    while let Some(at) = rest.find(special) {
        let (plain, tail) = rest.split_at(at);
        out.push_str(plain);
        let mut chars = tail.chars();
        match chars.next() {
            Some('\\') => escape(&mut chars, literal.bytes, out),
            // Python reads every line end as one `\n`.
            Some('\r') => {
                out.push('\n');
                if let Some(after) = chars.as_str().strip_prefix('\n') {
                    chars = after.chars();
                }
            }
            // Doubled outside holes.
            Some(brace) => {
                out.push(brace);
                if let Some(after) = chars.as_str().strip_prefix(brace) {
                    chars = after.chars();
                }
            }
            None => {}
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
}

/// The number that at most so many digits write.
fn digits(chars: &mut std::str::Chars<'_>, radix: u32, most: usize) -> u32 {
    let mut value = 0;
    for _ in 0..most {
        let Some(digit) = chars.as_str().chars().next().and_then(|c| c.to_digit(radix)) else { break };
        value = value * radix + digit;
        chars.next();
    }
    value
}

/// What follows a backslash. An escape that Python does not know stays as it is.
fn escape(chars: &mut std::str::Chars<'_>, bytes: bool, out: &mut String) {
    let mut character = |value: u32| out.push(char::from_u32(value).unwrap_or('\u{fffd}'));
    // Octal digits stand by themselves.
    if chars.as_str().starts_with(|c: char| c.is_digit(8)) {
        return character(digits(chars, 8, 3));
    }
    match chars.next() {
        Some('\n') | None => {}
        Some('\r') => {
            if let Some(after) = chars.as_str().strip_prefix('\n') {
                *chars = after.chars();
            }
        }
        Some(c @ ('\\' | '\'' | '"')) => out.push(c),
        Some('n') => out.push('\n'),
        Some('t') => out.push('\t'),
        Some('r') => out.push('\r'),
        Some('a') => out.push('\u{7}'),
        Some('b') => out.push('\u{8}'),
        Some('f') => out.push('\u{c}'),
        Some('v') => out.push('\u{b}'),
        Some('x') => character(digits(chars, 16, 2)),
        Some('u') if !bytes => character(digits(chars, 16, 4)),
        Some('U') if !bytes => character(digits(chars, 16, 8)),
        Some('N') if !bytes && chars.as_str().starts_with('{') => {
            let name = chars.as_str();
            *chars = name.split_once('}').map_or("", |(_, after)| after).chars();
            out.push('\u{fffd}');
        }
        Some(c) => {
            out.push('\\');
            out.push(c);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic)]
    use super::*;

    #[test]
    fn numbers_of_every_spelling() {
        for (text, value) in [
            ("0", 0),
            ("00", 0),
            ("1_000", 1000),
            ("0xFF", 255),
            ("0o17", 15),
            ("0b101", 5),
            ("017", 15),
            ("10L", 10),
            ("9223372036854775807", i64::MAX),
        ] {
            let Expr::Int { value: read, bytes: 8, signed: true } = number(text) else { panic!("{text}") };
            assert_eq!(read, value, "{text}");
        }
        for (text, value) in [("1.5", 1.5), ("1e3", 1000.0), ("3.", 3.0), (".5", 0.5), ("1_0.0", 10.0), ("1E-2", 0.01)]
        {
            let Expr::Float { value: read, bytes: 8 } = number(text) else { panic!("{text}") };
            assert!((read - value).abs() < 1e-12, "{text}");
        }
        for text in ["1j", "1.5J", "9223372036854775808", "0xFFFFFFFFFFFFFFFF"] {
            assert!(matches!(number(text), Expr::Unknown(_)), "{text}");
        }
    }

    #[test]
    fn strings_are_decoded_as_python_does() {
        let decoded = |text: &str| {
            let literal = Literal::read(text);
            let mut out = String::new();
            decode(literal.content, literal, &mut out);
            out
        };
        assert_eq!(decoded(r#""a\tb\x41\101\0\q""#), "a\tbAA\0\\q");
        assert_eq!(decoded(r#"r"a\n""#), "a\\n");
        assert_eq!(decoded("'''a\r\nb\\\nc'''"), "a\nbc");
        assert_eq!(decoded(r"'\u00e9\N{BULLET}'"), "é\u{fffd}");
        assert_eq!(decoded(r"b'\u00e9\xff'"), "\\u00e9\u{ff}");
        assert_eq!(decoded("f'{{a}}'"), "{a}");
        assert_eq!(decoded("''"), "");
        assert_eq!(decoded("\"\"\"x\"\"\""), "x");
        assert_eq!(decoded("'not closed"), "not closed");
    }
}
