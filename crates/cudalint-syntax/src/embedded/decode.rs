//! From a string expression to the program that it spells, each byte with its place in the file.

use super::holes::{Names, Templates};
use super::strings::{Expression, Piece, is_word, word_end};
use crate::python_mask::bracket_end;
use std::ops::Range;

/// The program in a string expression.
pub(super) struct Program {
    /// Its text.
    pub code: Vec<u8>,
    /// Where each byte stands in the file; strictly rising.
    pub at: Vec<usize>,
    /// Identifiers in the text that stand for what is put in when the program runs.
    pub holes: Vec<Range<usize>>,
}

/// How a literal is read.
#[derive(Clone, Copy)]
#[allow(clippy::struct_excessive_bools)] // Independent properties of a literal.
struct Style {
    raw: bool,
    /// Doubled braces are braces, single ones holes.
    braces: bool,
    /// Doubled percents are percents, single ones holes.
    percent: bool,
    /// `{{ name }}` is a hole.
    engine: bool,
}

/// Reads an expression; `None` when its text has statements of a template engine.
pub(super) fn decode(bytes: &[u8], expression: &Expression, known: &Templates<'_>) -> Option<Program> {
    let target = expression.target.clone().and_then(|range| bytes.get(range)).unwrap_or(&[]);
    let (percent, format) = known.uses(target);
    let text = |piece: &Piece| bytes.get(piece.content.clone()).unwrap_or(&[]);
    let (percent, format) = (percent || expression.percent, format || expression.formatted);
    if known.engine && expression.pieces.iter().any(|(_, piece)| has_engine_statement(text(piece))) {
        return None;
    }
    let mut program = Program { code: Vec::new(), at: Vec::new(), holes: Vec::new() };
    let mut names = Names::default();
    let whole = bytes.get(expression.span.clone()).unwrap_or(&[]);
    let mut end = expression.span.start;
    for (operand, piece) in &expression.pieces {
        if let Some(operand) = operand {
            // The operand stands for the quotes and signs around it, too: what it is may join the words beside it.
            let spelled = bytes.get(operand.clone()).unwrap_or(&[]);
            program.hole(end..piece.content.start, spelled, whole, &mut names);
        }
        let style = Style {
            raw: piece.raw,
            // Nobody begins a function's body with two braces unless one of them is to go.
            braces: piece.format || format || !known.engine && doubles_braces(text(piece)),
            percent,
            engine: known.engine,
        };
        program.piece(bytes, piece.content.clone(), style, whole, &mut names);
        end = piece.content.end;
    }
    program.replace(known, whole, &mut names);
    Some(program)
}

/// Whether a body begins with two braces.
fn doubles_braces(text: &[u8]) -> bool {
    memchr::memmem::find_iter(text, b"{{").any(|at| text[..at].trim_ascii_end().ends_with(b")"))
        && memchr::memmem::find(text, b"}}").is_some()
}

fn has_engine_statement(text: &[u8]) -> bool {
    let has = |mark: &[u8]| memchr::memmem::find(text, mark).is_some();
    has(b"{%") || has(b"<%") || text.split(|byte| *byte == b'\n').any(|line| line.trim_ascii_start().starts_with(b"%"))
}

impl Program {
    fn push(&mut self, byte: u8, at: usize) {
        self.code.push(byte);
        self.at.push(at);
    }

    fn hole(&mut self, range: Range<usize>, expression: &[u8], whole: &[u8], names: &mut Names) {
        let name = names.name(range.len(), expression.trim_ascii(), whole);
        let start = self.code.len();
        for (byte, at) in name.into_iter().zip(range) {
            self.push(byte, at);
        }
        self.holes.push(start..self.code.len());
    }

    fn piece(&mut self, bytes: &[u8], content: Range<usize>, style: Style, whole: &[u8], names: &mut Names) {
        let end = content.end;
        let text = bytes.get(..end).unwrap_or(bytes);
        let mut at = content.start;
        while let Some(&byte) = text.get(at) {
            let next = text.get(at + 1).copied().unwrap_or(0);
            let doubled = style.braces && matches!(byte, b'{' | b'}') || style.percent && byte == b'%';
            if byte == b'\\' && !style.raw {
                at = self.escape(text, at);
                continue;
            }
            if doubled && next == byte {
                self.push(byte, at + 1);
                at += 2;
                continue;
            }
            // Where a hole ends, and what stands in it.
            let hole = match byte {
                b'{' if style.braces => {
                    bracket_end(text, at).map(|close| (close, field(inside(text, at + 1..close - 1))))
                }
                b'{' if style.engine && next == b'{' => memchr::memmem::find(&text[at..], b"}}")
                    .map(|length| (at + length + 2, inside(text, at + 2..at + length))),
                // `%(name)d` is no C++, whoever fills it in.
                b'%' if style.percent || next == b'(' => conversion(text, at)
                    .filter(|(_, name)| style.percent || !name.is_empty())
                    .map(|(close, name)| (close, inside(text, name))),
                b'$' if next == b'{' => bracket_end(text, at + 1).map(|close| (close, inside(text, at + 2..close - 1))),
                b'$' if next.is_ascii_alphabetic() || next == b'_' => {
                    let close = word_end(text, at + 1);
                    Some((close, inside(text, at + 1..close)))
                }
                _ => None,
            };
            match hole {
                Some((close, inside)) => {
                    self.hole(at..close, inside, whole, names);
                    at = close;
                }
                None => {
                    self.push(byte, at);
                    at += 1;
                }
            }
        }
    }

    /// One escape sequence: what it stands for takes its last byte's place.
    fn escape(&mut self, text: &[u8], at: usize) -> usize {
        let digits = |from: usize, most: usize, radix: u32| {
            let run = text.get(from..).unwrap_or(&[]).iter().take(most);
            run.take_while(|byte| char::from(**byte).is_digit(radix)).count()
        };
        let Some(&letter) = text.get(at + 1) else {
            self.push(b'\\', at);
            return at + 1;
        };
        let (length, value) = match letter {
            b'\n' => return at + 2,
            b'\r' => return at + if text.get(at + 2) == Some(&b'\n') { 3 } else { 2 },
            b'n' => (2, b'\n'),
            b't' => (2, b'\t'),
            b'r' | b'a' | b'b' | b'f' | b'v' => (2, b' '),
            b'\\' | b'\'' | b'"' => (2, letter),
            b'x' | b'u' | b'U' => {
                let most = match letter {
                    b'x' => 2,
                    b'u' => 4,
                    _ => 8,
                };
                let count = digits(at + 2, most, 16);
                (2 + count, character(text.get(at + 2..at + 2 + count), 16))
            }
            b'0'..=b'7' => {
                let count = digits(at + 1, 3, 8);
                (1 + count, character(text.get(at + 1..at + 1 + count), 8))
            }
            b'N' if text.get(at + 2) == Some(&b'{') => {
                let close = memchr::memchr(b'}', text.get(at..).unwrap_or(&[])).unwrap_or(1);
                (close + 1, b'?')
            }
            // No escape: the backslash stays.
            _ => {
                self.push(b'\\', at);
                return at + 1;
            }
        };
        self.push(value, at + length - 1);
        at + length
    }

    /// Makes holes of what the file replaces in strings.
    fn replace(&mut self, known: &Templates<'_>, whole: &[u8], names: &mut Names) {
        for word in &known.replaced {
            let named = word.iter().copied().all(is_word);
            let places: Vec<usize> = memchr::memmem::find_iter(&self.code, word).collect();
            for start in places {
                let end = start + word.len();
                let beside = |at: Option<usize>| at.and_then(|at| self.code.get(at)).copied().is_some_and(is_word);
                if named && (beside(start.checked_sub(1)) || beside(Some(end))) {
                    continue;
                }
                // A name of its own is one already, and unknown; the name of something known is not.
                let name = names.name(word.len(), if word.len() > 2 { &word[1..word.len() - 1] } else { b"" }, whole);
                if let Some(slot) = self.code.get_mut(start..end) {
                    slot.copy_from_slice(&name);
                }
                self.holes.push(start..end);
            }
        }
        self.holes.sort_by_key(|hole| hole.start);
    }
}

/// What a field of a format names: its conversion and format are left out.
fn field(inside: &[u8]) -> &[u8] {
    let end = inside.iter().position(|byte| matches!(byte, b':' | b'!')).unwrap_or(inside.len());
    let name = inside.get(..end).unwrap_or(inside).trim_ascii();
    // A number that counts arguments is a name as well.
    name
}

/// The end of the conversion whose `%` stands at `at`, and the range of its name.
fn conversion(text: &[u8], at: usize) -> Option<(usize, Range<usize>)> {
    let mut end = at + 1;
    let mut name = end..end;
    if text.get(end) == Some(&b'(') {
        let close = end + memchr::memchr2(b')', b'\n', text.get(end..)?)?;
        if text.get(close) != Some(&b')') {
            return None;
        }
        name = end + 1..close;
        end = close + 1;
    }
    while text.get(end).is_some_and(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'#' | b' ' | b'*')) {
        end += 1;
    }
    matches!(
        text.get(end)?,
        b'd' | b'i' | b'u' | b's' | b'r' | b'f' | b'F' | b'g' | b'G' | b'e' | b'E' | b'x' | b'X' | b'o' | b'c'
    )
    .then_some((end + 1, name))
}

/// The character of a number when it is printable ASCII.
fn character(digits: Option<&[u8]>, radix: u32) -> u8 {
    let value = digits
        .and_then(|digits| std::str::from_utf8(digits).ok())
        .and_then(|text| u32::from_str_radix(text, radix).ok());
    match value {
        Some(10) => b'\n',
        Some(9) => b'\t',
        Some(value @ 0x20..=0x7e) => value as u8,
        _ => b'?',
    }
}
fn inside(text: &[u8], range: Range<usize>) -> &[u8] {
    text.get(range).unwrap_or(&[])
}
