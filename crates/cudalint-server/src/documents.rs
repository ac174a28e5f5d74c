//! The documents that the editor holds, and their edits.

use cudalint_engine::FileKind;
use cudalint_findings::{LineIndex, Units};
use lsp_types::{Position, Range, TextDocumentContentChangeEvent, Uri};
use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

/// A document that is open.
#[derive(Clone, Debug)]
pub struct Document {
    /// Its address as the editor spells it.
    pub uri: Uri,
    /// Its file, by the real path.
    pub real: PathBuf,
    /// Its path as findings name it.
    pub path: Arc<str>,
    /// What it is; none where it is no source.
    pub kind: Option<FileKind>,
    /// The editor's count of its edits.
    pub version: i32,
    /// The anchor of its project: see [`crate::project::Projects`].
    pub project: PathBuf,
    /// Where it stands among the cells of its notebook, for a cell.
    pub cell: Option<u32>,
    pub text: Arc<str>,
    pub lines: Arc<LineIndex>,
}

impl Document {
    /// Takes over an edit.
    pub fn change(&mut self, changes: Vec<TextDocumentContentChangeEvent>, version: i32, units: Units) {
        for change in changes {
            let text = match change.range {
                None => change.text,
                Some(range) => {
                    let (start, end) = (self.offset(range.start, units), self.offset(range.end, units));
                    let (start, end) = (start.min(end), start.max(end));
                    let mut text = String::with_capacity(self.text.len() + change.text.len());
                    text.push_str(self.text.get(..start).unwrap_or_default());
                    text.push_str(&change.text);
                    text.push_str(self.text.get(end..).unwrap_or_default());
                    text
                }
            };
            self.set(text);
        }
        self.version = version;
    }

    /// Replaces the whole text.
    pub fn set(&mut self, text: String) {
        self.lines = Arc::new(LineIndex::new(&text));
        self.text = text.into();
    }

    /// The byte at a place.
    pub fn offset(&self, at: Position, units: Units) -> usize {
        self.lines.offset(&self.text, (at.line, at.character), units)
    }

    /// The place of a byte.
    pub fn position(&self, offset: usize, units: Units) -> Position {
        let (line, character) = self.lines.in_units(&self.text, offset, units);
        Position { line, character }
    }

    /// Places of bytes.
    pub fn range(&self, range: &std::ops::Range<usize>, units: Units) -> Range {
        Range { start: self.position(range.start, units), end: self.position(range.end, units) }
    }
}

/// A notebook that is open. Its cells are documents with the notebook's path.
#[derive(Clone, Debug)]
pub struct Notebook {
    pub real: PathBuf,
    pub path: Arc<str>,
    pub project: PathBuf,
    /// Its cells in order, and whether each holds code.
    pub cells: Vec<(Uri, bool)>,
}

/// All open documents, by the address that the editor gives them.
#[derive(Debug, Default)]
pub struct Documents {
    open: FxHashMap<String, Document>,
    pub notebooks: FxHashMap<String, Notebook>,
}

impl Documents {
    pub fn open(&mut self, document: Document) {
        self.open.insert(document.uri.as_str().to_owned(), document);
    }

    pub fn close(&mut self, uri: &Uri) -> Option<Document> {
        self.open.remove(uri.as_str())
    }

    pub fn get(&self, uri: &Uri) -> Option<&Document> {
        self.open.get(uri.as_str())
    }

    pub fn get_mut(&mut self, uri: &Uri) -> Option<&mut Document> {
        self.open.get_mut(uri.as_str())
    }

    /// The document of a path as findings name it; in a notebook that of a cell.
    pub fn of_path(&self, path: &str, cell: Option<u32>) -> Option<&Document> {
        self.iter().find(|document| &*document.path == path && document.cell == cell)
    }

    /// Whether what concerns a whole file is told at a document: of the cells of a notebook, at the first.
    pub fn is_first(&self, document: &Document) -> bool {
        let others = || self.iter().filter(|other| other.path == document.path);
        document.cell.is_none_or(|cell| others().all(|other| other.cell >= Some(cell)))
    }

    /// The bytes of a notebook's file, as far as they matter: its cells.
    pub fn bytes_of(&self, notebook: &Notebook) -> Vec<u8> {
        let cells: Vec<Value> = notebook
            .cells
            .iter()
            .map(|(uri, code)| {
                let text = self.get(uri).map(|document| &*document.text).unwrap_or_default();
                let kind = if *code { "code" } else { "markdown" };
                json!({ "cell_type": kind, "source": text, "metadata": {} })
            })
            .collect();
        let metadata = json!({ "language_info": { "name": "python" } });
        json!({ "cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5 }).to_string().into_bytes()
    }

    /// Counts the cells of a notebook anew.
    pub fn count_cells(&mut self, notebook: &str) {
        let Some(notebook) = self.notebooks.get(notebook) else { return };
        for (index, (uri, _)) in (0..).zip(&notebook.cells) {
            if let Some(document) = self.open.get_mut(uri.as_str()) {
                document.cell = Some(index);
            }
        }
    }

    /// In no order.
    pub fn iter(&self) -> impl Iterator<Item = &Document> {
        self.open.values()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::str::FromStr as _;

    fn document(text: &str) -> Document {
        Document {
            uri: Uri::from_str("file:///a.cu").unwrap(),
            real: "/a.cu".into(),
            path: "/a.cu".into(),
            kind: None,
            version: 0,
            project: "/".into(),
            cell: None,
            text: text.into(),
            lines: Arc::new(LineIndex::new(text)),
        }
    }

    fn change(from: (u32, u32), to: (u32, u32), text: &str) -> TextDocumentContentChangeEvent {
        let position = |(line, character)| Position { line, character };
        TextDocumentContentChangeEvent {
            range: Some(Range { start: position(from), end: position(to) }),
            range_length: None,
            text: text.to_owned(),
        }
    }

    #[test]
    fn changes_follow_one_another_in_the_units_of_the_editor() {
        let mut it = document("a😀b\r\nc\n");
        it.change(vec![change((0, 3), (0, 4), "x"), change((1, 0), (1, 1), "")], 2, Units::Utf16);
        assert_eq!((&*it.text, it.version), ("a😀x\r\n\n", 2));
        it.change(vec![change((0, 5), (0, 6), "y"), change((0, 0), (0, 1), "zz\n")], 3, Units::Utf8);
        assert_eq!(&*it.text, "zz\n😀y\r\n\n");
        it.change(vec![change((1, 1), (9, 9), "!")], 4, Units::Utf32);
        assert_eq!(&*it.text, "zz\n😀!");
    }
}
