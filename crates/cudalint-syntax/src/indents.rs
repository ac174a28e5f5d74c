//! Indentation that the parser passes over faster. For each blank at the start of a token its lexer goes through all
//! marks that could stand there; a line that goes on (a backslash and the end of the line) it knows among the first of
//! these, and passes over two or three bytes at once.

use crate::lexer::{Kind, Lexed, Token};
use crate::span::Span;
use std::ops::Range;

/// Shorter indentation is left as it is.
const SHORTEST: usize = 2;

/// Comments, literals and directives of several lines: the blanks in them are part of them.
pub(crate) fn whole_pieces(bytes: &[u8], lexed: &Lexed) -> Vec<Span> {
    let tokens = lexed.tokens.iter().filter(|token| matches!(token.kind, Kind::Text | Kind::Char | Kind::Directive));
    let pieces = tokens.map(Token::span).chain(lexed.comments.iter().copied());
    let several = |piece: &Span| bytes.get(piece.range()).is_some_and(|text| memchr::memchr(b'\n', text).is_some());
    let mut pieces: Vec<Span> = pieces.filter(several).collect();
    pieces.sort_unstable_by_key(|piece| piece.start);
    pieces
}

/// Respells blanks at the start of lines, outside of `pieces` and of `gaps`, which the parser does not see.
pub(crate) fn respell(bytes: &mut [u8], pieces: &[Span], gaps: &[Range<usize>]) {
    let mut pieces = pieces.iter().peekable();
    let mut gaps = gaps.iter().peekable();
    let mut at = 0;
    while let Some(n) = bytes.get(at..).and_then(|rest| memchr::memchr(b'\n', rest)) {
        let start = at + n + 1;
        let Some(length) = bytes[start..].iter().position(|byte| *byte != b' ' && *byte != b'\t') else { return };
        at = start + length;
        if length < SHORTEST || matches!(bytes[at], b'\n' | b'\r' | b'#') {
            continue;
        }
        while pieces.next_if(|piece| piece.end as usize <= start).is_some() {}
        while gaps.next_if(|gap| gap.end <= start).is_some() {}
        let whole = pieces.peek().is_some_and(|piece| (piece.start as usize) < at);
        if !whole && gaps.peek().is_none_or(|gap| gap.start >= at) {
            continue_line(&mut bytes[start..at]);
        }
    }
}

/// Writes lines that go on over blanks, as many as fit.
fn continue_line(blanks: &mut [u8]) {
    for part in blanks.chunks_mut(3) {
        match part {
            [first, second, third] => (*first, *second, *third) = (b'\\', b'\r', b'\n'),
            [first, second] => (*first, *second) = (b'\\', b'\n'),
            _ => {}
        }
    }
}
