//! Gaps of the grammar inside `asm`, launch configurations and strings.

use super::MaskKind;
use super::edit::{Edit, NONE, Scope, p};
use crate::keywords::W;
use crate::lexer::Kind;
use crate::span::Span;

/// Operands of `asm` without a comma between them.
pub(super) fn asm_operands(edit: &mut Edit<'_>, i: usize) {
    let open = (i + 1..i + 5).find(|j| edit.is(*j, b'('));
    let Some(open) = open else { return };
    let close = edit.mate(open);
    if close == NONE {
        return;
    }
    for j in open + 1..close {
        if edit.is(j, b')') && edit.kind(j + 1) == Some(Kind::Text) && j + 1 < close {
            let at = edit.span(j).end as usize;
            if matches!(edit.out.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) && at < edit.span(j + 1).start as usize {
                let newline = edit.out.get(at) == Some(&b'\n');
                if !newline {
                    edit.put(at, b',');
                    edit.note(Span::new(at, at + 1), MaskKind::Other);
                }
            }
        }
    }
}

/// `k<<<{8, 8}, {32, 4}>>>`: braces become parentheses.
pub(super) fn launch_braces(edit: &mut Edit<'_>, i: usize) {
    let mut j = i + 1;
    while j < edit.len().min(i + 400) {
        match edit.punct(j) {
            c if c == p(b'{') => {
                let close = edit.mate(j);
                if close == NONE {
                    return;
                }
                if edit.is(j - 1, b',') || j == i + 1 {
                    let span = edit.between(j, close);
                    if close == j + 1 {
                        edit.overlay(span, b"0");
                        edit.tokens[j].kind = Kind::Number;
                        edit.kill(close, close);
                    } else {
                        edit.put(span.start as usize, b'(');
                        edit.put(span.end as usize - 1, b')');
                        edit.tokens[j].code = p(b'(');
                        edit.tokens[close].code = p(b')');
                    }
                    edit.note(span, MaskKind::LaunchBraces);
                }
                j = close;
            }
            c if c == p(b'(') || c == p(b'[') => {
                let close = edit.mate(j);
                if close == NONE {
                    return;
                }
                j = close;
            }
            c if c == p(b'>') && edit.is(j + 1, b'>') && edit.is(j + 2, b'>') => return,
            c if c == p(b';') || c == p(b'}') || c == p(b')') => return,
            _ => {}
        }
        j += 1;
    }
}

/// Names and macro calls next to string literals: `"a" FMT "b"`.
pub(super) fn strings(edit: &mut Edit<'_>, i: usize) {
    // After the literal.
    if edit.is_name(i + 1) {
        let adjacent = edit.span(i).end == edit.span(i + 1).start;
        let end = if edit.is(i + 2, b'(') && edit.mate(i + 2) != NONE { edit.mate(i + 2) } else { i + 1 };
        let literal_follows = edit.kind(end + 1) == Some(Kind::Text);
        let c = edit.punct(end + 1);
        let closes = c == p(b',') || c == p(b')') || c == p(b';') || c == p(b':');
        let suffix = adjacent && end == i + 1 && !literal_follows;
        if !suffix
            && (literal_follows || closes || edit.is_name(end + 1))
            && !edit.is_word(i.wrapping_sub(1), W::Extern)
        {
            edit.erase(i + 1, end);
        }
    }
    // Before the literal.
    if i >= 2 && edit.is_name(i - 1) && edit.tokens[i - 1].end > edit.tokens[i - 1].start {
        let c = edit.punct(i - 2);
        if c == p(b'(') || c == p(b',') || c == p(b'=') || c == p(b':') && edit.scope(i) == Scope::Group {
            edit.erase(i - 1, i - 1);
        }
    }
}
