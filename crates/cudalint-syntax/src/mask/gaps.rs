//! Gaps of the grammar that are closed in place, one construct each.

use super::MaskKind;
use super::edit::{Edit, NONE, Scope, p};
use super::places::{asm_operands, launch_braces, strings};
use crate::keywords::{Group, W};
use crate::lexer::{Kind, code};

pub(super) fn run(edit: &mut Edit<'_>) {
    for i in 0..edit.len() {
        match edit.kind(i) {
            Some(Kind::Word) => word(edit, i),
            Some(Kind::Punct) => punct(edit, i),
            Some(Kind::Text) => strings(edit, i),
            _ => {}
        }
    }
    edit.refresh();
}

fn word(edit: &mut Edit<'_>, i: usize) {
    match edit.word(i) {
        Some(W::Typename) => typename(edit, i),
        Some(W::Template) => template(edit, i),
        Some(W::Extern) => extern_macro(edit, i),
        Some(W::Decltype) => decltype(edit, i),
        Some(W::New) => new_pointers(edit, i),
        Some(W::Unsigned | W::Signed) => unsigned_cast(edit, i),
        Some(W::Operator) if !operator_member(edit, i) => operator_template(edit, i),
        Some(W::Asm | W::Asm1 | W::Asm2) => asm_operands(edit, i),
        _ => {}
    }
}

fn punct(edit: &mut Edit<'_>, i: usize) {
    match edit.punct(i) {
        c if c == p(b'=') => after_equals(edit, i),
        code::ARROW_STAR => {
            let span = edit.span(i);
            edit.overlay(span, b"*  ");
            edit.note(span, MaskKind::Other);
        }
        code::GE => greater_in_list(edit, i),
        c if c == p(b'{') => value_in_list(edit, i),
        code::LAUNCH => launch_braces(edit, i),
        c if c == p(b':') => unnamed_bit_field(edit, i),
        c if c == p(b'*') || c == p(b'&') => unnamed_default(edit, i),
        c if c == p(b')') => old_style_parameters(edit, i),
        _ => {}
    }
}

/// End of `A::B<..>::C` that starts at `i`: the index after it.
fn qualified_end(edit: &Edit<'_>, i: usize) -> usize {
    let mut at = i;
    loop {
        if edit.is_word(at, W::Template) {
            at += 1;
        }
        if !edit.is_name(at) {
            return at;
        }
        at += 1;
        if edit.is(at, b'<') {
            at = list_end(edit, at).map_or(at, |end| end + 1);
        }
        if edit.punct(at) != code::SCOPE {
            return at;
        }
        at += 1;
    }
}

/// The `>` that closes the template list opened at `open`, when it is one.
fn list_end(edit: &Edit<'_>, open: usize) -> Option<usize> {
    let mut depth = 0i32;
    let mut j = open;
    while j < edit.len().min(open + 300) {
        match edit.punct(j) {
            c if c == p(b'<') => depth += 1,
            c if c == p(b'>') => {
                depth -= 1;
                if depth == 0 {
                    return Some(j);
                }
            }
            c if c == p(b'(') || c == p(b'[') || c == p(b'{') => {
                let mate = edit.mate(j);
                if mate == NONE {
                    return None;
                }
                j = mate;
            }
            c if c == p(b')') || c == p(b']') || c == p(b'}') || c == p(b';') => return None,
            code::ANDAND | code::OROR => return None,
            _ => {}
        }
        j += 1;
    }
    None
}

/// `typename T::X{}` and `typename T::X(..)` as values, and `using typename`.
fn typename(edit: &mut Edit<'_>, i: usize) {
    let Some(before) = i.checked_sub(1) else { return };
    if edit.is_word(before, W::Using) {
        edit.erase(i, i);
        return;
    }
    let value = match edit.kind(before) {
        Some(Kind::Word) => matches!(edit.word(before), Some(W::Return | W::Throw | W::Case | W::Else)),
        Some(Kind::Punct) => {
            let c = edit.punct(before);
            !(c == p(b'<') || c == p(b';') && edit.scope(i) != Scope::Block || c == p(b'>'))
        }
        _ => false,
    };
    let end = qualified_end(edit, i + 1);
    if value && (edit.is(end, b'{') || edit.is(end, b'(')) {
        edit.erase(i, i);
    }
}

fn template(edit: &mut Edit<'_>, i: usize) {
    if i > 0 && edit.punct(i - 1) == code::SCOPE {
        edit.erase(i, i);
        return;
    }
    if edit.is(i + 1, b'<') {
        return;
    }
    // Explicit instantiation.
    let starts = edit.starts_statement(i) || i > 0 && edit.is_word(i - 1, W::Extern);
    if starts && edit.kind(i + 1) == Some(Kind::Word) {
        let from = if i > 0 && edit.is_word(i - 1, W::Extern) { i - 1 } else { i };
        edit.erase(from, i);
    }
}

/// `extern DECLARE(a, 2);`: the macro holds the declaration.
fn extern_macro(edit: &mut Edit<'_>, i: usize) {
    if edit.is_name(i + 1) && edit.is(i + 2, b'(') {
        let close = edit.mate(i + 2);
        let caps = crate::keywords::is_caps(edit.text(i + 1));
        if close != NONE && caps && (edit.is(close + 1, b';') || edit.newline_after(close)) {
            edit.erase(i, i);
        }
    }
}

/// `decltype(x){}` and `decltype(x)(1)` as values become `(x){}` and `(x)(1)`.
fn decltype(edit: &mut Edit<'_>, i: usize) {
    let Some(before) = i.checked_sub(1) else { return };
    let close = if edit.is(i + 1, b'(') { edit.mate(i + 1) } else { NONE };
    if close == NONE {
        return;
    }
    let value = match edit.kind(before) {
        Some(Kind::Word) => edit.is_word(before, W::Return),
        Some(Kind::Punct) => {
            let c = edit.punct(before);
            c == p(b'(') || c == p(b',') || c == p(b'=') || c == p(b'?') || c == p(b':') || c == p(b'+') || c == p(b'*')
        }
        _ => false,
    };
    if value && (edit.is(close + 1, b'{') || edit.is(close + 1, b'(')) {
        edit.erase(i, i);
    }
}

/// `new T*[n]`: the grammar knows no pointers there.
fn new_pointers(edit: &mut Edit<'_>, i: usize) {
    let mut at = i + 1;
    let qualified = matches!(edit.word(at), Some(W::Const | W::Volatile));
    while edit.kind(at) == Some(Kind::Word) || edit.punct(at) == code::SCOPE {
        at += 1;
    }
    if edit.is(at, b'<') {
        at = list_end(edit, at).map_or(at, |end| end + 1);
    }
    let start = at;
    while edit.is(at, b'*') {
        at += 1;
    }
    if at > start && (edit.is(at, b'[') || edit.is(at, b'(') || edit.is(at, b';')) {
        edit.erase(start, at - 1);
        if qualified {
            edit.erase(i + 1, i + 1);
        }
    }
}

/// `unsigned(x)` as a value.
fn unsigned_cast(edit: &mut Edit<'_>, i: usize) {
    let Some(before) = i.checked_sub(1) else { return };
    if !edit.is(i + 1, b'(') || edit.kind(before) == Some(Kind::Word) && !edit.is_word(before, W::Return) {
        return;
    }
    let c = edit.punct(before);
    if c == p(b'<') || c == p(b';') || c == p(b'{') || c == p(b'}') {
        return;
    }
    let span = edit.span(i);
    let at = span.start as usize;
    edit.put(at, edit.raw[at].to_ascii_uppercase());
    edit.respell(i, W::Plain);
    edit.note(span, MaskKind::Argument);
}

/// `x.operator[](i)`: the operator's marks become part of the name.
fn operator_member(edit: &mut Edit<'_>, i: usize) -> bool {
    if i == 0 || !(edit.is(i - 1, b'.') || edit.punct(i - 1) == code::ARROW) {
        return false;
    }
    let mut end = i + 1;
    // `operator()` is a pair of parentheses before those of the call.
    if edit.is(end, b'(') && edit.is(end + 1, b')') {
        end += 2;
    }
    while edit.kind(end) == Some(Kind::Punct) && !edit.is(end, b'(') && end < i + 4 {
        end += 1;
    }
    if end == i + 1 || !edit.is(end, b'(') {
        return false;
    }
    let span = edit.between(i + 1, end - 1);
    let from = edit.span(i).end as usize;
    if edit.raw.get(from..span.end as usize).is_some_and(|gap| gap.contains(&b'\n') || gap.contains(&b'/')) {
        return false;
    }
    for at in from..span.end as usize {
        edit.put(at, b'_');
    }
    edit.note(span, MaskKind::Other);
    edit.respell(i, W::Plain);
    edit.kill(i + 1, end - 1);
    true
}

/// `operator()<X>(..)` of an explicit specialisation.
fn operator_template(edit: &mut Edit<'_>, i: usize) {
    if edit.is(i + 1, b'(')
        && edit.is(i + 2, b')')
        && edit.is(i + 3, b'<')
        && let Some(end) = list_end(edit, i + 3)
        && edit.is(end + 1, b'(')
        && !(i > 0 && (edit.is(i - 1, b'.') || edit.punct(i - 1) == code::ARROW || edit.is_word(i - 1, W::Template)))
    {
        edit.erase(i + 3, end);
    }
}

/// `= {}` of a parameter, `= delete` of a free function.
fn after_equals(edit: &mut Edit<'_>, i: usize) {
    let parent = edit.parent(i);
    if edit.is(i + 1, b'{') && parent != NONE && edit.is(parent, b'(') {
        let close = edit.mate(i + 1);
        if close != NONE && (edit.is(close + 1, b',') || edit.is(close + 1, b')')) {
            let span = edit.between(i + 1, close);
            if edit.overlay(span, b"0") {
                if close > i + 1 {
                    edit.kill(i + 2, close);
                }
                edit.tokens[i + 1].kind = Kind::Number;
                edit.note(span, MaskKind::Other);
            }
        }
    } else if edit.is_word(i + 1, W::Delete) && edit.is(i + 2, b';') && edit.scope(i) == Scope::Namespace {
        edit.erase(i, i + 1);
    }
}

/// `T* = nullptr` as a parameter without a name: the mark becomes one.
fn unnamed_default(edit: &mut Edit<'_>, i: usize) {
    let list = edit.parent(i) != NONE && edit.is(edit.parent(i), b'(');
    let typed =
        i > 0 && (edit.is_name(i - 1) || edit.is(i - 1, b'>') || matches!(edit.group(i - 1), Some(Group::Type)));
    let value =
        matches!(edit.kind(i + 2), Some(Kind::Number)) || edit.is_word(i + 2, W::Nullptr) || edit.is_name(i + 2);
    let c = edit.punct(i + 3);
    if edit.is(i + 1, b'=') && typed && value && (c == p(b')') || c == p(b',') || c == p(b'>')) {
        let before = i >= 2 && (edit.is(i - 2, b'.') || edit.punct(i - 2) == code::ARROW);
        if list && before {
            return;
        }
        let span = edit.span(i);
        edit.put(span.start as usize, b'_');
        edit.respell(i, W::Plain);
        edit.note(span, MaskKind::Other);
    }
}

/// `>=` inside a template list: `conditional_t<N >= 90, A, B>`.
fn greater_in_list(edit: &mut Edit<'_>, i: usize) {
    if stands_in_list(edit, i) && closes_after(edit, i) {
        let span = edit.span(i);
        edit.overlay(span, b"==");
        edit.note(span, MaskKind::Other);
    }
}

/// An object made for its value inside a template list: `enable_if_t<is_small<T>{}, T>`.
fn value_in_list(edit: &mut Edit<'_>, i: usize) {
    let made = edit.is(i + 1, b'}') && i.checked_sub(1).is_some_and(|before| edit.is(before, b'>'));
    if made && closes_after(edit, i + 1) && stands_in_list(edit, i) {
        for (at, mark) in [(i, b"("), (i + 1, b")")] {
            let span = edit.span(at);
            edit.overlay(span, mark);
            edit.note(span, MaskKind::Other);
        }
    }
}

/// Whether a template list opens before a token, on the same level.
fn stands_in_list(edit: &Edit<'_>, i: usize) -> bool {
    let mut depth = 0i32;
    let mut j = i;
    let mut open = None;
    for _ in 0..60 {
        let Some(back) = j.checked_sub(1) else { return false };
        j = back;
        match edit.punct(j) {
            c if c == p(b')') || c == p(b']') || c == p(b'}') => {
                let mate = edit.mate(j);
                if mate == NONE || edit.is(j, b'}') {
                    return false;
                }
                j = mate;
            }
            c if c == p(b'>') => depth += 1,
            c if c == p(b'<') => {
                depth -= 1;
                if depth < 0 {
                    open = Some(j);
                    break;
                }
            }
            c if c == p(b';') || c == p(b'(') || c == p(b'[') || c == p(b'{') || c == p(b'?') => return false,
            code::ANDAND | code::OROR => {}
            _ => {}
        }
    }
    let Some(open) = open else { return false };
    let adjacent = open > 0 && edit.span(open - 1).end == edit.span(open).start;
    let headed = open > 0 && (edit.is_name(open - 1) || edit.is_word(open - 1, W::Template));
    headed && adjacent
}

fn closes_after(edit: &Edit<'_>, i: usize) -> bool {
    let mut depth = 0i32;
    let mut j = i + 1;
    while j < edit.len().min(i + 120) {
        match edit.punct(j) {
            c if c == p(b'<') => depth += 1,
            c if c == p(b'>') => {
                depth -= 1;
                if depth < 0 {
                    return true;
                }
            }
            c if c == p(b'(') || c == p(b'[') || c == p(b'{') => {
                let mate = edit.mate(j);
                if mate == NONE {
                    return false;
                }
                j = mate;
            }
            c if c == p(b')') || c == p(b']') || c == p(b'}') || c == p(b';') => return false,
            _ => {}
        }
        j += 1;
    }
    false
}

/// `unsigned : 4;` in a class.
fn unnamed_bit_field(edit: &mut Edit<'_>, i: usize) {
    if edit.scope(i) != Scope::Class || i == 0 {
        return;
    }
    let width = edit.kind(i + 1) == Some(Kind::Number) || edit.is_name(i + 1);
    let typed = edit.group(i - 1) == Some(Group::Type) || edit.is_name(i - 1) && edit.starts_statement(i - 1);
    if !width || !typed || !edit.is(i + 2, b';') {
        return;
    }
    let mut start = i - 1;
    while start > 0 && matches!(edit.group(start - 1), Some(Group::Type | Group::Qualifier)) {
        start -= 1;
    }
    if edit.starts_statement(start) {
        edit.erase(start, i + 2);
    }
}

/// K&R definitions: `int f(a, b) int a; char *b; {` loses the declarations.
fn old_style_parameters(edit: &mut Edit<'_>, close: usize) {
    if edit.scope(close) != Scope::Namespace || edit.kind(close + 1) != Some(Kind::Word) {
        return;
    }
    let open = edit.mate(close);
    if open == NONE || open < 2 || close == open + 1 || !edit.is_name(open - 1) {
        return;
    }
    let typed = edit.kind(open - 2) == Some(Kind::Word) || edit.is(open - 2, b'*');
    let names = (open + 1..close).all(|j| if (j - open) % 2 == 1 { edit.is_name(j) } else { edit.is(j, b',') });
    if !typed || !names {
        return;
    }
    let mut j = close + 1;
    while j < edit.len().min(close + 200) {
        match edit.kind(j) {
            Some(Kind::Word | Kind::Number) => {}
            Some(Kind::Punct) => {
                let c = edit.punct(j);
                if c == p(b'{') {
                    if edit.is(j - 1, b';') {
                        edit.erase(close + 1, j - 1);
                    }
                    return;
                }
                if !(c == p(b';') || c == p(b'*') || c == p(b',') || c == p(b'[') || c == p(b']')) {
                    return;
                }
            }
            _ => return,
        }
        j += 1;
    }
}
