//! Macro calls that stand as statements or declarations without `;`, and blocks headed by a macro call.

use super::MaskKind;
use super::edit::{Edit, NONE, Scope, p};
use crate::keywords::{Group, W, is_caps};
use crate::lexer::{Kind, code};
use crate::macros::Class;
use crate::span::Span;

pub(super) fn run(edit: &mut Edit<'_>) {
    for i in 0..edit.len() {
        if edit.is(i, b':') {
            label_at_end(edit, i);
            continue;
        }
        if !edit.is_name(i) {
            continue;
        }
        if !edit.is(i + 1, b'(') {
            if alone(edit, i) {
                semicolon(edit, i);
            }
            continue;
        }
        let close = edit.mate(i + 1);
        if close == NONE || !edit.starts_statement(i) {
            continue;
        }
        if edit.is(close + 1, b'{') {
            header(edit, i, close);
        } else if wants_semicolon(edit, i, close) {
            semicolon(edit, close);
        }
    }
    edit.refresh();
}

/// `label: }` has no statement for the label.
fn label_at_end(edit: &mut Edit<'_>, colon: usize) {
    if (edit.is(colon + 1, b'}') || edit.kind(colon + 1) == Some(Kind::Directive))
        && colon > 0
        && edit.is_name(colon - 1)
        && edit.scope(colon) == Scope::Block
        && edit.is_label_colon(colon)
    {
        semicolon(edit, colon);
    }
}

/// Writes `;` over the blank or newline after a token.
fn semicolon(edit: &mut Edit<'_>, after: usize) {
    let at = edit.span(after).end as usize;
    let next = edit.span(after + 1).start as usize;
    let Some(gap) = edit.out.get(at..next.min(edit.out.len())) else { return };
    // A blank is better than the newline, and neither may be inside a comment.
    let Some(n) = gap.iter().position(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r' | b'/')) else { return };
    let byte = gap[n];
    if byte == b'/' {
        return;
    }
    let at = at + n;
    edit.end_after(after);
    // `\r\n` loses its first half only.
    edit.put(at, b';');
    edit.note(Span::new(at, at + 1), MaskKind::Semicolon);
}

fn wants_semicolon(edit: &Edit<'_>, i: usize, close: usize) -> bool {
    let next = close + 1;
    let scope = edit.scope(i);
    match scope {
        Scope::Block => {
            let starts = match edit.kind(next) {
                None => false,
                Some(Kind::Directive) => false,
                Some(Kind::Word) => {
                    // `foo(x) const`, `foo(a) and b` do not end here.
                    !matches!(
                        edit.word(next),
                        Some(W::Const | W::Noexcept | W::Override | W::Final | W::Volatile | W::Requires | W::Mutable)
                    ) && (edit.newline_after(close)
                        || known_macro(edit, i)
                        || is_caps(edit.text(i))
                        // No call goes on like this: what stands before is a macro with a `;` of its own.
                        || matches!(edit.word(next), Some(W::Break | W::Continue | W::Case | W::Default | W::Goto)))
                }
                Some(Kind::Punct) => {
                    let c = edit.punct(next);
                    c == p(b'}')
                        || (c == p(b'*') || c == p(b'(') || c == code::INC || c == code::DEC || c == p(b'~'))
                            && edit.newline_after(close)
                            && is_caps(edit.text(i))
                        || c == p(b'[') && edit.newline_after(close) && is_caps(edit.text(i))
                }
                _ => false,
            };
            // `if (x) FOO(y) else`: the `else` needs the statement closed.
            starts
        }
        Scope::Namespace | Scope::Class => {
            let macro_like = is_caps(edit.text(i)) || known_macro(edit, i);
            match edit.kind(next) {
                None | Some(Kind::Directive) => macro_like,
                Some(Kind::Word) => {
                    // K&R parameters follow a lower-case name; a macro starts a new line.
                    macro_like
                        && (edit.newline_after(close) || known_macro(edit, i))
                        && !matches!(edit.word(next), Some(W::Const | W::Noexcept | W::Override | W::Final))
                }
                Some(Kind::Punct) => macro_like && (edit.is(next, b'}') || edit.is(next, b'~') || edit.is(next, b'[')),
                _ => false,
            }
        }
        _ => false,
    }
}

/// `SYNC` or `PERF_BEGIN` on its own: an object-like macro of statements.
fn alone(edit: &Edit<'_>, i: usize) -> bool {
    let next = i + 1;
    if edit.scope(i) != Scope::Block || !(edit.starts_statement(i)) {
        return false;
    }
    match edit.class(i) {
        Some(Class::Statements) => {
            matches!(edit.kind(next), Some(Kind::Word | Kind::Directive))
                || matches!(edit.punct(next), c if c == p(b'}') || c == p(b'{') || c == p(b'*') || c == code::INC)
        }
        Some(Class::Other) if edit.newline_after(i) => {
            let c = edit.punct(i + 2);
            // `REAL` and a declared name on the next line.
            let declares = edit.is_name(next) && (c == p(b'=') || c == p(b';') || c == p(b',') || c == p(b'['));
            edit.is(next, b'}')
                || edit.kind(next) == Some(Kind::Word) && !declares && edit.group(next) != Some(Group::Qualifier)
                || edit.kind(next) == Some(Kind::Directive)
        }
        // No name ends a block: `} CHECKED }`.
        None if edit.is(next, b'}') => true,
        None if edit.newline_after(i) && is_caps(edit.text(i)) => {
            // Three words in a row are no declaration: the first is a macro. Nor is a launch, or what is done with an object.
            let used = [code::SCOPE, code::ARROW, code::LAUNCH, p(b'.'), p(b'('), p(b'<')].contains(&edit.punct(i + 2));
            // A type stands at the end of a line behind no other statement: `f(); CHECKED` and `times[i] = t;` below.
            let behind = i > 0 && !edit.newline_after(i - 1);
            edit.is_name(next) && (edit.is_name(i + 2) || used || behind)
                || matches!(
                    edit.group(next),
                    Some(Group::Type | Group::Specifier | Group::Control | Group::Qualifier | Group::Space)
                )
        }
        _ => false,
    }
}

fn known_macro(edit: &Edit<'_>, i: usize) -> bool {
    matches!(edit.class(i), Some(Class::Call))
}

/// `TEST("name", [a]) {`: the arguments are no parameters, so they are blanked and a function is left.
fn header(edit: &mut Edit<'_>, i: usize, close: usize) {
    if edit.scope(i) == Scope::Class && !is_caps(edit.text(i)) {
        return;
    }
    let open = i + 1;
    if close == open + 1 {
        return;
    }
    let mut parameters = true;
    let mut j = open + 1;
    while j < close {
        match edit.kind(j) {
            Some(Kind::Word) => {
                if matches!(edit.group(j), Some(Group::Control)) {
                    parameters = false;
                }
            }
            Some(Kind::Punct) => match edit.punct(j) {
                c if c == p(b',')
                    || c == p(b'*')
                    || c == p(b'&')
                    || c == code::SCOPE
                    || c == p(b'<')
                    || c == p(b'>') => {}
                c if c == p(b'=') || c == p(b'[') || c == p(b']') => {}
                _ => parameters = false,
            },
            Some(Kind::Number) => {
                if !(j > 0 && (edit.is(j - 1, b'=') || edit.is(j - 1, b'['))) {
                    parameters = false;
                }
            }
            _ => parameters = false,
        }
        j += 1;
    }
    if !parameters {
        let span = edit.between(open + 1, close - 1);
        edit.drop_tokens(open + 1, close - 1);
        edit.note(span, MaskKind::Argument);
    }
}
