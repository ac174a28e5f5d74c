//! Conditions of `#if` groups, decided as far as the compiler and the command line fix them.

use rustc_hash::FxHashMap;

/// Macros that nvcc's host pass surely has.
const DEFINED: [&str; 4] = ["__CUDACC__", "__NVCC__", "__cplusplus", "CUDART_VERSION"];

/// Macros that nvcc on a usual host surely lacks, unless the command line gives them.
const UNDEFINED: [&str; 19] = [
    "NDEBUG",
    "_WIN32",
    "_WIN64",
    "WIN32",
    "_MSC_VER",
    "__MINGW32__",
    "__CYGWIN__",
    "__APPLE__",
    "__MACH__",
    "__OPENCL_VERSION__",
    "__CUDACC_RTC__",
    "__DOXYGEN__",
    "DOXYGEN_SHOULD_SKIP_THIS",
    "__CUDA_LIBDEVICE__",
    "__QNX__",
    "__ANDROID__",
    "__EMSCRIPTEN__",
    "__aarch64__",
    "__arm__",
];

/// `-D` definitions by name.
#[derive(Clone, Debug, Default)]
pub struct Defines {
    values: FxHashMap<String, String>,
    /// Names that are taken to be undefined.
    absent: Vec<String>,
}

impl Defines {
    /// From `NAME` (which means 1) and `NAME=value`.
    pub fn new<'a>(defines: impl IntoIterator<Item = &'a str>) -> Self {
        let mut values = FxHashMap::default();
        for define in defines {
            let (name, value) = define.split_once('=').unwrap_or((define, "1"));
            values.insert(name.trim().to_owned(), value.trim().to_owned());
        }
        Self { values, absent: Vec::new() }
    }

    /// With some more names defined, as nothing, and some taken to be undefined; what is given already stays.
    #[must_use]
    pub(crate) fn supposing(&self, present: &[&str], absent: &[&str]) -> Self {
        let mut supposed = self.clone();
        for name in present {
            supposed.values.entry((*name).to_owned()).or_default();
        }
        supposed.absent =
            absent.iter().filter(|name| self.get(name).is_none()).map(|name| (*name).to_owned()).collect();
        supposed
    }

    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// All names with their values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Whether a macro is defined as far as compiler and command line say; `None` when the source decides.
    pub fn is_defined(&self, name: &str) -> Option<bool> {
        if self.values.contains_key(name) || DEFINED.contains(&name) {
            Some(true)
        } else if UNDEFINED.contains(&name)
            || cudalint_syntax::is_of_other_vendor(name)
            || self.absent.iter().any(|absent| absent == name)
        {
            Some(false)
        } else {
            None
        }
    }
}

/// The names that a condition asks `defined` of.
pub(crate) fn names_asked(condition: &str) -> Vec<&str> {
    let tokens = tokens(condition);
    let mut names = Vec::new();
    for (at, _) in tokens.iter().enumerate().filter(|(_, token)| **token == "defined") {
        let name = tokens.iter().skip(at + 1).find(|token| **token != "(");
        names.extend(name);
    }
    names
}

/// Whether an `#if` condition holds: `None` when that is not fixed. The text is an expression as after `#if`;
/// `#ifdef X` is `defined(X)`.
pub fn evaluate(condition: &str, defines: &Defines) -> Option<bool> {
    let mut parser = Parser { tokens: tokens(condition), at: 0, defines, depth: 0 };
    let value = parser.ternary().ok()?;
    if parser.at < parser.tokens.len() {
        return None;
    }
    value.map(|value| value != 0)
}

/// Tokens of a condition: words and numbers, or operators of one or two characters.
fn tokens(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        if byte.is_ascii_whitespace() {
            at += 1;
            continue;
        }
        if byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80 {
            while bytes.get(at).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_' || *b >= 0x80) {
                at += 1;
            }
        } else {
            let two = text.get(at..at + 2).unwrap_or("");
            at += if ["&&", "||", "==", "!=", "<=", ">=", "<<", ">>"].contains(&two) { 2 } else { 1 };
        }
        match text.get(start..at) {
            Some(token) => found.push(token),
            None => return Vec::new(),
        }
    }
    found
}

/// The condition cannot be read.
struct Unreadable;

/// A value, or nothing where it is not fixed.
type Value = Result<Option<i64>, Unreadable>;

/// Nesting of parentheses and unary operators that is read; deeper text is not.
const MAX_DEPTH: u32 = 60;

struct Parser<'t> {
    tokens: Vec<&'t str>,
    at: usize,
    defines: &'t Defines,
    depth: u32,
}

impl<'t> Parser<'t> {
    fn peek(&self) -> &'t str {
        self.tokens.get(self.at).copied().unwrap_or("")
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.peek() == token;
        self.at += usize::from(found);
        found
    }

    fn ternary(&mut self) -> Value {
        let condition = self.binary(0)?;
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
            Some(0) => no,
            Some(_) => yes,
            None => yes.filter(|_| yes == no),
        })
    }

    fn enter(&mut self) -> Result<(), Unreadable> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(Unreadable) } else { Ok(()) }
    }

    fn binary(&mut self, minimum: u8) -> Value {
        let mut left = self.unary()?;
        loop {
            let operator = self.peek();
            let Some(binding) = binding(operator).filter(|binding| *binding >= minimum) else { return Ok(left) };
            self.at += 1;
            self.enter()?;
            let right = self.binary(binding + 1)?;
            self.depth -= 1;
            left = apply(operator, left, right);
        }
    }

    fn unary(&mut self) -> Value {
        self.enter()?;
        let value = match self.peek() {
            "!" => {
                self.at += 1;
                self.unary()?.map(|value| i64::from(value == 0))
            }
            "-" => {
                self.at += 1;
                self.unary()?.map(i64::wrapping_neg)
            }
            "+" => {
                self.at += 1;
                self.unary()?
            }
            "~" => {
                self.at += 1;
                self.unary()?.map(|value| !value)
            }
            "(" => {
                self.at += 1;
                let value = self.ternary()?;
                if !self.take(")") {
                    return Err(Unreadable);
                }
                value
            }
            "defined" => {
                self.at += 1;
                let open = self.take("(");
                let name = self.peek();
                self.at += 1;
                if name.is_empty() || open && !self.take(")") {
                    return Err(Unreadable);
                }
                self.defines.is_defined(name).map(i64::from)
            }
            word => {
                self.at += 1;
                self.word(word)?
            }
        };
        self.depth -= 1;
        Ok(value)
    }

    /// A number or name; a call such as `__has_include(x)` is not fixed.
    fn word(&mut self, word: &str) -> Value {
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return Ok(number(word));
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
            "true" => Some(1),
            "false" => Some(0),
            _ => match self.defines.get(word) {
                Some(value) => number(value),
                None if UNDEFINED.contains(&word) || cudalint_syntax::is_of_other_vendor(word) => Some(0),
                None => None,
            },
        })
    }
}

fn number(text: &str) -> Option<i64> {
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
    match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => i64::from_str_radix(hex, 16).ok(),
        None if digits.len() > 1 && digits.starts_with('0') => i64::from_str_radix(digits, 8).ok(),
        None => digits.parse().ok(),
    }
}

fn binding(operator: &str) -> Option<u8> {
    Some(match operator {
        "||" => 1,
        "&&" => 2,
        "|" => 3,
        "^" => 4,
        "&" => 5,
        "==" | "!=" => 6,
        "<" | ">" | "<=" | ">=" => 7,
        "<<" | ">>" => 8,
        "+" | "-" => 9,
        "*" | "/" | "%" => 10,
        _ => return None,
    })
}

fn apply(operator: &str, left: Option<i64>, right: Option<i64>) -> Option<i64> {
    match (operator, left, right) {
        ("&&", Some(0), _) | ("&&", _, Some(0)) => return Some(0),
        ("||", Some(value), _) | ("||", _, Some(value)) if value != 0 => return Some(1),
        _ => {}
    }
    let (a, b) = (left?, right?);
    Some(match operator {
        "||" => i64::from(a != 0 || b != 0),
        "&&" => i64::from(a != 0 && b != 0),
        "|" => a | b,
        "^" => a ^ b,
        "&" => a & b,
        "==" => i64::from(a == b),
        "!=" => i64::from(a != b),
        "<" => i64::from(a < b),
        ">" => i64::from(a > b),
        "<=" => i64::from(a <= b),
        ">=" => i64::from(a >= b),
        "<<" => a.checked_shl(u32::try_from(b).ok()?)?,
        ">>" => a.checked_shr(u32::try_from(b).ok()?)?,
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "*" => a.wrapping_mul(b),
        "/" => a.checked_div(b)?,
        "%" => a.checked_rem(b)?,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_true_false_or_open() {
        let defines = Defines::new(["N=4", "FAST"]);
        for (text, expected) in [
            ("defined(NDEBUG)", Some(false)),
            ("!defined NDEBUG", Some(true)),
            ("defined(__CUDACC__) && !defined(__HIPCC__)", Some(true)),
            ("defined(DEBUG)", None),
            ("defined(DEBUG) && defined(_WIN32)", Some(false)),
            ("defined(DEBUG) || FAST", Some(true)),
            ("N >= 3 && (N << 1) == 8", Some(true)),
            ("__CUDA_ARCH__ >= 700", None),
            ("N == 010 / 2 ? 1 : 0", Some(true)),
            ("!(defined(DEBUG))", None),
            ("__has_include(<cuda_fp16.h>)", None),
            ("0", Some(false)),
            ("1 +", None),
            ("(1", None),
            ("", None),
            ("1 1", None),
            ("5 / 0", None),
        ] {
            assert_eq!(evaluate(text, &defines), expected, "{text}");
        }
    }

    #[test]
    fn deep_nesting_is_not_read() {
        let defines = Defines::default();
        assert_eq!(evaluate(&format!("{}1{}", "(".repeat(20_000), ")".repeat(20_000)), &defines), None);
        assert_eq!(evaluate(&format!("{}1", "!".repeat(20_000)), &defines), None);
        assert_eq!(evaluate(&format!("1{}", " ? 1 : 1".repeat(20_000)), &defines), None);
    }

    #[test]
    fn a_command_line_overrides_what_is_usual() {
        assert_eq!(evaluate("defined(NDEBUG)", &Defines::new(["NDEBUG"])), Some(true));
    }
}
