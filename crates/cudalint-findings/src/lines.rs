//! Byte offsets as lines and columns.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A character of a file: a line and a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Position {
    /// In a notebook the cell, from 0 among all its cells; lines count from the cell's first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<u32>,
    /// From 1.
    #[schemars(range(min = 1))]
    pub line: u32,
    /// From 1, in Unicode scalar values.
    #[schemars(range(min = 1))]
    pub column: u32,
}

impl Position {
    /// The first character of a text.
    pub const START: Self = Self { cell: None, line: 1, column: 1 };

    /// The line in words for people: `12`, or `cell 3:12` in a notebook, where cells count from 1.
    pub fn line_words(&self) -> String {
        match self.cell {
            Some(cell) => format!("cell {}:{}", cell + 1, self.line),
            None => self.line.to_string(),
        }
    }
}

/// `line:column`, behind `cell N:` in a notebook.
impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(cell) = self.cell {
            write!(f, "cell {}:", cell + 1)?;
        }
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A cell of a notebook: where its text begins in the text of the notebook, which is that of its cells of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellStart {
    /// The byte.
    pub start: usize,
    /// Its place among all cells of the notebook, from 0.
    pub index: u32,
}

/// How much text this thread has read: what tests bound instead of times.
#[cfg(test)]
pub(crate) mod work {
    use std::cell::Cell;

    thread_local!(static BYTES: Cell<usize> = const { Cell::new(0) });

    /// So many bytes are read.
    pub(crate) fn add(bytes: usize) {
        BYTES.set(BYTES.get() + bytes);
    }

    /// The bytes that were read since somebody asked.
    pub(crate) fn take() -> usize {
        BYTES.replace(0)
    }
}

/// Where the lines of one text start. Lines end at `\n` or `\r\n`, as the parser counts them; in a text without
/// any `\n`, at `\r`.
#[derive(Clone, Debug)]
pub struct LineIndex {
    starts: Vec<usize>,
}

impl LineIndex {
    /// Reads a text once.
    pub fn new(text: &str) -> Self {
        #[cfg(test)]
        work::add(text.len());
        let mut starts = vec![0];
        let end = if text.contains('\n') { b'\n' } else { b'\r' };
        starts.extend(text.bytes().enumerate().filter(|(_, byte)| *byte == end).map(|(at, _)| at + 1));
        Self { starts }
    }

    /// Lines of the text; one that ends in a line break has an empty last line.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Never true: an empty text has one line.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// The line of a byte, from 0. Offsets past the end belong to the last line.
    pub fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset).saturating_sub(1)
    }

    /// First byte of a line (from 0); the last line's for lines past the end.
    pub fn start(&self, line: usize) -> usize {
        self.starts.get(line).or(self.starts.last()).copied().unwrap_or(0)
    }

    /// Bytes of a line (from 0) with its line break, within `text`.
    pub fn full_range(&self, text: &str, line: usize) -> std::ops::Range<usize> {
        let start = self.start(line).min(text.len());
        let end = self.starts.get(line + 1).copied().unwrap_or(text.len()).min(text.len());
        start..end.max(start)
    }

    /// Bytes of a line (from 0) without its line break.
    pub fn range(&self, text: &str, line: usize) -> std::ops::Range<usize> {
        let full = self.full_range(text, line);
        let content = text.get(full.clone()).unwrap_or("");
        let content = match content.strip_suffix('\n') {
            Some(rest) => rest.strip_suffix('\r').unwrap_or(rest),
            // An `\r` ends a line here where another line begins behind it.
            None if line + 1 < self.len() => content.strip_suffix('\r').unwrap_or(content),
            None => content,
        };
        full.start..full.start + content.len()
    }

    /// The text of a line before an offset: an offset inside a character counts as the character's first byte, one
    /// inside the line break as the end of the line.
    fn before<'t>(&self, text: &'t str, offset: usize) -> (usize, &'t str) {
        let offset = floor_char_boundary(text, offset);
        let line = self.line(offset);
        let range = self.range(text, line);
        (line, text.get(range.start..offset.clamp(range.start, range.end)).unwrap_or(""))
    }

    /// Line and column of an offset, counted in Unicode scalar values. Never panics: offsets past the end count as
    /// the end.
    pub fn position(&self, text: &str, offset: usize) -> Position {
        let (line, before) = self.before(text, offset);
        Position { cell: None, line: line as u32 + 1, column: before.chars().count() as u32 + 1 }
    }

    /// Line and column of an offset, both from 0, the column in units that an editor counts.
    pub fn in_units(&self, text: &str, offset: usize, units: Units) -> (u32, u32) {
        let (line, before) = self.before(text, offset);
        (line as u32, units.count(before) as u32)
    }

    /// The offset of a line and column from 0: one past the end of a line is the line's end, one past the last line the
    /// text's, and one inside a character the character's first byte.
    pub fn offset(&self, text: &str, (line, column): (u32, u32), units: Units) -> usize {
        if line as usize >= self.len() {
            return text.len();
        }
        let range = self.range(text, line as usize);
        let content = text.get(range.clone()).unwrap_or("");
        let mut left = column as usize;
        for (at, c) in content.char_indices() {
            let wide = units.of(c);
            if left < wide {
                return range.start + at;
            }
            left -= wide;
        }
        range.end
    }
}

/// What editors count the characters of a line in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Units {
    /// Bytes.
    Utf8,
    /// UTF-16 units: what an editor counts in that says nothing.
    #[default]
    Utf16,
    /// Unicode scalar values.
    Utf32,
}

impl Units {
    /// Units of one character.
    const fn of(self, c: char) -> usize {
        match self {
            Self::Utf8 => c.len_utf8(),
            Self::Utf16 => c.len_utf16(),
            Self::Utf32 => 1,
        }
    }

    /// Units of a text.
    fn count(self, text: &str) -> usize {
        text.chars().map(|c| self.of(c)).sum()
    }
}

/// The last character boundary at or before an offset.
pub(crate) fn floor_char_boundary(text: &str, offset: usize) -> usize {
    let mut at = offset.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, offset: usize) -> (u32, u32) {
        let position = LineIndex::new(text).position(text, offset);
        (position.line, position.column)
    }

    #[test]
    fn columns_count_scalar_values() {
        let text = "a é 😀 漢 b\n";
        assert_eq!(at(text, 0), (1, 1));
        assert_eq!(at(text, text.find('é').unwrap_or(0)), (1, 3));
        assert_eq!(at(text, text.find('😀').unwrap_or(0)), (1, 5));
        assert_eq!(at(text, text.find('b').unwrap_or(0)), (1, 9));
    }

    #[test]
    fn an_offset_inside_a_character_is_its_start() {
        let text = "x😀y";
        for offset in 1..5 {
            assert_eq!(at(text, offset), (1, 2));
        }
        assert_eq!(at(text, 5), (1, 3));
    }

    #[test]
    fn line_breaks() {
        let text = "ab\r\ncd\n\r\nx";
        assert_eq!(at(text, 2), (1, 3), "the carriage return");
        assert_eq!(at(text, 3), (1, 3), "the line feed after it");
        assert_eq!(at(text, 4), (2, 1));
        assert_eq!(at(text, 7), (3, 1));
        assert_eq!(at(text, 9), (4, 1));
        assert_eq!(at(text, 10), (4, 2), "the end");
        assert_eq!(at(text, 1000), (4, 2), "past the end");
        assert_eq!(at("", 0), (1, 1));
        assert_eq!(at("a\n", 2), (2, 1));
    }

    #[test]
    fn utf16_counts_pairs_twice() {
        let text = "é😀漢;";
        let index = LineIndex::new(text);
        assert_eq!(index.in_units(text, text.len() - 1, Units::Utf16), (0, 4));
        assert_eq!(index.in_units(text, text.len(), Units::Utf16), (0, 5));
    }

    #[test]
    fn an_editors_place_and_an_offset_are_one_another() {
        let text = "a\r\né😀漢;\n";
        let index = LineIndex::new(text);
        for units in [Units::Utf8, Units::Utf16, Units::Utf32] {
            for (at, _) in text.char_indices().filter(|(_, c)| *c != '\n') {
                assert_eq!(index.offset(text, index.in_units(text, at, units), units), at, "{units:?}");
            }
            assert_eq!(index.offset(text, (0, 9), units), 1, "the end of the line");
            assert_eq!(index.offset(text, (9, 0), units), text.len());
        }
        assert_eq!(index.offset(text, (1, 2), Units::Utf16), 5, "inside a character");
    }
}
