//! The recorded outputs of compute-sanitizer.

#![allow(dead_code, clippy::unwrap_used, clippy::expect_used)]

use cudalint_verify::tools::sanitizer::Report;
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
pub fn joined(name: &str) -> Report {
    Report::read(xml(name).as_deref(), &text(name))
}

/// A recording, read from its XML alone.
pub fn of_xml(name: &str) -> Report {
    Report::read(Some(&xml(name).expect(name)), "")
}

/// A recording, read from its text alone.
pub fn of_text(name: &str) -> Report {
    Report::read(None, &text(name))
}
