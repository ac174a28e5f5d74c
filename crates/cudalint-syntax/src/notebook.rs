//! Notebooks: cells of code as one program, magics out of the way, and cells that are files of their own.

use crate::python_mask::{line_end, string_end};
use crate::region::{Language, Region};
use crate::span::Span;
use serde::Deserialize;
use std::sync::Arc;

/// A cell of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Its place among all cells of the notebook, from 0.
    pub index: u32,
    /// Where its text begins in the text of the notebook; it goes to where the next begins.
    pub start: usize,
}

/// A notebook, read.
pub(crate) struct Notebook {
    /// The source of the cells of code, each ended by a line break.
    pub text: String,
    pub cells: Vec<Cell>,
    /// The program of the notebook with its text, in which what is none of it is blank, and the stretches that are files of
    /// their own.
    pub regions: Vec<(Region, Option<Arc<str>>)>,
}

#[derive(Deserialize)]
struct File {
    cells: Option<Vec<Entry>>,
    /// Of version 3.
    worksheets: Option<Vec<Worksheet>>,
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Worksheet {
    #[serde(default)]
    cells: Vec<Entry>,
}

#[derive(Default, Deserialize)]
struct Metadata {
    kernelspec: Option<Language3>,
    language_info: Option<LanguageInfo>,
}

#[derive(Deserialize)]
struct Language3 {
    language: Option<String>,
}

#[derive(Deserialize)]
struct LanguageInfo {
    name: Option<String>,
}

#[derive(Deserialize)]
struct Entry {
    cell_type: String,
    source: Option<Lines>,
    /// Of version 3.
    input: Option<Lines>,
    language: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Lines {
    One(String),
    Many(Vec<String>),
}

/// What a cell is.
enum Content {
    /// Part of the notebook's program, from this offset of the cell on.
    Program(usize),
    /// A file of its own.
    Apart(Language, usize),
    /// Of another language.
    Other,
}

/// Reads a notebook of version 3 or 4.
///
/// # Errors
/// In words, when it is none.
pub(crate) fn read_notebook(json: &str) -> Result<Notebook, String> {
    let file: File = serde_json::from_str(json).map_err(|error| error.to_string())?;
    let language = file.metadata.language_info.and_then(|info| info.name);
    let language = language.or_else(|| file.metadata.kernelspec.and_then(|spec| spec.language));
    let entries = match (file.cells, file.worksheets) {
        (Some(cells), _) => cells,
        (None, Some(sheets)) => sheets.into_iter().flat_map(|sheet| sheet.cells).collect(),
        (None, None) => return Err("it has neither `cells` nor `worksheets`".to_owned()),
    };
    let is_python =
        |language: &Option<String>| language.as_ref().is_none_or(|name| name.to_ascii_lowercase().contains("python"));
    let mut text = String::new();
    let mut cells = Vec::new();
    let mut contents = Vec::new();
    for (index, entry) in entries.into_iter().enumerate().filter(|(_, entry)| entry.cell_type == "code") {
        let python = is_python(&language) && is_python(&entry.language);
        let Some(source) = entry.source.or(entry.input) else { continue };
        let start = text.len();
        match source {
            Lines::One(line) => text.push_str(&line),
            Lines::Many(lines) => lines.iter().for_each(|line| text.push_str(line)),
        }
        text.push('\n');
        cells.push(Cell { index: index as u32, start });
        contents.push(if python { content(text.get(start..).unwrap_or("")) } else { Content::Other });
    }
    if text.contains('\0') {
        text = text.replace('\0', "?");
    }
    let ends = cells.iter().skip(1).map(|cell| cell.start).chain([text.len()]);
    let mut program = text.clone().into_bytes();
    let mut regions = Vec::new();
    let mut any = false;
    for ((cell, end), content) in cells.iter().zip(ends).zip(&contents) {
        let mut blanked = cell.start..end;
        match content {
            Content::Program(from) => {
                blanked.end = cell.start + from;
                let rest = program.get_mut(blanked.end..end).unwrap_or_default();
                if mask(rest) {
                    any = true;
                } else {
                    blanked.end = end;
                }
            }
            Content::Apart(language, from) => {
                regions.push((Region { language: *language, span: Span::new(cell.start + from, end) }, None));
            }
            Content::Other => {}
        }
        blank(program.get_mut(blanked).unwrap_or_default());
    }
    if any {
        let span = Span::new(0, text.len());
        // Whole characters are blanked, so that this always is text.
        let own = String::from_utf8(program).map_err(|error| error.to_string())?;
        regions.insert(0, (Region { language: Language::Python, span }, Some(own.into())));
    }
    Ok(Notebook { text, cells, regions })
}

fn blank(bytes: &mut [u8]) {
    bytes.iter_mut().filter(|byte| !matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
}

/// What C++ begins with, and no line of Python.
const SHOWN: [&str; 8] =
    ["//", "/*", "#include <", "#include \"", "__global__ ", "__device__ ", "using namespace ", "extern \"C\""];

/// How long the empty lines and the comments of Python are that a cell begins with: some notebooks' hosts (Colab) take a magic behind
/// them, too.
fn behind_comments(cell: &str) -> usize {
    let mut at = 0;
    loop {
        let rest = cell.get(at..).unwrap_or("");
        let start = at + rest.len() - rest.trim_start().len();
        let line = cell.get(start..).and_then(|rest| rest.lines().next()).unwrap_or("");
        if !line.starts_with('#') || SHOWN.iter().any(|mark| line.starts_with(mark)) {
            return start;
        }
        at = start + line.len();
    }
}

/// What a cell's first line makes of it, or the first behind its comments.
fn content(cell: &str) -> Content {
    let mut at = 0;
    loop {
        let rest = cell.get(at..).unwrap_or("");
        let start = at + behind_comments(rest);
        let Some(magic) = cell.get(start..).and_then(|rest| rest.strip_prefix("%%")) else {
            // C++ that is shown, not run: no line of Python begins so.
            let shown = SHOWN.iter().any(|mark| cell[start..].starts_with(mark));
            return match shown {
                false => Content::Program(at),
                true if crate::files::contains_cuda(cell) => Content::Apart(Language::Cuda, start),
                true => Content::Other,
            };
        };
        let line = magic.lines().next().unwrap_or("");
        let next = (start + 2 + line.len() + 1).min(cell.len());
        let mut words = line.split_whitespace();
        let name = words.next().unwrap_or("");
        match name {
            // They run the cell, and do something about it.
            "time" | "timeit" | "capture" | "prun" | "memit" | "mprun" | "lprun" | "snakeviz" | "scalene"
            | "pyinstrument" | "debug" | "px" | "nsys" => at = next,
            "writefile" | "file" => {
                let path = words.rfind(|word| !word.starts_with('-')).unwrap_or("");
                return match path.trim_matches(['"', '\'']).rsplit('.').next().unwrap_or("") {
                    "cu" | "cuh" | "CU" | "CUH" => Content::Apart(Language::Cuda, next),
                    "c" | "cc" | "cpp" | "cxx" | "h" | "hpp" | "hh" | "hxx"
                        if crate::files::contains_cuda(cell.get(next..).unwrap_or("")) =>
                    {
                        Content::Apart(Language::Cuda, next)
                    }
                    "py" => Content::Apart(Language::Python, next),
                    _ => Content::Other,
                };
            }
            "cu" | "cuda" | "nvcc" | "cuda_group_save" | "cudac" => return Content::Apart(Language::Cuda, next),
            // Programs of their own.
            "python" | "python3" => return Content::Apart(Language::Python, next),
            "script" if words.clone().any(|word| matches!(word, "python" | "python3")) => {
                return Content::Apart(Language::Python, next);
            }
            _ => return Content::Other,
        }
    }
}

/// Takes magics out of a cell of Python. False for one whose brackets or strings do not end, which would swallow the cells
/// behind it.
fn mask(cell: &mut [u8]) -> bool {
    let mut depth = 0usize;
    let mut at = 0;
    // Whether a statement begins here.
    let mut fresh = true;
    while let Some(&byte) = cell.get(at) {
        if fresh && !matches!(byte, b' ' | b'\t' | b'\r' | b'\n') {
            fresh = false;
            if depth == 0
                && let Some(end) = magic(cell, at)
            {
                at = end;
                continue;
            }
        }
        match byte {
            b'\n' => {
                fresh = true;
                at += 1;
            }
            b'#' => at = line_end(cell, at),
            b'\\' => at += 2,
            b'"' | b'\'' => {
                let end = string_end(cell, at);
                let triple = cell.get(at..at + 3).is_some_and(|three| three.iter().all(|other| *other == byte));
                let closed = cell.get(end.saturating_sub(3)..end).is_some_and(|last| last.iter().all(|b| *b == byte));
                if triple && !(closed && end >= at + 6) {
                    return false;
                }
                at = end.max(at + 1);
            }
            b'(' | b'[' | b'{' => {
                depth += 1;
                at += 1;
            }
            b')' | b']' | b'}' => {
                let Some(less) = depth.checked_sub(1) else { return false };
                depth = less;
                at += 1;
            }
            // `x = !command`, `x = %magic`: who knows what that gives.
            b'=' if depth == 0 => {
                let gap = cell.get(at + 1..).unwrap_or(&[]).iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
                let value = at + 1 + gap;
                if matches!(cell.get(value), Some(b'!' | b'%')) {
                    let end = logical_end(cell, value);
                    blank(cell.get_mut(value..end).unwrap_or_default());
                    if let Some(slot) = cell.get_mut(value) {
                        *slot = b'_';
                    }
                    at = end;
                } else {
                    at += 1;
                }
            }
            _ => at += 1,
        }
    }
    depth == 0
}

/// The end of a line with those that a backslash joins to it.
fn logical_end(cell: &[u8], at: usize) -> usize {
    let mut end = line_end(cell, at);
    while end > at && cell.get(end - 1) == Some(&b'\\') && end < cell.len() {
        end = line_end(cell, end + 1);
    }
    end
}

/// Takes out the magic whose line begins at `at`: what comes behind it is read on from the end that is returned.
fn magic(cell: &mut [u8], at: usize) -> Option<usize> {
    let end = logical_end(cell, at);
    let line = cell.get(at..end)?;
    // `thing?` asks for help, and no statement of Python ends so.
    let help = line.trim_ascii().ends_with(b"?") && !line.iter().any(|byte| matches!(byte, b'#' | b'"' | b'\''));
    if !(matches!(line.first(), Some(b'%' | b'!' | b'?')) || help) {
        return None;
    }
    if let Some(statement) = timed(line) {
        // The statement is run. Its indentation has to stay what it was.
        let opening = cell.get_mut(at..at + statement)?;
        opening.fill(b' ');
        opening.get_mut(..5)?.copy_from_slice(b"if 1:");
        return Some(at + statement);
    }
    let indented = at > 0 && matches!(cell.get(at - 1), Some(b' ' | b'\t'));
    blank(cell.get_mut(at..end)?);
    // A block may have no other statement.
    if indented {
        *cell.get_mut(at)? = b'0';
    }
    Some(end)
}

/// Where the statement of `%time statement` or `%timeit options statement` begins; none for a statement that cannot stand
/// behind a colon.
fn timed(line: &[u8]) -> Option<usize> {
    let rest = line.strip_prefix(b"%timeit").or_else(|| line.strip_prefix(b"%time"))?;
    if !rest.first().is_some_and(u8::is_ascii_whitespace) {
        return None;
    }
    let mut at = line.len() - rest.len();
    loop {
        at += line.get(at..)?.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let word = line.get(at..)?.split(u8::is_ascii_whitespace).next()?;
        match word {
            [b'-', b'n' | b'r' | b'p'] => {
                at += 2;
                at += line.get(at..)?.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
                at += line.get(at..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
            }
            [b'-', b'n' | b'r' | b'p', digits @ ..] if digits.iter().all(u8::is_ascii_digit) => at += word.len(),
            [b'-', b't' | b'c' | b'q' | b'o'] => at += 2,
            b"" | b"for" | b"while" | b"if" | b"with" | b"def" | b"class" | b"try" | b"async" => return None,
            _ => return Some(at),
        }
    }
}
