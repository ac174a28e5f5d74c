//! `lsp`: an array of `PublishDiagnosticsParams`, one a file with findings. Lines and characters count from 0,
//! characters in UTF-16 units. A language server publishes the same values.

use super::common::Options;
use crate::finding::{Finding, Place, Severity};
use crate::lines::Units;
use crate::report::{Incomplete, Report};
use crate::sources::Sources;
use serde::Serialize;

/// The code of a diagnostic that says that a file was not read or not analysed as a whole.
pub const INCOMPLETE: &str = "incomplete";

/// The tag of what can go: the finding's fix takes away the whole of its place.
pub const UNNECESSARY: u8 = 1;

/// How places are told to an editor.
pub trait Addresses {
    /// The address of a file, in a notebook of a cell of it.
    fn uri(&self, path: &str, cell: Option<u32>) -> String;

    /// What characters of a line are counted in.
    fn units(&self) -> Units {
        Units::default()
    }

    /// Where the pages of the rules lie.
    fn rules_url(&self) -> &str;
}

/// A notebook is one file: who reads the array finds the document of a cell.
impl Addresses for Options {
    fn uri(&self, path: &str, _: Option<u32>) -> String {
        super::uri::whole(path, self.root.as_deref())
    }

    fn rules_url(&self) -> &str {
        &self.rules_url
    }
}

/// The diagnostics of one file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PublishDiagnosticsParams {
    /// The file.
    pub uri: String,
    /// Its diagnostics, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Diagnostic {
    /// Where.
    pub range: Range,
    /// 1 error, 2 warning, 3 information.
    pub severity: u8,
    /// The rule, or [`INCOMPLETE`].
    pub code: &'static str,
    /// Its page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code_description: Option<CodeDescription>,
    /// `cudalint`.
    pub source: &'static str,
    /// One sentence, and help on a line of its own.
    pub message: String,
    /// [`UNNECESSARY`], which editors fade out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<u8>,
    /// Other places that matter, the way to the defect among them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub related_information: Vec<RelatedInformation>,
    /// What a client hands back when it asks for actions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Data>,
}

/// A range of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Range {
    /// First character.
    pub start: Position,
    /// The character after the last.
    pub end: Position,
}

/// A character of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Position {
    /// Line, from 0.
    pub line: u32,
    /// UTF-16 unit of the line (or what a client asks for), from 0.
    pub character: u32,
}

/// Where a rule is described.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CodeDescription {
    /// The page.
    pub href: String,
}

/// A place of some file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Location {
    /// The file.
    pub uri: String,
    /// Where in it.
    pub range: Range,
}

/// A place with words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RelatedInformation {
    /// Where.
    pub location: Location,
    /// What is there.
    pub message: String,
}

/// What a client hands back.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Data {
    /// The finding's fingerprint.
    pub fingerprint: String,
    /// `definite`, `likely` or `possible`.
    pub confidence: &'static str,
    /// In a notebook the cell, from 0 among all its cells; the diagnostic's lines count from the cell's first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell: Option<u32>,
}

/// The array, with a line break at its end.
pub fn render(report: &Report, options: &Options) -> String {
    let mut out = crate::plain::to_json(&params(report, options), true);
    out.push('\n');
    out
}

/// Diagnostics by file, in the order of paths.
pub fn params(report: &Report, options: &Options) -> Vec<PublishDiagnosticsParams> {
    let mut files: Vec<(&str, PublishDiagnosticsParams)> = Vec::new();
    for finding in &report.findings {
        let path = &*finding.place.path;
        let diagnostic = diagnostic(finding, &report.sources, options);
        match files.last_mut() {
            Some((last, file)) if *last == path => file.diagnostics.push(diagnostic),
            _ => {
                let uri = super::uri::whole(path, options.root.as_deref());
                files.push((path, PublishDiagnosticsParams { uri, diagnostics: vec![diagnostic] }));
            }
        }
    }
    for Incomplete { path, reason } in &report.incomplete {
        let mark = incomplete(reason);
        match files.iter_mut().find(|(known, _)| known == path) {
            Some((_, file)) => file.diagnostics.push(mark),
            None => {
                let uri = super::uri::whole(path, options.root.as_deref());
                files.push((path, PublishDiagnosticsParams { uri, diagnostics: vec![mark] }));
            }
        }
    }
    files.sort_by(|a, b| a.0.cmp(b.0));
    files.into_iter().map(|(_, file)| file).collect()
}

/// That a file was not read or not analysed as a whole.
pub fn incomplete(reason: &str) -> Diagnostic {
    let start = Position { line: 0, character: 0 };
    Diagnostic {
        range: Range { start, end: start },
        severity: 2,
        code: INCOMPLETE,
        code_description: None,
        source: crate::TOOL,
        message: format!("incomplete: {reason}"),
        tags: Vec::new(),
        related_information: Vec::new(),
        data: None,
    }
}

/// One finding as a diagnostic.
pub fn diagnostic(finding: &Finding, sources: &Sources, addresses: &dyn Addresses) -> Diagnostic {
    let path = finding.witness.iter().flat_map(|witness| &witness.path);
    let related = finding.related.iter().chain(path).map(|label| RelatedInformation {
        location: Location {
            uri: addresses.uri(&label.place.path, sources.start(&label.place).cell),
            range: range(&label.place, sources, addresses.units()),
        },
        message: label.message.clone(),
    });
    let mut message = finding.message.clone();
    if let Some(help) = &finding.help {
        message.push_str("\nhelp: ");
        message.push_str(help);
    }
    if let Some(done) = &finding.verification {
        message.push('\n');
        message.push_str(&done.words());
    }
    let goes = |edit: &crate::Edit| edit.text.is_empty() && covers(&edit.place, &finding.place);
    let unnecessary = finding.fix.iter().any(|fix| fix.edits.iter().any(goes));
    Diagnostic {
        range: range(&finding.place, sources, addresses.units()),
        severity: match finding.severity {
            Severity::Error => 1,
            Severity::Warning => 2,
            Severity::Info => 3,
        },
        code: finding.rule.name,
        code_description: Some(CodeDescription { href: crate::rule_url(addresses.rules_url(), finding.rule) }),
        source: crate::TOOL,
        message,
        tags: unnecessary.then_some(UNNECESSARY).into_iter().collect(),
        related_information: related.collect(),
        data: Some(Data {
            fingerprint: finding.fingerprint.clone(),
            confidence: finding.confidence.name(),
            cell: sources.start(&finding.place).cell,
        }),
    }
}

/// Whether a place holds all of another.
fn covers(place: &Place, inner: &Place) -> bool {
    place.path == inner.path && place.range.start <= inner.range.start && place.range.end >= inner.range.end
}

/// A place as an editor counts.
pub fn range(place: &Place, sources: &Sources, units: Units) -> Range {
    let [start, end] = sources.in_units(place, units).map(|(line, character)| Position { line, character });
    Range { start, end }
}
