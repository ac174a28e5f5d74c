//! Macro bodies as tokens, and questions about them.

use cudalint_program::api::ApiId;
use cudalint_program::api::effects::{ErrorRole, Returns};

/// A token of a macro's body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Its text.
    pub text: Box<str>,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Word,
    Other,
    Literal,
}

impl Token {
    /// Whether it is an identifier or keyword.
    pub fn is_word(&self) -> bool {
        self.kind == Kind::Word
    }

    fn is(&self, text: &str) -> bool {
        self.kind != Kind::Literal && *self.text == *text
    }
}

/// Splits a body into tokens; comments and blanks are dropped.
pub fn tokenize(body: &str) -> Vec<Token> {
    let bytes = body.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        let rest = &bytes[at..];
        let kind = if byte.is_ascii_whitespace() || byte == b'\\' {
            at += 1;
            continue;
        } else if rest.starts_with(b"//") {
            at += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
            continue;
        } else if rest.starts_with(b"/*") {
            at += rest.windows(2).skip(2).position(|pair| pair == b"*/").map_or(rest.len(), |end| end + 4);
            continue;
        } else if byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80 {
            at += rest
                .iter()
                .position(|b| !(b.is_ascii_alphanumeric() || *b == b'_' || *b >= 0x80))
                .unwrap_or(rest.len());
            Kind::Word
        } else if byte.is_ascii_digit() {
            at += rest.iter().position(|b| !(b.is_ascii_alphanumeric() || *b == b'.')).unwrap_or(rest.len());
            Kind::Literal
        } else if byte == b'"' || byte == b'\'' {
            let mut end = 1;
            while let Some(inner) = rest.get(end) {
                end += if *inner == b'\\' { 2 } else { 1 };
                if *inner == byte {
                    break;
                }
            }
            at += end.min(rest.len());
            Kind::Literal
        } else {
            const LONG: [&[u8]; 13] =
                [b"...", b"<<=", b">>=", b"##", b"==", b"!=", b"<=", b">=", b"&&", b"||", b"->", b"::", b"|="];
            at += LONG.iter().find(|long| rest.starts_with(long)).map_or(1, |long| long.len());
            Kind::Other
        };
        tokens.push(Token { text: body.get(start..at).unwrap_or("").into(), kind });
    }
    tokens
}

/// Whether the token at `at` is an evaluation of `param`: not pasted, and not turned into text.
fn is_param(tokens: &[Token], at: usize, param: &str) -> bool {
    let before = at.checked_sub(1).and_then(|at| tokens.get(at));
    let after = tokens.get(at + 1);
    let name = if param == "..." { "__VA_ARGS__" } else { param };
    tokens.get(at).is_some_and(|token| token.is_word() && *token.text == *name)
        && !before.is_some_and(|token| token.is("#") || token.is("##") || token.is(".") || token.is("->"))
        && !after.is_some_and(|token| token.is("##"))
}

/// The token after the bracket that closes the one at `open`.
fn after_close(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0u32;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        if token.is("(") || token.is("{") || token.is("[") {
            depth += 1;
        } else if token.is(")") || token.is("}") || token.is("]") {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return at + 1;
            }
        }
    }
    tokens.len()
}

/// A place where `param` stands inside `assert(…)`.
pub fn inside_assert(tokens: &[Token], param: &str) -> Option<usize> {
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at].is("assert") && tokens.get(at + 1).is_some_and(|token| token.is("(")) {
            let end = after_close(tokens, at + 1);
            if let Some(inside) = (at + 2..end).find(|inside| is_param(tokens, *inside, param)) {
                return Some(inside);
            }
            at = end;
        } else {
            at += 1;
        }
    }
    None
}

/// Whether a body does more with `param` than evaluate it: compares it, tests it, stores it or hands it on.
pub fn looks_at(tokens: &[Token], param: &str) -> bool {
    let evaluated = (0..tokens.len()).any(|at| is_param(tokens, at, param));
    let acts = tokens.iter().enumerate().any(|(at, token)| {
        let called = token.is_word()
            && *token.text != *param
            && tokens.get(at + 1).is_some_and(|next| next.is("("))
            && !["while", "do", "void", "sizeof", "return"].contains(&&*token.text);
        called || ["==", "!=", "=", "?", "return", "|=", "||", "&&", "throw"].iter().any(|word| token.is(word))
    });
    evaluated && acts
}

/// The functions or macros that a body calls with a parameter among the arguments, with the position of that argument.
pub fn called_with<'a>(tokens: &'a [Token], param: &str) -> Vec<(&'a str, u32)> {
    let mut called = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if !(token.is_word() && tokens.get(at + 1).is_some_and(|next| next.is("("))) {
            continue;
        }
        let (mut depth, mut position) = (0u32, 0);
        for inside in at + 1..after_close(tokens, at + 1) {
            let token = &tokens[inside];
            if token.is("(") || token.is("{") || token.is("[") {
                depth += 1;
            } else if token.is(")") || token.is("}") || token.is("]") {
                depth = depth.saturating_sub(1);
            } else if token.is(",") && depth == 1 {
                position += 1;
            } else if is_param(tokens, inside, param) {
                called.push((token_text(tokens, at), position));
                break;
            }
        }
    }
    called
}

fn token_text(tokens: &[Token], at: usize) -> &str {
    tokens.get(at).map_or("", |token| &token.text)
}

/// In which argument of `name(…)` the text that ends here stands, when it stands in one.
pub fn argument_position(before: &str, name: &str) -> Option<u32> {
    let mut end = before.len();
    // The nearest use of the name before this place whose bracket is still open; others are earlier calls.
    for _ in 0..8 {
        let at = before.get(..end)?.rfind(name)?;
        let rest = before.get(at + name.len()..)?;
        let mut depth = 0i32;
        let mut commas = 0;
        let mut open = rest.trim_start().starts_with('(');
        for token in tokenize(rest) {
            if token.is("(") || token.is("{") || token.is("[") {
                depth += 1;
            } else if token.is(")") || token.is("}") || token.is("]") {
                depth -= 1;
                open &= depth > 0;
            } else if token.is(",") && depth == 1 {
                commas += 1;
            }
        }
        if open && depth > 0 {
            return Some(commas);
        }
        end = at;
    }
    None
}

/// Most evaluations of `param` on one path, at least two: the place of the second.
pub fn evaluated_twice(tokens: &[Token], param: &str, is_macro: &dyn Fn(&str) -> bool) -> Option<usize> {
    let mut paths = Paths { tokens, at: 0, depth: 0, event: &|tokens, at| is_param(tokens, at, param), is_macro };
    let path = paths.statements();
    path.get(1).copied()
}

/// Whether the token at `at` stands behind a test, and the program ends behind it.
pub fn ends_behind(tokens: &[Token], at: usize) -> bool {
    let (before, behind) = tokens.split_at(at.min(tokens.len()));
    let ends = |token: &Token| {
        token.is_word() && (token.is("throw") || ApiId::named(&token.text).is_some_and(|api| api.ends()))
    };
    before.iter().any(|token| token.is("if")) && behind.iter().any(ends)
}

/// Two reads of the last error on one path with no other CUDA call between them, the first only tested: both places.
pub fn last_error_twice(tokens: &[Token]) -> Option<(usize, usize)> {
    for at in 0..tokens.len() {
        if !(tokens[at].is("if") && tokens.get(at + 1).is_some_and(|token| token.is("("))) {
            continue;
        }
        let end = after_close(tokens, at + 1);
        let condition = at + 2..end;
        let stored = condition.clone().any(|inside| tokens[inside].is("="));
        let clears = |at: &usize| {
            let token = &tokens[*at];
            token.is_word() && ApiId::named(&token.text).is_some_and(|api| api.role == ErrorRole::Clears)
        };
        let Some(first) = condition.into_iter().find(clears) else { continue };
        if stored {
            continue;
        }
        let next = (end..tokens.len()).find(|inside| {
            let token = &tokens[*inside];
            token.is("else")
                || token.is_word()
                    && ApiId::named(&token.text)
                        .is_some_and(|api| api.library.is_runtime() && api.returns != Returns::Text)
                    && tokens.get(inside + 1).is_some_and(|next| next.is("("))
        });
        if let Some(second) = next
            && clears(&second)
        {
            return Some((first, second));
        }
    }
    None
}

/// Counts events along the path that has most of them, by a small grammar of statements.
struct Paths<'a> {
    tokens: &'a [Token],
    at: usize,
    depth: u32,
    event: &'a dyn Fn(&[Token], usize) -> bool,
    is_macro: &'a dyn Fn(&str) -> bool,
}

/// Deeper bodies are not counted.
const MAX_DEPTH: u32 = 100;

impl Paths<'_> {
    fn peek(&self, text: &str) -> bool {
        self.tokens.get(self.at).is_some_and(|token| token.is(text))
    }

    /// Statements up to a closing brace or the end.
    fn statements(&mut self) -> Vec<usize> {
        let mut path = Vec::new();
        while self.at < self.tokens.len() && !self.peek("}") && !self.peek(")") {
            path.extend(self.statement());
        }
        path
    }

    fn statement(&mut self) -> Vec<usize> {
        if self.depth > MAX_DEPTH {
            self.at = self.tokens.len();
            return Vec::new();
        }
        self.depth += 1;
        let path = if self.peek("{") {
            self.at += 1;
            let path = self.statements();
            self.at += 1;
            path
        } else if self.peek("if") {
            self.at += 1;
            if self.peek("constexpr") {
                self.at += 1;
            }
            let condition = self.parenthesized();
            let then = self.statement();
            let mut otherwise = Vec::new();
            if self.peek("else") {
                self.at += 1;
                otherwise = self.statement();
            }
            longer(condition, then, otherwise)
        } else if self.peek("do") {
            self.at += 1;
            let mut path = self.statement();
            if self.peek("while") {
                self.at += 1;
                path.extend(self.parenthesized());
            }
            path
        } else if self.peek("while") || self.peek("for") || self.peek("switch") {
            self.at += 1;
            let mut path = self.parenthesized();
            path.extend(self.statement());
            path
        } else {
            let path = self.expression();
            if !self.peek("}") && !self.peek(")") {
                self.at += 1;
            }
            path
        };
        self.depth -= 1;
        path
    }

    /// `( … )`, with the `;` of a `for` inside.
    fn parenthesized(&mut self) -> Vec<usize> {
        let mut path = Vec::new();
        if self.peek("(") {
            self.at += 1;
            while self.at < self.tokens.len() && !self.peek(")") {
                path.extend(self.expression());
                // Whatever ended it (`;`, `:`, a bracket that nothing opened) is behind now.
                if !self.peek(")") {
                    self.at += 1;
                }
            }
            self.at += 1;
        }
        path
    }

    /// An expression up to `;`, `,`, `:` or a closing bracket.
    fn expression(&mut self) -> Vec<usize> {
        let mut path = Vec::new();
        if self.depth > MAX_DEPTH {
            self.at = self.tokens.len();
            return path;
        }
        self.depth += 1;
        while let Some(token) = self.tokens.get(self.at) {
            if [";", ",", ":", ")", "}", "]"].iter().any(|end| token.is(end)) {
                if !token.is(",") {
                    break;
                }
                self.at += 1;
            } else if token.is("?") {
                self.at += 1;
                let yes = self.expression();
                if self.peek(":") {
                    self.at += 1;
                }
                let no = self.expression();
                path = longer(path, yes, no);
            } else if token.is("{") {
                self.at += 1;
                path.extend(self.statements());
                self.at += 1;
            } else if token.is("(") {
                self.at += 1;
                path.extend(self.group(")"));
            } else if token.is("[") {
                self.at += 1;
                path.extend(self.group("]"));
            } else if token.is_word() && self.tokens.get(self.at + 1).is_some_and(|next| next.is("(")) {
                let unevaluated = ["sizeof", "decltype", "typeof", "__typeof__", "__typeof", "alignof", "noexcept"]
                    .contains(&&*token.text);
                // A macro may turn its arguments into text; so may a name in capitals that is defined out of sight.
                let opaque = (self.is_macro)(&token.text) || !token.text.chars().any(|c| c.is_ascii_lowercase());
                if unevaluated || opaque {
                    self.at = after_close(self.tokens, self.at + 1);
                } else {
                    if (self.event)(self.tokens, self.at) {
                        path.push(self.at);
                    }
                    self.at += 1;
                }
            } else {
                if (self.event)(self.tokens, self.at) {
                    path.push(self.at);
                }
                self.at += 1;
            }
        }
        self.depth -= 1;
        path
    }

    /// What follows `(` or `[`, up to what closes it: an expression, arguments, or the statements of a statement expression.
    fn group(&mut self, close: &str) -> Vec<usize> {
        let mut path = Vec::new();
        while self.at < self.tokens.len() && !self.peek(close) {
            let before = self.at;
            if self.peek("{") {
                self.at += 1;
                path.extend(self.statements());
                self.at += 1;
            } else {
                path.extend(self.expression());
            }
            if self.at == before || self.peek(";") || self.peek(":") {
                self.at += 1;
            }
        }
        self.at += 1;
        path
    }
}

/// `first`, then the longer of two alternatives.
fn longer(mut first: Vec<usize>, a: Vec<usize>, b: Vec<usize>) -> Vec<usize> {
    first.extend(if a.len() >= b.len() { a } else { b });
    first
}
