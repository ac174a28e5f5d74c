//! Whole sessions of editors with the real program.

#![allow(clippy::unwrap_used, clippy::panic)]

mod about_findings;
#[path = "../common/mod.rs"]
mod common;
mod editor;
mod hints;
mod notebooks;
mod random_edits;

use common::{EMPTY_GRID, Sandbox};
use editor::{Editor, codes, pulling, pushed, uri_of};
use serde_json::{Value, json};

/// A folder by its real path, as servers name files.
fn real(sandbox: &Sandbox) -> std::path::PathBuf {
    std::fs::canonicalize(sandbox.path()).unwrap()
}

fn started(sandbox: &Sandbox, capabilities: Value) -> Editor {
    Editor::start(&real(sandbox), capabilities)
}

#[test]
fn diagnostics_are_sent_to_who_does_not_ask_and_taken_back() {
    let sandbox = Sandbox::new(&[("a.cu", EMPTY_GRID)]);
    let mut editor = started(&sandbox, pushed());
    assert_eq!(editor.capabilities.get("diagnosticProvider"), None);
    editor.open("a.cu", EMPTY_GRID);
    let sent = editor.published("a.cu");
    assert_eq!((codes(&sent["diagnostics"]), &sent["version"]), (vec!["empty-grid".to_owned()], &json!(1)));
    let found = &sent["diagnostics"][0];
    assert_eq!(
        found["range"],
        json!({ "start": { "line": 3, "character": 16 }, "end": { "line": 3, "character": 23 } })
    );
    assert_eq!((&found["severity"], &found["source"]), (&json!(1), &json!("cudalint")));
    assert!(found["codeDescription"]["href"].as_str().unwrap().ends_with("/empty-grid.md"));
    // The mistake goes while the file on the disk keeps it, and comes back.
    editor.edit("a.cu", 2, [3, 16, 3, 18], "64");
    let sent = editor.published("a.cu");
    assert_eq!((&sent["diagnostics"], &sent["version"]), (&json!([]), &json!(2)));
    editor.edit("a.cu", 3, [3, 16, 3, 18], "20");
    assert_eq!(codes(&editor.published("a.cu")["diagnostics"]), ["empty-grid"]);
    editor.close("a.cu");
    assert_eq!(editor.published("a.cu")["diagnostics"], json!([]));
    editor.end();
}

#[test]
fn diagnostics_are_told_to_who_asks_and_only_once() {
    let sandbox = Sandbox::new(&[("a.cu", EMPTY_GRID)]);
    let mut editor = started(&sandbox, pulling());
    assert_eq!(editor.capabilities["diagnosticProvider"]["interFileDependencies"], true);
    editor.open("a.cu", EMPTY_GRID);
    let first = editor.pull("a.cu", None);
    assert_eq!((&first["kind"], codes(&first["items"])), (&json!("full"), vec!["empty-grid".to_owned()]));
    let id = first["resultId"].as_str().unwrap();
    assert_eq!(editor.pull("a.cu", Some(id)), json!({ "kind": "unchanged", "resultId": id }));
    // An edit that changes nothing of them.
    editor.edit("a.cu", 2, [5, 0, 5, 0], "// the end\n");
    assert_eq!(editor.pull("a.cu", Some(id))["kind"], "unchanged");
    // Several edits at once, and a question at once: the answer is about the last one.
    editor.edit("a.cu", 3, [3, 16, 3, 18], "6");
    editor.edit("a.cu", 4, [3, 17, 3, 17], "4");
    let last = editor.pull("a.cu", Some(id));
    assert_eq!((&last["kind"], &last["items"]), (&json!("full"), &json!([])));
    editor.close("a.cu");
    assert_eq!(editor.pull("a.cu", None)["items"], json!([]));
    editor.end();
}

#[test]
fn characters_are_counted_as_the_editor_counts_them() {
    let text = EMPTY_GRID.replace("    increment", "    /* é😀 */ increment");
    let sandbox = Sandbox::new(&[("a.cu", &text)]);
    for (encoding, start) in [("utf-8", 29), ("utf-16", 26), ("utf-32", 25)] {
        let mut capabilities = pulling();
        capabilities["general"]["positionEncodings"] = json!(["made-up", encoding, "utf-16"]);
        let mut editor = started(&sandbox, capabilities);
        assert_eq!(editor.capabilities["positionEncoding"], encoding);
        editor.open("a.cu", &text);
        let at = |report: &Value| report["items"][0]["range"]["start"]["character"].clone();
        assert_eq!(at(&editor.pull("a.cu", None)), start, "{encoding}");
        // What stands before the call goes.
        editor.edit("a.cu", 2, [3, 4, 3, start - 12], "");
        assert_eq!(at(&editor.pull("a.cu", None)), 16, "{encoding}");
        editor.end();
    }
}

const HEADER: &str = "#pragma once\nconstexpr int BLOCKS = 1;\n";
const USER: &str = "#include \"blocks.h\"\n__global__ void k(float *p) { p[blockIdx.x] = 1; }\n\
                    cudaError_t run(float *p) {\n    k<<<BLOCKS, 32>>>(p);\n    return cudaGetLastError();\n}\n";

#[test]
fn the_unsaved_texts_of_several_documents_are_one_project() {
    let sandbox = Sandbox::new(&[("src/a.cu", USER), ("src/blocks.h", HEADER)]);
    let mut editor = started(&sandbox, pulling());
    editor.open("src/a.cu", USER);
    assert_eq!(editor.pull("src/a.cu", None)["items"], json!([]));
    editor.open("src/blocks.h", HEADER);
    editor.edit("src/blocks.h", 2, [1, 23, 1, 24], "0");
    let id = editor.pull("src/a.cu", None);
    assert_eq!(codes(&id["items"]), ["empty-grid"]);
    // Thrown away: what is on the disk counts again, and the editor is told to ask.
    editor.close("src/blocks.h");
    editor.serve("workspace/diagnostic/refresh", &Value::Null);
    assert_eq!(editor.pull("src/a.cu", None)["items"], json!([]));
    // A header that was never written.
    editor.open("src/other.h", "constexpr int BLOCKS = 0;\n");
    editor.edit("src/a.cu", 2, [0, 10, 0, 16], "other");
    assert_eq!(codes(&editor.pull("src/a.cu", None)["items"]), ["empty-grid"]);
    // And a source that was never written.
    editor.open("new.cu", EMPTY_GRID);
    assert_eq!(codes(&editor.pull("new.cu", None)["items"]), ["empty-grid"]);
    editor.end();
}

#[test]
fn what_others_change_on_the_disk_is_seen() {
    let sandbox = Sandbox::new(&[("a.cu", USER), ("blocks.h", HEADER), ("c.cu", &EMPTY_GRID.replace("20", "N"))]);
    let mut capabilities = pushed();
    capabilities["workspace"]["didChangeWatchedFiles"] = json!({ "dynamicRegistration": true });
    let mut editor = started(&sandbox, capabilities);
    let watched = editor.serve("client/registerCapability", &Value::Null);
    assert_eq!(watched["registrations"][0]["method"], "workspace/didChangeWatchedFiles");
    editor.open("a.cu", USER);
    assert_eq!(editor.published("a.cu")["diagnostics"], json!([]));
    sandbox.write("blocks.h", b"constexpr int BLOCKS = 0;\n");
    editor.watched("blocks.h");
    assert_eq!(codes(&editor.published("a.cu")["diagnostics"]), ["empty-grid"]);
    sandbox.write("cudalint.toml", b"[lint]\nignore = [\"empty-grid\"]\n");
    editor.watched("cudalint.toml");
    assert_eq!(editor.published("a.cu")["diagnostics"], json!([]));
    let command = json!([{ "directory": real(&sandbox), "file": "c.cu", "command": "nvcc -DN=20 -c c.cu" }]);
    sandbox.write("cudalint.toml", b"");
    editor.watched("cudalint.toml");
    assert_eq!(codes(&editor.published("a.cu")["diagnostics"]), ["empty-grid"]);
    editor.open("c.cu", &EMPTY_GRID.replace("20", "N"));
    assert_eq!(editor.published("c.cu")["diagnostics"], json!([]));
    sandbox.write("compile_commands.json", command.to_string().as_bytes());
    editor.watched("compile_commands.json");
    assert_eq!(codes(&editor.published("c.cu")["diagnostics"]), ["empty-grid"]);
    editor.end();
}

#[test]
fn mistakes_in_settings_are_told_where_they_are() {
    let wrong = "[lint]\nselect = [\"correctness\", \"emty-grid\"]\n";
    let sandbox = Sandbox::new(&[("cudalint.toml", wrong), ("src/a.cu", EMPTY_GRID)]);
    let mut editor = started(&sandbox, pushed());
    editor.open("src/a.cu", EMPTY_GRID);
    let told = editor.published("cudalint.toml");
    let mistake = &told["diagnostics"][0];
    assert_eq!(
        mistake["range"],
        json!({ "start": { "line": 1, "character": 25 }, "end": { "line": 1, "character": 36 } })
    );
    assert!(mistake["message"].as_str().unwrap().contains("did you mean `empty-grid`?"), "{mistake}");
    // A file that is not linted says so.
    let sent = editor.published("src/a.cu");
    assert_eq!(codes(&sent["diagnostics"]), ["incomplete"]);
    assert!(sent["diagnostics"][0]["message"].as_str().unwrap().contains("cudalint.toml:2"), "{sent}");
    // While it is edited, its own text counts.
    editor.open("cudalint.toml", wrong);
    editor.edit("cudalint.toml", 2, [0, 0, 0, 6], "[lnt]");
    assert_eq!(editor.published("cudalint.toml")["diagnostics"][0]["range"]["start"]["line"], 0);
    let right = "[lint]\nselect = [\"correctness\"]\n";
    editor.replace("cudalint.toml", 3, right);
    assert_eq!(editor.published("cudalint.toml")["diagnostics"], json!([]));
    // Saved, it holds.
    sandbox.write("cudalint.toml", right.as_bytes());
    let uri = editor.uri("cudalint.toml");
    editor.notify("textDocument/didSave", json!({ "textDocument": { "uri": uri } }));
    assert_eq!(codes(&editor.published("src/a.cu")["diagnostics"]), ["empty-grid"]);
    editor.end();
}

#[test]
fn each_folder_has_settings_of_its_own() {
    let sandbox = Sandbox::new(&[("one/a.cu", EMPTY_GRID), ("two/a.cu", EMPTY_GRID)]);
    for name in ["one", "two"] {
        std::fs::create_dir(sandbox.path().join(name).join(".git")).unwrap();
    }
    sandbox.write("two/cudalint.toml", b"[lint.levels]\nempty-grid = \"info\"\n");
    let folder = real(&sandbox);
    let mut capabilities = pulling();
    capabilities["workspace"]["configuration"] = true.into();
    let folders = ["one", "two"].map(|name| json!({ "uri": uri_of(&folder.join(name)), "name": name }));
    let params = json!({ "capabilities": capabilities, "workspaceFolders": folders });
    let mut editor = Editor::start_with(&folder, params);
    // Nothing is linted before the settings are known.
    editor.open("one/a.cu", EMPTY_GRID);
    editor.open("two/a.cu", EMPTY_GRID);
    let none = json!([null, null, null]);
    let asked = editor.serve("workspace/configuration", &none);
    assert_eq!(asked["items"][2]["scopeUri"], uri_of(&folder.join("two")));
    assert_eq!(editor.pull("one/a.cu", None)["items"][0]["severity"], 1);
    assert_eq!(editor.pull("two/a.cu", None)["items"][0]["severity"], 3);
    editor.notify("workspace/didChangeConfiguration", json!({ "settings": null }));
    editor.serve("workspace/configuration", &json!([null, { "ignore": ["empty-grid"] }, { "select": 3 }]));
    assert!(editor.notification("window/showMessage")["message"].as_str().unwrap().contains("not used"));
    assert_eq!(editor.pull("one/a.cu", None)["items"], json!([]));
    assert_eq!(editor.pull("two/a.cu", None)["items"][0]["severity"], 3);
    editor.end();
}

#[test]
fn what_is_no_source_and_what_nobody_knows_is_answered_too() {
    let sandbox = Sandbox::new(&[]);
    let mut editor = started(&sandbox, pulling());
    editor.open("notes.txt", "empty\n");
    assert_eq!(editor.pull("notes.txt", None)["items"], json!([]));
    let id = editor.ask("textDocument/made-up", json!({}));
    assert_eq!(editor.answer(id)["error"]["code"], -32601);
    let id = editor.ask("textDocument/diagnostic", json!({ "textDocument": 3 }));
    assert_eq!(editor.answer(id)["error"]["code"], -32602);
    editor.notify("textDocument/didChange", json!({ "textDocument": 3 }));
    assert!(editor.notification("window/logMessage")["message"].as_str().unwrap().contains("cannot be read"));
    editor.end();
}

#[test]
fn a_question_that_is_taken_back_is_answered_so() {
    let sandbox = Sandbox::new(&[]);
    let mut capabilities = pulling();
    capabilities["workspace"]["configuration"] = true.into();
    let mut editor = started(&sandbox, capabilities);
    editor.open("a.cu", EMPTY_GRID);
    // Nothing is linted while settings are not known, so that the question surely waits.
    let uri = editor.uri("a.cu");
    let id = editor.ask("textDocument/diagnostic", json!({ "textDocument": { "uri": uri } }));
    editor.notify("$/cancelRequest", json!({ "id": id }));
    assert_eq!(editor.answer(id)["error"]["code"], -32800);
    editor.serve("workspace/configuration", &json!([{ "enable": false }, null]));
    assert_eq!(editor.pull("a.cu", None)["items"], json!([]));
    editor.end();
}

#[test]
fn an_editor_that_goes_away_takes_the_server_with_it() {
    let sandbox = Sandbox::new(&[]);
    assert_eq!(started(&sandbox, pulling()).vanish(), Some(2));
}
