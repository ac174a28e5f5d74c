//! Where string expressions stand in Python: adjacent pieces and sums of them, by scanning tokens.

use crate::python_mask::{bracket_end, line_end};
use std::ops::Range;

/// One string literal.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    /// Prefix and quotes included.
    pub span: Range<usize>,
    /// What stands between the quotes.
    pub content: Range<usize>,
    /// Whether a backslash is a backslash.
    pub raw: bool,
    /// Whether it is an f-string.
    pub format: bool,
}

/// A string expression.
#[derive(Clone, Debug)]
pub(super) struct Expression {
    /// From the first piece's prefix to the last one's quote.
    pub span: Range<usize>,
    /// Literals in order; where what stands before one is no literal, a sum's operand, the range of that operand.
    pub pieces: Vec<(Option<Range<usize>>, Piece)>,
    /// The variable or keyword argument that it is given to.
    pub target: Option<Range<usize>>,
    /// `… % values` follows.
    pub percent: bool,
    /// `.format(…)` follows.
    pub formatted: bool,
}

/// Where a scan is.
struct Scan<'t> {
    bytes: &'t [u8],
    at: usize,
    /// Open brackets.
    depth: usize,
    /// Opening parentheses right before `at` that only group.
    grouping: usize,
    /// Whether a statement begins here.
    fresh: bool,
    /// The last word, and the word before the last `=` of this statement.
    word: Option<Range<usize>>,
    target: Option<Range<usize>>,
    /// Whether the last token may end an operand: then a parenthesis behind it is a call.
    operand: bool,
}

/// The string expressions of `bytes[from..]` that are no statements of their own.
pub(super) fn find(bytes: &[u8], from: usize) -> Vec<Expression> {
    let mut scan =
        Scan { bytes, at: from, depth: 0, grouping: 0, fresh: true, word: None, target: None, operand: false };
    let mut found = Vec::new();
    while let Some(&byte) = bytes.get(scan.at) {
        scan.step(byte, &mut found);
    }
    found
}

impl Scan<'_> {
    fn step(&mut self, byte: u8, found: &mut Vec<Expression>) {
        match byte {
            b' ' | b'\t' | b'\r' | 0x0c => self.at += 1,
            b'\\' => self.at += 2,
            b'#' => self.at = line_end(self.bytes, self.at),
            b'\n' | b';' => {
                if self.depth == 0 {
                    self.fresh = true;
                    self.target = None;
                    self.operand = false;
                    self.grouping = 0;
                }
                self.at += 1;
            }
            _ if literal(self.bytes, self.at).is_some() => self.expression(found),
            _ if is_word(byte) => {
                let end = word_end(self.bytes, self.at);
                self.word = Some(self.at..end);
                self.at = end;
                // A string behind `return` and its kin is an operand of theirs, and a parenthesis there groups.
                let keyword: &[&[u8]] = &[b"return", b"in", b"not", b"and", b"or", b"if", b"else", b"yield", b"is"];
                let spelled = self.word.clone().and_then(|word| self.bytes.get(word)).unwrap_or(&[]);
                self.token(!keyword.contains(&spelled));
            }
            b'(' | b'[' | b'{' => {
                let grouping = if byte == b'(' && !self.operand { self.grouping + 1 } else { 0 };
                self.depth += 1;
                self.at += 1;
                self.token(false);
                self.grouping = grouping;
            }
            b')' | b']' | b'}' => {
                self.depth = self.depth.saturating_sub(1);
                self.at += 1;
                self.token(true);
            }
            b'=' if self.bytes.get(self.at + 1) != Some(&b'=') => {
                self.target.clone_from(&self.word);
                self.at += 1;
                self.token(false);
            }
            b'=' => {
                self.at += 2;
                self.token(false);
            }
            // The body of a one-line function or class begins a statement.
            b':' if self.depth == 0 => {
                self.at += 1;
                self.token(false);
            }
            _ => {
                self.at += 1;
                self.token(false);
            }
        }
    }

    fn token(&mut self, operand: bool) {
        self.operand = operand;
        self.fresh = false;
        self.grouping = 0;
    }

    /// Takes the expression whose first literal stands here.
    fn expression(&mut self, found: &mut Vec<Expression>) {
        let bytes = self.bytes;
        let start = self.at;
        let inside = self.depth > 0;
        let mut pieces: Vec<(Option<Range<usize>>, Piece)> = Vec::new();
        let mut end = start;
        let mut next = literal(bytes, start).map(|piece| (None, piece));
        while let Some((operand, piece)) = next.take() {
            end = piece.span.end.max(end + 1);
            pieces.push((operand, piece));
            next = following(bytes, end, inside);
        }
        let statement = self.fresh;
        self.at = end;
        self.token(true);
        let mut after = skip(bytes, end, inside);
        let mut open = self.depth;
        for _ in 0..std::mem::take(&mut self.grouping) {
            if bytes.get(after) != Some(&b')') {
                break;
            }
            open = open.saturating_sub(1);
            after = skip(bytes, after + 1, open > 0);
        }
        let ends = bytes.get(after).is_none_or(|byte| matches!(byte, b'\n' | b';' | b'#'));
        if statement && ends && self.depth == 0 {
            return;
        }
        let mut expression =
            Expression { span: start..end, pieces, target: self.target.clone(), percent: false, formatted: false };
        // What is done with it at once.
        while bytes.get(after) == Some(&b'.') {
            let name = after + 1..word_end(bytes, after + 1);
            if bytes.get(name.end) != Some(&b'(') {
                break;
            }
            expression.formatted |= matches!(bytes.get(name.clone()), Some(b"format" | b"format_map"));
            let Some(close) = bracket_end(bytes, name.end) else { break };
            after = skip(bytes, close, open > 0);
        }
        expression.percent = bytes.get(after) == Some(&b'%') && bytes.get(after + 1) != Some(&b'=');
        found.push(expression);
    }
}

/// The literal that goes on with an expression which ends at `end`: it stands next to it, or both are operands of a sum,
/// perhaps with other operands between them.
fn following(bytes: &[u8], end: usize, inside: bool) -> Option<(Option<Range<usize>>, Piece)> {
    let mut at = skip(bytes, end, inside);
    if let Some(piece) = literal(bytes, at) {
        return Some((None, piece));
    }
    let mut others: Option<Range<usize>> = None;
    while bytes.get(at) == Some(&b'+') && bytes.get(at + 1) != Some(&b'=') {
        at = skip(bytes, at + 1, inside);
        if let Some(piece) = literal(bytes, at) {
            return Some((others, piece));
        }
        let close = operand_end(bytes, at)?;
        others = Some(others.map_or(at, |range| range.start)..close);
        at = skip(bytes, close, inside);
    }
    None
}

/// The end of a name with its attributes, calls and subscripts, or of what parentheses hold.
fn operand_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = match bytes.get(start)? {
        b'(' => bracket_end(bytes, start)?,
        byte if is_word(*byte) => word_end(bytes, start),
        _ => return None,
    };
    loop {
        match bytes.get(at) {
            Some(b'.') => at = word_end(bytes, at + 1),
            Some(b'(' | b'[') => at = bracket_end(bytes, at)?,
            _ => return Some(at),
        }
    }
}

/// The string literal that begins at `at`.
pub(super) fn literal(bytes: &[u8], at: usize) -> Option<Piece> {
    let prefix = bytes.get(at..)?.iter().take(3).take_while(|byte| byte.is_ascii_alphabetic()).count();
    let quote = *bytes.get(at + prefix)?;
    if !matches!(quote, b'"' | b'\'') || at > 0 && prefix > 0 && bytes.get(at - 1).copied().is_some_and(is_word) {
        return None;
    }
    let (mut raw, mut format) = (false, false);
    for letter in &bytes[at..at + prefix] {
        match letter.to_ascii_lowercase() {
            b'r' => raw = true,
            b'f' | b't' => format = true,
            b'b' | b'u' => {}
            _ => return None,
        }
    }
    let open = at + prefix;
    let end = crate::python_mask::string_end(bytes, open);
    let marks = if bytes.get(open..open + 3).is_some_and(|three| three.iter().all(|b| *b == quote)) { 3 } else { 1 };
    let closed =
        end >= open + 2 * marks && bytes.get(end - marks..end).is_some_and(|last| last.iter().all(|b| *b == quote));
    let content = open + marks..if closed { end - marks } else { end.max(open + marks) };
    Some(Piece { span: at..end, content, raw, format })
}

/// Past blanks and joined lines; inside brackets past lines and comments too.
pub(super) fn skip(bytes: &[u8], mut at: usize, inside: bool) -> usize {
    loop {
        match bytes.get(at) {
            Some(b' ' | b'\t' | b'\r') => at += 1,
            Some(b'\n') if inside => at += 1,
            Some(b'#') if inside => at = line_end(bytes, at),
            Some(b'\\') if bytes.get(at + 1) == Some(&b'\n') => at += 2,
            Some(b'\\') if bytes.get(at + 1) == Some(&b'\r') => at += 3,
            _ => return at,
        }
    }
}

/// The end of the word at `at`.
pub(super) fn word_end(bytes: &[u8], at: usize) -> usize {
    bytes.get(at..).map_or(at, |rest| at + rest.iter().take_while(|byte| is_word(**byte)).count())
}

pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}
