//! Notebooks, whose cells are documents of their own.

use crate::common::Sandbox;
use crate::editor::{codes, pulling};
use crate::started;
use serde_json::{Value, json};

const KERNEL: &str =
    "import numpy as np\nfrom numba import cuda\n\n@cuda.jit\ndef k(a):\n    a[cuda.threadIdx.x] = 1\n";
const LAUNCH: &str = "d = cuda.to_device(np.zeros(4))\nk[1, 8](d)\n";

fn text(uri: &str, version: i32, text: &str) -> Value {
    json!({ "uri": uri, "languageId": "python", "version": version, "text": text })
}

#[test]
fn findings_are_told_at_their_cells() {
    let sandbox = Sandbox::new(&[]);
    let mut editor = started(&sandbox, pulling());
    assert!(editor.capabilities["notebookDocumentSync"].is_object());
    let notebook = editor.uri("a.ipynb");
    let cells = ["words", "one", "two"].map(|name| format!("notebook-cell:{notebook}#{name}"));
    let kinds = [1, 2, 2];
    let listed: Vec<Value> =
        cells.iter().zip(kinds).map(|(uri, kind)| json!({ "kind": kind, "document": uri })).collect();
    editor.notify(
        "notebookDocument/didOpen",
        json!({
            "notebookDocument": { "uri": notebook, "notebookType": "jupyter-notebook", "version": 1, "cells": listed },
            "cellTextDocuments": [text(&cells[1], 1, KERNEL), text(&cells[2], 1, LAUNCH)],
        }),
    );
    let pull = |uri: &str| json!({ "textDocument": { "uri": uri } });
    let first = editor.request("textDocument/diagnostic", pull(&cells[1]));
    assert_eq!(codes(&first["items"]), ["missing-bounds-guard"]);
    assert_eq!(first["items"][0]["range"]["start"], json!({ "line": 5, "character": 4 }));
    let places = first["items"][0]["relatedInformation"].as_array().unwrap();
    assert!(places.iter().any(|place| place["location"]["uri"] == cells[2]), "{places:?}");
    assert_eq!(editor.request("textDocument/diagnostic", pull(&cells[2]))["items"], json!([]));
    // What is known of a kernel and of its launch is told in their cells.
    let mut told = |uri: &str, line: u32, character: u32| {
        let at = json!({ "line": line, "character": character });
        editor.request("textDocument/hover", json!({ "textDocument": { "uri": uri }, "position": at }))
    };
    let kernel = told(&cells[1], 4, 4);
    let text_of = |hover: &Value| hover["contents"]["value"].as_str().unwrap_or_default().to_owned();
    assert!(text_of(&kernel).starts_with("Kernel `k`: 1 launch in sight"), "{kernel}");
    assert_eq!(kernel["range"]["start"], json!({ "line": 4, "character": 4 }));
    let launch = told(&cells[2], 1, 3);
    assert!(text_of(&launch).starts_with("Launch of `k`, executed: facts"), "{launch}");
    assert!(text_of(&launch).contains("1 block of 8 threads: 8 threads in all"), "{launch}");
    assert_eq!(launch["range"]["start"]["line"], 1);
    assert!(text_of(&told(&cells[1], 5, 6)).starts_with("Access `a[cuda.threadIdx.x]`"));
    assert_eq!(told(&cells[2], 0, 0), Value::Null);
    // A comment of a cell keeps it quiet.
    let at = json!({ "line": 5, "character": 4 });
    let actions = editor.request(
        "textDocument/codeAction",
        json!({
            "textDocument": { "uri": cells[1] },
            "range": { "start": at, "end": at },
            "context": { "diagnostics": [] },
        }),
    );
    let quiet = actions.as_array().unwrap().iter().find(|it| it["title"].as_str().unwrap().contains("quiet")).unwrap();
    let change = &quiet["edit"]["documentChanges"][0];
    assert_eq!(change["textDocument"]["uri"], cells[1]);
    assert_eq!(change["edits"][0]["range"]["start"], json!({ "line": 5, "character": 0 }));
    // An edit of one cell is told at the other.
    let edit = json!({ "start": { "line": 1, "character": 5 }, "end": { "line": 1, "character": 6 } });
    editor.notify(
        "notebookDocument/didChange",
        json!({
            "notebookDocument": { "uri": notebook, "version": 2 },
            "change": { "cells": { "textContent": [{
                "document": { "uri": cells[2], "version": 2 },
                "changes": [{ "range": edit, "text": "4" }],
            }] } },
        }),
    );
    assert_eq!(editor.request("textDocument/diagnostic", pull(&cells[1]))["items"], json!([]));
    // A cell in front: what is wrong in it is told there, and the others have moved.
    let new = format!("notebook-cell:{notebook}#new");
    editor.notify(
        "notebookDocument/didChange",
        json!({
            "notebookDocument": { "uri": notebook, "version": 3 },
            "change": { "cells": { "structure": {
                "array": { "start": 3, "deleteCount": 0, "cells": [{ "kind": 2, "document": new }] },
                "didOpen": [text(&new, 1, "k[0, 4](d)\n")],
            } } },
        }),
    );
    assert_eq!(codes(&editor.request("textDocument/diagnostic", pull(&new))["items"]), ["empty-grid"]);
    editor.notify(
        "notebookDocument/didClose",
        json!({
            "notebookDocument": { "uri": notebook },
            "cellTextDocuments": [{ "uri": cells[1] }, { "uri": cells[2] }, { "uri": new }],
        }),
    );
    assert_eq!(editor.request("textDocument/diagnostic", pull(&new))["items"], json!([]));
    editor.end();
}
