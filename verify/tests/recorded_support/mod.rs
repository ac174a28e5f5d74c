//! The recorded outputs of compute-sanitizer.

#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../claim_support/mod.rs"]
pub mod claim_support;

use cudalint_findings::model::FindingEntry;
use cudalint_verify::tools::sanitizer::SanitizerReport;
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/recorded")
}

/// Names of all recordings, in order.
pub fn all() -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().into_string().unwrap().strip_suffix(".txt").map(str::to_owned))
        .collect();
    names.sort();
    assert!(names.len() > 40);
    names
}

/// The XML of a recording; none where the run was ended before the tool wrote it.
pub fn xml(name: &str) -> Option<String> {
    std::fs::read_to_string(folder().join(format!("{name}.xml"))).ok()
}

/// The text of a recording.
pub fn text(name: &str) -> String {
    std::fs::read_to_string(folder().join(format!("{name}.txt"))).expect(name)
}

/// A recording, read from both.
pub fn joined(name: &str) -> SanitizerReport {
    SanitizerReport::read(xml(name).as_deref(), &text(name))
}

/// A recording, read from its XML alone.
pub fn of_xml(name: &str) -> SanitizerReport {
    SanitizerReport::read(Some(&xml(name).expect(name)), "")
}

/// A recording, read from its text alone.
pub fn of_text(name: &str) -> SanitizerReport {
    SanitizerReport::read(None, &text(name))
}

/// A finding in `path` at `line` with this method; what `more` names is set as well.
pub fn finding(method: &str, path: &str, line: u32, more: serde_json::Value) -> FindingEntry {
    let mut value = serde_json::json!({
        "rule": "a-rule", "group": "correctness", "severity": "error", "confidence": "definite",
        "message": "something is wrong", "path": path,
        "range": {"start": {"line": line, "column": 5}, "end": {"line": line, "column": 30}},
        "function": null, "related": [], "witness": null,
        "verification": {"method": method, "verdict": null},
        "fix": null, "fingerprint": "0123456789abcdef", "url": "https://example.org/a-rule",
    });
    let serde_json::Value::Object(more) = more else { panic!("an object") };
    for (name, set) in more {
        value[name] = set;
    }
    claim_support::entry(value)
}

/// A witness with these accesses: kind, line, index, extent, block and thread along x.
pub fn accesses(list: &[(&str, u32, i64, i64, u64, u64)]) -> serde_json::Value {
    let accesses: Vec<serde_json::Value> = list
        .iter()
        .map(|(kind, line, index, extent, block, thread)| {
            serde_json::json!({
                "block": [block, 0, 0], "thread": [thread, 0, 0], "kind": kind, "index": index, "extent": extent,
                "line": line,
            })
        })
        .collect();
    serde_json::json!({"launch": null, "bindings": {}, "accesses": accesses, "assumptions": [], "path": []})
}

/// A witness with a launch at this line.
pub fn launch(path: &str, line: u32) -> serde_json::Value {
    serde_json::json!({
        "launch": {"path": path, "line": line, "grid": [1, 1, 1], "block": [256, 1, 1], "shared_bytes": 0},
        "bindings": {}, "accesses": [], "assumptions": [], "path": [],
    })
}
