//! Findings as the editor's diagnostics.

use crate::client::Client;
use crate::documents::{Document, Documents};
use crate::worker::Results;
use cudalint_findings::format::lsp::{self, Addresses, Diagnostic};
use cudalint_findings::{Place, RULES_URL, Units};
use serde_json::{Value, json};
use std::hash::{Hash as _, Hasher as _};

/// How places are told to this editor: documents that it holds have the address that it gave them.
pub struct Spelling<'a> {
    pub documents: &'a Documents,
    pub client: &'a Client,
}

impl Addresses for Spelling<'_> {
    fn uri(&self, path: &str, cell: Option<u32>) -> String {
        match self.documents.of_path(path, cell) {
            Some(document) => document.uri.as_str().to_owned(),
            None => crate::uri::of_path(path),
        }
    }

    fn units(&self) -> Units {
        self.client.units
    }

    fn rules_url(&self) -> &str {
        RULES_URL
    }
}

/// The diagnostics of a document.
pub fn of_document(results: &Results, document: &Document, spelling: &Spelling<'_>) -> Vec<Diagnostic> {
    let mut all: Vec<Diagnostic> = results
        .findings
        .iter()
        .filter(|finding| is_in(&finding.place, document, results))
        .map(|finding| lsp::diagnostic(finding, &results.sources, spelling))
        .collect();
    if spelling.documents.is_first(document) {
        let here = results.incomplete.iter().filter(|entry| *entry.path == *document.path);
        all.extend(here.map(|entry| lsp::incomplete(&entry.reason)));
        all.extend(results.failed.iter().map(|reason| lsp::incomplete(reason)));
    }
    for diagnostic in &mut all {
        as_understood(diagnostic, spelling.client);
    }
    all
}

/// Whether a place is in a document: in its file, and in its cell where it is one of a notebook.
pub fn is_in(place: &Place, document: &Document, results: &Results) -> bool {
    place.path == document.path && (document.cell.is_none() || results.sources.start(place).cell == document.cell)
}

/// Leaves out what the editor does not know.
fn as_understood(diagnostic: &mut Diagnostic, client: &Client) {
    if !client.shows_related {
        for place in diagnostic.related_information.drain(..) {
            diagnostic.message.push_str("\n- ");
            diagnostic.message.push_str(&place.message);
        }
    }
    if !client.shows_code_description {
        diagnostic.code_description = None;
    }
    if !client.shows_tags {
        diagnostic.tags.clear();
    }
    if !client.keeps_data {
        diagnostic.data = None;
    }
}

/// A name for diagnostics: the same ones have the same.
pub fn identity(diagnostics: &[Diagnostic]) -> String {
    let mut hasher = rustc_hash::FxHasher::default();
    serde_json::to_string(diagnostics).unwrap_or_default().hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// The answer to who asks for diagnostics and says what it has.
pub fn report(diagnostics: &[Diagnostic], known: Option<&str>) -> (String, Value) {
    let identity = identity(diagnostics);
    let value = if known == Some(identity.as_str()) {
        json!({ "kind": "unchanged", "resultId": identity })
    } else {
        json!({ "kind": "full", "resultId": identity, "items": diagnostics })
    };
    (identity, value)
}
