//! What one run has to say: findings, counts of files, and the texts they point into.

use crate::finding::{Finding, Group, Method, Place, Severity};
use crate::lines::{CellStart, LineIndex, Position};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// How many files a run met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileCounts {
    /// Files read and linted.
    pub checked: usize,
    /// Files found but not linted.
    pub skipped: usize,
    /// Linted files of which a part could not be parsed.
    pub damaged: usize,
}

/// A file, or a part of one, of which findings may be missing, and why. It is told in every format.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Incomplete {
    /// The file or folder, as findings name it.
    pub path: String,
    /// What was not read or not analysed, in words.
    pub reason: String,
}

/// How many findings a report has at each level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Errors.
    pub error: usize,
    /// Warnings.
    pub warning: usize,
    /// Notes.
    pub info: usize,
}

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

    /// The line of the text (from 0) that a line (from 1) of a cell is.
    pub(crate) fn whole_line(&self, cell: Option<u32>, line: u32) -> usize {
        let cell = self.cells.iter().find(|known| Some(known.index) == cell);
        cell.map_or(0, |cell| self.lines().line(cell.start)) + (line as usize).saturating_sub(1)
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
    let stays = |c: char, next: Option<char>| match c {
        '\n' | '\t' => true,
        '\r' => next == Some('\n'),
        _ => !crate::format::steers(c),
    };
    let next = |at: usize, c: char| text.get(at + c.len_utf8()..).and_then(|rest| rest.chars().next());
    let commands: Vec<usize> = crate::format::names::commands(text).collect();
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

    /// Start and end of a place from 0, in UTF-16 units; in a notebook those of its cell.
    pub fn utf16(&self, place: &Place) -> [(u32, u32); 2] {
        self.get(&place.path).map_or([(0, 0); 2], |source| {
            [place.range.start, place.range.end.max(place.range.start)].map(|offset| {
                let (line, character) = source.lines().utf16(source.text(), offset);
                let first = source.cell(offset).map_or(0, |(cell, _)| source.lines().line(cell.start) as u32);
                (line - first, character)
            })
        })
    }
}

/// What one run has to say.
#[derive(Debug, Default)]
pub struct Report {
    /// Sorted by path, offset, rule.
    pub findings: Vec<Finding>,
    /// What was read.
    pub files: FileCounts,
    /// The texts findings point into.
    pub sources: Sources,
    /// What was not read or not analysed as a whole, sorted, each once; see [`Report::set_incomplete`].
    pub incomplete: Vec<Incomplete>,
}

impl Report {
    /// Puts findings into their order and gives those without a fingerprint one.
    pub fn new(mut findings: Vec<Finding>, files: FileCounts, sources: Sources) -> Self {
        sort(&mut findings);
        crate::fingerprint::fill(&mut findings, &sources);
        Self { findings, files, sources, incomplete: Vec::new() }
    }

    /// Says what was not read or not analysed as a whole, in any order.
    pub fn set_incomplete(&mut self, mut incomplete: Vec<Incomplete>) {
        incomplete.sort();
        incomplete.dedup();
        self.incomplete = incomplete;
    }

    /// How many files and folders that is.
    pub fn incomplete_files(&self) -> usize {
        self.incomplete.chunk_by(|a, b| a.path == b.path).count()
    }

    /// Findings by level.
    pub fn summary(&self) -> Summary {
        let mut summary = Summary::default();
        for finding in &self.findings {
            match finding.severity {
                Severity::Error => summary.error += 1,
                Severity::Warning => summary.warning += 1,
                Severity::Info => summary.info += 1,
            }
        }
        summary
    }

    /// The order for people: what is surely wrong comes first, so that the first screen shows it. Error-handling
    /// findings (those that only an injected fault can show: an ignored status) come last however many there are and
    /// whatever level the settings give them; within each part by level, then group, then confidence, then path,
    /// offset and rule.
    pub fn by_importance(&self) -> Vec<&Finding> {
        let mut findings: Vec<&Finding> = self.findings.iter().collect();
        findings.sort_by_key(|finding| {
            (is_error_handling(finding), Reverse(finding.severity), finding.rule.group, Reverse(finding.confidence))
        });
        findings
    }
}

/// Whether a finding is about an ignored status rather than a wrong program: nothing but an injected fault shows it,
/// and it is not a defect of group *correctness*.
fn is_error_handling(finding: &Finding) -> bool {
    finding.rule.method == Method::FaultInjection && finding.rule.group != Group::Correctness
}

/// The order for machines: path, offset, rule; then what else tells two findings apart, so that the order never
/// depends on who found them first.
pub fn sort(findings: &mut [Finding]) {
    findings.sort_by(|a, b| {
        (&a.place.path, a.place.range.start, a.rule.name, a.place.range.end, &a.message).cmp(&(
            &b.place.path,
            b.place.range.start,
            b.rule.name,
            b.place.range.end,
            &b.message,
        ))
    });
}
