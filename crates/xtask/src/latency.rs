//! Measures what an editor waits for: from an edit in a long file to its diagnostics, against a parse of that file alone.

use cudalint_syntax::kinds::cuda_language;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// How often each measurement is taken; the median counts.
const ROUNDS: usize = 15;

/// Lines of the file that is edited.
const LINES: usize = 3000;

/// Times edits to a file of [`LINES`] lines, made of the CUDA C++ files below a folder, and prints what they took.
///
/// # Errors
/// When the program is missing, the folder has too little code, or the server does not answer.
pub fn run(program: &Path, folder: &Path) -> Result<(), String> {
    let text = long_text(folder)?;
    let place = std::env::temp_dir().join(format!("cudalint-latency-{}", std::process::id()));
    fs::create_dir_all(place.join(".git")).map_err(|error| error.to_string())?;
    let file = place.join("long.cu");
    let measured =
        fs::write(&file, &text).map_err(|error| error.to_string()).and_then(|()| measure(program, &file, &text));
    fs::remove_dir_all(&place).map_err(|error| error.to_string())?;
    let Measured { mut parse, mut edit, .. } = measured?;
    let (parse, edit) = (median(&mut parse), median(&mut edit));
    println!("file             {} lines, {} bytes", text.lines().count(), text.len());
    println!("parse alone      {:.1} ms (that of xtask)", parse.as_secs_f64() * 1e3);
    println!("edit to answer   {:.1} ms", edit.as_secs_f64() * 1e3);
    println!("edit / parse     {:.2}", edit.as_secs_f64() / parse.as_secs_f64());
    Ok(())
}

/// Times edits to the longest file of a project, which is read as a whole, and prints what they took. Nothing is written.
///
/// # Errors
/// When the program is missing, the project has no CUDA C++, or the server does not answer.
pub fn run_in_project(program: &Path, folder: &Path) -> Result<(), String> {
    let folder = folder.canonicalize().map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut files: Vec<PathBuf> = Vec::new();
    collect(&folder, &mut files);
    let mut texts: Vec<(PathBuf, String)> =
        files.into_iter().filter_map(|file| fs::read_to_string(&file).ok().map(|text| (file, text))).collect();
    texts.retain(|(_, text)| text.lines().count() <= LINES);
    texts.sort_by_key(|(file, text)| (std::cmp::Reverse(text.lines().count()), file.clone()));
    let (file, text) = texts.first().ok_or_else(|| format!("{}: no CUDA C++", folder.display()))?;
    let Measured { first, mut edit, .. } = measure(program, file, text)?;
    println!("file             {}, {} lines", file.display(), text.lines().count());
    println!("first answer     {:.0} ms", first.as_secs_f64() * 1e3);
    println!("edit to answer   {:.0} ms", median(&mut edit).as_secs_f64() * 1e3);
    Ok(())
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// A file of [`LINES`] lines: one that is about as long, else several, each in a namespace of its own.
fn long_text(folder: &Path) -> Result<String, String> {
    let mut files: Vec<PathBuf> = Vec::new();
    collect(folder, &mut files);
    files.sort();
    let mut text = String::new();
    let mut lines = 0;
    for file in files {
        let Ok(code) = fs::read_to_string(&file) else { continue };
        let count = code.lines().count();
        if (LINES - LINES / 10..LINES + LINES / 10).contains(&count) {
            return Ok(code);
        }
        if lines + count <= LINES {
            text.extend(["namespace part_", &lines.to_string(), " {\n", &code, "\n}\n"]);
            lines += count;
        }
    }
    if lines < LINES * 9 / 10 { Err(format!("{}: only {lines} lines of CUDA C++", folder.display())) } else { Ok(text) }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|end| end == "cu") {
            files.push(path);
        }
    }
}

/// Times of parses, of the first answer, and of answers to edits.
struct Measured {
    parse: Vec<Duration>,
    first: Duration,
    edit: Vec<Duration>,
}

fn measure(program: &Path, file: &Path, text: &str) -> Result<Measured, String> {
    let mut parses = Vec::new();
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&cuda_language()).map_err(|error| error.to_string())?;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        parser.parse(text, None).ok_or("the file is not parsed")?;
        parses.push(start.elapsed());
    }
    let mut server = Server::start(program, file.parent().unwrap_or(file))?;
    let uri = format!("file://{}", file.display());
    let item = json!({ "uri": uri, "languageId": "cuda-cpp", "version": 1, "text": text });
    let start = Instant::now();
    server.send(&json!({ "jsonrpc": "2.0", "method": "textDocument/didOpen", "params": { "textDocument": item } }))?;
    server.request("textDocument/diagnostic", &json!({ "textDocument": { "uri": uri } }))?;
    let first = start.elapsed();
    let mut edits = Vec::new();
    let middle = text.lines().count() / 2;
    for round in 0..ROUNDS {
        // A letter more in a comment of its own: what is said stays the same, what has to be looked at is all.
        let at = json!({ "line": middle, "character": 0 });
        let change =
            json!({ "range": { "start": at, "end": at }, "text": if round == 0 { "// x\n" } else { "// y\n" } });
        let document = json!({ "uri": uri, "version": round + 2 });
        let start = Instant::now();
        let params = json!({ "textDocument": document, "contentChanges": [change] });
        server.send(&json!({ "jsonrpc": "2.0", "method": "textDocument/didChange", "params": params }))?;
        server.request("textDocument/diagnostic", &json!({ "textDocument": { "uri": uri } }))?;
        edits.push(start.elapsed());
    }
    server.request("shutdown", &Value::Null)?;
    server.send(&json!({ "jsonrpc": "2.0", "method": "exit" }))?;
    server.child.wait().map_err(|error| error.to_string())?;
    Ok(Measured { parse: parses, first, edit: edits })
}

/// The server and the pipes to it.
struct Server {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    asked: u64,
}

impl Server {
    fn start(program: &Path, folder: &Path) -> Result<Self, String> {
        let mut child = Command::new(program)
            .arg("server")
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}", program.display()))?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("the server has no pipes".to_owned());
        };
        let mut server = Self { child, stdin, stdout: BufReader::new(stdout), asked: 0 };
        let capabilities = json!({ "textDocument": { "diagnostic": {} } });
        server.request("initialize", &json!({ "capabilities": capabilities }))?;
        server.send(&json!({ "jsonrpc": "2.0", "method": "initialized", "params": {} }))?;
        Ok(server)
    }

    fn send(&mut self, message: &Value) -> Result<(), String> {
        let text = message.to_string();
        write!(self.stdin, "Content-Length: {}\r\n\r\n{text}", text.len())
            .and_then(|()| self.stdin.flush())
            .map_err(|error| error.to_string())
    }

    /// Asks and waits for the answer; what else comes is thrown away.
    fn request(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        self.asked += 1;
        let id = self.asked;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        loop {
            let message = self.read()?;
            if message["id"] == id && message.get("method").is_none() {
                return Ok(message);
            }
        }
    }

    fn read(&mut self) -> Result<Value, String> {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if self.stdout.read_line(&mut line).map_err(|error| error.to_string())? == 0 {
                return Err("the server has gone".to_owned());
            }
            if line.trim().is_empty() {
                break;
            }
            if let Some(count) = line.trim().strip_prefix("Content-Length: ") {
                length = count.parse().map_err(|_| "a message without length".to_owned())?;
            }
        }
        let mut bytes = vec![0; length];
        self.stdout.read_exact(&mut bytes).map_err(|error| error.to_string())?;
        serde_json::from_slice(&bytes).map_err(|error| error.to_string())
    }
}
