//! What a fingerprint keeps through edits, and what it tells apart.
#![allow(clippy::unwrap_used)]

mod common;

use cudalint_findings::*;
use std::sync::Arc;

const BODY: &str =
    "void f() {\n    cudaMalloc(&a, n);\n    g();\n    cudaMalloc(&a,  n);\n}\nvoid h() {\n    cudaMalloc(&a, n);\n}\n";

/// Fingerprints of the flagged calls of a text, in order: two in `f`, one in `h`.
fn fingerprints(path: &str, text: &str) -> Vec<String> {
    let mut sources = Sources::new();
    sources.insert(path.into(), Arc::from(text));
    let findings = text.match_indices("cudaMalloc").enumerate().map(|(count, (start, _))| {
        let end = start + text[start..].find(';').unwrap();
        let place = Place { path: path.into(), range: start..end };
        let function = if count < 2 { "f" } else { "h" };
        Finding {
            function: function.into(),
            ..common::finding(&common::COUNT_AS_BYTES, Severity::Error, place, "bytes")
        }
    });
    let report = Report::new(findings.collect(), FileCounts::default(), sources);
    report.findings.into_iter().map(|finding| finding.fingerprint).collect()
}

#[test]
fn edits_above_and_layout_change_nothing() {
    let before = fingerprints("a.cu", BODY);
    assert_eq!(before, fingerprints("a.cu", &format!("// new\nint x;\r\n{BODY}")));
    assert_eq!(before, fingerprints("a.cu", &BODY.replace("(&a, n)", "(&a,\n        n)")));
    assert_eq!(before, fingerprints("a.cu", &BODY.replace('\n', "\r\n")));
}

#[test]
fn defects_are_told_apart() {
    let mut all = fingerprints("a.cu", BODY);
    all.extend(fingerprints("b.cu", BODY));
    all.extend(fingerprints("a.cu", &BODY.replace('n', "m")));
    assert_eq!(all.len(), 9);
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 9);
}

#[test]
fn the_value_is_pinned() {
    // Stored baselines depend on it: a change here is a change for every user. The values come from an independent
    // reading of the definition.
    assert_eq!(
        fingerprints("a.cu", BODY),
        ["825bf2a6d682707a64ce7bd333688332", "825bf2a94c82707a64ce7bd3336a06cb", "44ab916ab5d24def6217e0fc6ddade3c"]
    );
}

#[test]
fn a_given_fingerprint_stays() {
    let place = Place { path: "a.cu".into(), range: 0..1 };
    let finding =
        Finding { fingerprint: "given".into(), ..common::finding(&common::RACE, Severity::Error, place, "m") };
    let report = Report::new(vec![finding], FileCounts::default(), Sources::new());
    assert_eq!(report.findings[0].fingerprint, "given");
}
