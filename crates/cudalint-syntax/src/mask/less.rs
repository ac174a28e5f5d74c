//! `<` between operands that the grammar would take for a template bracket.

use super::MaskKind;
use super::edit::{Edit, p};
use crate::keywords::{Group, W};
use crate::lexer::{Kind, code};

/// How far ahead a closing `>` is looked for.
const HORIZON: usize = 400;

pub(super) fn run(edit: &mut Edit<'_>) {
    for i in 0..edit.len() {
        if !edit.is(i, b'<') || !is_comparison(edit, i) || !closes_later(edit, i) {
            continue;
        }
        let span = edit.span(i);
        edit.put(span.end as usize, b'=');
        edit.note(span, MaskKind::LessThan);
    }
}

/// A `<` with blanks on both sides between operands.
fn is_comparison(edit: &Edit<'_>, i: usize) -> bool {
    let span = edit.span(i);
    let (start, end) = (span.start as usize, span.end as usize);
    let Some(before) = i.checked_sub(1) else { return false };
    if start == 0 || !matches!(edit.raw.get(start - 1), Some(b' ' | b'\t' | b'\n')) {
        return false;
    }
    if edit.out.get(end) != Some(&b' ') {
        return false;
    }
    let left = match edit.kind(before) {
        Some(Kind::Word) => edit.is_name(before) || matches!(edit.word(before), Some(W::This)),
        Some(Kind::Number | Kind::Char) => true,
        Some(Kind::Punct) => edit.is(before, b')') || edit.is(before, b']'),
        _ => false,
    };
    if !left {
        return false;
    }
    // Only a name can head a template list, so nothing else is misread.
    if !edit.is_name(before) {
        return false;
    }
    match edit.group(i + 1) {
        Some(Group::Type | Group::Qualifier) => edit.is(i + 2, b'('),
        Some(Group::Keyword) => !matches!(
            edit.word(i + 1),
            Some(W::Typename | W::Class | W::Struct | W::Decltype | W::Template | W::Enum | W::Union)
        ),
        _ => !edit.is(i + 1, b'>'),
    }
}

/// Whether a `>` follows before the expression surely ends, and no reading as a template list is likely.
fn closes_later(edit: &Edit<'_>, i: usize) -> bool {
    let mut depth = 0i32;
    for j in i + 1..edit.len().min(i + HORIZON) {
        match edit.punct(j) {
            c if c == p(b'(') || c == p(b'[') || c == p(b'{') => {
                depth += 1;
            }
            c if c == p(b')') || c == p(b']') || c == p(b'}') => {
                depth -= 1;
                if depth < 0 {
                    return false;
                }
            }
            c if c == p(b';') && depth <= 0 => return false,
            c if c == p(b'>') || c == code::GE => {
                // `name < a, b > x` in a declaration is a list: the `>` is followed by a name and `;`, `=` or `(`.
                return !is_list(edit, i, j);
            }
            _ => {}
        }
    }
    false
}

/// `vector < T > x;`: a declaration whose template list has blanks.
fn is_list(edit: &Edit<'_>, open: usize, close: usize) -> bool {
    if edit.punct(close) != p(b'>') {
        return false;
    }
    let inside = open + 1..close;
    let plain = inside.clone().all(|j| match edit.kind(j) {
        Some(Kind::Word | Kind::Number) => true,
        Some(Kind::Punct) => {
            let c = edit.punct(j);
            c == p(b',') || c == code::SCOPE || c == p(b'*') || c == p(b'&')
        }
        _ => false,
    });
    let start = edit.starts_statement(open - 1) || open >= 2 && edit.punct(open - 2) == code::SCOPE;
    plain && start && (edit.is_name(close + 1) || edit.is(close + 1, b'*') || edit.is(close + 1, b'&'))
}
