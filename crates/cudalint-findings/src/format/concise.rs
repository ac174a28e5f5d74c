//! `concise`: one line a finding, `path:line:col: level[rule] message` (in a notebook
//! `path:cell N:line:col`), the surest and worst first.

use super::common::{Options, paint};
use crate::plain::{self, one_line};
use crate::report::Report;
use std::fmt::Write;

/// One line a finding, in the order of [`Report::by_importance`].
pub fn render(report: &Report, options: &Options) -> String {
    let mut out = String::new();
    for finding in report.by_importance() {
        let at = report.sources.start(&finding.place);
        let head = format!("{}[{}]", finding.severity.name(), finding.rule.name);
        let head = paint(&head, super::common::style(finding.severity), options.color);
        let message = one_line(&finding.message);
        let verdict = finding.verification.as_ref().map(|done| format!(" [{}]", done.words())).unwrap_or_default();
        let _ = writeln!(out, "{}:{at}: {head} {message}{}", plain::path(&finding.place.path), one_line(&verdict));
    }
    for entry in &report.incomplete {
        let word = paint("incomplete", "1;33", options.color);
        let _ = writeln!(out, "{}: {word}: {}", plain::path(&entry.path), one_line(&entry.reason));
    }
    out
}
