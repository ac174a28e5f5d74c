//! `concise`: one line a finding, `path:line:col: level[rule] message` (in a notebook
//! `path:cell N:line:col`), the surest and worst first.

use super::common::{Options, link, paint};
use crate::plain::{self, one_line};
use crate::report::Report;
use std::fmt::Write;

/// One line a finding, in the order of [`Report::by_importance`]; one for all that is folded ([`Options::fold`]).
pub fn render(report: &Report, options: &Options) -> String {
    let mut out = String::new();
    for finding in super::folded::listed(report, options) {
        let at = report.sources.start(&finding.place);
        let head = super::common::head(finding, options);
        let message = one_line(&finding.message);
        let verdict = finding.verification.as_ref().map(|done| format!(" [{}]", done.words())).unwrap_or_default();
        let place = format!("{}:{at}", plain::path(&finding.place.path));
        let address =
            if options.links { super::uri::whole(&finding.place.path, options.root.as_deref()) } else { String::new() };
        // A relative address leads nowhere from a terminal.
        let place = link(place.into(), &address, address.starts_with("file:"));
        let _ = writeln!(out, "{place}: {head} {message}{}", one_line(&verdict));
    }
    out.push_str(&super::folded::line(report, options));
    for entry in &report.incomplete {
        let word = paint("incomplete", "1;33", options.color);
        let _ = writeln!(out, "{}: {word}: {}", plain::path(&entry.path), one_line(&entry.reason));
    }
    out
}
