//! Arguments of macro calls that are no expressions: types, operators, statements.

use super::MaskKind;
use super::edit::{Edit, NONE, Scope, p};
use crate::keywords::{Group, W, is_caps};
use crate::lexer::{Kind, code};
use crate::macros::Class;

/// Statements as arguments: `NAME(a, b, stmt; stmt;)` becomes a block of the statements.
pub(super) fn statements(edit: &mut Edit<'_>) {
    for i in 0..edit.len() {
        if !edit.is(i, b'(') {
            continue;
        }
        let close = edit.mate(i);
        if close == NONE || close == i + 1 {
            continue;
        }
        let named = i > 0 && edit.is_name(i - 1);
        let Some(first) = first_statement(edit, i, close) else { continue };
        if named && edit.starts_statement(i - 1) && edit.scope(i - 1) != Scope::Class {
            let name = i - 1;
            let whole = edit.between(name, close);
            let at = edit.span(name).start as usize;
            if first > name {
                let head = edit.between(name, first - 1);
                edit.blank(head);
            }
            edit.put(at, b'{');
            edit.put(edit.span(close).start as usize, b'}');
            edit.tokens[name].kind = Kind::Punct;
            edit.tokens[name].code = p(b'{');
            edit.tokens[name].end = edit.tokens[name].start + 1;
            edit.tokens[close].code = p(b'}');
            if first > name + 1 {
                edit.kill(name + 1, first - 1);
            }
            edit.note(whole, MaskKind::StatementArguments);
            edit.refresh_soon();
        } else if !named && group_of_statements(edit, i) {
            // `(stmt; stmt;)` as an argument of a macro.
            edit.put(edit.span(i).start as usize, b'{');
            edit.put(edit.span(close).start as usize, b'}');
            edit.tokens[i].code = p(b'{');
            edit.tokens[close].code = p(b'}');
            let whole = edit.between(i, close);
            edit.note(whole, MaskKind::StatementArguments);
            edit.refresh_soon();
        }
    }
    edit.refresh();
}

fn group_of_statements(edit: &Edit<'_>, open: usize) -> bool {
    let Some(before) = open.checked_sub(1) else { return false };
    edit.is(before, b',') || edit.is(before, b'(')
}

/// The first token of the argument that holds statements: one with a `;` of its own or one that is a braced block.
fn first_statement(edit: &Edit<'_>, open: usize, close: usize) -> Option<usize> {
    if open > 0 && matches!(edit.word(open - 1), Some(W::For | W::If | W::While | W::Switch | W::Catch)) {
        return None;
    }
    let mut argument = open + 1;
    let mut j = open + 1;
    while j < close {
        match edit.punct(j) {
            c if c == p(b',') => argument = j + 1,
            c if c == p(b';') => return Some(argument),
            c if c == p(b'{') => {
                let mate = edit.mate(j);
                if mate == NONE || mate > close {
                    return None;
                }
                if j == argument && (mate + 1 == close || edit.is(mate + 1, b',')) && holds_statements(edit, j, mate) {
                    return Some(argument);
                }
                j = mate;
            }
            c if c == p(b'(') || c == p(b'[') => {
                let mate = edit.mate(j);
                if mate == NONE || mate > close {
                    return None;
                }
                j = mate;
            }
            _ => {}
        }
        j += 1;
    }
    None
}

fn holds_statements(edit: &Edit<'_>, open: usize, close: usize) -> bool {
    (open + 1..close).any(|j| edit.is(j, b';'))
}

/// Types and lone operators as arguments.
pub(super) fn types(edit: &mut Edit<'_>) {
    for i in 0..edit.len() {
        if !edit.is(i, b'(') || i == 0 {
            continue;
        }
        let close = edit.mate(i);
        if close == NONE || close == i + 1 || !takes_types(edit, i - 1) {
            continue;
        }
        let mut start = i + 1;
        let mut j = i + 1;
        while j <= close {
            let c = edit.punct(j);
            if j == close || c == p(b',') {
                argument(edit, start, j);
                start = j + 1;
            } else if c == p(b'(') || c == p(b'{') || c == p(b'[') {
                let mate = edit.mate(j);
                if mate == NONE || mate > close {
                    break;
                }
                j = mate;
            }
            j += 1;
        }
    }
}

/// Whether a call of the name at `i` may be a macro's: spelled or defined as one, and not being declared.
fn takes_types(edit: &Edit<'_>, i: usize) -> bool {
    if edit.is_word(i, W::VaArg) || edit.is_word(i, W::Typeid) {
        return true;
    }
    if !edit.is_name(i) {
        return false;
    }
    let known = matches!(edit.class(i), Some(Class::Call));
    if !known && !is_caps(edit.text(i)) {
        return false;
    }
    let Some(before) = i.checked_sub(1) else { return true };
    match edit.kind(before) {
        Some(Kind::Word) => {
            matches!(edit.word(before), Some(W::Return | W::Else | W::Do | W::Case | W::Throw | W::CoReturn))
        }
        Some(Kind::Punct) => {
            let c = edit.punct(before);
            // `T* NAME(int)`, `T& NAME(int)` and `A::NAME(int)` declare.
            !(c == code::SCOPE || c == p(b'>') || (c == p(b'*') || c == p(b'&')) && edit.scope(i) != Scope::Block)
        }
        _ => true,
    }
}

/// Respells the argument of tokens `from..to` when it is a type or an operator.
fn argument(edit: &mut Edit<'_>, from: usize, to: usize) {
    if from >= to {
        return;
    }
    let span = edit.between(from, to - 1);
    if to == from + 1 && edit.kind(from) == Some(Kind::Punct) {
        let operator = !matches!(edit.punct(from), c if c == p(b'}') || c == p(b')') || c == code::ELLIPSIS);
        if operator {
            for at in span.range() {
                edit.put(at, b'_');
            }
            edit.note(span, MaskKind::Argument);
        }
        return;
    }
    let keyword = matches!(
        edit.word(from),
        Some(W::New | W::Delete | W::Class | W::Struct | W::Operator | W::Default | W::Template | W::Public | W::Try)
    );
    let mut primitive = to == from + 1 && keyword;
    for j in from..to {
        if to == from + 1 && keyword {
            break;
        }
        match edit.kind(j) {
            Some(Kind::Word) => match edit.word(j) {
                Some(W::Auto) => return,
                Some(W::Struct | W::Class | W::Union | W::Enum | W::Typename) => primitive = true,
                _ => match edit.group(j) {
                    Some(Group::Type | Group::Qualifier) => primitive = true,
                    Some(Group::Plain) => {}
                    _ => return,
                },
            },
            Some(Kind::Punct) => match edit.punct(j) {
                c if c == p(b'*') || c == p(b'&') || c == code::SCOPE || c == code::ANDAND => {}
                _ => return,
            },
            _ => return,
        }
    }
    // `a * b` is an expression; `Name *` and `Name &` are types.
    let last = edit.punct(to - 1);
    let pointer = to > from + 1 && (last == p(b'*') || last == p(b'&') || last == code::ANDAND);
    if !primitive && !pointer {
        return;
    }
    // A parameter `int x` of something declared is left alone.
    let plain_last = edit.is_name(to - 1) && to > from + 1 && edit.punct(to - 2) != code::SCOPE;
    if plain_last
        && !matches!(edit.word(to - 2), Some(W::Struct | W::Class | W::Union | W::Enum | W::Typename | W::Const))
    {
        return;
    }
    let lines = edit.raw.get(span.range()).is_some_and(|t| t.contains(&b'\n') || t.contains(&b'/'));
    if lines {
        return;
    }
    for at in span.range() {
        let b = edit.raw[at];
        let new = if at == span.start as usize {
            b.to_ascii_uppercase()
        } else if b.is_ascii_alphanumeric() || b == b'_' {
            b
        } else {
            b'_'
        };
        edit.put(at, new);
    }
    edit.note(span, MaskKind::Argument);
    edit.respell(from, W::Plain);
    edit.join(from, to - 1);
}
