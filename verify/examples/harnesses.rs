//! Writes the programs for each finding of a findings document into a folder, without running anything: for looking at
//! harnesses and compiling them by hand.
//!
//! `cargo run -p cudalint-verify --example harnesses -- FINDINGS.json OUT [ROOT]`
//! `cargo run -p cudalint-verify --example harnesses -- --drive OUT FILE...`
//!
//! The second form writes for each stretch of each file the program that runs all of it.
//!
//! A file `OUT/index.json` lists them, one entry a candidate.
#![allow(clippy::print_stderr, missing_docs)]

use camino::{Utf8Path, Utf8PathBuf};
use cudalint_findings::model::Document;
use cudalint_verify::harness;
use cudalint_verify::scenario::{Candidate, Program, ScenarioFile};
use cudalint_verify::subject::Subject;
use serde_json::json;
use std::collections::BTreeMap;
use std::process::ExitCode;

fn main() -> ExitCode {
    match run(&std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<(), String> {
    if let [flag, out, files @ ..] = arguments
        && flag == "--drive"
    {
        return drive(Utf8Path::new(out), files);
    }
    let [findings, out, rest @ ..] = arguments else { return Err("FINDINGS.json OUT [ROOT]".to_owned()) };
    let out = Utf8Path::new(out);
    let root = Utf8PathBuf::from(rest.first().map_or(".", String::as_str));
    let say = |error: std::io::Error| error.to_string();
    let text = std::fs::read_to_string(findings).map_err(say)?;
    let document: Document = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let mut subjects: BTreeMap<String, Result<Subject, String>> = BTreeMap::new();
    let mut index = Vec::new();
    for (number, finding) in document.findings.iter().enumerate() {
        let subject = subjects.entry(finding.path.clone()).or_insert_with(|| Subject::read(&root, &finding.path, &[]));
        let candidates = match subject {
            Ok(subject) => harness::candidates(finding, subject),
            Err(reason) => vec![Err(reason.clone())],
        };
        for (at, candidate) in candidates.iter().enumerate() {
            let folder = out.join(format!("{number:04}-{}-{at}", finding.rule));
            let mut entry = describe(candidate);
            write(candidate, &folder).map_err(say)?;
            if let Some(entry) = entry.as_object_mut() {
                entry.insert("folder".to_owned(), json!(folder));
                entry.insert("finding".to_owned(), json!(number));
                entry.insert("rule".to_owned(), json!(finding.rule));
                entry.insert("method".to_owned(), json!(finding.verification.method));
                entry.insert("place".to_owned(), json!(format!("{}:{}", finding.path, finding.range.start.line)));
            }
            index.push(entry);
        }
    }
    std::fs::create_dir_all(out).map_err(say)?;
    std::fs::write(out.join("index.json"), format!("{:#}", json!(index))).map_err(say)
}

/// Writes a program for each stretch of each file.
fn drive(out: &Utf8Path, files: &[String]) -> Result<(), String> {
    let say = |error: std::io::Error| error.to_string();
    let mut index = Vec::new();
    for path in files {
        let subject = Subject::read(Utf8Path::new("."), path, &[])?;
        for stretch in &subject.stretches {
            let candidate = harness::drive_all(&subject, stretch);
            let folder = out.join(format!("{:04}", index.len()));
            write(&candidate, &folder).map_err(say)?;
            let mut entry = describe(&candidate);
            if let Some(entry) = entry.as_object_mut() {
                let line = subject.line_of(stretch.region.span.start);
                entry.insert("folder".to_owned(), json!(folder));
                entry.insert("finding".to_owned(), json!(index.len()));
                entry.insert("place".to_owned(), json!(format!("{path}:{line}")));
            }
            index.push(entry);
        }
    }
    std::fs::create_dir_all(out).map_err(say)?;
    std::fs::write(out.join("index.json"), format!("{:#}", json!(index))).map_err(say)
}

/// Writes a candidate's files below a folder.
fn write(candidate: &Candidate, folder: &Utf8Path) -> std::io::Result<()> {
    for file in files(candidate) {
        let path = folder.join(&file.path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(path, &file.text)?;
    }
    Ok(())
}

fn files(candidate: &Candidate) -> &[ScenarioFile] {
    match candidate {
        Ok(Program::Cuda(program)) => &program.files,
        Ok(Program::Python(program)) => &program.files,
        Ok(Program::Kernel(_)) | Err(_) => &[],
    }
}

fn describe(candidate: &Candidate) -> serde_json::Value {
    match candidate {
        Ok(Program::Cuda(program)) => {
            json!({ "kind": format!("{:?}", program.origin), "unit": program.unit, "flags": program.flags,
                "arguments": program.arguments })
        }
        Ok(Program::Kernel(program)) => json!({ "kind": "Kernel", "program": program }),
        Ok(Program::Python(program)) => json!({ "kind": "Python", "unit": program.script }),
        Err(reason) => json!({ "kind": "None", "reason": reason }),
    }
}
