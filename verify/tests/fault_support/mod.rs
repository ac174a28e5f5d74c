//! Lines of probe logs, and findings for them.
#![allow(dead_code, clippy::unwrap_used)]

#[path = "../claim_support/mod.rs"]
pub mod claim_support;

use cudalint_findings::Fault;
use cudalint_findings::model::{FindingEntry, Position, Range, Site};
use serde_json::json;

pub fn range(start: (u32, u32), end: (u32, u32)) -> Range {
    let position = |(line, column)| Position { cell: None, line, column };
    Range { start: position(start), end: position(end) }
}

/// A finding of fault injection in `program.cu`.
pub fn finding(fault: Fault, start: (u32, u32), end: (u32, u32)) -> FindingEntry {
    claim_support::entry(json!({
        "rule": "some-rule", "group": "suspicious", "severity": "warning", "confidence": "definite", "message": "",
        "path": "program.cu", "range": range(start, end), "function": "main", "related": [], "witness": null,
        "verification": {"method": "fault-injection", "verdict": null}, "fix": null, "fingerprint": "0", "url": "",
        "shows": {"kind": "unread-status", "fault": fault},
    }))
}

pub fn site(start: (u32, u32), end: (u32, u32)) -> Site {
    Site { path: "program.cu".to_owned(), range: range(start, end) }
}

/// A call, as the probe writes it down.
pub fn call(function: &str, line: u32, id: u64, real: i64, handed: i64) -> String {
    json!({
        "event": "call", "sequence": line, "thread": 0, "function": function, "file": "program.cu", "line": line,
        "id": id, "kind": 1, "real": real, "handed": handed,
    })
    .to_string()
}

/// The launch at line 6.
pub fn launch(real: i64, handed: i64) -> String {
    json!({
        "event": "launch", "sequence": 6, "thread": 0, "kernel": "set(int*)", "grid": [1, 1, 1], "block": [1, 1, 1],
        "shared": 0, "real": real, "handed": handed, "at": 4096, "frames": [8192, 4098],
    })
    .to_string()
}

/// An error text that is asked for.
pub fn words(line: u32, code: i64) -> String {
    json!({
        "event": "words", "sequence": line, "thread": 0, "function": "cudaGetErrorString", "file": "program.cu",
        "line": line, "id": 9, "code": code,
    })
    .to_string()
}

/// The log of a program that comes to its end.
pub fn calls(lines: &[String]) -> Vec<String> {
    let (begin, exit) = (r#"{"event":"begin"}"#.to_owned(), r#"{"event":"exit"}"#.to_owned());
    [begin].into_iter().chain(lines.iter().cloned()).chain([exit]).collect()
}

/// An `addr2line` that knows where the launch of [`launch`] stands: 4096 less one is on line 6.
pub fn addr2line() -> &'static str {
    "shift 3; for at in \"$@\"; do case $at in\n\
     fff) printf 'main\\n/somewhere/program.cu:6 (discriminator 2)\\n';;\n\
     1fff) printf '_Z3setPi\\nprogram.cu:2\\n';;\n\
     *) printf '??\\n??:0\\n';;\n\
     esac; done"
}
