//! Questions and answers as people post them: Markdown with programs that are cut short by comments (`// ... allocate memory as
//! before ...`), with claims that are wrong, and with examples called wrong that are right. Each line that has to be reported
//! names the rules, and nothing else may be.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use common::Sandbox;
use serde_json::Value;
use std::collections::BTreeSet;

/// Findings as lines with rules.
type Findings = BTreeSet<(u64, String)>;

/// What the file says of itself.
fn expected(text: &str) -> Findings {
    let lines = text.lines().zip(1_u64..);
    lines
        .filter_map(|(line, number)| Some((number, line.split_once("expect: ")?.1)))
        .flat_map(|(number, rules)| rules.split(", ").map(move |rule| (number, rule.trim().to_owned())))
        .collect()
}

/// What the program says of it, with all groups.
fn found(name: &str, text: &str) -> Findings {
    let groups = "correctness,suspicious,portability,preview";
    let sandbox = Sandbox::new(&[(name, text)]);
    let ran = sandbox.run(&["--select", groups, "--output-format", "json", name]);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let finding = |finding: &Value| {
        let line = finding["range"]["start"]["line"].as_u64().unwrap();
        (line, finding["rule"].as_str().unwrap().to_owned())
    };
    report["findings"].as_array().unwrap().iter().map(finding).collect()
}

fn check(name: &str, text: &str) {
    let (expected, found) = (expected(text), found(name, text));
    let missing: Vec<_> = expected.difference(&found).collect();
    let wrong: Vec<_> = found.difference(&expected).collect();
    assert!(missing.is_empty() && wrong.is_empty(), "{name}: missing {missing:?}, too much {wrong:?}");
}

#[test]
fn arrays_that_are_too_small_or_filled_in_part() {
    check("scaling.md", include_str!("posts/scaling.md"));
}

#[test]
fn copies_that_are_checked() {
    check("copies.md", include_str!("posts/copies.md"));
}

#[test]
fn kernels_of_numba_without_a_block() {
    check("numba.md", include_str!("posts/numba.md"));
}

#[test]
fn kernels_of_cupy_that_are_none() {
    check("cupy.md", include_str!("posts/cupy.md"));
}
