//! Preprocessor groups: those that split a statement or a bracket lose all branches but one; `#if 0` is always blanked.

use super::MaskKind;
use super::edit::{Edit, p};
use crate::defines::clean;
use crate::keywords::W;
use crate::lexer::{Kind, Token};
use crate::preprocessor::Conditions;
use crate::span::Span;

/// One branch: from the token after its directive to the token before the next one.
struct Branch {
    /// Index of the directive that opens it.
    directive: usize,
    /// Whether its condition is known.
    truth: Option<bool>,
    /// Brackets open at its end.
    end_stack: Vec<u16>,
    balanced: bool,
}

struct Group {
    branches: Vec<Branch>,
    /// Brackets open at the start.
    start_stack: Vec<u16>,
    /// Least depth of the branch being read.
    lowest: usize,
    /// Least depth of the enclosing branch before the group.
    outer_lowest: usize,
    has_else: bool,
}

/// Longest nesting of groups that is followed; deeper ones are left as they are.
const MAX_GROUPS: usize = 200;

/// What a bracket is, for the question whether the grammar takes a group inside it. Codes: the byte itself, or `I` for
/// the brace of an initialiser, `E` for one of an enumeration.
const INIT: u16 = b'I' as u16;
const ENUM: u16 = b'E' as u16;

pub(super) fn run(edit: &mut Edit<'_>, offset: u32, conditions: &dyn Conditions) {
    if !edit.tokens.iter().any(|t| t.kind == Kind::Directive) {
        return;
    }
    let code = code_before(edit);
    let mut stack: Vec<u16> = Vec::new();
    let mut lowest = 0usize;
    let mut groups: Vec<Group> = Vec::new();
    let mut doomed: Vec<(usize, usize)> = Vec::new();
    for i in 0..edit.len() {
        let token = edit.tokens[i];
        match token.kind {
            Kind::Directive => {
                let spelled = edit.text(i);
                let name = directive_name(spelled);
                match name {
                    b"if" | b"ifdef" | b"ifndef" if groups.len() < MAX_GROUPS => {
                        let truth = truth_of(conditions, name, spelled, offset + token.start);
                        groups.push(Group {
                            branches: vec![Branch { directive: i, truth, end_stack: Vec::new(), balanced: false }],
                            start_stack: stack.clone(),
                            lowest: stack.len(),
                            outer_lowest: lowest,
                            has_else: false,
                        });
                        lowest = stack.len();
                    }
                    b"elif" | b"else" | b"elifdef" | b"elifndef" => {
                        if let Some(group) = groups.last_mut() {
                            group.lowest = lowest;
                            close_branch(group, &stack);
                            group.has_else |= name == b"else";
                            let truth = if name == b"else" {
                                None
                            } else {
                                truth_of(conditions, name, spelled, offset + token.start)
                            };
                            let start = group.start_stack.clone();
                            group.branches.push(Branch { directive: i, truth, end_stack: Vec::new(), balanced: false });
                            lowest = start.len();
                            stack = start;
                        }
                    }
                    b"endif" => {
                        if let Some(mut group) = groups.pop() {
                            group.lowest = lowest;
                            close_branch(&mut group, &stack);
                            stack = finish(edit, &code, &group, i, &mut doomed);
                            lowest =
                                group.outer_lowest.min(stack.len()).min(if stack.len() < group.start_stack.len() {
                                    stack.len()
                                } else {
                                    group.start_stack.len()
                                });
                        }
                    }
                    _ => {}
                }
            }
            Kind::Punct if token.code < 256 => match token.code as u8 {
                b'(' | b'[' => stack.push(token.code),
                b'{' => {
                    let kind = brace_kind(edit, i, &stack);
                    stack.push(kind);
                }
                b')' | b']' | b'}' => {
                    stack.pop();
                    lowest = lowest.min(stack.len());
                }
                _ => {}
            },
            _ => {}
        }
    }
    for (from, to) in doomed {
        edit.drop_tokens(from, to);
    }
    edit.refresh();
    blank_split_directives(edit);
    edit.refresh();
}

fn close_branch(group: &mut Group, stack: &[u16]) {
    let start = group.start_stack.len();
    let lowest = group.lowest;
    if let Some(branch) = group.branches.last_mut() {
        branch.balanced = stack.len() == start && lowest >= start;
        branch.end_stack = stack.to_vec();
    }
}

fn brace_kind(edit: &Edit<'_>, i: usize, stack: &[u16]) -> u16 {
    let before = i.checked_sub(1);
    let c = before.map_or(0, |b| edit.punct(b));
    let outer = stack.last().copied().unwrap_or(0);
    if c == p(b'=') || outer == INIT || before.is_some_and(|b| edit.is_word(b, W::Return)) {
        return INIT;
    }
    if (c == p(b',') || c == p(b'(')) && outer != p(b'{') && outer != 0 {
        return INIT;
    }
    for back in 1..8 {
        let Some(j) = i.checked_sub(back) else { break };
        if edit.is_word(j, W::Enum) {
            return ENUM;
        }
        if matches!(edit.punct(j), c if c == p(b';') || c == p(b'}') || c == p(b'{') || c == p(b')')) {
            break;
        }
    }
    p(b'{')
}

/// Decides one group and says which brackets are open after it.
fn finish(
    edit: &mut Edit<'_>,
    code: &[u32],
    group: &Group,
    endif: usize,
    doomed: &mut Vec<(usize, usize)>,
) -> Vec<u16> {
    let known_dead = group.branches.iter().any(|b| b.truth == Some(false) && is_literal(edit, b.directive));
    let known_live = group.branches.iter().any(|b| b.truth == Some(true) && is_literal(edit, b.directive));
    let keep_both = !known_dead && !known_live && stands_alone(edit, code, group, endif);
    if keep_both {
        return group.start_stack.clone();
    }
    // The first branch that is true, else the first that is not known to be false, else `#else`.
    let chosen = group
        .branches
        .iter()
        .position(|b| b.truth == Some(true))
        .or_else(|| group.branches.iter().position(|b| b.truth != Some(false)));
    let next_of = |n: usize| group.branches.get(n + 1).map_or(endif, |b| b.directive);
    for (n, branch) in group.branches.iter().enumerate() {
        doomed.push((branch.directive, branch.directive));
        if Some(n) != chosen && branch.directive + 1 < next_of(n) {
            let span = edit.between(branch.directive + 1, next_of(n) - 1);
            edit.note(span, MaskKind::Branch);
            doomed.push((branch.directive + 1, next_of(n) - 1));
        }
    }
    doomed.push((endif, endif));
    chosen.and_then(|n| group.branches.get(n)).map_or_else(|| group.start_stack.clone(), |b| b.end_stack.clone())
}

/// Whether the grammar can nest the group as it is: every branch is balanced and holds whole statements.
fn stands_alone(edit: &Edit<'_>, code: &[u32], group: &Group, endif: usize) -> bool {
    let inside = group.start_stack.last().copied().unwrap_or(0);
    if inside != 0 && inside != p(b'{') && inside != ENUM {
        return false;
    }
    let enumeration = inside == ENUM;
    let first = group.branches.first().map_or(endif, |b| b.directive);
    if !ends_statement(edit, before(code, first), enumeration) {
        return false;
    }
    for (n, branch) in group.branches.iter().enumerate() {
        let end = group.branches.get(n + 1).map_or(endif, |b| b.directive);
        if !branch.balanced {
            return false;
        }
        let Some(last) = before(code, end).filter(|last| *last > branch.directive) else { continue };
        if !ends_statement(edit, Some(last), enumeration) {
            return false;
        }
        let start = (branch.directive + 1..end).find(|i| edit.kind(*i) != Some(Kind::Directive));
        if start.is_some_and(|i| edit.is_word(i, W::Else) || edit.is(i, b'{') && !enumeration && inside == 0) {
            return false;
        }
    }
    let after = (endif + 1..edit.len().min(endif + 16)).find(|i| edit.kind(*i) != Some(Kind::Directive));
    !after.is_some_and(|i| edit.is_word(i, W::Else) || edit.is_word(i, W::Catch))
}

/// For each token, one more than the index of the last token before it that is no directive; 0 for none.
fn code_before(edit: &Edit<'_>) -> Vec<u32> {
    let mut last = 0;
    let mut all = Vec::with_capacity(edit.len());
    for (i, token) in edit.tokens.iter().enumerate() {
        all.push(last);
        if token.kind != Kind::Directive {
            last = i as u32 + 1;
        }
    }
    all
}

fn before(code: &[u32], i: usize) -> Option<usize> {
    (code.get(i).copied().unwrap_or(0) as usize).checked_sub(1)
}

fn ends_statement(edit: &Edit<'_>, i: Option<usize>, enumeration: bool) -> bool {
    let Some(i) = i else { return true };
    let c = edit.punct(i);
    c == p(b';') || c == p(b'{') || c == p(b'}') || enumeration && c == p(b',') || c == p(b':')
}

pub(super) fn directive_name(spelled: &[u8]) -> &[u8] {
    let rest = spelled.get(1..).unwrap_or(&[]).trim_ascii_start();
    let end = rest.iter().position(|b| !b.is_ascii_alphabetic()).unwrap_or(rest.len());
    &rest[..end]
}

/// Whether the directive is `#if` of a bare number.
fn is_literal(edit: &Edit<'_>, i: usize) -> bool {
    let spelled = edit.text(i);
    let name = directive_name(spelled);
    if name != b"if" && name != b"elif" {
        return false;
    }
    let text = condition_text(spelled);
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

fn condition_text(spelled: &[u8]) -> String {
    let rest = spelled.get(1..).unwrap_or(&[]).trim_ascii_start();
    clean(rest.get(directive_name(spelled).len()..).unwrap_or(&[]))
}

/// Whether a directive's condition holds; `None` when that is open. `at` is where it stands in the file.
fn truth_of(conditions: &dyn Conditions, name: &[u8], spelled: &[u8], at: u32) -> Option<bool> {
    let text = condition_text(spelled);
    match name {
        b"ifdef" | b"elifdef" => conditions.holds(&format!("defined({text})"), at),
        b"ifndef" | b"elifndef" => conditions.holds(&format!("defined({text})"), at).map(|defined| !defined),
        _ => conditions.holds(&text, at),
    }
}

/// Directives that are left in the middle of a statement: the grammar has no place for them there.
fn blank_split_directives(edit: &mut Edit<'_>) {
    let mut last = None;
    for i in 0..edit.len() {
        if edit.kind(i) != Some(Kind::Directive) {
            last = Some(i);
            continue;
        }
        let name = directive_name(edit.text(i));
        if matches!(name, b"if" | b"ifdef" | b"ifndef" | b"elif" | b"else" | b"endif" | b"elifdef" | b"elifndef") {
            continue;
        }
        let Some(before) = last else { continue };
        let c = edit.punct(before);
        let done = c == p(b';') || c == p(b'{') || c == p(b'}') || c == p(b':');
        let inside = edit.scope(i);
        if done && !matches!(inside, super::edit::Scope::Init | super::edit::Scope::Group | super::edit::Scope::Enum) {
            continue;
        }
        // A macro call without `;` before a `#define` or `#include` at the outermost level is read on its own.
        if !done && edit.is(before, b')') && name != b"pragma" && inside == super::edit::Scope::Namespace {
            continue;
        }
        edit.drop_tokens(i, i);
    }
}

/// Comments inside the body of a macro definition, which the grammar would take for the end of the body, and the blanks
/// behind a macro without a body, where it would look for one in the lines below.
pub(super) fn clean_directives(edit: &mut Edit<'_>) {
    for i in 0..edit.len() {
        let token = edit.tokens[i];
        if token.kind != Kind::Directive {
            continue;
        }
        let spelled = edit.text(i);
        let define = directive_name(spelled) == b"define";
        let lines = memchr::memchr(b'\n', spelled).is_some();
        let comment = memchr::memmem::find(spelled, b"/*").is_some() || memchr::memmem::find(spelled, b"//").is_some();
        let blanks = matches!(spelled.strip_suffix(b"\r").unwrap_or(spelled).last(), Some(b' ' | b'\t' | b'\n'));
        if !(define && (comment || blanks) || comment && lines) {
            continue;
        }
        let mut lexer = crate::lexer::Lexer::new(&edit.raw[..token.end as usize], token.start as usize + 1);
        lexer.line_start = false;
        let mut comments = Vec::new();
        let mut words = Vec::new();
        while let Some(step) = lexer.next() {
            lexer.line_start = false;
            match step {
                crate::lexer::Step::Comment(span) => comments.push(span),
                crate::lexer::Step::Token(token) => words.push(token),
            }
        }
        if let Some(head) = bare_head(&words).filter(|_| define) {
            edit.blank(Span::new(head, token.end as usize));
            edit.bare.push(head);
            continue;
        }
        for span in comments {
            blank_in_directive(edit, span);
        }
    }
}

/// Where the head of a macro definition without a body ends. The tokens begin with `define`.
fn bare_head(tokens: &[Token]) -> Option<usize> {
    let (name, rest) = tokens.get(1..)?.split_first()?;
    let is = |token: &Token, byte: u8| token.kind == Kind::Punct && token.code == p(byte);
    match rest {
        [] => Some(name.end as usize),
        // Parameters stand directly behind the name.
        [open, inner @ .., close] if is(open, b'(') && open.start == name.end && is(close, b')') => {
            inner.iter().all(|token| !is(token, b')')).then_some(close.end as usize)
        }
        _ => None,
    }
}

/// Blanks a comment and keeps the lines continued: a newline inside gets a backslash before it.
fn blank_in_directive(edit: &mut Edit<'_>, span: Span) {
    let line_comment = edit.raw.get(span.start as usize + 1) == Some(&b'/');
    let mut end = span.end as usize;
    if line_comment && edit.raw.get(span.range()).is_some_and(|text| text.ends_with(b"\\")) {
        end -= 1;
    }
    edit.blank(Span::new(span.start as usize, end));
    for at in span.range() {
        if edit.raw[at] == b'\n' && !line_comment {
            let back = if at > 0 && edit.raw[at - 1] == b'\r' { at - 1 } else { at };
            if back > span.start as usize {
                edit.put(back - 1, b'\\');
            }
        }
    }
}
