//! The committed schema is the one that the model gives.
#![allow(clippy::unwrap_used)]

use std::path::Path;

#[test]
fn committed_schema_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/findings.schema.json");
    let fresh = cudalint_findings::schema::document();
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    if committed != fresh {
        std::fs::write(&path, &fresh).unwrap();
    }
    assert!(
        committed == fresh,
        "docs/findings.schema.json was stale and has been rewritten: look at the change and commit it"
    );
}

#[test]
fn committed_schema_of_coverage_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/coverage.schema.json");
    let fresh = cudalint_findings::coverage::schema();
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    if committed != fresh {
        std::fs::write(&path, &fresh).unwrap();
    }
    assert!(
        committed == fresh,
        "docs/coverage.schema.json was stale and has been rewritten: look at the change and commit it"
    );
}
