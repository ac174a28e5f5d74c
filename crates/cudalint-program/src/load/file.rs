//! A file on its way into a program: its text, its pieces in one language, and their directives.

use cudalint_syntax::{Cell, Define, Directives, FileKind, FileText, Language, Stretch, scan_directives};
use std::sync::Arc;

/// A file of a program.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Its path as output shows it, with `/` between its parts.
    pub path: Arc<str>,
    /// What it is by its name.
    pub kind: FileKind,
    /// Its text.
    pub text: Arc<str>,
    /// Where the cells of a notebook begin.
    pub cells: Vec<Cell>,
    /// Its pieces; a piece of Python comes before those inside its strings.
    pub pieces: Vec<Piece>,
    /// Whether somebody asks about it; else it is there for what the others take from it, and of a large header only that
    /// is parsed.
    pub reported: bool,
}

/// A stretch of a file in one language.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Its text and its language.
    pub stretch: Stretch,
    /// Macros and includes; none outside of C++.
    pub directives: Directives,
}

impl SourceFile {
    /// A file that somebody asks about.
    pub fn new(path: impl Into<Arc<str>>, text: &FileText) -> Self {
        Self {
            path: path.into(),
            kind: text.kind(),
            text: text.source.shared(),
            cells: text.cells.clone(),
            pieces: text.stretches().into_iter().map(Piece::new).collect(),
            reported: true,
        }
    }

    /// One stretch of a file, by itself.
    pub fn of_stretch(path: impl Into<Arc<str>>, kind: FileKind, stretch: Stretch) -> Self {
        let (text, pieces) = (Arc::clone(&stretch.text), vec![Piece::new(stretch)]);
        Self { path: path.into(), kind, text, cells: Vec::new(), pieces, reported: true }
    }

    /// The macros that its pieces define.
    pub fn defines(&self) -> impl Iterator<Item = &Define> {
        self.pieces.iter().flat_map(|piece| &piece.directives.defines)
    }
}

impl AsRef<Self> for SourceFile {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl Piece {
    fn new(stretch: Stretch) -> Self {
        let mut directives = match stretch.region.language {
            Language::Cuda => scan_directives(&stretch.text, stretch.region.span),
            Language::Python => Directives::default(),
        };
        directives.nvrtc = stretch.nvrtc;
        Self { stretch, directives }
    }

    /// Whether it stands for itself: neither a fence of a document nor a program in a string sees other files.
    pub fn is_alone(&self) -> bool {
        self.stretch.inside || self.stretch.apart
    }
}
