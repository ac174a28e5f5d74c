//! The schema of the settings file is up to date: a stale one is rewritten, and the test fails once.

#![allow(clippy::unwrap_used, clippy::panic)]

use cudalint_engine::Settings;
use std::fs;
use std::path::Path;

#[test]
fn the_schema_of_the_settings_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cudalint.schema.json");
    let mut schema = serde_json::to_value(schemars::schema_for!(Settings)).unwrap();
    schema["title"] = "cudalint.toml".into();
    let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    if fs::read_to_string(&path).is_ok_and(|now| now == text) {
        return;
    }
    fs::write(&path, text).unwrap();
    panic!("rewritten, commit it: {}", path.display());
}
