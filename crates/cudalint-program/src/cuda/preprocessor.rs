//! `#if` groups that stand in the tree: which branch is the program.

use super::Lowerer;
use super::fields::{Field, field};
use super::source::{Src, named_children};
use crate::ir::Supposed;
use cudalint_syntax::kinds::{CudaKind, cuda_kind};
use cudalint_syntax::{Define, Node, Span};
use rustc_hash::FxHashMap;

/// What was assumed for conditions that nothing decides, so that one file's groups agree with each other.
#[derive(Debug, Default)]
pub(crate) struct Assumed(FxHashMap<String, bool>);

impl Assumed {
    /// To begin with: a name that a macro only passes on where it is defined (`#ifdef X`, `#define N X`) comes from the
    /// command line of some builds. Taking it for defined would leave `N` without a value, so it is not.
    pub(crate) fn of(defines: &[Define]) -> Self {
        let passed_on = defines.iter().flat_map(|define| {
            let conditions = define.conditions.iter().filter(|condition| !condition.negated);
            conditions.filter(|condition| passes_on(&define.body, &condition.text))
        });
        Self(passed_on.map(|condition| (condition.text.trim().to_owned(), false)).collect())
    }
}

/// What is supposed where a condition that nothing decides is taken to hold, or not to. A name that nobody defines is not
/// defined: that is no supposition.
fn in_words(condition: &str, holds: bool) -> Option<String> {
    // It may be written over several lines.
    let condition = condition.split(|c: char| c.is_whitespace() || c == '\\').filter(|word| !word.is_empty());
    let condition = condition.collect::<Vec<_>>().join(" ");
    let (asked, negated) = match condition.strip_prefix('!').map(str::trim) {
        Some(rest) if rest.starts_with("defined") => (rest, true),
        _ => (condition.as_str(), false),
    };
    let name =
        asked.strip_prefix("defined").map(|name| name.trim().trim_start_matches('(').trim_end_matches(')').trim());
    match name.filter(|name| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')) {
        Some(name) => (holds != negated).then(|| format!("`{name}` is defined")),
        None => holds.then(|| format!("`{condition}` holds where it is compiled")),
    }
}

/// Whether a part of a branch is code, and not a directive or a comment.
fn is_code(node: Node<'_>) -> bool {
    !matches!(cuda_kind(node), CudaKind::Comment) && !node.kind().starts_with("preproc_")
}

/// Whether a condition asks for the very name that a definition stands for.
pub(crate) fn passes_on(body: &str, condition: &str) -> bool {
    let Some(rest) = condition.trim().strip_prefix("defined") else { return false };
    let name = rest.trim().trim_start_matches('(').trim_end_matches(')').trim();
    !name.is_empty() && name == body && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

/// What `__CUDA_ARCH__` is at least.
pub(crate) const OLDEST_ARCHITECTURE: i64 = 800;

/// Names with a known state under nvcc on Linux: `None` for not defined.
#[allow(clippy::option_option)] // Unknown, known to be missing, known with a value.
fn predefined(name: &str) -> Option<Option<i64>> {
    let known = match name {
        "__CUDACC__" | "__NVCC__" | "__linux__" | "__unix__" | "__x86_64__" | "__LP64__" | "__GNUC__" | "__linux" => {
            Some(1)
        }
        "__CUDA_ARCH__" => Some(OLDEST_ARCHITECTURE),
        "__CUDACC_VER_MAJOR__" => Some(12),
        "__CUDACC_VER_MINOR__" => Some(4),
        "CUDART_VERSION" | "CUDA_VERSION" => Some(12040),
        "__cplusplus" => Some(201_703),
        "_WIN32"
        | "_WIN64"
        | "WIN32"
        | "WIN64"
        | "_MSC_VER"
        | "__APPLE__"
        | "__MACOSX__"
        | "MACOSX"
        | "__MACH__"
        | "__clang__"
        | "__INTEL_COMPILER"
        | "__CUDACC_RTC__"
        | "__MINGW32__"
        | "__CYGWIN__"
        | "__ANDROID__"
        | "__QNX__"
        | "__DEVICE_EMULATION__" => None,
        _ if cudalint_syntax::is_of_other_vendor(name) => None,
        _ => return None,
    };
    Some(known)
}

impl Lowerer<'_> {
    /// The named children of a node, comments included, with each `#if` group replaced by the children of its branch.
    pub(super) fn chosen_children<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> Vec<Node<'t>> {
        let mut out = named_children(node);
        let is_group = |node: &Node<'_>| matches!(cuda_kind(*node), CudaKind::PreprocIf | CudaKind::PreprocIfdef);
        let mut rounds = 0;
        while out.iter().any(is_group) && rounds < 64 {
            rounds += 1;
            let mut next = Vec::with_capacity(out.len());
            for child in out {
                if is_group(&child) { self.branch(s, child, &mut next) } else { next.push(child) }
            }
            out = next;
        }
        out
    }

    /// Adds the children of the branch of a group that is the program.
    fn branch<'t>(&mut self, s: Src<'t>, group: Node<'t>, out: &mut Vec<Node<'t>>) {
        let mut node = group;
        let mut supposed = None;
        let mut passed_code = false;
        for _ in 0..10_000 {
            let alternative = field(node, Field::Alternative);
            let text = match cuda_kind(node) {
                CudaKind::PreprocIf | CudaKind::PreprocElif => {
                    let condition = field(node, Field::Condition);
                    Some(condition.map_or("", |condition| s.text(condition)).to_owned())
                }
                CudaKind::PreprocIfdef | CudaKind::PreprocElifdef => {
                    let name = field(node, Field::Name).map_or("", |name| s.text(name));
                    let negated = node.child(0).is_some_and(|first| first.kind().contains("ifndef"));
                    Some(if negated { format!("!defined({name})") } else { format!("defined({name})") })
                }
                _ => None,
            };
            let holds = match &text {
                Some(text) => {
                    let (holds, known) = self.condition_holds(s, text, node.start_byte() as u32);
                    if !known && s.is_file() && supposed.is_none() {
                        supposed = in_words(text, holds);
                    }
                    holds
                }
                None => true,
            };
            let mut skip = vec![field(node, Field::Condition), field(node, Field::Name)];
            skip.push(alternative);
            let children = || named_children(node).into_iter().filter(|child| !skip.contains(&Some(*child)));
            if holds {
                if let Some(condition) = supposed
                    && (passed_code || alternative.is_some_and(|other| named_children(other).into_iter().any(is_code)))
                    && let (Some(first), Some(last)) = (children().next(), children().next_back())
                {
                    let span = Span::new(first.start_byte(), last.end_byte());
                    let group = Span::new(group.start_byte(), group.end_byte());
                    let supposed = Supposed { span, group, condition: condition.into() };
                    if !self.module.supposed.contains(&supposed) {
                        self.module.supposed.push(supposed);
                    }
                }
                out.extend(children());
                return;
            }
            passed_code |= children().any(is_code);
            match alternative {
                Some(next) => node = next,
                None => return,
            }
        }
    }

    /// Whether a condition holds: as the definitions in sight say, else as assumed before, else yes; and whether they do say.
    fn condition_holds(&mut self, s: Src<'_>, text: &str, at: u32) -> (bool, bool) {
        let at = if s.is_file() { Some(at) } else { None };
        if let Some(value) = self.evaluate(text, at) {
            return (value != 0, true);
        }
        let (key, negated) = match text.trim().strip_prefix('!').map(str::trim) {
            Some(rest) if rest.starts_with("defined") => (rest, true),
            _ => (text.trim(), false),
        };
        let value = *self.conditions.0.entry(key.to_owned()).or_insert(!negated);
        (value != negated, false)
    }

    /// As [`Self::condition_holds`], for a condition around a directive of the file.
    pub(super) fn assumed_condition(&mut self, text: &str, at: u32) -> bool {
        self.condition_holds(Src::file(self.text), text, at).0
    }

    /// The value of a preprocessor expression where it is known.
    pub(super) fn evaluate(&self, text: &str, at: Option<u32>) -> Option<i64> {
        let mut evaluator = Evaluator { lowerer: self, at, depth: 0, tokens: tokens(text), next: 0 };
        let value = evaluator.level(0)?;
        if evaluator.next == evaluator.tokens.len() { Some(value) } else { None }
    }

    fn is_defined(&self, name: &str, at: Option<u32>) -> Option<bool> {
        if let Some(known) = predefined(name) {
            return Some(known.is_some());
        }
        if self.macros.find_at(self.outside, name, at).is_some() {
            return Some(true);
        }
        // Defined further down, or taken away again: not defined here.
        if self.macros.is_own(name) { Some(false) } else { crate::condition::Defines::default().is_defined(name) }
    }
}

struct Evaluator<'l, 'a, 't> {
    lowerer: &'l Lowerer<'a>,
    at: Option<u32>,
    depth: u32,
    tokens: Vec<&'t str>,
    next: usize,
}

const LEVELS: &[&[&str]] = &[
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", ">", "<=", ">="],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl<'t> Evaluator<'_, '_, 't> {
    fn peek(&self) -> Option<&'t str> {
        self.tokens.get(self.next).copied()
    }

    /// An unknown operand makes the result unknown, unless the other one decides. `None` also for what is malformed.
    fn level(&mut self, level: usize) -> Option<i64> {
        self.depth += 1;
        if self.depth > 400 {
            return None;
        }
        let Some(operators) = LEVELS.get(level) else {
            let value = self.primary();
            self.depth -= 1;
            return value;
        };
        let mut value = self.level(level + 1);
        while let Some(op) = self.peek().filter(|op| operators.contains(op)) {
            self.next += 1;
            let right = self.level(level + 1);
            value = apply(op, value, right);
        }
        self.depth -= 1;
        value
    }

    fn primary(&mut self) -> Option<i64> {
        let token = self.peek()?;
        self.next += 1;
        match token {
            "(" => {
                let value = self.level(0);
                if self.peek() == Some(")") {
                    self.next += 1;
                }
                value
            }
            "!" => self.nested_primary().map(|value| i64::from(value == 0)),
            "-" => self.nested_primary().map(i64::wrapping_neg),
            "+" => self.nested_primary(),
            "~" => self.nested_primary().map(|value| !value),
            "defined" => {
                let parenthesized = self.peek() == Some("(");
                if parenthesized {
                    self.next += 1;
                }
                let name = self.peek()?;
                self.next += 1;
                if parenthesized && self.peek() == Some(")") {
                    self.next += 1;
                }
                self.lowerer.is_defined(name, self.at).map(i64::from)
            }
            "true" => Some(1),
            "false" => Some(0),
            _ if token.starts_with(|c: char| c.is_ascii_digit()) => match super::literals::number(token) {
                crate::ir::Expr::Int { value, .. } => Some(value),
                _ => None,
            },
            _ => self.name(token),
        }
    }

    fn nested_primary(&mut self) -> Option<i64> {
        self.depth += 1;
        if self.depth > 400 {
            return None;
        }
        let value = self.primary();
        self.depth -= 1;
        value
    }

    fn name(&mut self, name: &str) -> Option<i64> {
        if self.peek() == Some("(") {
            // A function-like macro or `__has_include`: not evaluated.
            let mut open = 0usize;
            while let Some(token) = self.peek() {
                self.next += 1;
                match token {
                    "(" => open += 1,
                    ")" => open -= 1,
                    _ => {}
                }
                if open == 0 {
                    break;
                }
            }
            return None;
        }
        if let Some(known) = predefined(name) {
            return Some(known.unwrap_or(0));
        }
        let define = self.lowerer.macros.find_at(self.lowerer.outside, name, self.at)?;
        if define.params.is_some() || self.depth > 60 {
            return None;
        }
        let mut inner = Evaluator {
            lowerer: self.lowerer,
            at: self.at,
            depth: self.depth + 20,
            tokens: tokens(&define.body),
            next: 0,
        };
        inner.level(0)
    }
}

fn apply(op: &str, left: Option<i64>, right: Option<i64>) -> Option<i64> {
    match (op, left, right) {
        ("&&", Some(0), _) | ("&&", _, Some(0)) => return Some(0),
        ("||", Some(value), _) | ("||", _, Some(value)) if value != 0 => return Some(1),
        _ => {}
    }
    let (a, b) = (left?, right?);
    Some(match op {
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
        "<<" => a.wrapping_shl(b as u32),
        ">>" => a.wrapping_shr(b as u32),
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "*" => a.wrapping_mul(b),
        "/" => a.checked_div(b)?,
        "%" => a.checked_rem(b)?,
        _ => return None,
    })
}

/// Words, numbers and operators of a condition.
fn tokens(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() && out.len() < 2_000 {
        let b = bytes[at];
        if b.is_ascii_whitespace() || b == b'\\' || !b.is_ascii() {
            at += 1;
            continue;
        }
        let start = at;
        if b.is_ascii_alphanumeric() || b == b'_' {
            while at < bytes.len() && (bytes[at].is_ascii_alphanumeric() || bytes[at] == b'_' || bytes[at] == b'\'') {
                at += 1;
            }
        } else {
            let two = text.get(at..at + 2).unwrap_or("");
            at += if matches!(two, "||" | "&&" | "==" | "!=" | "<=" | ">=" | "<<" | ">>") { 2 } else { 1 };
        }
        if let Some(token) = text.get(start..at) {
            out.push(token);
        }
    }
    out
}
