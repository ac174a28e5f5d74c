//! Where cudalint itself fails, one answer is lost, and the session goes on.

#![allow(clippy::unwrap_used, clippy::panic)]

use cudalint_engine::rule::{Declaration, Group, Method};
use cudalint_engine::{Engine, Rule};
use cudalint_server::{Program, serve_on};
use lsp_server::{Connection, Message, Notification, Request, Response};
use serde_json::{Value, json};
use std::time::Duration;

/// How long an answer may take on a machine that has much else to do.
const LIMIT: Duration = Duration::from_secs(240);

static FAILS: Rule =
    Declaration::new("fails", Group::Correctness, Method::None).facts(|_, _| panic!("this rule always fails"));

static RULES: [&Rule; 1] = [&FAILS];

/// Sends a request and waits for its answer, which is the next message.
fn ask(editor: &Connection, id: i32, method: &str, params: Value) -> Response {
    editor.sender.send(Request { id: id.into(), method: method.to_owned(), params }.into()).unwrap();
    match editor.receiver.recv_timeout(LIMIT).unwrap() {
        Message::Response(response) => response,
        other => panic!("{other:?}"),
    }
}

fn tell(editor: &Connection, method: &str, params: Value) {
    editor.sender.send(Notification { method: method.to_owned(), params }.into()).unwrap();
}

#[test]
fn a_failure_costs_one_answer() {
    let folder = tempfile::tempdir().unwrap();
    let uri = format!("file://{}", folder.path().join("a.cu").display());
    let (server, editor) = Connection::memory();
    let program = Program { engine: Engine::new(&RULES), page: |_, _| panic!("there is no page") };
    let serving = std::thread::spawn(move || serve_on(server, program));
    let capabilities = json!({ "textDocument": { "diagnostic": {} } });
    ask(&editor, 1, "initialize", json!({ "capabilities": capabilities })).response_result.unwrap();
    tell(&editor, "initialized", json!({}));

    let explain = json!({ "command": "cudalint.explain", "arguments": [{ "rule": "fails" }] });
    let failed = ask(&editor, 2, "workspace/executeCommand", explain).response_result.unwrap_err();
    assert!(failed.code == -32603 && failed.message.contains("there is no page"), "{failed:?}");

    // A rule that fails is a fault of its file alone.
    let text = "__global__ void k() {}\n";
    let item = json!({ "uri": uri, "languageId": "cuda-cpp", "version": 1, "text": text });
    tell(&editor, "textDocument/didOpen", json!({ "textDocument": item }));
    let pull = json!({ "textDocument": { "uri": uri } });
    let report = ask(&editor, 3, "textDocument/diagnostic", pull).response_result.unwrap();
    let said = report["items"][0]["message"].as_str().unwrap_or_default();
    assert!(said.contains("internal fault") && said.contains("this rule always fails"), "{report}");

    ask(&editor, 4, "shutdown", Value::Null).response_result.unwrap();
    tell(&editor, "exit", Value::Null);
    serving.join().unwrap().unwrap();
}
