//! The JSON schema of the findings document, made from its model: what the output holds, so that a field that may be null is still there.

use crate::model::Document;

/// The schema (JSON Schema 2020-12), indented, with a line break at its end.
pub fn document() -> String {
    let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    let schema = settings.into_generator().into_root_schema_for::<Document>();
    let mut out = crate::plain::to_json(&schema, true);
    out.push('\n');
    out
}
