//! `github`: workflow commands, which GitHub Actions shows as annotations.

use super::common::Options;
use crate::finding::Severity;
use crate::report::{Incomplete, Report};
use std::fmt::Write;

/// One command a finding, in the order of [`Report::by_importance`], since GitHub shows the first ten of a step. GitHub takes columns only for a place on one line, so others carry their lines alone.
pub fn render(report: &Report, _options: &Options) -> String {
    let mut out = String::new();
    for finding in report.by_importance() {
        let command = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "notice",
        };
        let (start, end) = report.sources.positions(&finding.place);
        let file = super::uri::without_dot(&finding.place.path);
        let _ = write!(out, "::{command} file={}", property(file));
        if start.cell.is_some() {
            // The file alone.
        } else if start.line == end.line {
            let _ = write!(out, ",line={}", start.line);
            let _ = write!(out, ",col={},endLine={},endColumn={}", start.column, end.line, end.column);
        } else {
            let _ = write!(out, ",line={},endLine={}", start.line, end.line);
        }
        let title = format!("{} ({})", finding.rule.name, finding.confidence.name());
        // A line of a notebook's cell is none of its file, which is JSON.
        let mut text = super::common::with_cell(&finding.message, start);
        if let Some(help) = &finding.help {
            let _ = write!(text, "\nhelp: {help}");
        }
        if let Some(done) = &finding.verification {
            let _ = write!(text, "\n{}", done.words());
        }
        let _ = writeln!(out, ",title={}::{}", property(&title), data(&text));
    }
    for Incomplete { path, reason } in &report.incomplete {
        let file = super::uri::without_dot(path);
        let _ = writeln!(out, "::warning file={},title=incomplete::{}", property(file), data(reason));
    }
    out
}

/// The text of a command; what steers a terminal, line breaks apart, is left out of it.
fn data(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive(['\r', '\n']) {
        let words = line.trim_end_matches(['\r', '\n']);
        out.push_str(&crate::plain::one_line(words).replace('%', "%25"));
        out.push_str(&line[words.len()..].replace('\r', "%0D").replace('\n', "%0A"));
    }
    out
}

/// The value of a command's property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
