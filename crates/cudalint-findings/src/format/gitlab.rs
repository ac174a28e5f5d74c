//! `gitlab`: a Code Quality report.

use super::common::Options;
use crate::finding::{Confidence, Finding, Severity};
use crate::fingerprint::identity;
use crate::lines::Position;
use crate::report::{Incomplete, Report};
use serde::Serialize;
use std::borrow::Cow;

#[derive(Serialize)]
struct Issue<'a> {
    description: Cow<'a, str>,
    check_name: &'a str,
    fingerprint: &'a str,
    severity: &'static str,
    location: Location<'a>,
}

#[derive(Serialize)]
struct Location<'a> {
    path: &'a str,
    positions: Positions,
}

#[derive(Serialize)]
struct Positions {
    begin: Point,
    end: Point,
}

#[derive(Serialize)]
struct Point {
    line: u32,
    column: u32,
}

impl From<Position> for Point {
    fn from(at: Position) -> Self {
        Self { line: at.line, column: at.column }
    }
}

/// A definite error is critical, another error major, a warning minor.
fn severity(finding: &Finding) -> &'static str {
    match (finding.severity, finding.confidence) {
        (Severity::Error, Confidence::Definite) => "critical",
        (Severity::Error, _) => "major",
        (Severity::Warning, _) => "minor",
        (Severity::Info, _) => "info",
    }
}

/// An array of issues. Paths have no `./` in front, which GitLab does not take.
pub fn render(report: &Report, _options: &Options) -> String {
    let marks = report.incomplete.iter().map(|Incomplete { path, reason }| (path, reason, identity(path, reason)));
    let marks: Vec<_> = marks.collect();
    let mut issues: Vec<Issue<'_>> = report
        .findings
        .iter()
        .map(|finding| {
            let (begin, end) = report.sources.positions(&finding.place);
            Issue {
                description: match &finding.verification {
                    Some(done) => {
                        format!("{} [{}]", super::common::with_cell(&finding.message, begin), done.words()).into()
                    }
                    None if begin.cell.is_some() => super::common::with_cell(&finding.message, begin).into(),
                    None => finding.message.as_str().into(),
                },
                check_name: finding.rule.name,
                fingerprint: &finding.fingerprint,
                severity: severity(finding),
                location: Location {
                    path: super::uri::without_dot(&finding.place.path),
                    positions: Positions { begin: begin.into(), end: end.into() },
                },
            }
        })
        .collect();
    issues.extend(marks.iter().map(|(path, reason, fingerprint)| Issue {
        description: format!("incomplete: {reason}").into(),
        check_name: "incomplete",
        fingerprint,
        severity: "minor",
        location: Location {
            path: super::uri::without_dot(path),
            positions: Positions { begin: Position::START.into(), end: Position::START.into() },
        },
    }));
    let mut out = crate::plain::to_json(&issues, true);
    out.push('\n');
    out
}
