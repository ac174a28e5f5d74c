//! Bodies of kernels that `CuPy` puts together: the statements of an `ElementwiseKernel`, the expressions of a
//! `ReductionKernel`. They become functions of C++ in the view; what surrounds them there is `CuPy`'s (the documentation of
//! both classes, and `carray.cuh` for the loop).

use super::decode::{Program, decode};
use super::holes::Templates;
use super::place;
use super::strings::{Expression, is_word, literal, skip, word_end};
use crate::lexer::{Kind, lex};
use crate::python_mask::{bracket_end, string_end};
use crate::region::{Language, Region};
use crate::span::Span;
use std::ops::Range;

/// Which class a fragment is given to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CupyBodyKind {
    /// `cupy.ElementwiseKernel`: statements that run for each element.
    Elementwise,
    /// `cupy.ReductionKernel`: the value of each element, before values are put together.
    Reduction,
}

/// Statements or an expression in C++ that a package makes a kernel of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CupyBody {
    /// Whose.
    pub kind: CupyBodyKind,
    /// The region that is read: a function of one name with the fragment as its body, and the preamble where it is a literal.
    pub region: Region,
    /// What the kernel is called, where that is written.
    pub name: Option<Box<str>>,
    /// The span of the fragment's string expression.
    pub span: Span,
    /// Where the text between its quotes begins and ends.
    pub content: Span,
    /// The same of a `ReductionKernel`'s `post_map_expr`, where that could be read, too: the body of a second function of the
    /// same name.
    pub after: Option<Span>,
    /// What it calls its arguments, in order.
    pub parameters: Vec<CupyParameter>,
}

/// A parameter: `raw float32 x`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CupyParameter {
    /// Its type as written: a dtype, or a placeholder such as `T`.
    pub ty: Box<str>,
    /// Its name.
    pub name: Box<str>,
    /// Where the name stands in the file.
    pub span: Span,
    /// Whether the fragment indexes it.
    pub raw: bool,
    /// Whether it is an output.
    pub output: bool,
}

/// The name of the function that a fragment becomes the body of.
pub const CUPY_BODY_FUNCTION: &str = "_";

const HEAD: &[u8] = b"__global__ void _(){";
/// In brackets, since `x * y;` would declare a pointer.
const EXPRESSION_HEAD: &[u8] = b"__global__ void _(){(";
const EXPRESSION_TAIL: &[u8] = b");}";
/// Before a second fragment: between the two there is little room.
const SECOND_HEAD: &[u8] = b"int _(){";
const TAIL: &[u8] = b";}";
const WORDS: [(&[u8], CupyBodyKind); 2] =
    [(b"ElementwiseKernel(", CupyBodyKind::Elementwise), (b"ReductionKernel(", CupyBodyKind::Reduction)];

/// Whether a text may have fragments.
pub(super) fn may_have(bytes: &[u8]) -> bool {
    WORDS.iter().any(|(word, _)| memchr::memmem::find(bytes, word).is_some())
}

/// The fragments of a stretch of Python; their text is written into the view.
pub(super) fn find(
    stretch: &[u8],
    from: usize,
    expressions: &[Expression],
    known: &Templates<'_>,
    view: &mut [u8],
) -> Vec<CupyBody> {
    let mut found = Vec::new();
    for (word, kind) in WORDS {
        for at in memchr::memmem::find_iter(stretch.get(from..).unwrap_or(&[]), word) {
            let start = from + at;
            if start > 0 && stretch.get(start - 1).copied().is_some_and(is_word) {
                continue;
            }
            let call = Call { stretch, start, open: start + word.len() - 1, expressions, known };
            found.extend(call.fragment(kind, view));
        }
    }
    found.sort_by_key(|fragment| fragment.region.span.start);
    found
}

/// A call of one of the classes.
struct Call<'t> {
    stretch: &'t [u8],
    start: usize,
    open: usize,
    expressions: &'t [Expression],
    known: &'t Templates<'t>,
}

impl Call<'_> {
    fn fragment(&self, kind: CupyBodyKind, view: &mut [u8]) -> Option<CupyBody> {
        let arguments = arguments(self.stretch, self.open)?;
        let name = |position: usize, keyword: &[u8]| {
            let named = arguments.iter().find(|(name, _)| *name == keyword);
            named
                .or_else(|| arguments.get(position).filter(|(name, _)| name.is_empty()))
                .map(|(_, range)| range.clone())
        };
        let (body, others): (&[u8], &[&[u8]]) = match kind {
            CupyBodyKind::Elementwise => (b"operation", &[b"loop_prep", b"after_loop"]),
            CupyBodyKind::Reduction => (b"map_expr", &[]),
        };
        // What they add runs before and after the loop.
        if others.iter().any(|other| arguments.iter().any(|(name, _)| name == other)) {
            return None;
        }
        let mut parameters = Vec::new();
        self.parameters(name(0, b"in_params")?, false, &mut parameters)?;
        self.parameters(name(1, b"out_params")?, true, &mut parameters)?;
        let expression = self.expression(&name(2, body)?)?;
        let program = self.read(expression)?;
        let content = content(expression)?;
        let (before, behind) = match kind {
            CupyBodyKind::Elementwise => (HEAD, TAIL),
            CupyBodyKind::Reduction => (EXPRESSION_HEAD, EXPRESSION_TAIL),
        };
        let head = content.start.checked_sub(before.len()).filter(|head| *head >= self.start)?;
        let end = content.end + behind.len();
        let (titled, preamble_at) = match kind {
            CupyBodyKind::Elementwise => (3, 5),
            CupyBodyKind::Reduction => (6, 9),
        };
        let title = name(titled, b"name").and_then(|range| self.expression(&range)).and_then(|found| self.read(found));
        let title = title.and_then(|title| Some(std::str::from_utf8(&title.code).ok()?.into()));
        let preamble = name(preamble_at, b"preamble").and_then(|range| self.expression(&range));
        let preamble = preamble.and_then(|expression| Some((expression.span.clone(), self.read(expression)?)));
        let second = match kind {
            CupyBodyKind::Elementwise => None,
            CupyBodyKind::Reduction => name(4, b"post_map_expr").and_then(|range| self.second(&range, end)),
        };
        let second = second.filter(|(around, ..)| {
            preamble.as_ref().is_none_or(|(span, _)| span.end <= around.start || around.end <= span.start)
        });
        let end = second.as_ref().map_or(end, |(around, ..)| around.end);
        if preamble.as_ref().is_some_and(|(span, _)| span.start < end && head < span.end) {
            return None;
        }
        let first = preamble.as_ref().map_or(head, |(span, _)| span.start.min(head));
        let last = preamble.as_ref().map_or(end, |(span, _)| span.end.max(end));
        let ends = |at: usize| self.stretch.get(at).is_none_or(|byte| byte & 0xc0 != 0x80);
        if !ends(first) || !ends(last) || last > self.stretch.len() {
            return None;
        }
        blank(view.get_mut(first..last)?);
        place::place(&program, content.clone(), view);
        write(view, head, before);
        write(view, content.end, behind);
        if let Some((around, content, program)) = &second {
            place::place(program, content.clone(), view);
            write(view, around.start, SECOND_HEAD);
            write(view, content.end, TAIL);
        }
        if let Some((span, program)) = preamble {
            place::place(&program, span.clone(), view);
            // Directives begin and end lines.
            write(view, span.start, b"\n");
            write(view, span.end - 1, b"\n");
        }
        Some(CupyBody {
            kind,
            region: Region { language: Language::Cuda, span: Span::new(first, last) },
            name: title,
            span: Span::new(expression.span.start, expression.span.end),
            content: Span::new(content.start, content.end),
            after: second.map(|(_, content, _)| Span::new(content.start, content.end)),
            parameters,
        })
    }

    /// A fragment behind the first, which is read up to `from`: with the function around it, its text, and what it spells.
    fn second(&self, range: &Range<usize>, from: usize) -> Option<(Range<usize>, Range<usize>, Program)> {
        let expression = self.expression(range)?;
        let program = self.read(expression)?;
        let content = content(expression)?;
        let head = content.start.checked_sub(SECOND_HEAD.len()).filter(|head| *head >= from)?;
        let ends = |at: usize| self.stretch.get(at).is_none_or(|byte| byte & 0xc0 != 0x80);
        (ends(head) && ends(from)).then(|| (head..content.end + TAIL.len(), content, program))
    }

    /// The one string expression that an argument is.
    fn expression(&self, range: &Range<usize>) -> Option<&Expression> {
        let mut start = skip(self.stretch, range.start, true);
        while self.stretch.get(start) == Some(&b'(') {
            start = skip(self.stretch, start + 1, true);
        }
        let found = self.expressions.iter().find(|expression| expression.span.start == start)?;
        let mut end = skip(self.stretch, found.span.end, true);
        while self.stretch.get(end) == Some(&b')') && end < range.end {
            end = skip(self.stretch, end + 1, true);
        }
        (end >= range.end).then_some(found)
    }

    /// What an expression spells, where it is all there.
    fn read(&self, expression: &Expression) -> Option<Program> {
        let mut program = decode(self.stretch, expression, self.known)?;
        let before = program.code.clone();
        place::close_statements(&mut program);
        // A hole in place of statements may be anything.
        (program.code == before && balanced(&program.code)).then_some(program)
    }

    fn parameters(&self, range: Range<usize>, output: bool, into: &mut Vec<CupyParameter>) -> Option<()> {
        let expression = self.expression(&range)?;
        let [(None, piece)] = expression.pieces.as_slice() else { return None };
        let text = self.stretch.get(piece.content.clone())?;
        if piece.format || expression.percent || expression.formatted || text.contains(&b'\\') {
            return None;
        }
        let mut at = piece.content.start;
        for part in text.split(|byte| *byte == b',') {
            let mut words: Vec<Range<usize>> = Vec::new();
            let mut next = at;
            while next < at + part.len() {
                if self.stretch[next].is_ascii_whitespace() {
                    next += 1;
                    continue;
                }
                let length =
                    self.stretch[next..at + part.len()].iter().take_while(|b| !b.is_ascii_whitespace()).count();
                words.push(next..next + length);
                next += length;
            }
            at += part.len() + 1;
            let spelled = |range: &Range<usize>| std::str::from_utf8(self.stretch.get(range.clone())?).ok();
            match words.as_slice() {
                [] if text.trim_ascii().is_empty() => {}
                [qualifiers @ .., ty, name] => into.push(CupyParameter {
                    ty: spelled(ty)?.into(),
                    name: spelled(name).filter(|name| name.bytes().all(is_word))?.into(),
                    span: Span::new(name.start, name.end),
                    raw: qualifiers.iter().any(|word| spelled(word) == Some("raw")),
                    output,
                }),
                _ => return None,
            }
        }
        Some(())
    }
}

/// Between the first piece's opening and the last one's closing quote.
fn content(expression: &Expression) -> Option<Range<usize>> {
    let (first, last) = (expression.pieces.first()?, expression.pieces.last()?);
    Some(first.1.content.start..last.1.content.end)
}

fn write(view: &mut [u8], at: usize, text: &[u8]) {
    if let Some(slot) = view.get_mut(at..at + text.len()) {
        slot.copy_from_slice(text);
    }
}

fn blank(text: &mut [u8]) {
    text.iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
}

/// Whether brackets match, and none is closed that was not opened.
fn balanced(code: &[u8]) -> bool {
    let lexed = lex(code, 0);
    if lexed.depth > crate::lexer::MAX_NESTING {
        return false;
    }
    let mut open: Vec<u8> = Vec::new();
    for token in lexed.tokens.iter().filter(|token| token.kind == Kind::Punct) {
        match u8::try_from(token.code).unwrap_or(0) {
            byte @ (b'(' | b'{' | b'[') => open.push(byte),
            b')' if open.pop() != Some(b'(') => return false,
            b'}' if open.pop() != Some(b'{') => return false,
            b']' if open.pop() != Some(b'[') => return false,
            _ => {}
        }
    }
    open.is_empty()
}

/// The arguments between the parentheses that open at `open`: their keywords (empty where there is none) and values. `None` where
/// something is spread.
fn arguments(bytes: &[u8], open: usize) -> Option<Vec<(&[u8], Range<usize>)>> {
    let close = bracket_end(bytes, open)? - 1;
    let mut found = Vec::new();
    let mut at = skip(bytes, open + 1, true);
    while at < close {
        let mut value = at;
        let word = word_end(bytes, at);
        let equals = skip(bytes, word, true);
        let mut keyword: &[u8] = b"";
        if word > at
            && literal(bytes, at).is_none()
            && bytes.get(equals) == Some(&b'=')
            && bytes.get(equals + 1) != Some(&b'=')
        {
            keyword = bytes.get(at..word)?;
            value = skip(bytes, equals + 1, true);
        }
        if bytes.get(value) == Some(&b'*') {
            return None;
        }
        let mut end = value;
        while end < close {
            match *bytes.get(end)? {
                b',' => break,
                b'#' => end = crate::python_mask::line_end(bytes, end),
                b'"' | b'\'' => end = string_end(bytes, end),
                b'(' | b'[' | b'{' => end = bracket_end(bytes, end)?,
                _ => end += 1,
            }
        }
        found.push((keyword, value..end.min(close)));
        at = skip(bytes, end + 1, true);
    }
    Some(found)
}
