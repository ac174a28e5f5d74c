//! The output formats: each one a function from a report to text.

pub mod concise;
pub mod full;
pub mod github;
pub mod gitlab;
pub mod html;
pub mod json;
pub mod junit;
pub mod lsp;
pub mod names;
pub mod sarif;
mod snippet;
pub mod statistics;
mod uri;

pub(crate) use names::{one_line, steers};

use crate::finding::Severity;
use crate::report::{Incomplete, Report};
use serde::Serialize;
use std::borrow::Cow;
use std::str::FromStr;

/// How to write a report.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Whether `full` and `concise` use terminal colours.
    pub color: bool,
    /// Columns of the terminal, for `full`.
    pub width: usize,
    /// Where the pages of the rules lie; a rule's page is at this, `/` and its name.
    pub rules_url: String,
    /// The folder that relative paths start from, absolute and with `/`, for formats that need whole addresses (`lsp`);
    /// without it their addresses are relative.
    pub root: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self { color: false, width: 100, rules_url: crate::RULES_URL.to_owned(), root: None }
    }
}

/// An output format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Format {
    /// Source, labels, witness and help, for people.
    #[default]
    Full,
    /// One line a finding.
    Concise,
    /// The findings document.
    Json,
    /// One finding a line, as JSON.
    JsonLines,
    /// SARIF 2.1.0.
    Sarif,
    /// Workflow commands of GitHub Actions.
    Github,
    /// Code Quality report of GitLab.
    Gitlab,
    /// `JUnit` XML.
    Junit,
    /// Diagnostics of the Language Server Protocol.
    Lsp,
}

impl Format {
    /// Every format, in the order that help shows.
    pub const ALL: &'static [Self] = &[
        Self::Full,
        Self::Concise,
        Self::Json,
        Self::JsonLines,
        Self::Sarif,
        Self::Github,
        Self::Gitlab,
        Self::Junit,
        Self::Lsp,
    ];

    /// Names of all formats, in the same order.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::ALL.iter().map(|format| format.name())
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Concise => "concise",
            Self::Json => "json",
            Self::JsonLines => "json-lines",
            Self::Sarif => "sarif",
            Self::Github => "github",
            Self::Gitlab => "gitlab",
            Self::Junit => "junit",
            Self::Lsp => "lsp",
        }
    }

    /// Whether the format is for people, so that colour and a closing summary have a place in it.
    pub fn is_for_people(self) -> bool {
        matches!(self, Self::Full | Self::Concise)
    }

    /// Writes a report.
    pub fn render(self, report: &Report, options: &Options) -> String {
        match self {
            Self::Full => full::render(report, options),
            Self::Concise => concise::render(report, options),
            Self::Json => json::render(report, options),
            Self::JsonLines => json::render_lines(report, options),
            Self::Sarif => sarif::render(report, options),
            Self::Github => github::render(report, options),
            Self::Gitlab => gitlab::render(report, options),
            Self::Junit => junit::render(report, options),
            Self::Lsp => lsp::render(report, options),
        }
    }
}

/// A word that is no format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown output format `{name}`; one of {}", Format::names().collect::<Vec<_>>().join(", "))]
pub struct UnknownFormat {
    /// The word.
    pub name: String,
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        let found = Self::ALL.iter().find(|format| format.name() == name);
        found.copied().ok_or_else(|| UnknownFormat { name: name.to_owned() })
    }
}

/// A value as JSON. The models hold nothing that JSON cannot (no maps with other keys than text, no writers that
/// fail), so the error case cannot come up; it would read as `null`.
pub(crate) fn to_json<T: Serialize>(value: &T, pretty: bool) -> String {
    let text = if pretty { serde_json::to_string_pretty(value) } else { serde_json::to_string(value) };
    names::in_json(text.unwrap_or_else(|_| "null".to_owned()))
}

/// A message that says in which cell of a notebook its line is, for formats that have no place for that.
pub(crate) fn with_cell(message: &str, at: crate::lines::Position) -> String {
    match at.cell {
        Some(_) => format!("{at}: {message}"),
        None => message.to_owned(),
    }
}

/// What kept files from being read or analysed as a whole, for people: one line each.
fn incomplete(report: &Report, options: &Options) -> String {
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

/// Text in terminal codes, or as it is.
pub(crate) fn paint<'t>(text: &'t str, codes: &str, color: bool) -> Cow<'t, str> {
    if color { format!("\u{1b}[{codes}m{text}\u{1b}[0m").into() } else { text.into() }
}
