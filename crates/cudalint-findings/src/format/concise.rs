//! `concise`: one line a finding, `path:line:col: level[rule] message` (in a notebook
//! `path:cell N:line:col`), the surest and worst first.

use super::{Options, names, paint};
use crate::report::Report;
use std::fmt::Write;

/// One line a finding, in the order of [`Report::by_importance`].
pub fn render(report: &Report, options: &Options) -> String {
    let mut out = String::new();
    for finding in report.by_importance() {
        let at = report.sources.start(&finding.place);
        let head = format!("{}[{}]", finding.severity.name(), finding.rule.name);
        let head = paint(&head, super::style(finding.severity), options.color);
        let message = super::one_line(&finding.message);
        let verdict = finding.verification.as_ref().map(|done| format!(" [{}]", done.words())).unwrap_or_default();
        let _ =
            writeln!(out, "{}:{at}: {head} {message}{}", names::path(&finding.place.path), super::one_line(&verdict));
    }
    for entry in &report.incomplete {
        let word = paint("incomplete", "1;33", options.color);
        let _ = writeln!(out, "{}: {word}: {}", names::path(&entry.path), super::one_line(&entry.reason));
    }
    out
}
