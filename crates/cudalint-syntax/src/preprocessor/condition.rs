//! Whether a condition of `#if` holds, as far as the macros in sight decide it: true, false or open.

use cudalint_numbers::{BinaryOp, Integer, UnaryOp, binary, literal, unary};

/// What a name means to the preprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning<'m> {
    /// It may be defined or not.
    Unknown,
    /// It is not defined.
    Absent,
    /// An object-like macro with its body.
    Defined(&'m str),
    /// A macro whose value is not looked for: one with parameters, or one of which only that it is defined is known.
    Opaque,
}

/// Who knows which conditions of a file hold.
pub trait Conditions {
    /// Whether a condition (the text after `#if`; `#ifdef X` is `defined(X)`) holds at a place of the file; `None` when that
    /// is open.
    fn holds(&self, condition: &str, at: u32) -> Option<bool>;
}

/// Nesting of parentheses, unary operators and macros in each other's bodies; what is deeper is open.
const MAX_DEPTH: u32 = 60;

/// What a macro's body counts for the depth.
const BODY_DEPTH: u32 = 15;

/// Tokens that are looked at for one condition, those of macros' bodies included; what costs more is open.
const MAX_TOKENS: usize = 4_000;

/// The value of a condition (the text after `#if`; `#ifdef X` is `defined(X)`), by what `meaning` says of names; `None`
/// where that does not decide it, or it cannot be read.
pub fn evaluate<'m>(condition: &str, meaning: &dyn Fn(&str) -> Meaning<'m>) -> Option<bool> {
    let mut left = MAX_TOKENS;
    value_of(condition, meaning, 0, &mut left).map(|value| value.kept != 0)
}

/// The names that a condition asks about, calls such as `__has_include` among them.
pub fn names_in(condition: &str) -> impl Iterator<Item = &str> {
    let is_name = |token: &&str| token.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let words = ["defined", "true", "false", "and", "or", "not", "bitand", "bitor", "xor", "compl", "not_eq"];
    tokens(condition).into_iter().filter(is_name).filter(move |token| !words.contains(token))
}

fn value_of<'m>(text: &str, meaning: &dyn Fn(&str) -> Meaning<'m>, depth: u32, left: &mut usize) -> Option<Number> {
    let tokens = tokens(text);
    *left = left.checked_sub(tokens.len())?;
    let mut parser = Parser { tokens, at: 0, meaning, depth, left };
    let value = parser.ternary().ok()?;
    if parser.at < parser.tokens.len() { None } else { value }
}

/// Words, numbers and operators; nothing where the text holds what no condition holds.
fn tokens(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        let two = bytes.get(at..at + 2).unwrap_or(&[]);
        if byte.is_ascii_whitespace() || byte == b'\\' {
            at += 1;
            continue;
        }
        if two == b"/*" {
            at += 2 + memchr::memmem::find(&bytes[at + 2..], b"*/").map_or(bytes.len(), |end| end + 2);
            continue;
        }
        if two == b"//" {
            at += memchr::memchr(b'\n', &bytes[at..]).unwrap_or(bytes.len());
            continue;
        }
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
        if is_word(byte) {
            // Digits may be set apart: 1'000.
            let separates = |at: usize| byte.is_ascii_digit() && bytes[at] == b'\'';
            while at < bytes.len() && (is_word(bytes[at]) || separates(at)) {
                at += 1;
            }
        } else if byte == b'\'' {
            // A character, which a backslash may stand before.
            let first = at + 1 + usize::from(bytes.get(at + 1) == Some(&b'\\'));
            at = (first + 2).min(bytes.len());
        } else {
            let double = [b"&&", b"||", b"==", b"!=", b"<=", b">=", b"<<", b">>"];
            at += if double.iter().any(|operator| *operator == two) { 2 } else { 1 };
        }
        match text.get(start..at) {
            Some(token) => found.push(token),
            None => return Vec::new(),
        }
    }
    found
}

/// A number of the preprocessor: of 64 bits, signed or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Number {
    kept: i64,
    ty: Integer,
}

impl Number {
    const fn signed(kept: i64) -> Self {
        Self { kept, ty: Integer::LONG }
    }

    fn truth(value: bool) -> Self {
        Self::signed(i64::from(value))
    }
}

/// The condition cannot be read.
struct Unreadable;

/// A number, or nothing where it is open.
type Value = Result<Option<Number>, Unreadable>;

struct Parser<'t, 'f, 'm> {
    tokens: Vec<&'t str>,
    at: usize,
    meaning: &'f dyn Fn(&str) -> Meaning<'m>,
    depth: u32,
    left: &'f mut usize,
}

impl<'t> Parser<'t, '_, '_> {
    fn peek(&self) -> &'t str {
        self.tokens.get(self.at).copied().unwrap_or("")
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.peek() == token;
        self.at += usize::from(found);
        found
    }

    fn enter(&mut self) -> Result<(), Unreadable> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(Unreadable) } else { Ok(()) }
    }

    fn ternary(&mut self) -> Value {
        let condition = self.chain(0)?;
        if !self.take("?") {
            return Ok(condition);
        }
        self.enter()?;
        let yes = self.ternary()?;
        if !self.take(":") {
            return Err(Unreadable);
        }
        let no = self.ternary()?;
        self.depth -= 1;
        Ok(match condition {
            Some(condition) if condition.kept == 0 => no,
            Some(_) => yes,
            None => yes.filter(|_| yes == no),
        })
    }

    /// Operators that bind at least this strongly.
    fn chain(&mut self, minimum: u8) -> Value {
        let mut left = self.operand()?;
        loop {
            let Some((operator, binding)) = operator(self.peek()).filter(|(_, binding)| *binding >= minimum) else {
                return Ok(left);
            };
            self.at += 1;
            self.enter()?;
            let right = self.chain(binding + 1)?;
            self.depth -= 1;
            left = apply(operator, left, right);
        }
    }

    fn operand(&mut self) -> Value {
        self.enter()?;
        let token = self.peek();
        self.at += 1;
        let value = match token {
            "!" | "not" => self.operand()?.map(|value| Number::truth(value.kept == 0)),
            "-" => self.unary(UnaryOp::Minus)?,
            "+" => self.unary(UnaryOp::Plus)?,
            "~" | "compl" => self.unary(UnaryOp::BitNot)?,
            "(" => {
                let value = self.ternary()?;
                if !self.take(")") {
                    return Err(Unreadable);
                }
                value
            }
            "defined" => {
                let open = self.take("(");
                let name = self.peek();
                self.at += 1;
                if name.is_empty() || open && !self.take(")") {
                    return Err(Unreadable);
                }
                match (self.meaning)(name) {
                    Meaning::Unknown => None,
                    meaning => Some(Number::truth(meaning != Meaning::Absent)),
                }
            }
            word => self.word(word)?,
        };
        self.depth -= 1;
        Ok(value)
    }

    fn unary(&mut self, op: UnaryOp) -> Value {
        Ok(self.operand()?.map(|value| Number { kept: unary(op, value.ty, value.kept), ty: value.ty }))
    }

    /// A number or name; a call such as `__has_include(x)` is open.
    fn word(&mut self, word: &str) -> Value {
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return Ok(literal(word).map(|number| Number {
                kept: number.value as i64,
                ty: if number.ty.signed || number.ty.bytes < 8 && !word.ends_with(['u', 'U', 'l', 'L']) {
                    Integer::LONG
                } else {
                    Integer::SIZE
                },
            }));
        }
        if let Some(quoted) = word.strip_prefix('\'') {
            // What a backslash makes of a letter is not looked for.
            let mut letters = quoted.strip_suffix('\'').ok_or(Unreadable)?.bytes();
            return match (letters.next(), letters.next()) {
                (Some(letter), None) if letter != b'\\' => Ok(Some(Number::signed(i64::from(letter)))),
                _ => Ok(None),
            };
        }
        if !word.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            return Err(Unreadable);
        }
        if self.take("(") {
            let mut open = 1_u32;
            while open > 0 {
                match self.peek() {
                    "" => return Err(Unreadable),
                    "(" => open += 1,
                    ")" => open -= 1,
                    _ => {}
                }
                self.at += 1;
            }
            return Ok(None);
        }
        Ok(match word {
            "true" => Some(Number::truth(true)),
            "false" => Some(Number::truth(false)),
            _ => match (self.meaning)(word) {
                Meaning::Absent => Some(Number::signed(0)),
                Meaning::Defined(body) if self.depth + BODY_DEPTH <= MAX_DEPTH => {
                    value_of(body, self.meaning, self.depth + BODY_DEPTH, self.left)
                }
                Meaning::Defined(_) | Meaning::Unknown | Meaning::Opaque => None,
            },
        })
    }
}

/// An operator between two operands.
#[derive(Clone, Copy)]
enum Operator {
    And,
    Or,
    Other(BinaryOp),
}

/// An operator with how strongly it binds.
fn operator(token: &str) -> Option<(Operator, u8)> {
    use BinaryOp as B;
    use Operator::{And, Or, Other};
    Some(match token {
        "||" | "or" => (Or, 1),
        "&&" | "and" => (And, 2),
        "|" | "bitor" => (Other(B::Or), 3),
        "^" | "xor" => (Other(B::Xor), 4),
        "&" | "bitand" => (Other(B::And), 5),
        "==" => (Other(B::Eq), 6),
        "!=" | "not_eq" => (Other(B::Ne), 6),
        "<" => (Other(B::Lt), 7),
        ">" => (Other(B::Gt), 7),
        "<=" => (Other(B::Le), 7),
        ">=" => (Other(B::Ge), 7),
        "<<" => (Other(B::Shl), 8),
        ">>" => (Other(B::Shr), 8),
        "+" => (Other(B::Add), 9),
        "-" => (Other(B::Sub), 9),
        "*" => (Other(B::Mul), 10),
        "/" => (Other(B::Div), 10),
        "%" => (Other(B::Rem), 10),
        _ => return None,
    })
}

/// An open operand makes the result open, unless the other one decides.
fn apply(operator: Operator, left: Option<Number>, right: Option<Number>) -> Option<Number> {
    let truth = |number: Number| number.kept != 0;
    let op = match (operator, left.map(truth), right.map(truth)) {
        (Operator::And, Some(false), _) | (Operator::And, _, Some(false)) => return Some(Number::truth(false)),
        (Operator::Or, Some(true), _) | (Operator::Or, _, Some(true)) => return Some(Number::truth(true)),
        (Operator::And | Operator::Or, Some(_), Some(right)) => return Some(Number::truth(right)),
        (Operator::And | Operator::Or, ..) => return None,
        (Operator::Other(op), ..) => op,
    };
    let (a, b) = (left?, right?);
    let shift = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
    let ty = if shift { a.ty } else { a.ty.common(b.ty) };
    let value = binary(op, ty, a.kept, b.kept)?.value;
    Some(Number { kept: value, ty: if op.is_comparison() { Integer::LONG } else { ty } })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preprocessor::BuildMacros;

    fn holds(condition: &str, defines: &[&str]) -> Option<bool> {
        let macros = BuildMacros::with_defines(defines.iter().copied());
        evaluate(condition, &|name| macros.meaning(name))
    }

    #[test]
    fn conditions_are_true_false_or_open() {
        let defines = ["N=4", "FAST", "TWICE=(N * 2)", "ROUND=ROUND + 1", "EMPTY="];
        for (text, expected) in [
            ("defined(NDEBUG)", Some(false)),
            ("!defined NDEBUG", Some(true)),
            ("defined(__CUDACC__) && !defined(__HIPCC__)", Some(true)),
            ("defined(DEBUG)", None),
            ("defined(DEBUG) && defined(_WIN32)", Some(false)),
            ("defined(DEBUG) || FAST", Some(true)),
            ("not defined(DEBUG) and 0", Some(false)),
            ("N >= 3 && (N << 1) == 8", Some(true)),
            ("TWICE == 8 && TWICE % 3 == 2", Some(true)),
            ("ROUND", None),
            ("EMPTY", None),
            ("__CUDA_ARCH__ >= 700", Some(true)),
            ("__CUDA_ARCH__ >= 900", Some(false)),
            ("__cplusplus >= 201703L", Some(true)),
            ("_MSC_VER >= 1900", Some(false)),
            ("N == 010 / 2 ? 1 : 0", Some(true)),
            ("!(defined(DEBUG))", None),
            ("__has_include(<cuda_fp16.h>)", None),
            ("defined(__CUDA_ARCH__) && \\\n __CUDA_ARCH__ >= 600 /* two lines */", Some(true)),
            ("-1 > 0u", Some(true)),
            ("-1 > 0x0", Some(false)),
            ("1'000 == 1000", Some(true)),
            ("'A' == 65 && 0b11 == 3", Some(true)),
            ("'A' == 'B'", Some(false)),
            ("'\\n' == 10", None),
            ("'A", None),
            ("~0 == -1", Some(true)),
            ("0", Some(false)),
            ("1 +", None),
            ("(1", None),
            ("", None),
            ("1 1", None),
            ("5 / 0", None),
            ("1 << 64", None),
            ("DEBUG ? 1 : 1", Some(true)),
            ("DEBUG ? 1 : 0", None),
        ] {
            assert_eq!(holds(text, &defines), expected, "{text}");
        }
    }

    #[test]
    fn names_that_are_asked_for() {
        assert_eq!(names_in("defined(A) && !defined B || C > 1").collect::<Vec<_>>(), ["A", "B", "C"]);
    }

    #[test]
    fn what_is_deep_or_long_is_open() {
        assert_eq!(holds(&format!("{}1{}", "(".repeat(20_000), ")".repeat(20_000)), &[]), None);
        assert_eq!(holds(&format!("{}1", "!".repeat(20_000)), &[]), None);
        assert_eq!(holds(&format!("1{}", " ? 1 : 1".repeat(20_000)), &[]), None);
        let wide = "B + ".repeat(1_000) + "B";
        let (a, b) = (format!("A={wide}"), format!("B={}", wide.replace('B', "C")));
        assert_eq!(holds("A", &[&a, &b, "C=1"]), None);
    }
}
