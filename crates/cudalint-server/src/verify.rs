//! *Verify on GPU*: the program's own `verify` in a process of its own, with progress, until it is done or not wanted any more.

use crate::session::Session;
use crossbeam_channel::Sender;
use cudalint_findings::TOOL;
use lsp_server::{ErrorCode, RequestId, Response};
use lsp_types::Uri;
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

/// The command.
pub const VERIFY: &str = "cudalint.verify";

/// What is to be verified: the findings in a kernel, or all of a document.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Wanted {
    pub uri: Uri,
    /// The kernel's name, as its code lens has it.
    #[serde(default)]
    pub kernel: Option<String>,
}

/// A run that goes on.
#[derive(Debug)]
pub struct Verifying {
    id: RequestId,
    /// The name of its progress, where the editor shows any.
    token: Option<String>,
    child: Arc<Mutex<Child>>,
    cancelled: bool,
}

/// A run that is over.
#[derive(Debug)]
pub struct Verified {
    id: RequestId,
    /// What it printed and what it said of trouble.
    output: String,
    trouble: String,
}

impl Session {
    /// Starts a run.
    ///
    /// # Errors
    /// With words, when it cannot be started or there is nothing to verify.
    pub(crate) fn verify(&mut self, id: &RequestId, wanted: &Wanted) -> Result<(), String> {
        let Some(document) = self.documents.get(&wanted.uri) else { return Err("the document is not open".to_owned()) };
        let Some(results) = self.projects.get(&document.project).and_then(|project| project.current()) else {
            return Err("the newest text has not been linted yet".to_owned());
        };
        // What runs is what is on the disk.
        if let Some(unsaved) = self.documents.iter().find(|it| it.project == document.project && !is_saved(it)) {
            return Err(format!("`{}` has to be saved first: what is on the disk runs", unsaved.path));
        }
        let kernels = || results.facts.iter().flat_map(|facts| &facts.kernels);
        let body = match &wanted.kernel {
            None => 0..usize::MAX,
            Some(name) => match kernels().find(|it| it.name == *name && it.place.path == document.path) {
                Some(kernel) => kernel.body.clone(),
                None => return Err(format!("there is no kernel `{name}` any more")),
            },
        };
        let inside = |finding: &&cudalint_findings::Finding| {
            finding.place.path == document.path && body.contains(&finding.place.range.start)
        };
        let only: Vec<&str> = results.findings.iter().filter(inside).map(|it| it.fingerprint.as_str()).collect();
        if only.is_empty() {
            let of = wanted.kernel.as_ref().map_or_else(|| "this document".to_owned(), |name| format!("`{name}`"));
            return Err(format!("there is nothing to verify: no finding in {of}"));
        }
        let title = wanted.kernel.as_ref().map_or_else(|| "Verify".to_owned(), |name| format!("Verify `{name}`"));
        let child = start(&document.project, &document.path, &only)?;
        let token = self.client.shows_progress.then(|| format!("verify-{id}"));
        if let Some(token) = token.clone() {
            self.ask("window/workDoneProgress/create", json!({ "token": token }));
            let value = json!({ "kind": "begin", "title": title, "message": "on a GPU", "cancellable": true });
            self.notify("$/progress", json!({ "token": token, "value": value }));
        }
        let child = watch(id.clone(), child, self.verified.clone())?;
        self.verifying.push(Verifying { id: id.clone(), token, child, cancelled: false });
        Ok(())
    }

    /// Ends a run that nobody wants any more; it is answered when it is over.
    pub(crate) fn cancel_verifying(&mut self, is_meant: impl Fn(&RequestId, Option<&str>) -> bool) {
        for run in self.verifying.iter_mut().filter(|run| is_meant(&run.id, run.token.as_deref())) {
            run.cancelled = true;
            // Its programs end with it.
            if let Ok(mut child) = run.child.lock() {
                let _ = child.kill();
            }
        }
    }

    /// Answers for a run that is over.
    pub(crate) fn take_verified(&mut self, over: &Verified) {
        let Some(index) = self.verifying.iter().position(|run| run.id == over.id) else { return };
        let run = self.verifying.remove(index);
        let answer = if run.cancelled {
            Err((ErrorCode::RequestCanceled, "cancelled".to_owned()))
        } else {
            outcome(over).map_err(|said| (ErrorCode::RequestFailed, said))
        };
        let words = match &answer {
            Ok(value) => value["message"].as_str().unwrap_or_default().to_owned(),
            Err((_, said)) => said.clone(),
        };
        if let Some(token) = &run.token {
            let value = json!({ "kind": "end", "message": words });
            self.notify("$/progress", json!({ "token": token, "value": value }));
        }
        if answer.is_ok() {
            self.notify("window/showMessage", json!({ "type": 3, "message": words }));
        }
        self.send(match answer {
            Ok(value) => Response::new_ok(run.id.clone(), value).into(),
            Err((code, said)) => Response::new_err(run.id.clone(), code as i32, said).into(),
        });
    }
}

impl Drop for Verifying {
    fn drop(&mut self) {
        if let Ok(mut child) = self.child.lock() {
            let _ = child.kill();
        }
    }
}

/// Whether the disk has the text of a document.
fn is_saved(document: &crate::documents::Document) -> bool {
    document.kind.is_none()
        || document.cell.is_none()
            && cudalint_files::read_file(&document.real).is_ok_and(|bytes| bytes == document.text.as_bytes())
}

/// Starts the program itself.
fn start(folder: &Path, path: &str, only: &[&str]) -> Result<Child, String> {
    let program = std::env::current_exe().map_err(|error| format!("the program is not found: {error}"))?;
    Command::new(program)
        .args(["verify", path, "--output-format", "json", "--quiet", "--only", &only.join(",")])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("`verify` cannot be started: {error}"))
}

/// Reads what it prints until it ends.
fn watch(id: RequestId, mut child: Child, outbox: Sender<Verified>) -> Result<Arc<Mutex<Child>>, String> {
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let child = Arc::new(Mutex::new(child));
    let ours = Arc::clone(&child);
    let started = std::thread::Builder::new().name("verify".to_owned()).spawn(move || {
        let (output, trouble) = std::thread::scope(|scope| {
            let trouble = scope.spawn(|| all_of(stderr));
            (all_of(stdout), trouble.join().unwrap_or_default())
        });
        if let Ok(mut child) = ours.lock() {
            let _ = child.wait();
        }
        let _ = outbox.send(Verified { id, output, trouble });
    });
    started.map_err(|error| format!("a thread cannot be started: {error}"))?;
    Ok(child)
}

/// What comes out of a pipe until it ends or breaks.
fn all_of(pipe: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        let _ = pipe.read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What a run found, as data and in a sentence.
fn outcome(over: &Verified) -> Result<Value, String> {
    let document: Value = serde_json::from_str(&over.output).map_err(|_| {
        let said = over.trouble.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
        format!("`verify` came to nothing: {said}")
    })?;
    let empty = Vec::new();
    let findings = document["findings"].as_array().unwrap_or(&empty);
    let verdicts: Vec<Value> = findings
        .iter()
        .map(|finding| {
            json!({
                "fingerprint": finding["fingerprint"],
                "rule": finding["rule"],
                "verdict": finding["verification"]["verdict"],
                "reason": finding["verification"]["reason"],
            })
        })
        .collect();
    let mut counts: Vec<(String, usize)> = Vec::new();
    for verdict in verdicts.iter().filter_map(|it| it["verdict"].as_str()) {
        match counts.iter_mut().find(|(known, _)| known == verdict) {
            Some((_, count)) => *count += 1,
            None => counts.push((verdict.to_owned(), 1)),
        }
    }
    let words: Vec<String> = counts.iter().map(|(verdict, count)| format!("{count} {verdict}")).collect();
    let message =
        format!("{TOOL}: {}", if words.is_empty() { "nothing was verified".to_owned() } else { words.join(", ") });
    Ok(json!({ "message": message, "findings": verdicts }))
}
