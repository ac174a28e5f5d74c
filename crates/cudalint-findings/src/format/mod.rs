//! The output formats: each one a function from a report to text.

mod common;
pub mod concise;
mod folded;
pub mod full;
pub mod github;
pub mod gitlab;
pub mod html;
pub mod json;
pub mod junit;
pub mod lsp;
pub mod sarif;
mod snippet;
pub mod statistics;
pub mod uri;

pub use common::Options;

use crate::report::Report;
use std::str::FromStr;

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

/// What a format is called on the command line, whether it is for people, and what writes a report.
type Row = (Format, &'static str, bool, fn(&Report, &Options) -> String);

/// Every format, in the order of its variants, which is that of help.
const ROWS: [Row; 9] = [
    (Format::Full, "full", true, full::render),
    (Format::Concise, "concise", true, concise::render),
    (Format::Json, "json", false, json::render),
    (Format::JsonLines, "json-lines", false, json::render_lines),
    (Format::Sarif, "sarif", false, sarif::render),
    (Format::Github, "github", false, github::render),
    (Format::Gitlab, "gitlab", false, gitlab::render),
    (Format::Junit, "junit", false, junit::render),
    (Format::Lsp, "lsp", false, lsp::render),
];

impl Format {
    /// Every format, in the order that help shows.
    pub fn all() -> impl Iterator<Item = Self> {
        ROWS.iter().map(|row| row.0)
    }

    /// Names of all formats, in the same order.
    pub fn names() -> impl Iterator<Item = &'static str> {
        ROWS.iter().map(|row| row.1)
    }

    fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// Whether the format is for people, so that colour and a closing summary have a place in it.
    pub fn is_for_people(self) -> bool {
        self.row().2
    }

    /// Writes a report.
    pub fn render(self, report: &Report, options: &Options) -> String {
        self.row().3(report, options)
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
        let found = Self::all().find(|format| format.name() == name);
        found.ok_or_else(|| UnknownFormat { name: name.to_owned() })
    }
}
