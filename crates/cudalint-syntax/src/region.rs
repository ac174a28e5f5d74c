//! The stretches of a file that are in one language.

use crate::files::FileKind;
use crate::span::Span;

/// A language with a grammar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Language {
    /// CUDA C++.
    #[default]
    Cuda,
    /// Python.
    Python,
}

/// One stretch of a file in one language. All positions inside are offsets of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// The language.
    pub language: Language,
    /// Where it lies: the lines of a fence without the fence's own lines, or the whole file.
    pub span: Span,
}

/// The regions of a file's text, in order. The text of a notebook is that of its cells; which of them are no Python is not
/// known from it ([`crate::FileText`] knows).
pub fn regions(kind: FileKind, text: &str) -> Vec<Region> {
    let whole = Span::new(0, text.len());
    match kind {
        FileKind::Cuda | FileKind::CFamily => vec![Region { language: Language::Cuda, span: whole }],
        FileKind::Python | FileKind::Notebook => vec![Region { language: Language::Python, span: whole }],
        FileKind::Markdown => fences(text),
    }
}

/// The opening of a fence: its mark, the number of marks, the indentation and the info string's first word.
struct Opening<'t> {
    mark: u8,
    count: usize,
    word: &'t str,
}

fn opening(line: &str) -> Option<Opening<'_>> {
    let rest = strip_list_markers(line);
    let mark = *rest.as_bytes().first()?;
    if mark != b'`' && mark != b'~' {
        return None;
    }
    let count = rest.bytes().take_while(|b| *b == mark).count();
    let info = rest.get(count..)?.trim();
    if count < 3 || (mark == b'`' && info.contains('`')) {
        return None;
    }
    let info = info.trim_start_matches(['{', '.']);
    let end = info.find(|c: char| c.is_whitespace() || matches!(c, ',' | '{' | '}' | ':')).unwrap_or(info.len());
    Some(Opening { mark, count, word: info.get(..end).unwrap_or("") })
}

/// Drops indentation and list markers (`- `, `* `, `1. `) that may stand before a fence.
fn strip_list_markers(line: &str) -> &str {
    let mut rest = line.trim_start_matches([' ', '\t']);
    loop {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let marker = match rest.as_bytes().get(digits) {
            Some(b'-' | b'*' | b'+') if digits == 0 => 1,
            Some(b'.' | b')') if (1..=9).contains(&digits) => digits + 1,
            _ => return rest,
        };
        match rest.get(marker..) {
            Some(after) if after.starts_with([' ', '\t']) => rest = after.trim_start_matches([' ', '\t']),
            _ => return rest,
        }
    }
}

fn is_closing(line: &str, open: &Opening<'_>) -> bool {
    let line = line.trim();
    line.len() >= open.count && line.bytes().all(|b| b == open.mark)
}

fn fences(text: &str) -> Vec<Region> {
    let mut found = Vec::new();
    let mut open: Option<(Opening<'_>, usize)> = None;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        match &open {
            None => open = opening(line).map(|opening| (opening, end)),
            Some((opening, from)) if is_closing(line, opening) => {
                push_fence(text, opening, *from, start, &mut found);
                open = None;
            }
            Some(_) => {}
        }
        start = end;
    }
    if let Some((opening, from)) = open {
        push_fence(text, &opening, from, text.len(), &mut found);
    }
    found
}

fn push_fence(text: &str, opening: &Opening<'_>, from: usize, to: usize, found: &mut Vec<Region>) {
    let Some(body) = text.get(from..to) else { return };
    let language = match opening.word.to_ascii_lowercase().as_str() {
        "cuda" | "cu" | "cuh" => Language::Cuda,
        "c" | "cpp" | "c++" | "cc" | "cxx" | "h" | "hpp" if crate::files::contains_cuda(body) => Language::Cuda,
        "cpp" | "c++" | "cc" | "cxx" => Language::Cuda,
        "python" | "py" | "python3" => Language::Python,
        _ => return,
    };
    found.push(Region { language, span: Span::new(from, to) });
}
