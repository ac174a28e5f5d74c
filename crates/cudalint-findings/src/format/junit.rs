//! `junit`: XML that build servers show as tests: a suite a file, a case a finding. Only errors fail, as with the exit
//! code; warnings and notes are skipped cases, so that they are seen and break nothing.

use super::common::Options;
use crate::finding::Severity;
use crate::plain::one_line;
use crate::report::{Incomplete, Report};
use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};

/// The XML. Without findings, one suite with one case that passed.
pub fn render(report: &Report, _options: &Options) -> String {
    let mut xml = quick_junit::Report::new(crate::TOOL);
    let mut findings = report.findings.iter().peekable();
    if findings.peek().is_none() {
        let mut suite = TestSuite::new(crate::TOOL);
        suite.add_test_case(TestCase::new("no findings", TestCaseStatus::success()));
        xml.add_test_suite(suite);
    }
    if !report.incomplete.is_empty() {
        let mut suite = TestSuite::new("incomplete");
        for Incomplete { path, reason } in &report.incomplete {
            let (path, reason) = (one_line(path), one_line(reason));
            let mut status = TestCaseStatus::skipped();
            status.set_type("incomplete").set_message(format!("{path}: {reason}"));
            let mut case = TestCase::new(format!("incomplete: {path}"), status);
            case.set_classname(&*path);
            suite.add_test_case(case);
        }
        xml.add_test_suite(suite);
    }
    while let Some(first) = findings.peek() {
        let whole = first.place.path.clone();
        let path = one_line(&whole);
        let mut suite = TestSuite::new(&*path);
        while let Some(finding) = findings.next_if(|finding| finding.place.path == whole) {
            let at = report.sources.start(&finding.place);
            let place = format!("{path}:{at}");
            let mut status = match finding.severity {
                Severity::Error => {
                    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
                    status.set_description(format!("{place}: {}", one_line(&finding.message)));
                    status
                }
                Severity::Warning | Severity::Info => TestCaseStatus::skipped(),
            };
            let kind = format!("{} ({})", finding.severity.name(), finding.confidence.name());
            let message = match &finding.verification {
                Some(done) => format!("{} [{}]", finding.message, done.words()),
                None => finding.message.clone(),
            };
            let message = one_line(&message);
            status.set_type(kind).set_message(&*message);
            let mut case = TestCase::new(format!("{}:{at}", finding.rule.name), status);
            case.set_classname(&*path);
            suite.add_test_case(case);
        }
        xml.add_test_suite(suite);
    }
    // The writer is a vector of bytes, which takes everything.
    let mut out = xml.to_string().unwrap_or_default();
    // Jenkins' schema knows how many tests were skipped for a suite, not for all suites together.
    if let Some(start) = out.find("<testsuites ")
        && let Some(end) = out.get(start..).and_then(|rest| rest.find('>')).map(|length| start + length)
        && let Some(skipped) = out.get(start..end).and_then(|tag| tag.find(" skipped=\"")).map(|at| start + at)
        && let Some(quote) = out.get(skipped + 10..end).and_then(|rest| rest.find('"'))
    {
        out.replace_range(skipped..skipped + 11 + quote, "");
    }
    if !out.ends_with('\n') {
        out.push('\n');
    }
    out
}
