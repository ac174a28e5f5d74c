//! Notebooks: their program as one text, cells that are files of their own beside it, and lines of that text as cells and lines.
//!
//! Everything that runs counts the lines of the text, which is that of the cells of code one after the other. A finding's places
//! are turned into such lines before, and what was seen is turned back behind.

use super::Subject;
use super::load::subject_of;
use super::notebook::Notebook;
use crate::paths::absolute;
use crate::scenario::ScenarioFile;
use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use cudalint_findings::LineIndex;
use cudalint_findings::model::{EvidenceRecord, FindingEntry};
use cudalint_program::{ProjectOptions, SourceFile};
use cudalint_syntax::{Cell, FileKind, FileText, Language, Stretch};
use std::sync::Arc;

/// Reads a notebook's bytes as the program of its cells.
pub(super) fn read(
    root: &Utf8Path,
    path: &str,
    bytes: Vec<u8>,
    flags: &[String],
    options: &ProjectOptions,
) -> Result<Subject, String> {
    let file = absolute(&root.join(path));
    let read = FileText::from_bytes(FileKind::Notebook, bytes).map_err(|problem| format!("{path}: {problem}"))?;
    let text = read.source.shared();
    let lines = Arc::new(LineIndex::new(&text));
    let starts = read.cells.iter().map(|cell| (lines.line(cell.start) as u32 + 1, cell.index)).collect();
    let mut notebook = Notebook { starts, ..Notebook::default() };
    let (mut program, mut apart) = (None, Vec::new());
    for stretch in read.stretches().into_iter().filter(|stretch| !stretch.inside) {
        let own = if stretch.apart { written(&text, &read.cells, &stretch.region.span.range()) } else { None };
        let mut flags = flags.to_vec();
        let is_apart = stretch.apart;
        if stretch.region.language == Language::Cuda {
            flags.extend(include_folders(&file, own.as_ref()));
        }
        let files = [SourceFile::of_stretch(file.as_str(), FileKind::Markdown, Stretch { apart: true, ..stretch })];
        let subject = subject_of(root, path, &file, &files, &flags, Arc::clone(&lines), options.clone());
        if is_apart {
            notebook.written.extend(own);
            apart.push(subject);
        } else {
            program = Some(subject);
        }
    }
    let mut program = match (program, apart.first()) {
        (Some(program), _) => program,
        // C++ alone: the program has no stretch.
        (None, Some(first)) => Subject { stretches: Vec::new(), ..first.clone() },
        (None, None) => return Err(format!("{path}: the notebook holds no code in a language that can be run")),
    };
    let notebook = Arc::new(notebook);
    for subject in apart.iter_mut().chain([&mut program]) {
        subject.notebook = Some(Arc::clone(&notebook));
    }
    program.apart = apart.into();
    Ok(program)
}

/// Where headers lie that a cell of C++ includes: beside the notebook, and beside the file that the cell writes.
fn include_folders(notebook: &Utf8Path, written: Option<&ScenarioFile>) -> Vec<String> {
    let folder = notebook.parent().unwrap_or(Utf8Path::new("/"));
    let inner = written.and_then(|file| file.path.parent()).filter(|parent| !parent.as_str().is_empty());
    std::iter::once(folder.to_owned())
        .chain(inner.map(|parent| absolute(&folder.join(parent))))
        .map(|folder| format!("-I{folder}"))
        .collect()
}

/// The file that a cell writes: the name is the last word of its first line that is no option. One that would lie elsewhere than
/// below the notebook is left out.
fn written(text: &str, cells: &[Cell], span: &std::ops::Range<usize>) -> Option<ScenarioFile> {
    let cell = cells.iter().rev().find(|cell| cell.start <= span.start)?;
    let magic = text.get(cell.start..span.start)?.lines().rev().find(|line| line.trim_start().starts_with("%%"))?;
    let mut words = magic.split_whitespace();
    if !matches!(words.next()?, "%%writefile" | "%%file") {
        return None;
    }
    let path = Utf8PathBuf::from(words.rfind(|word| !word.starts_with('-'))?.trim_matches(['"', '\'']));
    let inside = path.components().all(|part| matches!(part, Utf8Component::Normal(_) | Utf8Component::CurDir));
    (inside && path.file_name().is_some())
        .then(|| ScenarioFile { path, text: text.get(span.clone()).unwrap_or("").to_owned() })
}

impl Subject {
    /// The subject of a finding, and the finding with its places as lines of that subject's text: in a notebook the program of
    /// its cells, or the cell that is a program of its own. Elsewhere both are as they are.
    pub fn of_finding<'s>(&'s self, finding: &FindingEntry) -> (&'s Subject, FindingEntry) {
        let Some(notebook) = &self.notebook else { return (self, finding.clone()) };
        let finding = notebook.flat(finding);
        let holds = |subject: &&Subject| subject.stretch_at(finding.range.start.line).is_some();
        // What a cell of C++ has is blank in the program.
        let subject = self.apart.iter().find(holds).unwrap_or(self);
        (subject, finding)
    }

    /// Files of a notebook that a program of it may read, besides its own.
    pub(crate) fn written_beside(&self) -> &[ScenarioFile] {
        self.notebook.as_ref().map_or(&[], |notebook| &notebook.written)
    }

    /// What these lines are, for a reader of a harness.
    pub(crate) fn lines_in_words(&self, first: u32, last: u32) -> String {
        match &self.notebook {
            Some(notebook) => notebook.in_words(&self.path),
            None => format!("Lines {first} to {last} of {}, at their own line numbers", self.path),
        }
    }

    /// Words of a run with lines of the text as cells and lines.
    pub fn by_cells(&self, words: &str) -> String {
        self.notebook.as_ref().map_or_else(|| words.to_owned(), |notebook| notebook.by_cells(words, &self.path))
    }

    /// A record of a run with its line as cell and line.
    pub fn place_record(&self, record: &mut EvidenceRecord) {
        let Some(notebook) = &self.notebook else { return };
        if record.path.as_deref() == Some(self.path.as_str())
            && let Some((cell, line)) = record.line.and_then(|line| notebook.place(line))
        {
            (record.cell, record.line) = (Some(cell), Some(line));
        }
        record.text = notebook.by_cells(&record.text, &self.path);
    }
}
