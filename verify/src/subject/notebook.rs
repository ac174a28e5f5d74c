//! The cells of a notebook, and lines of its text as cells and lines.

use crate::scenario::ScenarioFile;
use cudalint_findings::model::{FindingEntry, Range};
use std::fmt::Write as _;

/// A notebook's cells.
#[derive(Debug, Default)]
pub struct Notebook {
    /// First lines of the cells of code in the text, from 1, with the cells' places among all cells, from 0.
    pub starts: Vec<(u32, u32)>,
    /// Files that cells write (`%%writefile`), by their names below the notebook's folder.
    pub written: Vec<ScenarioFile>,
}

impl Notebook {
    /// The line of the text that is a line of a cell.
    fn line(&self, cell: Option<u32>, line: u32) -> u32 {
        let start = self.starts.iter().find(|(_, index)| Some(*index) == cell);
        start.map_or(line, |(start, _)| start + line.saturating_sub(1))
    }

    /// The cell and the line in it of a line of the text.
    pub fn place(&self, line: u32) -> Option<(u32, u32)> {
        let (start, index) = self.starts.iter().rev().find(|(start, _)| *start <= line)?;
        Some((*index, line - start + 1))
    }

    pub fn flat(&self, finding: &FindingEntry) -> FindingEntry {
        let mut flat = finding.clone();
        let place = |range: &mut Range| {
            for at in [&mut range.start, &mut range.end] {
                (at.line, at.cell) = (self.line(at.cell, at.line), None);
            }
        };
        place(&mut flat.range);
        let edits = flat.fix.iter_mut().flat_map(|fix| &mut fix.edits);
        edits.filter(|edit| edit.path == finding.path).for_each(|edit| place(&mut edit.range));
        flat.claim = finding.claim.map(&|site| {
            let mut site = site.clone();
            if site.path == finding.path {
                place(&mut site.range);
            }
            site
        });
        flat
    }

    /// `PATH:12`, `PATH(12)` and `line 12` as the cell and its line. Cells count from 1 for people. A line that a traceback names
    /// (`File "…", line 12`) is the harness's own.
    pub fn by_cells(&self, words: &str, path: &str) -> String {
        let mut by_cells = String::with_capacity(words.len());
        let mut rest = words;
        while !rest.is_empty() {
            let before = by_cells.chars().next_back();
            let word = before.is_none_or(|letter| !letter.is_alphanumeric() && letter != '_');
            let number = |prefix: &str| {
                let behind = rest.strip_prefix(prefix)?;
                let digits = behind.len() - behind.trim_start_matches(|c: char| c.is_ascii_digit()).len();
                let place = self.place(behind.get(..digits)?.parse().ok()?)?;
                Some((place, behind.get(digits..)?))
            };
            let in_brackets =
                || number(&format!("{path}(")).and_then(|(place, rest)| Some((place, rest.strip_prefix(')')?)));
            let by_path = number(&format!("{path}:")).or_else(in_brackets).filter(|_| word);
            let by_word = number("line ").filter(|_| word && !by_cells.ends_with("\", "));
            if let Some(((cell, line), behind)) = by_path {
                let _ = write!(by_cells, "{path}:cell {}:{line}", cell + 1);
                rest = behind;
            } else if let Some(((cell, line), behind)) = by_word {
                let _ = write!(by_cells, "cell {}, line {line}", cell + 1);
                rest = behind;
            } else {
                let mut letters = rest.chars();
                by_cells.extend(letters.next());
                rest = letters.as_str();
            }
        }
        by_cells
    }

    pub fn in_words(&self, path: &str) -> String {
        let mut words = format!("The cells of {path}, one after the other");
        for (place, (start, index)) in self.starts.iter().enumerate() {
            let mark = if place == 0 { ": " } else { ", " };
            let _ = write!(words, "{mark}cell {} from line {start}", index + 1);
        }
        words
    }
}
