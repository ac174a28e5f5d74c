//! What tests of watchpoints share.
#![allow(clippy::unwrap_used)]

use camino::Utf8Path;
use cudalint_verify::subject::Subject;
use cudalint_verify::watch::copy::{Copy, with_watchpoints};

/// A text with watchpoints at all lines.
pub fn watched(text: &str) -> Copy {
    let folder = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(folder.path()).unwrap();
    std::fs::write(root.join("x.cu"), text).unwrap();
    let subject = Subject::read(root, "x.cu", &[]).unwrap();
    let stretch = &subject.stretches[0];
    with_watchpoints(&subject.text, subject.module(stretch).unwrap(), stretch.parsed.root(), Some)
}
