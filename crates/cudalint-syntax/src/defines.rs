//! The `#define`s, `#undef`s and `#include`s of one file, each with the conditions it stands under, by a scan that looks
//! at no other text.

use crate::lexer::{directive_end, is_word_byte, quoted_end, raw_string_end};
use crate::span::Span;
use std::sync::Arc;

/// One condition that must hold for a directive to count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The expression after `#if` or `#elif`; `#ifdef X` is `defined(X)`.
    pub text: String,
    /// Whether the expression must be false (an `#else` or later branch, or `#ifndef`).
    pub negated: bool,
}

/// A `#define`.
#[derive(Clone, Debug)]
pub struct Define {
    /// The macro's name.
    pub name: String,
    /// Parameter names of a function-like macro, without `...`; `None` for an object-like one.
    pub params: Option<Vec<String>>,
    /// Whether the parameters end in `...`.
    pub variadic: bool,
    /// Whether the last of the parameters is the name of the variable ones (`args...`, a GNU extension).
    pub named_rest: bool,
    /// The body on one line: comments are blanks, continuations are gone, ends are trimmed.
    pub body: String,
    /// The whole directive.
    pub span: Span,
    /// The name alone.
    pub name_span: Span,
    /// The body as written, continuations included.
    pub body_span: Span,
    /// Conditions around it, outermost first. A file's include guard is left out.
    pub conditions: Arc<[Condition]>,
}

/// An `#undef`.
#[derive(Clone, Debug)]
pub struct Undef {
    /// The macro's name.
    pub name: String,
    /// The whole directive.
    pub span: Span,
    /// Conditions around it, outermost first.
    pub conditions: Arc<[Condition]>,
}

/// An `#include` (or `#include_next`, `#import`) of a literal path.
#[derive(Clone, Debug)]
pub struct Include {
    /// The path between the marks.
    pub path: String,
    /// Whether it is written `<path>`.
    pub system: bool,
    /// The whole directive.
    pub span: Span,
    /// Conditions around it, outermost first.
    pub conditions: Arc<[Condition]>,
}

/// What [`scan_directives`] finds, each list in order of the text.
#[derive(Clone, Debug, Default)]
pub struct Directives {
    /// Macro definitions.
    pub defines: Vec<Define>,
    /// Removed macros.
    pub undefs: Vec<Undef>,
    /// Included files.
    pub includes: Vec<Include>,
    /// Whether NVRTC compiles the program that they stand in.
    pub nvrtc: bool,
}

/// Conditions nest at most this deep; deeper groups are read as if unconditional.
const MAX_CONDITIONS: usize = 200;
/// Branches of one `#if` that a definition's condition names.
const MAX_BRANCHES: usize = 128;

/// Scans one region of a file (or all of it).
pub fn scan_directives(text: &str, region: Span) -> Directives {
    let bytes = text.as_bytes().get(..region.end as usize).unwrap_or(text.as_bytes());
    let mut scan = Scan { bytes, found: Directives::default(), stack: Vec::new(), current: Arc::from([]), count: 0 };
    let mut at = (region.start as usize).min(bytes.len());
    let start = at;
    while let Some(n) = memchr::memchr3(b'#', b'/', b'"', &bytes[at..]) {
        at += n;
        match bytes[at] {
            b'#' if starts_line(bytes, start, at) => {
                let end = directive_end(bytes, at);
                scan.directive(at, end);
                at = end;
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                at = memchr::memmem::find(&bytes[at + 2..], b"*/").map_or(bytes.len(), |n| at + 2 + n + 2);
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                at = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |n| at + n);
            }
            b'"' if at > start && bytes[at - 1] == b'R' => at = raw_string_end(bytes, at),
            // '"' and '\"'
            b'"' if at > start && matches!(bytes[at - 1], b'\'' | b'\\') && bytes.get(at + 1) == Some(&b'\'') => {
                at += 2;
            }
            b'"' => at = quoted_end(bytes, at, b'"'),
            _ => at += 1,
        }
    }
    scan.found
}

/// Whether only blanks and closed comments stand between the line's start and `at`.
fn starts_line(bytes: &[u8], floor: usize, at: usize) -> bool {
    let mut i = at;
    while i > floor {
        match bytes[i - 1] {
            b' ' | b'\t' | b'\r' => i -= 1,
            b'\n' => return true,
            b'/' if i >= floor + 4 && bytes[i - 2] == b'*' => {
                match memchr::memmem::rfind(&bytes[floor..i - 2], b"/*") {
                    Some(n) => i = floor + n,
                    None => return false,
                }
            }
            _ => return false,
        }
    }
    true
}

/// One open `#if` group.
struct Group {
    /// Conditions of the branches so far.
    branches: Vec<String>,
    /// Whether the last branch is an `#else`.
    in_else: bool,
    first_negated: bool,
    /// Whether it is the include guard.
    guard: bool,
}

struct Scan<'t> {
    bytes: &'t [u8],
    found: Directives,
    stack: Vec<Group>,
    current: Arc<[Condition]>,
    /// Directives seen so far.
    count: usize,
}

impl Scan<'_> {
    fn directive(&mut self, start: usize, end: usize) {
        let mut at = skip_blanks(self.bytes, start + 1, end);
        let name_start = at;
        while at < end && is_word_byte(self.bytes[at]) {
            at += 1;
        }
        let bytes = self.bytes;
        let span = Span::new(start, end);
        let rest = skip_blanks(bytes, at, end);
        match &bytes[name_start..at] {
            b"define" => self.define(span, rest, end),
            b"undef" => {
                let name = word_at(bytes, rest, end);
                self.found.undefs.push(Undef { name, span, conditions: Arc::clone(&self.current) });
            }
            b"include" | b"include_next" | b"import" => self.include(span, rest, end),
            b"if" => self.open(clean(&bytes[rest..end]), false),
            b"ifdef" => self.open(format!("defined({})", word_at(bytes, rest, end)), false),
            b"ifndef" => self.open(format!("defined({})", word_at(bytes, rest, end)), true),
            b"elif" => self.branch(Some(clean(&bytes[rest..end]))),
            b"elifdef" => self.branch(Some(format!("defined({})", word_at(bytes, rest, end)))),
            b"elifndef" => self.branch(Some(format!("!defined({})", word_at(bytes, rest, end)))),
            b"else" => self.branch(None),
            b"endif" => {
                self.stack.pop();
                self.refresh();
            }
            _ => return,
        }
        self.count += 1;
    }

    fn open(&mut self, condition: String, negated: bool) {
        let guard = self.count == 0 && negated;
        self.stack.push(Group { branches: vec![condition], in_else: false, first_negated: negated, guard });
        self.refresh();
    }

    fn branch(&mut self, condition: Option<String>) {
        if let Some(group) = self.stack.last_mut() {
            group.guard = false;
            match condition {
                Some(text) => group.branches.push(text),
                None => group.in_else = true,
            }
        }
        self.refresh();
    }

    fn refresh(&mut self) {
        if self.stack.len() > MAX_CONDITIONS {
            return;
        }
        let mut all = Vec::new();
        for group in self.stack.iter().filter(|group| !group.guard) {
            let last = group.branches.len().saturating_sub(1);
            // Of a chain of thousands of `#elif`, the nearest conditions tell enough.
            let first = group.branches.len().saturating_sub(MAX_BRANCHES);
            for (i, text) in group.branches.iter().enumerate().skip(first) {
                let holds = i == last && !group.in_else;
                let negated = holds == (i == 0 && group.first_negated);
                all.push(Condition { text: text.clone(), negated });
            }
        }
        self.current = all.into();
    }

    fn define(&mut self, span: Span, start: usize, end: usize) {
        let bytes = self.bytes;
        let mut at = start;
        while at < end && is_word_byte(bytes[at]) {
            at += 1;
        }
        if at == start {
            return;
        }
        let name = String::from_utf8_lossy(&bytes[start..at]).into_owned();
        let name_span = Span::new(start, at);
        // An include guard is `#ifndef X` followed at once by `#define X` as the file's first two directives. Where X
        // stands for something it is a default instead, unless it is called like a header.
        if self.count == 1
            && self.stack.len() == 1
            && let Some(group) = self.stack.last_mut()
            && group.guard
            && (group.branches.first().is_none_or(|text| *text != format!("defined({name})"))
                || !clean(&bytes[at..end]).is_empty() && !named_like_header(&name))
        {
            group.guard = false;
            self.refresh();
        }
        let mut params = None;
        let (mut variadic, mut named_rest) = (false, false);
        if bytes.get(at) == Some(&b'(')
            && let Some(close) = memchr::memchr(b')', &bytes[at..end])
        {
            let list = clean(&bytes[at + 1..at + close]);
            let mut names = Vec::new();
            for part in list.split(',').map(str::trim).filter(|part| !part.is_empty()) {
                match part.strip_suffix("...").map(str::trim) {
                    Some("") => variadic = true,
                    Some(pack) => {
                        (variadic, named_rest) = (true, true);
                        names.push(pack.to_owned());
                    }
                    None => names.push(part.to_owned()),
                }
            }
            params = Some(names);
            at += close + 1;
        }
        self.found.defines.push(Define {
            name,
            params,
            variadic,
            named_rest,
            body: clean(&bytes[at..end]),
            span,
            name_span,
            body_span: Span::new(at, end),
            conditions: Arc::clone(&self.current),
        });
    }

    fn include(&mut self, span: Span, start: usize, end: usize) {
        let (system, close) = match self.bytes.get(start) {
            Some(b'<') => (true, b'>'),
            Some(b'"') => (false, b'"'),
            _ => return,
        };
        if let Some(n) = self.bytes.get(start + 1..end).and_then(|rest| memchr::memchr(close, rest)) {
            let path = String::from_utf8_lossy(&self.bytes[start + 1..start + 1 + n]).into_owned();
            self.found.includes.push(Include { path, system, span, conditions: Arc::clone(&self.current) });
        }
    }
}

/// Whether a macro is called as include guards are: `UTIL_H`, `__UTIL_CUH__`.
fn named_like_header(name: &str) -> bool {
    let name = name.trim_end_matches('_').to_ascii_uppercase();
    ["_H", "_HH", "_HPP", "_CUH", "_CU", "_INCLUDED", "_INCLUDE", "_GUARD"].iter().any(|end| name.ends_with(end))
}

fn skip_blanks(bytes: &[u8], mut at: usize, end: usize) -> usize {
    while at < end {
        match bytes[at] {
            b' ' | b'\t' | b'\r' | b'\n' | b'\\' => at += 1,
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                at = memchr::memmem::find(&bytes[at + 2..end.max(at + 2)], b"*/").map_or(end, |n| at + 2 + n + 2);
            }
            _ => break,
        }
    }
    at.min(end)
}

fn word_at(bytes: &[u8], start: usize, end: usize) -> String {
    let length = bytes[start..end].iter().take_while(|b| is_word_byte(**b)).count();
    String::from_utf8_lossy(&bytes[start..start + length]).into_owned()
}

/// One line without comments and continuations, trimmed; runs of blanks outside literals become one.
pub(crate) fn clean(bytes: &[u8]) -> String {
    let mut out: Vec<u8> = Vec::with_capacity(bytes.len());
    let blank = |out: &mut Vec<u8>| {
        if out.last() != Some(&b' ') {
            out.push(b' ');
        }
    };
    let mut at = 0;
    while let Some(b) = bytes.get(at) {
        match *b {
            b'\\' if bytes.get(at + 1) == Some(&b'\n') => {
                blank(&mut out);
                at += 2;
            }
            b'\\' if bytes.get(at + 1) == Some(&b'\r') && bytes.get(at + 2) == Some(&b'\n') => {
                blank(&mut out);
                at += 3;
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                blank(&mut out);
                at = memchr::memmem::find(&bytes[at + 2..], b"*/").map_or(bytes.len(), |n| at + 2 + n + 2);
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => break,
            b'"' | b'\'' if *b == b'"' || !at.checked_sub(1).is_some_and(|i| bytes[i].is_ascii_alphanumeric()) => {
                let end = quoted_end(bytes, at, *b).min(bytes.len());
                out.extend_from_slice(&bytes[at..end]);
                at = end;
            }
            b'\r' | b'\n' | b'\t' | b' ' => {
                blank(&mut out);
                at += 1;
            }
            b => {
                out.push(b);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).trim().to_owned()
}
