//! Notebooks: the editor tells of the notebook and of the texts of its cells apart; for the engine they are one file.

use crate::documents::{Document, Notebook};
use crate::session::Session;
use cudalint_engine::FileKind;
use cudalint_findings::LineIndex;
use lsp_types::{
    DidChangeNotebookDocumentParams, DidCloseNotebookDocumentParams, DidOpenNotebookDocumentParams, NotebookCell,
    NotebookCellKind, TextDocumentItem, Uri,
};
use std::sync::Arc;

impl Session {
    pub(crate) fn notebook_opened(&mut self, params: DidOpenNotebookDocumentParams) {
        let notebook = params.notebook_document;
        let Some(path) = crate::uri::path_of(notebook.uri.as_str()) else { return };
        if FileKind::of(&path) != Some(FileKind::Notebook) {
            return;
        }
        let real = cudalint_engine::real_path(&path);
        let name = notebook.uri.as_str().to_owned();
        let opened = Notebook {
            path: cudalint_engine::display(&path).into(),
            project: self.anchor(&real),
            cells: notebook.cells.into_iter().map(cell).collect(),
            real,
        };
        self.documents.notebooks.insert(name.clone(), opened);
        self.open_cells(&name, params.cell_text_documents);
        self.check_settings_files();
    }

    pub(crate) fn notebook_changed(&mut self, params: DidChangeNotebookDocumentParams) {
        let name = params.notebook_document.uri.as_str().to_owned();
        let Some(cells) = params.change.cells else { return };
        if let Some(structure) = cells.structure {
            for closed in structure.did_close.into_iter().flatten() {
                self.close(&closed.uri);
            }
            let Some(notebook) = self.documents.notebooks.get_mut(&name) else { return };
            let all = notebook.cells.len();
            let start = (structure.array.start as usize).min(all);
            let end = start.saturating_add(structure.array.delete_count as usize).min(all);
            let fresh = structure.array.cells.into_iter().flatten().map(cell);
            notebook.cells.splice(start..end, fresh);
            self.open_cells(&name, structure.did_open.unwrap_or_default());
        }
        let units = self.client.units;
        for content in cells.text_content.into_iter().flatten() {
            if let Some(document) = self.documents.get_mut(&content.document.uri) {
                document.change(content.changes, content.document.version, units);
                self.text_changed(&content.document.uri);
            }
        }
        // Cells that moved, or ceased to be code.
        let open = |(uri, _): &&(Uri, bool)| self.documents.get(uri).is_some();
        let one = self.documents.notebooks.get(&name).and_then(|it| it.cells.iter().find(open));
        if let Some((uri, _)) = one.cloned() {
            self.text_changed(&uri);
        }
    }

    pub(crate) fn notebook_closed(&mut self, params: DidCloseNotebookDocumentParams) {
        self.documents.notebooks.remove(params.notebook_document.uri.as_str());
        for cell in params.cell_text_documents {
            self.close(&cell.uri);
        }
    }

    /// Takes the texts of cells of a notebook.
    fn open_cells(&mut self, notebook: &str, texts: Vec<TextDocumentItem>) {
        let Some(of) = self.documents.notebooks.get(notebook).cloned() else { return };
        let uris: Vec<Uri> = texts.iter().map(|item| item.uri.clone()).collect();
        for item in texts {
            self.documents.open(Document {
                uri: item.uri,
                real: of.real.clone(),
                path: Arc::clone(&of.path),
                kind: Some(FileKind::Notebook),
                version: item.version,
                project: of.project.clone(),
                cell: Some(0),
                lines: Arc::new(LineIndex::new(&item.text)),
                text: item.text.into(),
            });
        }
        self.documents.count_cells(notebook);
        for uri in uris {
            self.text_changed(&uri);
        }
    }
}

/// The address of a cell, and whether it holds code.
fn cell(cell: NotebookCell) -> (Uri, bool) {
    (cell.document, cell.kind == NotebookCellKind::Code)
}
