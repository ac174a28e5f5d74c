//! `json`: the findings document. `json-lines`: its findings alone, one object a line.

use super::common::Options;
use crate::model::{Document, FindingEntry};
use crate::report::Report;

/// The findings document, indented, with a line break at its end.
pub fn render(report: &Report, options: &Options) -> String {
    let mut out = crate::plain::to_json(&Document::new(report, &options.rules_url), true);
    out.push('\n');
    out
}

/// One finding a line, each as it stands in the `findings` of the document, and behind them one `{"incomplete": …}` a line
/// for each entry of its `incomplete`; nothing for an empty report.
pub fn render_lines(report: &Report, options: &Options) -> String {
    let mut out = String::new();
    for finding in &report.findings {
        out.push_str(&crate::plain::to_json(&FindingEntry::new(finding, &report.sources, &options.rules_url), false));
        out.push('\n');
    }
    for entry in &report.incomplete {
        out.push_str(&crate::plain::to_json(&serde_json::json!({ "incomplete": entry }), false));
        out.push('\n');
    }
    out
}
