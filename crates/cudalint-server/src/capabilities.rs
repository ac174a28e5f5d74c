//! What the server can do, told to the editor.

use crate::actions::{EXPLAIN, FIX_ALL};
use crate::client::Client;
use crate::verify::VERIFY;
use cudalint_findings::{TOOL, TOOL_VERSION, Units};
use serde_json::{Value, json};

/// Names of the files that are watched: settings, what builds say, and sources.
const WATCHED: [&str; 5] = [
    "**/cudalint.toml",
    "**/pyproject.toml",
    "**/compile_commands.json",
    "**/*.{cu,cuh,hip,c,cc,cpp,cxx,h,hh,hpp,hxx,inl,inc}",
    "**/*.{py,ipynb,md}",
];

/// The answer to `initialize`.
pub fn initialize_result(client: &Client) -> Value {
    let encoding = match client.units {
        Units::Utf8 => "utf-8",
        Units::Utf16 => "utf-16",
        Units::Utf32 => "utf-32",
    };
    let mut capabilities = json!({
        "positionEncoding": encoding,
        // Edits come as edits, not as whole texts.
        "textDocumentSync": { "openClose": true, "change": 2, "save": { "includeText": false } },
        // Cells of code; those in other languages have no Python in them.
        "notebookDocumentSync": {
            "notebookSelector": [{ "notebook": "jupyter-notebook", "cells": [{ "language": "python" }] }],
        },
        "codeActionProvider": { "codeActionKinds": ["quickfix", FIX_ALL] },
        "hoverProvider": true,
        "codeLensProvider": {},
        "inlayHintProvider": { "resolveProvider": true },
        "executeCommandProvider": { "commands": [EXPLAIN, VERIFY], "workDoneProgress": false },
        "workspace": { "workspaceFolders": { "supported": true, "changeNotifications": true } },
    });
    if client.pulls {
        capabilities["diagnosticProvider"] =
            json!({ "identifier": TOOL, "interFileDependencies": true, "workspaceDiagnostics": false });
    }
    json!({ "capabilities": capabilities, "serverInfo": { "name": TOOL, "version": TOOL_VERSION } })
}

/// What the editor is asked to watch.
pub fn watchers() -> Value {
    let watchers: Vec<Value> = WATCHED.iter().map(|glob| json!({ "globPattern": glob })).collect();
    json!({ "registrations": [{
        "id": "watched-files",
        "method": "workspace/didChangeWatchedFiles",
        "registerOptions": { "watchers": watchers },
    }] })
}
