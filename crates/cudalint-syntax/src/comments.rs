//! Comments of a region, from the lexer: suppressions and elisions are read from these.

use crate::lexer::{Lexer, Step};
use crate::region::{Language, Region};
use crate::span::Span;

/// One comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comment {
    /// The comment with its marks, without the newline that ends it.
    pub span: Span,
    /// Whether no code stands before it on its first line (and, for a block comment, none after it on its last).
    pub own_line: bool,
}

impl Comment {
    /// The words of the comment without its marks (`//`, `///`, `/* */`, `#`), trimmed.
    pub fn words<'t>(&self, text: &'t str) -> &'t str {
        let raw = text.get(self.span.range()).unwrap_or("");
        let inner = if let Some(rest) = raw.strip_prefix("/*") {
            rest.strip_suffix("*/").unwrap_or(rest).trim_start_matches(['*', '!'])
        } else if let Some(rest) = raw.strip_prefix('#') {
            rest.trim_start_matches('#')
        } else {
            raw.trim_start_matches(['/', '!'])
        };
        inner.trim()
    }
}

/// All comments of a region, in order.
pub fn comments(text: &str, region: &Region) -> Vec<Comment> {
    let end = (region.span.end as usize).min(text.len());
    let bytes = &text.as_bytes()[..end];
    let start = (region.span.start as usize).min(end);
    let spans = match region.language {
        Language::Cuda => cuda_comments(bytes, start),
        Language::Python => python_comments(bytes, start),
    };
    spans.into_iter().map(|span| Comment { span, own_line: own_line(bytes, start, span) }).collect()
}

fn own_line(bytes: &[u8], floor: usize, span: Span) -> bool {
    let before = bytes[floor..span.start as usize].iter().rev().take_while(|b| **b != b'\n');
    let after = bytes[span.end as usize..].iter().take_while(|b| **b != b'\n');
    before.chain(after).all(u8::is_ascii_whitespace)
}

fn cuda_comments(bytes: &[u8], start: usize) -> Vec<Span> {
    let mut found = Vec::new();
    let mut lexer = Lexer::new(bytes, start);
    while let Some(step) = lexer.next() {
        match step {
            Step::Comment(span) => found.push(span),
            Step::Token(token) if token.kind == crate::lexer::Kind::Directive => {
                directive_comments(bytes, token.span(), &mut found);
            }
            Step::Token(_) => {}
        }
    }
    found
}

/// Comments at the end of (or inside) a directive.
fn directive_comments(bytes: &[u8], span: Span, found: &mut Vec<Span>) {
    let bytes = &bytes[..span.end as usize];
    if memchr::memchr(b'/', &bytes[span.range()]).is_none() {
        return;
    }
    let mut lexer = Lexer::new(bytes, span.start as usize + 1);
    lexer.line_start = false;
    while let Some(step) = lexer.next() {
        lexer.line_start = false;
        if let Step::Comment(span) = step {
            found.push(span);
        }
    }
}

fn python_comments(bytes: &[u8], start: usize) -> Vec<Span> {
    let mut found = Vec::new();
    let mut at = start;
    while let Some(n) = memchr::memchr3(b'#', b'"', b'\'', &bytes[at..]) {
        at += n;
        let mark = bytes[at];
        if mark == b'#' {
            let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |n| at + n);
            let trimmed = if end > at && bytes[end - 1] == b'\r' { end - 1 } else { end };
            found.push(Span::new(at, trimmed));
            at = end;
        } else if bytes[at..].starts_with(&[mark; 3]) {
            at += 3;
            while at < bytes.len() && !bytes[at..].starts_with(&[mark; 3]) {
                at += if bytes[at] == b'\\' { 2 } else { 1 };
            }
            at = (at + 3).min(bytes.len());
        } else {
            at = crate::lexer::quoted_end(bytes, at, mark).min(bytes.len());
        }
    }
    found
}
