//! A program's text put into the file's view, byte for byte where the file has it.

use super::decode::Program;
use crate::keywords::{W, by_code};
use crate::lexer::{Kind, Token, code, lex};
use std::ops::Range;

/// Whether a text is a program: its brackets match, and a function of the device has a body, or something is launched.
pub(super) fn is_program(program: &Program) -> bool {
    let lexed = lex(&program.code, 0);
    if lexed.depth > crate::lexer::MAX_NESTING {
        return false;
    }
    let mut open: Vec<u8> = Vec::new();
    let (mut marked, mut launch) = (false, false);
    let (mut body, mut braces) = (false, false);
    for token in &lexed.tokens {
        match token.kind {
            Kind::Word => marked |= matches!(by_code(token.code), W::Global | W::Device),
            Kind::Punct if token.code == code::LAUNCH => launch = true,
            Kind::Punct => match u8::try_from(token.code).unwrap_or(0) {
                byte @ (b'(' | b'{') => {
                    open.push(byte);
                    braces |= byte == b'{';
                    body |= marked && byte == b'{';
                }
                b')' if open.pop() != Some(b'(') => return false,
                b'}' if open.pop() != Some(b'{') => return false,
                _ => {}
            },
            _ => {}
        }
    }
    open.is_empty() && (body || launch && braces)
}

/// Takes out of sight what a hole in place of statements or declarations makes unknown: the body of the function around it
/// becomes a semicolon (the function is declared and no more), that of a class too, and at file level the hole itself.
pub(super) fn close_statements(program: &mut Program) {
    if program.holes.is_empty() {
        return;
    }
    let tokens = lex(&program.code, 0).tokens;
    let mut cuts: Vec<Range<usize>> = Vec::new();
    // The last hole that stood alone: another may follow it.
    let mut last = None;
    for hole in &program.holes {
        let Some(index) = tokens.iter().position(|token| token.start as usize == hole.start) else { continue };
        let whole = tokens.get(index).is_some_and(|token| token.kind == Kind::Word && token.end as usize == hole.end);
        if whole && stands_alone(program, &tokens, index, last) {
            last = Some(index);
            cuts.push(hole.clone());
            cuts.extend(body_around(program, &tokens, index));
        }
    }
    for cut in cuts {
        let Some(slot) = program.code.get_mut(cut) else { continue };
        for (index, byte) in slot.iter_mut().enumerate() {
            if index == 0 {
                *byte = b';';
            } else if *byte != b'\n' {
                *byte = b' ';
            }
        }
    }
}

fn punct(tokens: &[Token], index: Option<usize>) -> u8 {
    let token = index.and_then(|index| tokens.get(index)).filter(|token| token.kind == Kind::Punct);
    token.and_then(|token| u8::try_from(token.code).ok()).unwrap_or(0)
}

/// Whether the hole that is the token at `index` stands where a statement or declaration would.
fn stands_alone(program: &Program, tokens: &[Token], index: usize, hole: Option<usize>) -> bool {
    let before = index.checked_sub(1);
    let directive =
        |at: Option<usize>| at.and_then(|at| tokens.get(at)).is_some_and(|token| token.kind == Kind::Directive);
    let begins = match before {
        None => true,
        Some(at) if directive(Some(at)) || hole == Some(at) => true,
        Some(at) => match punct(tokens, Some(at)) {
            b';' | b'}' => true,
            b'{' => !matches!(punct(tokens, at.checked_sub(1)), b'=' | b'(' | b',' | b'{' | b']' | b'>'),
            b')' => true,
            _ => false,
        },
    };
    if !begins {
        return false;
    }
    let token = tokens[index];
    let line = |range: Range<usize>| program.code.get(range).is_some_and(|text| text.contains(&b'\n'));
    let first = before.and_then(|at| tokens.get(at)).is_none_or(|other| line(other.end as usize..token.start as usize));
    let next = tokens.get(index + 1);
    let last = next.is_none_or(|other| line(token.end as usize..other.start as usize));
    let ends = next.is_none() || directive(Some(index + 1)) || matches!(punct(tokens, Some(index + 1)), b';' | b'}');
    let after_parenthesis = punct(tokens, before) == b')';
    (ends || last) && (first || !after_parenthesis)
}

/// The outermost body around a token that is neither a namespace's nor a linkage's.
fn body_around(program: &Program, tokens: &[Token], index: usize) -> Option<Range<usize>> {
    let mut open: Vec<usize> = Vec::new();
    for at in 0..index {
        match punct(tokens, Some(at)) {
            b'{' => open.push(at),
            b'}' => {
                open.pop();
            }
            _ => {}
        }
    }
    let start = open.into_iter().find(|at| !only_groups(program, tokens, *at))?;
    let mut depth = 0usize;
    for at in start..tokens.len() {
        match punct(tokens, Some(at)) {
            b'{' => depth += 1,
            b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(tokens[start].start as usize..tokens[at].end as usize);
                }
            }
            _ => {}
        }
    }
    None
}

/// Whether a brace is that of `namespace …` or `extern "C"`.
fn only_groups(program: &Program, tokens: &[Token], brace: usize) -> bool {
    for at in (0..brace).rev() {
        let Some(token) = tokens.get(at) else { return false };
        match token.kind {
            Kind::Word if by_code(token.code) == W::Namespace => return true,
            Kind::Text => {
                let spelled = program.code.get(token.span().range()).unwrap_or(&[]);
                return spelled.starts_with(b"\"C");
            }
            Kind::Word => {}
            Kind::Punct if token.code == code::SCOPE => {}
            _ => return false,
        }
    }
    false
}

/// Writes a program into the view over the expression at `span`.
pub(super) fn place(program: &Program, span: Range<usize>, view: &mut [u8]) {
    if let Some(part) = view.get_mut(span) {
        part.fill(b' ');
    }
    // Within a literal of C++ a blank would be part of it: what an escape leaves free comes behind the literal.
    let mut literals =
        lex(&program.code, 0).tokens.into_iter().filter(|token| matches!(token.kind, Kind::Text | Kind::Char));
    let mut literal = literals.next();
    for (index, (byte, at)) in program.code.iter().zip(&program.at).enumerate() {
        while literal.is_some_and(|token| token.end as usize <= index) {
            literal = literals.next();
        }
        let at = match literal {
            Some(token) if token.start as usize <= index => {
                program.at.get(token.start as usize).map_or(*at, |start| start + index - token.start as usize)
            }
            _ => *at,
        };
        if let Some(slot) = view.get_mut(at) {
            *slot = *byte;
        }
    }
}
