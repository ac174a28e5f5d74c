//! An editor as tests play it: it speaks with the real program over its standard input and output, and every message of the
//! server has to be read.

// Messages are written where they are sent, with `json!`.
#![allow(dead_code, clippy::needless_pass_by_value)]

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// How long a message may take on a machine that has much else to do.
const LIMIT: Duration = Duration::from_secs(240);

pub struct Editor {
    child: Child,
    stdin: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// What came while something else was waited for.
    unread: VecDeque<Value>,
    asked: i64,
    pub folder: PathBuf,
    /// What the server said that it can do.
    pub capabilities: Value,
}

/// What an editor that asks for diagnostics says that it can do.
pub fn pulling() -> Value {
    json!({
        "general": { "positionEncodings": ["utf-16"] },
        "textDocument": {
            "diagnostic": { "dynamicRegistration": false, "relatedDocumentSupport": false },
            "publishDiagnostics": {
                "relatedInformation": true,
                "codeDescriptionSupport": true,
                "dataSupport": true,
                "tagSupport": { "valueSet": [1, 2] },
            },
            "codeAction": {
                "codeActionLiteralSupport": { "codeActionKind": { "valueSet": ["quickfix", "source.fixAll"] } },
                "isPreferredSupport": true,
            },
        },
        "workspace": { "workspaceEdit": { "documentChanges": true }, "diagnostics": { "refreshSupport": true } },
    })
}

/// What an editor that waits for diagnostics says.
pub fn pushed() -> Value {
    let mut capabilities = pulling();
    capabilities["textDocument"]["diagnostic"].take();
    without_nulls(capabilities)
}

fn without_nulls(mut value: Value) -> Value {
    if let Some(map) = value.as_object_mut() {
        let all: Vec<(String, Value)> = std::mem::take(map).into_iter().collect();
        map.extend(all.into_iter().filter(|(_, it)| !it.is_null()).map(|(key, it)| (key, without_nulls(it))));
    }
    value
}

impl Editor {
    /// Starts the server and says hello.
    pub fn start(folder: &Path, capabilities: Value) -> Self {
        let folders = json!([{ "uri": uri_of(folder), "name": "folder" }]);
        Self::start_with(folder, json!({ "capabilities": capabilities, "workspaceFolders": folders }))
    }

    /// Starts the server with these parameters.
    pub fn start_with(folder: &Path, mut params: Value) -> Self {
        let mut child = Command::new(program())
            .arg("server")
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = child.stdout.take().unwrap();
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut reader = BufReader::new(stdout);
            while let Some(message) = read_message(&mut reader) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut editor = Self {
            stdin: child.stdin.take(),
            child,
            messages,
            unread: VecDeque::new(),
            asked: 0,
            folder: folder.to_owned(),
            capabilities: Value::Null,
        };
        params["processId"] = Value::Null;
        let answer = editor.request("initialize", params);
        editor.capabilities = answer["capabilities"].clone();
        assert_eq!(answer["serverInfo"]["name"], "cudalint");
        editor.notify("initialized", json!({}));
        editor
    }

    pub fn uri(&self, name: &str) -> String {
        uri_of(&self.folder.join(name))
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a message as it is.
    pub fn send(&mut self, message: &Value) {
        let text = message.to_string();
        let stdin = self.stdin.as_mut().unwrap();
        write!(stdin, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        stdin.flush().unwrap();
    }

    pub fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request and gives its id.
    pub fn ask(&mut self, method: &str, params: Value) -> i64 {
        self.asked += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": params }));
        self.asked
    }

    /// The answer to a request, with its error where it is one.
    pub fn answer(&mut self, id: i64) -> Value {
        self.wait(&format!("the answer to request {id}"), |message| {
            message.get("method").is_none() && message["id"] == id
        })
    }

    /// Sends a request and gives its result.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        let answer = self.answer(id);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// The parameters of the next notification of this kind.
    pub fn notification(&mut self, method: &str) -> Value {
        self.wait(method, |message| message["method"] == method && message.get("id").is_none())["params"].clone()
    }

    /// Answers the next request of this kind from the server; its parameters.
    pub fn serve(&mut self, method: &str, result: &Value) -> Value {
        let request = self.wait(method, |message| message["method"] == method && message.get("id").is_some());
        self.send(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }));
        request["params"].clone()
    }

    fn wait(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(index) = self.unread.iter().position(&wanted) {
            return self.unread.remove(index).unwrap();
        }
        loop {
            let message = self
                .messages
                .recv_timeout(LIMIT)
                .unwrap_or_else(|error| panic!("{what} does not come ({error}); what came: {:?}", self.unread));
            if wanted(&message) {
                return message;
            }
            self.unread.push_back(message);
        }
    }

    pub fn open(&mut self, name: &str, text: &str) {
        let uri = self.uri(name);
        let item = json!({ "uri": uri, "languageId": "cuda-cpp", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": item }));
    }

    /// Replaces a range, from line and character to line and character.
    pub fn edit(&mut self, name: &str, version: i32, [l1, c1, l2, c2]: [u32; 4], text: &str) {
        let range = json!({ "start": { "line": l1, "character": c1 }, "end": { "line": l2, "character": c2 } });
        let params = json!({
            "textDocument": { "uri": self.uri(name), "version": version },
            "contentChanges": [{ "range": range, "text": text }],
        });
        self.notify("textDocument/didChange", params);
    }

    pub fn replace(&mut self, name: &str, version: i32, text: &str) {
        let params = json!({
            "textDocument": { "uri": self.uri(name), "version": version },
            "contentChanges": [{ "text": text }],
        });
        self.notify("textDocument/didChange", params);
    }

    pub fn close(&mut self, name: &str) {
        let uri = self.uri(name);
        self.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    }

    /// Asks for the diagnostics of a document.
    pub fn pull(&mut self, name: &str, known: Option<&str>) -> Value {
        let mut params = json!({ "textDocument": { "uri": self.uri(name) } });
        if let Some(known) = known {
            params["previousResultId"] = known.into();
        }
        let report = self.request("textDocument/diagnostic", params);
        // A server that was done before it was asked had to say so; this was the asking.
        let refresh = "workspace/diagnostic/refresh";
        while self.unread.iter().any(|message| message["method"] == refresh) {
            self.serve(refresh, &Value::Null);
        }
        report
    }

    /// The next diagnostics that the server sends for a document.
    pub fn published(&mut self, name: &str) -> Value {
        let uri = self.uri(name);
        let what = format!("diagnostics of {name}");
        let wanted =
            |message: &Value| message["method"] == "textDocument/publishDiagnostics" && message["params"]["uri"] == uri;
        self.wait(&what, wanted)["params"].clone()
    }

    /// The file of a folder has changed on the disk.
    pub fn watched(&mut self, name: &str) {
        let uri = self.uri(name);
        self.notify("workspace/didChangeWatchedFiles", json!({ "changes": [{ "uri": uri, "type": 2 }] }));
    }

    /// Says goodbye; nothing may be left unread.
    pub fn end(mut self) {
        let result = self.request("shutdown", Value::Null);
        assert_eq!(result, Value::Null);
        self.notify("exit", Value::Null);
        self.stdin.take();
        assert!(self.child.wait().unwrap().success());
        let mut unread: Vec<Value> = self.unread.drain(..).collect();
        unread.extend(self.messages.try_iter());
        assert!(unread.is_empty(), "messages that nobody read: {unread:?}");
    }

    /// Goes away without a word; the server's exit code.
    pub fn vanish(mut self) -> Option<i32> {
        self.stdin.take();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        self.stdin.take();
        let over = self.child.try_wait().ok().flatten().is_some();
        if !over {
            let _ = self.child.kill();
            let _ = self.child.wait();
            assert!(std::thread::panicking(), "a session has to end with `end` or `vanish`");
        }
    }
}

fn read_message(reader: &mut BufReader<std::process::ChildStdout>) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim();
        if line.is_empty() {
            break;
        }
        if let Some(count) = line.strip_prefix("Content-Length: ") {
            length = count.parse().ok()?;
        }
    }
    let mut bytes = vec![0; length];
    reader.read_exact(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// The address of a path of ASCII.
pub fn uri_of(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// The rules of diagnostics, in order.
pub fn codes(diagnostics: &Value) -> Vec<String> {
    let all = diagnostics.as_array().into_iter().flatten();
    all.map(|diagnostic| diagnostic["code"].as_str().unwrap_or_default().to_owned()).collect()
}

/// The program of this build, or the one that `CUDALINT_PROGRAM` names: one for release, for sessions that take long.
fn program() -> std::ffi::OsString {
    std::env::var_os("CUDALINT_PROGRAM").unwrap_or_else(|| env!("CARGO_BIN_EXE_cudalint").into())
}
