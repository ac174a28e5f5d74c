//! What several formats need: options, colours, JSON, and the lines on what is incomplete.

use crate::finding::{Finding, Severity};
use crate::plain::one_line;
use crate::report::{Incomplete, Report};
use std::borrow::Cow;

/// How to write a report.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Whether `full` and `concise` use terminal colours.
    pub color: bool,
    /// Columns of the terminal, for `full`.
    pub width: usize,
    /// Where the pages of the rules lie; a rule's page is at this, `/` and its name.
    pub rules_url: String,
    /// Rules that nobody asked for: of those of error handling, formats for people only say how many findings there are.
    pub fold: Vec<&'static str>,
    /// Whether rules and places become links that a terminal opens.
    pub links: bool,
    /// The folder that relative paths start from, absolute and with `/`, for formats that need whole addresses (`lsp`);
    /// without it their addresses are relative.
    pub root: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            color: false,
            width: 100,
            rules_url: crate::RULES_URL.to_owned(),
            fold: Vec::new(),
            links: false,
            root: None,
        }
    }
}

/// A message that says in which cell of a notebook its line is, for formats that have no place for that.
pub(crate) fn with_cell(message: &str, at: crate::lines::Position) -> String {
    match at.cell {
        Some(_) => format!("{at}: {message}"),
        None => message.to_owned(),
    }
}

/// What kept files from being read or analysed as a whole, for people: one line each.
pub(super) fn incomplete(report: &Report, options: &Options) -> String {
    let word = paint("incomplete", "1;33", options.color);
    let line = |entry: &Incomplete| format!("{word}: {}: {}\n", one_line(&entry.path), one_line(&entry.reason));
    report.incomplete.iter().map(line).collect()
}

/// Terminal codes of a level: bold red, bold yellow, bold blue.
pub(crate) fn style(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "1;31",
        Severity::Warning => "1;33",
        Severity::Info => "1;34",
    }
}

/// Text that leads to an address when it is clicked (OSC 8), or as it is. The address has been made by percent-encoding.
pub(crate) fn link<'t>(text: Cow<'t, str>, address: &str, links: bool) -> Cow<'t, str> {
    if links && !address.chars().any(crate::plain::steers) {
        format!("\u{1b}]8;;{address}\u{1b}\\{text}\u{1b}]8;;\u{1b}\\").into()
    } else {
        text
    }
}

/// `error[rule]` in the colour of its level; the rule leads to its page.
pub(super) fn head(finding: &Finding, options: &Options) -> String {
    let address = if options.links { crate::rule_url(&options.rules_url, finding.rule) } else { String::new() };
    let rule = link(finding.rule.name.into(), &address, options.links);
    paint(&format!("{}[{rule}]", finding.severity.name()), style(finding.severity), options.color).into_owned()
}

/// Text in terminal codes, or as it is.
pub(crate) fn paint<'t>(text: &'t str, codes: &str, color: bool) -> Cow<'t, str> {
    if color { format!("\u{1b}[{codes}m{text}\u{1b}[0m").into() } else { text.into() }
}
