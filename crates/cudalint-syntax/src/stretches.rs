//! A file's bytes to its stretches in one language, each with the text that it is read from.

use crate::embedded::{CupyBody, embedded_cuda};
use crate::files::FileKind;
use crate::notebook::{Cell, read_notebook};
use crate::region::{Language, Region, regions};
use crate::source::{SourceProblem, SourceText};
use crate::span::Span;
use std::sync::Arc;

/// A stretch in one language.
#[derive(Clone, Debug)]
pub struct Stretch {
    /// Its language and where it lies in the file's text.
    pub region: Region,
    /// What it is read from, as long as the file's text: there where it lies it is the file's but for what is none of the
    /// stretch (magics of a notebook, quotes around a program).
    pub text: Arc<str>,
    /// Whether it is a program in a string of Python.
    pub inside: bool,
    /// Whether it is such a program, and NVRTC compiles it.
    pub nvrtc: bool,
    /// The statements that a package makes a kernel of, where it is these.
    pub body: Option<Arc<CupyBody>>,
    /// Whether it is a document's fence or a file that a notebook writes: it stands for itself.
    pub apart: bool,
}

impl Stretch {
    /// The string expression that it stands in, for C++ in Python.
    pub fn string(&self) -> Option<Span> {
        self.inside.then(|| self.body.as_ref().map_or(self.region.span, |body| body.span))
    }
}

/// The text of a file and where its cells begin.
#[derive(Clone, Debug)]
pub struct FileText {
    /// The text. Of a notebook it is the source of its cells of code, one after the other; offsets are those of this text.
    pub source: SourceText,
    /// Cells of code; none but in a notebook.
    pub cells: Vec<Cell>,
    lossy: bool,
    kind: FileKind,
    /// Stretches of a notebook, with their texts where these differ from the file's.
    notebook: Vec<(Region, Option<Arc<str>>)>,
}

impl FileText {
    /// Takes the bytes of a file.
    ///
    /// # Errors
    /// When they are no source text, or no notebook.
    pub fn from_bytes(kind: FileKind, bytes: Vec<u8>) -> Result<Self, SourceProblem> {
        let source = SourceText::from_bytes(bytes)?;
        let lossy = source.is_lossy();
        if kind != FileKind::Notebook {
            return Ok(Self { source, cells: Vec::new(), lossy, kind, notebook: Vec::new() });
        }
        let notebook = read_notebook(source.text()).map_err(SourceProblem::Notebook)?;
        Ok(Self {
            source: SourceText::from(notebook.text.as_str()),
            cells: notebook.cells,
            lossy,
            kind,
            notebook: notebook.regions,
        })
    }

    /// What the file is by its name.
    pub fn kind(&self) -> FileKind {
        self.kind
    }

    /// Whether bytes that are not UTF-8 were replaced.
    pub fn is_lossy(&self) -> bool {
        self.lossy
    }

    /// Whether a notebook has cells of CUDA C++.
    pub fn has_cuda_cells(&self) -> bool {
        self.notebook.iter().any(|(region, _)| region.language == Language::Cuda)
    }

    /// Its stretches in order; those in strings of Python come behind the Python around them.
    pub fn stretches(&self) -> Vec<Stretch> {
        let text = self.source.shared();
        let outer: Vec<(Region, Option<Arc<str>>)> = match self.kind {
            FileKind::Notebook => self.notebook.clone(),
            kind => regions(kind, &text).into_iter().map(|region| (region, None)).collect(),
        };
        let mut found: Vec<Stretch> = Vec::with_capacity(outer.len());
        let mut programs: Vec<Stretch> = Vec::new();
        // One view serves all stretches that are read from one text.
        let plain: Vec<Region> = outer.iter().filter(|(_, own)| own.is_none()).map(|(region, _)| *region).collect();
        let own = outer.iter().filter_map(|(region, own)| Some((vec![*region], own.clone()?)));
        for (python, text) in std::iter::once((plain, Arc::clone(&text))).chain(own) {
            let Some(embedded) = embedded_cuda(&text, &python) else { continue };
            let regions = embedded.regions.iter().map(|region| (*region, None));
            let bodies = embedded.bodies.into_iter().map(|found| (found.region, Some(Arc::new(found))));
            programs.extend(regions.chain(bodies).map(|(region, body)| Stretch {
                region,
                text: Arc::clone(&embedded.view),
                inside: true,
                nvrtc: embedded.nvrtc,
                body,
                apart: false,
            }));
        }
        found.extend(outer.into_iter().map(|(region, own)| Stretch {
            region,
            // The program of a notebook is all of it but what is somebody else's.
            apart: self.kind == FileKind::Markdown || self.kind == FileKind::Notebook && own.is_none(),
            text: own.unwrap_or_else(|| Arc::clone(&text)),
            inside: false,
            nvrtc: false,
            body: None,
        }));
        found.append(&mut programs);
        found.sort_by_key(|stretch| (stretch.region.span.start, stretch.inside));
        found
    }
}
