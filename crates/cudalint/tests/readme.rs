//! What the README shows is what the program says today of the files in `docs/examples`.

#![allow(clippy::unwrap_used)]

mod common;

use common::Sandbox;
use std::fs;
use std::path::Path;

/// Lines without what stands blank at their ends.
fn trimmed(text: &str) -> String {
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

#[test]
fn examples_are_shown_as_they_come_out() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let mut compared = 0;
    for block in readme.split("```console\n$ cudalint ").skip(1) {
        let (shown, _) = block.split_once("```").unwrap();
        let (name, shown) = shown.split_once('\n').unwrap();
        let Ok(text) = fs::read_to_string(root.join("docs/examples").join(name)) else { continue };
        let ran = Sandbox::new(&[(name, &text)]).run(&[name]);
        assert_eq!(trimmed(&ran.stdout).trim_end(), trimmed(shown).trim_end(), "README.md, `cudalint {name}`");
        compared += 1;
    }
    assert_eq!(compared, 2, "files of docs/examples in the README");
}
