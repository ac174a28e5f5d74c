//! What can be done about findings: fixes, a comment that keeps one quiet, its rule's page.

use crate::diagnostics::{Spelling, is_in};
use crate::documents::Document;
use crate::worker::Results;
use cudalint_engine::{Engine, ignoring};
use cudalint_findings::format::lsp::{self, Addresses as _};
use cudalint_findings::{Applicability, Edit, Finding, Fix, Place};
use lsp_types::CodeActionParams;
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

/// All safe fixes of a document at once.
pub const FIX_ALL: &str = "source.fixAll.cudalint";
/// The command that gives a rule's page.
pub const EXPLAIN: &str = "cudalint.explain";
/// What stands in a new comment where a reason is missing.
const REASON: &str = "TODO: say why";

/// Everything that an action is made from.
pub struct About<'a> {
    pub engine: &'a Engine,
    pub results: &'a Results,
    pub document: &'a Document,
    pub spelling: &'a Spelling<'a>,
}

impl About<'_> {
    /// The actions for a part of the document.
    pub fn actions(&self, params: &CodeActionParams) -> Vec<Value> {
        let only = params.context.only.as_deref();
        // A kind stands for all below it: `source` for `source.fixAll.cudalint`.
        let wanted = |kind: &str| {
            only.is_none_or(|only| {
                only.iter().any(|asked| {
                    let rest = kind.strip_prefix(asked.as_str());
                    asked.as_str().is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
                })
            })
        };
        let mut actions = Vec::new();
        if wanted("quickfix") {
            for finding in self.findings_at(params) {
                actions.extend(self.of_finding(finding));
            }
        }
        // Without being asked for, it would stand in every menu.
        if only.is_some() && wanted(FIX_ALL) {
            actions.extend(self.fix_all());
        }
        actions
    }

    /// The findings that touch the lines asked about.
    fn findings_at<'f>(&'f self, params: &CodeActionParams) -> impl Iterator<Item = &'f Finding> {
        let units = self.spelling.client.units;
        let lines = params.range.start.line..=params.range.end.line;
        self.results.findings.iter().filter(move |finding| {
            let place = &finding.place;
            is_in(place, self.document, self.results) && {
                let range = lsp::range(place, &self.results.sources, units);
                range.start.line <= *lines.end() && range.end.line >= *lines.start()
            }
        })
    }

    fn of_finding(&self, finding: &Finding) -> Vec<Value> {
        let diagnostic = lsp::diagnostic(finding, &self.results.sources, self.spelling);
        let mut actions = Vec::new();
        let fix = finding.fix.as_ref().filter(|fix| fix.applicability != Applicability::Display);
        if let Some(fix) = fix {
            let safe = fix.applicability == Applicability::Safe;
            let title = if safe { fix.message.clone() } else { format!("{} (unsafe: look at it)", fix.message) };
            if let Some(edit) = self.workspace_edit(fix.edits.iter()) {
                actions.push(json!({
                    "title": title,
                    "kind": "quickfix",
                    "diagnostics": [diagnostic],
                    "isPreferred": safe,
                    "edit": edit,
                }));
            }
        }
        let kind = self.document.kind;
        // Places in a notebook are those of the text of all its cells.
        let whole = self.results.sources.get(&self.document.path).filter(|_| self.document.cell.is_some());
        let text = whole.map_or(&*self.document.text, |source| source.text());
        let change = kind.and_then(|kind| ignoring::ignore(self.engine.rules(), kind, text, finding, REASON));
        if let Some((range, written)) = change {
            let place = Place { path: self.document.path.clone(), range };
            if let Some(edit) = self.workspace_edit(std::iter::once(&Edit { place, text: written })) {
                actions.push(json!({
                    "title": format!("Keep `{}` quiet here, with a reason", finding.rule.name),
                    "kind": "quickfix",
                    "diagnostics": [diagnostic],
                    "edit": edit,
                }));
            }
        }
        let title = format!("Explain `{}`", finding.rule.name);
        let command = json!({ "title": title, "command": EXPLAIN, "arguments": [{ "rule": finding.rule.name }] });
        actions.push(json!({ "title": title, "kind": "quickfix", "diagnostics": [diagnostic], "command": command }));
        actions
    }

    /// All safe fixes that do not touch one another.
    fn fix_all(&self) -> Option<Value> {
        let safe = |fix: &&Fix| fix.applicability == Applicability::Safe;
        let here = self.results.findings.iter().filter(|finding| is_in(&finding.place, self.document, self.results));
        let mut taken: Vec<&Edit> = Vec::new();
        for fix in here.filter_map(|finding| finding.fix.as_ref()).filter(safe) {
            let apart = |edit: &Edit, other: &Edit| {
                let (one, two) = (&edit.place.range, &other.place.range);
                edit.place.path != other.place.path || one.end < two.start || two.end < one.start
            };
            let inside = fix.edits.iter().all(|edit| edit.place.path == self.document.path);
            if inside && fix.edits.iter().all(|edit| taken.iter().all(|other| apart(edit, other))) {
                taken.extend(&fix.edits);
            }
        }
        if taken.is_empty() {
            return None;
        }
        let edit = self.workspace_edit(taken.into_iter())?;
        Some(json!({ "title": "Apply all safe fixes of cudalint", "kind": FIX_ALL, "edit": edit }))
    }

    /// Edits as the editor takes them, for the versions that they were made for.
    fn workspace_edit<'e>(&self, edits: impl Iterator<Item = &'e Edit>) -> Option<Value> {
        let mut by_file: Vec<(String, Value, Vec<Value>)> = Vec::new();
        let mut places: FxHashMap<String, usize> = FxHashMap::default();
        for edit in edits {
            let path = &*edit.place.path;
            let cell = self.results.sources.start(&edit.place).cell;
            let document = self.spelling.documents.of_path(path, cell);
            let range = match document.filter(|document| document.cell.is_none()) {
                Some(document) => json!(document.range(&edit.place.range, self.spelling.client.units)),
                None => {
                    self.results.sources.get(path)?;
                    json!(lsp::range(&edit.place, &self.results.sources, self.spelling.client.units))
                }
            };
            let uri = self.spelling.uri(path, cell);
            let change = json!({ "range": range, "newText": edit.text });
            let index = *places.entry(uri.clone()).or_insert_with(|| {
                by_file.push((uri, json!(document.map(|document| document.version)), Vec::new()));
                by_file.len() - 1
            });
            if let Some((_, _, changes)) = by_file.get_mut(index) {
                changes.push(change);
            }
        }
        Some(if self.spelling.client.takes_versions {
            let file = |(uri, version, edits): (String, Value, Vec<Value>)| json!({ "textDocument": { "uri": uri, "version": version }, "edits": edits });
            json!({ "documentChanges": by_file.into_iter().map(file).collect::<Vec<_>>() })
        } else {
            let changes: serde_json::Map<String, Value> =
                by_file.into_iter().map(|(uri, _, edits)| (uri, edits.into())).collect();
            json!({ "changes": changes })
        })
    }
}
