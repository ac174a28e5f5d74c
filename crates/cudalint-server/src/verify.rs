//! *Verify on GPU*: the program's own `verify` in a process of its own, with progress, until it is done or not wanted any more.

use crossbeam_channel::Sender;
use cudalint_findings::TOOL;
use lsp_server::RequestId;
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
    pub id: RequestId,
    /// The name of its progress, where the editor shows any.
    pub token: Option<String>,
    pub child: Arc<Mutex<Child>>,
    pub cancelled: bool,
}

/// A run that is over.
#[derive(Debug)]
pub struct Verified {
    pub id: RequestId,
    /// What it printed and what it said of trouble.
    output: String,
    trouble: String,
}

impl Drop for Verifying {
    fn drop(&mut self) {
        if let Ok(mut child) = self.child.lock() {
            let _ = child.kill();
        }
    }
}

/// Whether the disk has the text of a document.
pub fn is_saved(document: &crate::documents::Document) -> bool {
    document.kind.is_none()
        || document.cell.is_none()
            && cudalint_files::read_file(&document.real).is_ok_and(|bytes| bytes == document.text.as_bytes())
}

/// Starts the program itself.
pub fn start(folder: &Path, path: &str, only: &[&str]) -> Result<Child, String> {
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
pub fn watch(id: RequestId, mut child: Child, outbox: Sender<Verified>) -> Result<Arc<Mutex<Child>>, String> {
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
pub fn outcome(over: &Verified) -> Result<Value, String> {
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
