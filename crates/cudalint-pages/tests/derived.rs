//! Derived files are up to date: a stale one is rewritten, and the test fails once.
#![allow(clippy::expect_used)]

#[test]
fn derived_files_are_up_to_date() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let changed = cudalint_pages::derive::sync(&root).expect("the rule folders can be read");
    assert!(changed.is_empty(), "rewritten, commit them: {changed:?}");
}
