//! Mistakes in settings files, told where they are.

use crate::client::Client;
use crate::documents::Documents;
use cudalint_engine::Engine;
use cudalint_findings::{LineIndex, TOOL};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// The code of a diagnostic that says what is wrong with settings.
const CODE: &str = "settings";

/// The settings files whose mistakes were told.
#[derive(Debug, Default)]
pub struct SettingsFiles {
    /// By address, what was told.
    told: BTreeMap<String, Value>,
}

/// Whether a file may hold settings.
pub fn is_settings(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name == "cudalint.toml" || name == "pyproject.toml")
}

impl SettingsFiles {
    /// Looks at the settings files around all open documents, and at those that are open; gives what has to be told anew.
    pub fn check(&mut self, engine: &Engine, documents: &Documents, client: &Client) -> Vec<Value> {
        let mut now: BTreeMap<String, Value> = BTreeMap::new();
        let around = documents.iter().filter(|document| document.kind.is_some());
        for file in around.filter_map(|document| engine.settings_file_of(&document.real)) {
            let uri = crate::uri::of_path(&cudalint_engine::display(&file));
            if !now.contains_key(&uri)
                && !documents.iter().any(|document| document.real == file)
                && let Ok(text) = cudalint_files::read_text(&file)
            {
                now.extend(problem(engine, &file, &text, client).map(|problem| (uri, problem)));
            }
        }
        for document in documents.iter().filter(|document| is_settings(&document.real)) {
            let found = problem(engine, &document.real, &document.text, client);
            now.extend(found.map(|problem| (document.uri.as_str().to_owned(), problem)));
        }
        let gone = self.told.keys().filter(|uri| !now.contains_key(*uri)).map(|uri| (uri, json!([])));
        let fresh = now.iter().filter(|(uri, problem)| self.told.get(*uri) != Some(problem));
        let news = gone
            .chain(fresh.map(|(uri, problem)| (uri, json!([problem]))))
            .map(|(uri, diagnostics)| json!({ "uri": uri, "diagnostics": diagnostics }))
            .collect();
        self.told = now;
        news
    }
}

/// What is wrong with the text of a settings file, as a diagnostic.
fn problem(engine: &Engine, file: &Path, text: &str, client: &Client) -> Option<Value> {
    let error = engine.problem_of_settings(file, text)?;
    let lines = LineIndex::new(text);
    let place = |offset| {
        let (line, character) = lines.in_units(text, offset, client.units);
        json!({ "line": line, "character": character })
    };
    // A place without length is hard to see.
    let end =
        if error.range.is_empty() { lines.range(text, lines.line(error.range.start)).end } else { error.range.end };
    Some(json!({
        "range": { "start": place(error.range.start), "end": place(end) },
        "severity": 1,
        "code": CODE,
        "source": TOOL,
        "message": error.problem,
    }))
}
