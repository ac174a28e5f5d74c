//! The texts that findings point into, with their lines.

use crate::finding::Place;
use crate::lines::{CellStart, LineIndex, Position, Units};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// One text and, once something asked for a line, its lines.
#[derive(Debug)]
pub struct Source {
    text: Arc<str>,
    cells: Arc<[CellStart]>,
    index: OnceLock<LineIndex>,
    printable: OnceLock<Option<String>>,
}

impl Source {
    /// A text whose lines are not counted yet.
    pub fn new(text: Arc<str>) -> Self {
        Self::notebook(text, Arc::from([]))
    }

    /// The text of a notebook, with its cells in order; without cells it is no notebook.
    pub fn notebook(text: Arc<str>, cells: Arc<[CellStart]>) -> Self {
        Self { text, cells, index: OnceLock::new(), printable: OnceLock::new() }
    }

    /// Line and column of a byte, in a notebook those of its cell.
    pub fn position(&self, offset: usize) -> Position {
        let position = self.lines().position(&self.text, offset);
        match self.cell(offset) {
            Some((cell, _)) => {
                let line = position.line - self.lines().line(cell.start) as u32;
                Position { cell: Some(cell.index), line, ..position }
            }
            None => position,
        }
    }

    /// The cell around a byte, with its bytes; none but in a notebook.
    pub(crate) fn cell(&self, offset: usize) -> Option<(CellStart, std::ops::Range<usize>)> {
        let next = self.cells.partition_point(|cell| cell.start <= offset).max(1);
        let cell = *self.cells.get(next - 1)?;
        Some((cell, cell.start..self.cells.get(next).map_or(self.text.len(), |cell| cell.start)))
    }

    /// The bytes of a cell by its place among all cells; none but in a notebook.
    pub fn cell_range(&self, index: u32) -> Option<std::ops::Range<usize>> {
        let cell = self.cells.iter().find(|cell| cell.index == index)?;
        Some(self.cell(cell.start)?.1)
    }

    /// The line of the text (from 0) that a line (from 1) of a cell is.
    pub(crate) fn whole_line(&self, cell: Option<u32>, line: u32) -> usize {
        let cell = self.cells.iter().find(|known| Some(known.index) == cell);
        cell.map_or(0, |cell| self.lines().line(cell.start)) + (line as usize).saturating_sub(1)
    }

    /// Whether it is the text of a notebook's cells.
    pub fn is_notebook(&self) -> bool {
        !self.cells.is_empty()
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text with every character that could steer a terminal or be a command in a log replaced by one of the same length in bytes, so that
    /// offsets stay true.
    pub(crate) fn printable(&self) -> &str {
        self.printable.get_or_init(|| printable(&self.text)).as_deref().unwrap_or(&self.text)
    }

    /// Its lines.
    pub fn lines(&self) -> &LineIndex {
        self.index.get_or_init(|| LineIndex::new(&self.text))
    }
}

/// See [`Source::printable`]; none when the text is printable as it is.
fn printable(text: &str) -> Option<String> {
    #[cfg(test)]
    crate::lines::work::add(text.len());
    let stays = |c: char, next: Option<char>| match c {
        '\n' | '\t' => true,
        '\r' => next == Some('\n'),
        _ => !crate::plain::steers(c),
    };
    let next = |at: usize, c: char| text.get(at + c.len_utf8()..).and_then(|rest| rest.chars().next());
    let commands: Vec<usize> = crate::plain::commands(text).collect();
    if commands.is_empty() && text.char_indices().all(|(at, c)| stays(c, next(at, c))) {
        return None;
    }
    let replaced = text.char_indices().map(|(at, c)| match c.len_utf8() {
        _ if stays(c, next(at, c)) && commands.binary_search(&at).is_err() => c,
        1 => '?',
        2 => '\u{bf}',
        _ => '\u{fffd}',
    });
    Some(replaced.collect())
}

/// The texts of the files that findings point into, by path.
#[derive(Debug, Default)]
pub struct Sources {
    files: BTreeMap<Arc<str>, Source>,
}

impl Sources {
    /// No texts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds or replaces a text.
    pub fn insert(&mut self, path: Arc<str>, text: Arc<str>) {
        self.files.insert(path, Source::new(text));
    }

    /// Adds or replaces the text of a notebook; without cells, any text.
    pub fn insert_notebook(&mut self, path: Arc<str>, text: Arc<str>, cells: Arc<[CellStart]>) {
        self.files.insert(path, Source::notebook(text, cells));
    }

    /// The text of a path.
    pub fn get(&self, path: &str) -> Option<&Source> {
        self.files.get(path)
    }

    /// The text of a place, with its end brought into the file; empty when the file is not here.
    pub fn slice(&self, place: &Place) -> &str {
        let Some(source) = self.get(&place.path) else { return "" };
        let start = crate::lines::floor_char_boundary(source.text(), place.range.start);
        let end = crate::lines::floor_char_boundary(source.text(), place.range.end).max(start);
        source.text().get(start..end).unwrap_or("")
    }

    /// Start and end of a place; line 1, column 1 when the file is not here.
    pub fn positions(&self, place: &Place) -> (Position, Position) {
        match self.get(&place.path) {
            Some(source) => {
                let start = source.position(place.range.start);
                (start, source.position(place.range.end.max(place.range.start)))
            }
            None => (Position::START, Position::START),
        }
    }

    /// Where a place starts.
    pub fn start(&self, place: &Place) -> Position {
        self.get(&place.path).map_or(Position::START, |source| source.position(place.range.start))
    }

    /// Start and end of a place from 0, in units of an editor; in a notebook those of its cell.
    pub fn in_units(&self, place: &Place, units: Units) -> [(u32, u32); 2] {
        self.get(&place.path).map_or([(0, 0); 2], |source| {
            [place.range.start, place.range.end.max(place.range.start)].map(|offset| {
                let (line, character) = source.lines().in_units(source.text(), offset, units);
                let first = source.cell(offset).map_or(0, |(cell, _)| source.lines().line(cell.start) as u32);
                (line - first, character)
            })
        })
    }
}
