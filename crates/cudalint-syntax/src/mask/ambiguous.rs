//! Statements that start like declarations: `f(x);` may declare `x`, and `a[i] = b;` an unnamed array. The parser follows
//! that reading beside the other for as long as it can, which doubles its work. An operator in the blank before the name
//! leaves one reading; lowering passes over it, since no operator stands in the raw text. Lists of attributes side by side
//! become one, since the parser compares all readings of a row of them at each of its members.

use super::edit::{Edit, NONE, Scope, p};
use crate::lexer::code;
use crate::macros::Class;

pub(super) fn run(edit: &mut Edit<'_>) {
    for i in 1..edit.len() {
        if edit.is(i, b'[') {
            join_attributes(edit, i);
            continue;
        }
        if !edit.is_name(i) || edit.scope(i) != Scope::Block || !edit.starts_statement(i) {
            continue;
        }
        let operator = if is_call(edit, i) {
            b'!'
        } else if is_assignment(edit, i) {
            b'*'
        } else {
            continue;
        };
        let start = edit.span(i).start as usize;
        // A blank of the raw text: what was blanked by the mask is no place for lowering to pass over.
        let blank = |text: &[u8]| matches!(text.get(start - 1), Some(b' ' | b'\t'));
        if start > edit.span(i - 1).end as usize && blank(edit.raw) && blank(&edit.out) {
            edit.put(start - 1, operator);
        }
    }
}

/// `[[a]] [[b]]`, the second of which begins at `i`, as `[[a , b]]`.
fn join_attributes(edit: &mut Edit<'_>, i: usize) {
    if !(i >= 6 && edit.is(i + 1, b'[') && edit.is(i - 1, b']') && edit.is(i - 2, b']')) {
        return;
    }
    let (second, first) = (edit.mate(i), edit.mate(i - 1));
    let is_list =
        |open: usize, close: usize| open != NONE && close != NONE && edit.mate(open + 1).checked_add(1) == Some(close);
    let between = edit.between(i - 2, i + 1);
    let apart = edit.out.get(edit.span(i - 1).end as usize..edit.span(i).start as usize).unwrap_or(&[]);
    let side_by_side = apart.iter().all(u8::is_ascii_whitespace);
    if side_by_side && is_list(first, i - 1) && is_list(i, second) {
        edit.blank(between);
        edit.put(between.start as usize, b',');
    }
}

/// `f(…);` or `a::f(…);`
fn is_call(edit: &Edit<'_>, i: usize) -> bool {
    let mut name = i;
    while edit.punct(name + 1) == code::SCOPE && edit.is_name(name + 2) {
        name += 2;
    }
    let close = edit.mate(name + 1);
    if !edit.is(name + 1, b'(') || close == NONE || !edit.is(close + 1, b';') {
        return false;
    }
    // `T (*p);` and `T (&r);` stay ambiguous.
    let first = edit.punct(name + 2);
    let declarator = (first == p(b'*') || first == p(b'&') || first == code::ANDAND) && close <= name + 4;
    !declarator && matches!(edit.class(name), None | Some(Class::Call))
}

/// `a[i] = …`, also with further subscripts and members.
fn is_assignment(edit: &Edit<'_>, i: usize) -> bool {
    let mut at = i + 1;
    if !edit.is(at, b'[') {
        return false;
    }
    loop {
        match edit.punct(at) {
            c if c == p(b'[') => match edit.mate(at) {
                NONE => return false,
                close => at = close + 1,
            },
            c if c == p(b'.') || c == code::ARROW => {
                if !edit.is_name(at + 1) {
                    return false;
                }
                at += 2;
            }
            c => return c == p(b'=') && edit.class(i).is_none(),
        }
    }
}
