//! Inlay hints: the values of subscripts, behind the brackets.

use crate::client::Client;
use crate::documents::Document;
use crate::facts::{Facts, RangeNote, values_in_words};
use crate::session::Session;
use lsp_types::{Position, Range, Uri};
use serde_json::{Value, json};
use std::path::Path;
use std::str::FromStr as _;

/// All hints of a document, in the order of their places.
pub fn of_document<'a>(
    facts: &'a Facts,
    document: &'a Document,
    client: &'a Client,
) -> impl Iterator<Item = Value> + use<'a> {
    let here = facts.text_of(document);
    let notes = facts.ranges.iter().filter(move |note| note.place.path == document.path);
    notes.filter_map(move |note| {
        let within = here.as_ref().filter(|it| it.contains(&note.place.range.end) || it.end == note.place.range.end)?;
        let at = document.position(note.place.range.end - within.start, client.units);
        let words = values_in_words(note.values.as_ref()?);
        let mut hint = json!({ "position": at, "label": words, "paddingLeft": true });
        if client.resolves_hints {
            hint["data"] = json!({ "uri": document.uri, "version": document.version, "end": note.place.range.end });
        } else {
            hint["tooltip"] = tooltip(note);
        }
        Some(hint)
    })
}

fn tooltip(note: &RangeNote) -> Value {
    let text = format!("The index over all threads, from the least to the greatest:\n\n{}", note.text);
    json!({ "kind": "markdown", "value": text })
}

/// What tells hints from others.
pub fn identity(hints: &[Value]) -> String {
    let each = |hint: &Value| format!("{}{}{}", hint["position"], hint["label"], hint["tooltip"]);
    hints.iter().map(each).collect()
}

/// Whether a hint stands in a part of the document.
pub fn is_within(hint: &Value, range: &Range) -> bool {
    let number = |name: &str| hint["position"][name].as_u64().and_then(|number| u32::try_from(number).ok());
    let at = number("line").zip(number("character")).map(|(line, character)| Position { line, character });
    at.is_some_and(|at| range.start <= at && at <= range.end)
}

impl Session {
    /// A hint with what is shown where the mouse rests on it. One of an older text stays as it is.
    pub(crate) fn resolved_hint(&self, mut hint: Value) -> Value {
        if let Some(tooltip) = self.tooltip_of(&hint["data"]) {
            hint["tooltip"] = tooltip;
        }
        hint
    }

    fn tooltip_of(&self, data: &Value) -> Option<Value> {
        let document = self.documents.get(&Uri::from_str(data["uri"].as_str()?).ok()?)?;
        let results = self.projects.get(&document.project)?.current()?;
        let end = usize::try_from(data["end"].as_u64()?).ok()?;
        let mut notes = results.facts.as_ref()?.ranges.iter();
        let note = notes.find(|note| note.place.path == document.path && note.place.range.end == end);
        note.filter(|_| data["version"] == document.version).map(tooltip)
    }

    /// Tells the editor to ask again where hints are others although the text is what it was: another file has changed.
    pub(crate) fn refresh_hints(&mut self, anchor: &Path) {
        let results = self.projects.get(anchor).and_then(|project| project.current().cloned());
        let Some(facts) = results.as_ref().and_then(|results| results.facts.as_ref()) else { return };
        let mut outdated = Vec::new();
        for document in self.documents.iter().filter(|document| document.project == anchor) {
            let asks = self.waiting.iter().any(|waiting| waiting.hints(&document.uri));
            let Some((version, sent)) = self.hinted.get(document.uri.as_str()).filter(|_| !asks) else { continue };
            let all: Vec<Value> = of_document(facts, document, &self.client).collect();
            let identity = identity(&all);
            if *version == document.version && *sent != identity {
                outdated.push((document.uri.as_str().to_owned(), (document.version, identity)));
            }
        }
        if !outdated.is_empty() {
            // Once is enough, whether it asks or not.
            self.hinted.extend(outdated);
            self.ask_for_hints_again();
        }
    }

    /// The addresses of documents whose user wants hints.
    pub(crate) fn hinted_documents(&self) -> Vec<String> {
        let wanted = |it: &&Document| self.settings_for(&it.real).0.inlay_hints.index_range;
        let mut all: Vec<String> =
            self.documents.iter().filter(wanted).map(|document| document.uri.as_str().to_owned()).collect();
        all.sort_unstable();
        all
    }

    /// Tells the editor to ask for hints again, if it wants to be told.
    pub(crate) fn ask_for_hints_again(&mut self) {
        if self.client.refreshes_hints {
            self.ask("workspace/inlayHint/refresh", Value::Null);
        }
    }
}
