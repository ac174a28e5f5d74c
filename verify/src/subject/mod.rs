//! What stands at a finding's place: the file, its language, the region (a fence of a document, a string of a script), and
//! the functions, kernels and calls in it. Harnesses and experiments ask this, and no grammar.

mod body;
mod cells;
mod load;
mod neighbours;
mod notebook;
mod pointers;
mod reach;
mod read;
mod signature;
mod undeclared;
mod units;
mod uses;

pub(crate) use load::flag_values;
pub use pointers::{PointerUses, Uses, Var};
pub use reach::{Values, values_that_reach};
pub(crate) use signature::Scan;
pub use signature::{Parameter, Signature, TemplateParameter, spelled};
pub use uses::{calls, variable_uses};

use camino::{Utf8Path, Utf8PathBuf};
use cudalint_findings::LineIndex;
use cudalint_findings::model::FindingEntry;
use cudalint_program::ir::{FunctionId, Module, ModuleId};
use cudalint_program::{Project, ProjectOptions};
use cudalint_syntax::{FileKind, ParsedRegion, Region, Span};
use neighbours::Neighbours;
use std::sync::{Arc, OnceLock};

/// The source of a finding.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Path as the finding gives it.
    pub path: String,
    /// The file, absolute.
    pub file: Utf8PathBuf,
    /// Its text.
    pub text: Arc<str>,
    /// Compiler flags of the user's build for this file: `-I`, `-D`, `-std`.
    pub flags: Vec<String>,
    /// Folders, found in the tree around the file, of headers that it includes and no flag leads to.
    pub found_folders: Vec<Utf8PathBuf>,
    /// What the file is by its name.
    pub kind: FileKind,
    /// Where its lines start.
    pub lines: Arc<LineIndex>,
    /// Its stretches in one language, in order.
    pub stretches: Vec<Stretch>,
    /// The file's CUDA C++ stretches, and the files that it includes in quotes, as programs.
    pub project: Arc<Project>,
    /// What it was read with.
    pub options: Arc<ProjectOptions>,
    /// The folder below which the project lies.
    root: Utf8PathBuf,
    /// The notebook that the text is of.
    notebook: Option<Arc<notebook::Notebook>>,
    /// Its cells that are programs of their own: C++, and Python that is written to a file.
    apart: Arc<[Subject]>,
    neighbours: Arc<OnceLock<Neighbours>>,
    embedded: Arc<OnceLock<Vec<Subject>>>,
}

/// A stretch of a file in one language: the whole file, or a fence of a document.
#[derive(Clone, Debug)]
pub struct Stretch {
    /// Where it lies, and its language.
    pub region: Region,
    /// Its tree.
    pub parsed: Arc<ParsedRegion>,
    /// Its program, for CUDA C++.
    pub module: Option<ModuleId>,
}

impl Subject {
    /// The files of its folder, as parts of programs. Read when first asked for.
    fn neighbours(&self) -> &Neighbours {
        self.neighbours.get_or_init(|| match self.kind {
            FileKind::Cuda | FileKind::CFamily => Neighbours::read(&self.file, &self.root),
            FileKind::Python | FileKind::Notebook | FileKind::Markdown => Neighbours::default(),
        })
    }

    /// Source files beside this one (or beside `file`, of the same folder) that a program that begins with it must be
    /// linked with.
    pub fn linked_with(&self, file: &Utf8Path) -> Vec<Utf8PathBuf> {
        self.neighbours().linked_with(file)
    }

    /// Folders of headers that these files near this one include and that stand elsewhere in the tree.
    pub fn include_folders(&self, files: &[Utf8PathBuf]) -> Vec<Utf8PathBuf> {
        self.neighbours().include_folders(files, &self.root).into_iter().collect()
    }

    /// Source files beside this one that include it, those with a `main` first.
    pub fn includers(&self) -> Vec<Utf8PathBuf> {
        self.neighbours().includers(&self.file)
    }

    /// Source files beside this one with a `main` whose program this file is a part of.
    pub fn mains(&self) -> Vec<Utf8PathBuf> {
        self.neighbours().mains_with(&self.file)
    }

    /// Whether a file that this one is linked with defines a function of this name.
    pub fn is_defined_beside(&self, name: &str) -> bool {
        self.neighbours().defines(name)
    }

    /// Whether a file of the same folder defines `main`.
    pub fn file_has_main(&self, file: &Utf8Path) -> bool {
        self.neighbours().has_main(file)
    }

    /// The stretch around a line (from 1).
    pub fn stretch_at(&self, line: u32) -> Option<&Stretch> {
        let start = self.lines.start((line as usize).saturating_sub(1)) as u32;
        self.stretches.iter().find(|stretch| {
            let span = stretch.region.span;
            span.start <= start && (start < span.end || (start == span.end && span.end as usize == self.text.len()))
        })
    }

    /// The stretch of a finding.
    pub fn stretch_of(&self, finding: &FindingEntry) -> Option<&Stretch> {
        self.stretch_at(finding.range.start.line)
    }

    /// Whether the code of a finding is for AMD's compiler.
    pub fn is_for_hip(&self, finding: &FindingEntry) -> bool {
        let module = self.stretch_of(finding).and_then(|stretch| stretch.module);
        module.is_some_and(|id| self.project.is_for_hip(id))
    }

    /// The program of a stretch; none for Python.
    pub fn module(&self, stretch: &Stretch) -> Option<&Module> {
        stretch.module.map(|id| self.project.module(id))
    }

    /// The modules of the files that a module's file includes, at any depth.
    pub fn included(&self, id: ModuleId) -> Vec<ModuleId> {
        self.project.includes().reach(id.0).included.iter().map(|id| ModuleId(*id)).collect()
    }

    /// Text of a span of the file; empty when out of range.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or("")
    }

    /// The line (from 1) of a byte of the file.
    pub fn line_of(&self, offset: u32) -> u32 {
        self.lines.line(offset as usize) as u32 + 1
    }

    /// The byte of a line and column (both from 1, columns in Unicode scalar values).
    pub fn offset(&self, line: u32, column: u32) -> u32 {
        let range = self.lines.range(&self.text, (line as usize).saturating_sub(1));
        let content = self.text.get(range.clone()).unwrap_or("");
        let within =
            content.char_indices().nth((column as usize).saturating_sub(1)).map_or(content.len(), |(at, _)| at);
        (range.start + within) as u32
    }

    /// The bytes of a finding's range.
    pub fn span_of(&self, finding: &FindingEntry) -> Span {
        let (start, end) = (finding.range.start, finding.range.end);
        Span { start: self.offset(start.line, start.column), end: self.offset(end.line, end.column) }
    }

    /// The innermost function with a body around a byte of a stretch; of nested ones (methods of local classes) the
    /// smallest. Lambdas count when `lambdas` says so, else the function around them is given.
    pub fn function_at(&self, stretch: &Stretch, offset: u32, lambdas: bool) -> Option<FunctionId> {
        use cudalint_program::ir::FunctionRole;
        let module = self.module(stretch)?;
        module
            .functions
            .iter()
            .enumerate()
            .filter(|(_, function)| function.body.is_some() && (lambdas || function.role != FunctionRole::Lambda))
            .filter(|(_, function)| function.span.start <= offset && offset < function.span.end)
            .min_by_key(|(_, function)| function.span.len())
            .map(|(index, _)| FunctionId(index as u32))
    }
}
