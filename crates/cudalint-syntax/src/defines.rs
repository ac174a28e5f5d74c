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
    /// Where the directive that asks it begins: what is defined up to there decides.
    pub at: u32,
}

/// An `#if` group but the file's include guard.
#[derive(Clone, Debug, Default)]
pub struct IfGroup {
    /// Its branches in order.
    pub branches: Vec<IfBranch>,
}

/// A branch of an `#if` group.
#[derive(Clone, Debug)]
pub struct IfBranch {
    /// What it asks, as [`Condition::text`]; nothing for `#else`.
    pub text: Option<String>,
    /// Whether that must be false: `#ifndef`.
    pub negated: bool,
    /// Where its directive begins.
    pub at: u32,
    /// What stands in it.
    pub body: Span,
    /// Whether an `#error` stands in it, and in no group inside of it.
    pub is_error: bool,
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

/// An `#undef`, or a `#pragma pop_macro`.
#[derive(Clone, Debug)]
pub struct Undef {
    /// The macro's name.
    pub name: String,
    /// Of a `pop_macro`, where the `push_macro` stands whose meaning comes back.
    pub restores: Option<u32>,
    /// The whole directive.
    pub span: Span,
    /// Conditions around it, outermost first.
    pub conditions: Arc<[Condition]>,
}

/// An `#include` (or `#include_next`, `#import`).
#[derive(Clone, Debug)]
pub struct Include {
    /// The path between the marks; where macros make it that this file does not define as one, these.
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
    /// `#if` groups, by where they end.
    pub groups: Vec<IfGroup>,
    /// Whether it is read once, however often it is included: by `#pragma once` or an include guard.
    pub once: bool,
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
    let mut scan = Scan {
        bytes,
        found: Directives::default(),
        stack: Vec::new(),
        current: Arc::from([]),
        count: 0,
        guarded: false,
        once: false,
        kept: Vec::new(),
    };
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
    scan.found.once = scan.once || scan.guarded;
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
    branches: Vec<IfBranch>,
    /// Whether it is the include guard.
    guard: bool,
}

impl IfBranch {
    fn new(text: Option<String>, negated: bool, directive: Span) -> Self {
        let body = Span { start: directive.end, end: directive.end };
        Self { text, negated, at: directive.start, body, is_error: false }
    }
}

struct Scan<'t> {
    bytes: &'t [u8],
    found: Directives,
    stack: Vec<Group>,
    current: Arc<[Condition]>,
    /// Directives seen so far.
    count: usize,
    /// Whether the last directive ended the include guard.
    guarded: bool,
    /// Whether there is a `#pragma once`.
    once: bool,
    /// Macros kept by `#pragma push_macro`, each with where.
    kept: Vec<(String, u32)>,
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
        let name = &bytes[name_start..at];
        // A guard's name is defined at once, and nothing follows its end.
        if self.count == 1 && !matches!(name, b"define" | b"pragma") {
            self.no_guard();
        }
        self.guarded = false;
        match name {
            b"define" => self.define(span, rest, end),
            b"undef" => {
                let name = word_at(bytes, rest, end);
                self.found.undefs.push(Undef { name, restores: None, span, conditions: Arc::clone(&self.current) });
            }
            b"include" | b"include_next" | b"import" => self.include(span, rest, end),
            b"if" => self.open(clean(&bytes[rest..end]), false, span),
            b"ifdef" => self.open(format!("defined({})", word_at(bytes, rest, end)), false, span),
            b"ifndef" => self.open(format!("defined({})", word_at(bytes, rest, end)), true, span),
            b"elif" => self.branch(Some(clean(&bytes[rest..end])), span),
            b"elifdef" => self.branch(Some(format!("defined({})", word_at(bytes, rest, end))), span),
            b"elifndef" => self.branch(Some(format!("!defined({})", word_at(bytes, rest, end))), span),
            b"else" => self.branch(None, span),
            b"endif" => {
                self.close_branch(span.start);
                if let Some(group) = self.stack.pop() {
                    if group.guard {
                        self.guarded = true;
                    } else {
                        self.found.groups.push(IfGroup { branches: group.branches });
                    }
                }
                self.refresh();
            }
            b"error" => {
                if let Some(branch) = self.stack.last_mut().and_then(|group| group.branches.last_mut()) {
                    branch.is_error = true;
                }
                return;
            }
            b"pragma" => {
                self.pragma(span, rest, end);
                return;
            }
            _ => return,
        }
        self.count += 1;
    }

    fn open(&mut self, condition: String, negated: bool, span: Span) {
        let guard = self.count == 0 && negated;
        self.stack.push(Group { branches: vec![IfBranch::new(Some(condition), negated, span)], guard });
        self.refresh();
    }

    fn branch(&mut self, condition: Option<String>, span: Span) {
        self.close_branch(span.start);
        if let Some(group) = self.stack.last_mut() {
            group.guard = false;
            group.branches.push(IfBranch::new(condition, false, span));
        }
        self.refresh();
    }

    fn close_branch(&mut self, at: u32) {
        if let Some(branch) = self.stack.last_mut().and_then(|group| group.branches.last_mut()) {
            branch.body.end = at;
        }
    }

    /// The first group is no include guard.
    fn no_guard(&mut self) {
        if let Some(group) = self.stack.first_mut().filter(|group| group.guard) {
            group.guard = false;
            self.refresh();
        }
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
            for (i, branch) in group.branches.iter().enumerate().skip(first) {
                let Some(text) = branch.text.clone() else { continue };
                all.push(Condition { text, negated: (i == last) == branch.negated, at: branch.at });
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
            && let [group] = self.stack.as_slice()
            && group.guard
        {
            let asked = group.branches.first().and_then(|branch| branch.text.as_deref());
            let is_default = !clean(&bytes[at..end]).is_empty() && !named_like_header(&name);
            if is_default || asked != Some(format!("defined({name})").as_str()) {
                self.no_guard();
            }
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

    fn pragma(&mut self, span: Span, start: usize, end: usize) {
        let word = word_at(self.bytes, start, end);
        self.once |= word == "once";
        if !matches!(word.as_str(), "push_macro" | "pop_macro") {
            return;
        }
        let text = String::from_utf8_lossy(&self.bytes[start..end]);
        let Some(name) = text.split('"').nth(1).map(str::to_owned) else { return };
        if word == "push_macro" {
            self.kept.push((name, span.start));
        } else if let Some(last) = self.kept.iter().rposition(|(kept, _)| *kept == name) {
            let restores = Some(self.kept.remove(last).1);
            self.found.undefs.push(Undef { name, restores, span, conditions: Arc::clone(&self.current) });
        }
    }

    fn include(&mut self, span: Span, start: usize, end: usize) {
        let (system, close) = match self.bytes.get(start) {
            Some(b'<') => (true, b'>'),
            Some(b'"') => (false, b'"'),
            _ => return self.computed_include(span, start, end),
        };
        if let Some(n) = self.bytes.get(start + 1..end).and_then(|rest| memchr::memchr(close, rest)) {
            let path = String::from_utf8_lossy(&self.bytes[start + 1..start + 1 + n]).into_owned();
            self.found.includes.push(Include { path, system, span, conditions: Arc::clone(&self.current) });
        }
    }

    /// An include whose header a macro names: one that this file defines as a path, or else a header that nobody has.
    fn computed_include(&mut self, span: Span, start: usize, end: usize) {
        let macros = clean(&self.bytes[start..end]);
        if macros.is_empty() {
            return;
        }
        let path = self.found.defines.iter().rev().find(|define| define.params.is_none() && define.name == macros);
        let path = path.map_or("", |define| define.body.trim());
        let inside = |open, close| path.strip_prefix(open).and_then(|path: &str| path.strip_suffix(close));
        let (path, system) = match (inside('"', '"'), inside('<', '>')) {
            (Some(path), _) => (path.to_owned(), false),
            (None, Some(path)) => (path.to_owned(), true),
            (None, None) => (macros, false),
        };
        self.found.includes.push(Include { path, system, span, conditions: Arc::clone(&self.current) });
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
