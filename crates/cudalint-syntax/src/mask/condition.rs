//! Truth of `#if` conditions as far as a CUDA build settles them: three-valued, without recursion on user input.

use super::branches::defined;
use crate::lexer::{Kind, Lexer, Step, code};

/// Longest condition that is evaluated, in tokens.
const MAX_TOKENS: usize = 200;

#[derive(Clone, Copy, PartialEq)]
enum Value {
    Known(i64),
    Unknown,
}

#[derive(Clone, Copy)]
enum Item {
    Value(Value),
    Operator(u16),
    Open,
    Close,
}

/// What is known of macros besides those that every CUDA build sets: whether a name is defined, and its value.
pub(super) type Known<'k> = &'k dyn Fn(&str) -> Option<Option<i64>>;

/// Whether a condition (the text after `#if`) holds when `nvcc` compiles for a device; `None` when that depends on the
/// build.
pub fn condition_holds(text: &str) -> Option<bool> {
    evaluate(text, &|_| None)
}

/// The value of a condition; `None` when it depends on the build.
pub(super) fn evaluate(text: &str, known: Known<'_>) -> Option<bool> {
    let items = items(text.as_bytes(), known)?;
    match reduce(&items) {
        Value::Known(value) => Some(value != 0),
        Value::Unknown => None,
    }
}

fn items(bytes: &[u8], known: Known<'_>) -> Option<Vec<Item>> {
    let mut lexer = Lexer::new(bytes, 0);
    let mut tokens = Vec::new();
    lexer.line_start = false;
    while let Some(step) = lexer.next() {
        lexer.line_start = false;
        if let Step::Token(token) = step {
            tokens.push(token);
        }
        if tokens.len() > MAX_TOKENS {
            return None;
        }
    }
    let mut out = Vec::new();
    let mut i = 0;
    while let Some(token) = tokens.get(i) {
        let text = std::str::from_utf8(bytes.get(token.span().range())?).ok()?;
        i += 1;
        out.push(match token.kind {
            Kind::Number => Item::Value(number(text)),
            Kind::Word if text == "defined" => {
                let spelled = |n: usize| tokens.get(n).and_then(|t| bytes.get(t.span().range())).unwrap_or(b"");
                let parenthesized = spelled(i) == b"(";
                i += usize::from(parenthesized);
                let name = std::str::from_utf8(spelled(i)).unwrap_or("");
                i += 1 + usize::from(parenthesized && spelled(i + 1) == b")");
                let truth = defined(name).or_else(|| known(name).map(|_| true));
                Item::Value(truth.map_or(Value::Unknown, |d| Value::Known(i64::from(d))))
            }
            Kind::Word => {
                let value = match text {
                    "true" => Value::Known(1),
                    "false" => Value::Known(0),
                    // The default set of architectures starts at 8.0.
                    "__CUDA_ARCH__" => Value::Known(900),
                    "CUDART_VERSION" | "CUDA_VERSION" => Value::Known(12_080),
                    "__CUDACC_VER_MAJOR__" => Value::Known(12),
                    "__cplusplus" => Value::Known(201_703),
                    _ if defined(text) == Some(false) => Value::Known(0),
                    _ => known(text).flatten().map_or(Value::Unknown, Value::Known),
                };
                // A call of a function-like macro is not known.
                if tokens.get(i).is_some_and(|t| t.code == u16::from(b'(') && t.kind == Kind::Punct) {
                    let mut depth = 0;
                    while let Some(next) = tokens.get(i) {
                        i += 1;
                        depth += i32::from(next.code == u16::from(b'(')) - i32::from(next.code == u16::from(b')'));
                        if depth == 0 {
                            break;
                        }
                    }
                    Item::Value(Value::Unknown)
                } else {
                    Item::Value(value)
                }
            }
            Kind::Punct if token.code == u16::from(b'(') => Item::Open,
            Kind::Punct if token.code == u16::from(b')') => Item::Close,
            Kind::Punct => Item::Operator(token.code),
            _ => return None,
        });
    }
    Some(out)
}

/// The value of a macro's body that is one number, perhaps in parentheses.
pub(super) fn literal(body: &str) -> Option<i64> {
    match number(body.trim_matches(['(', ')', ' '])) {
        Value::Known(value) => Some(value),
        Value::Unknown => None,
    }
}

fn number(text: &str) -> Value {
    let text = text.trim_end_matches(['u', 'U', 'l', 'L']).replace('\'', "");
    let parsed = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => i64::from_str_radix(hex, 16),
        None => text.parse(),
    };
    parsed.map_or(Value::Unknown, Value::Known)
}

fn priority(operator: u16) -> u8 {
    match operator {
        code::OROR => 1,
        code::ANDAND => 2,
        code::EQ | code::NE => 6,
        code::LE | code::GE => 7,
        c if c == u16::from(b'<') || c == u16::from(b'>') => 7,
        c if c == u16::from(b'+') || c == u16::from(b'-') => 9,
        c if c == u16::from(b'*') || c == u16::from(b'/') || c == u16::from(b'%') => 10,
        _ => 5,
    }
}

/// Operator-precedence evaluation with two stacks.
fn reduce(items: &[Item]) -> Value {
    const NOT: u16 = 1000;
    const OPEN: u16 = 1001;
    let mut values: Vec<Value> = Vec::new();
    let mut operators: Vec<u16> = Vec::new();
    let mut operand_expected = true;
    let apply = |values: &mut Vec<Value>, operator: u16| {
        let right = values.pop().unwrap_or(Value::Unknown);
        if operator == NOT {
            values.push(match right {
                Value::Known(v) => Value::Known(i64::from(v == 0)),
                Value::Unknown => Value::Unknown,
            });
            return;
        }
        let left = values.pop().unwrap_or(Value::Unknown);
        values.push(binary(operator, left, right));
    };
    for item in items {
        match *item {
            Item::Value(value) => {
                values.push(value);
                operand_expected = false;
            }
            Item::Open => operators.push(OPEN),
            Item::Close => {
                while let Some(operator) = operators.pop() {
                    if operator == OPEN {
                        break;
                    }
                    apply(&mut values, operator);
                }
                operand_expected = false;
            }
            Item::Operator(c) if operand_expected => {
                if c == u16::from(b'!') {
                    operators.push(NOT);
                } else {
                    return Value::Unknown;
                }
            }
            Item::Operator(c) => {
                while let Some(top) = operators.last().copied() {
                    if top == OPEN || top != NOT && priority(top) < priority(c) {
                        break;
                    }
                    operators.pop();
                    apply(&mut values, top);
                }
                operators.push(c);
                operand_expected = true;
            }
        }
    }
    while let Some(operator) = operators.pop() {
        if operator != OPEN {
            apply(&mut values, operator);
        }
    }
    values.pop().unwrap_or(Value::Unknown)
}

fn binary(operator: u16, left: Value, right: Value) -> Value {
    use Value::{Known, Unknown};
    let truth = |b: bool| Known(i64::from(b));
    match (operator, left, right) {
        (code::ANDAND, Known(0), _) | (code::ANDAND, _, Known(0)) => Known(0),
        (code::OROR, Known(v), _) | (code::OROR, _, Known(v)) if v != 0 => Known(1),
        (_, Known(a), Known(b)) => match operator {
            code::ANDAND => truth(a != 0 && b != 0),
            code::OROR => truth(a != 0 || b != 0),
            code::EQ => truth(a == b),
            code::NE => truth(a != b),
            code::LE => truth(a <= b),
            code::GE => truth(a >= b),
            c if c == u16::from(b'<') => truth(a < b),
            c if c == u16::from(b'>') => truth(a > b),
            c if c == u16::from(b'+') => a.checked_add(b).map_or(Unknown, Known),
            c if c == u16::from(b'-') => a.checked_sub(b).map_or(Unknown, Known),
            c if c == u16::from(b'*') => a.checked_mul(b).map_or(Unknown, Known),
            c if c == u16::from(b'/') => a.checked_div(b).map_or(Unknown, Known),
            _ => Unknown,
        },
        _ => Unknown,
    }
}
