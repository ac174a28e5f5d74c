//! Findings about error handling that nobody asked for: people are told how many there are, in one line, so that a run shows
//! first what is wrong with the program. Formats for tools have every one.

use super::common::Options;
use crate::claim::{Fault, Shows};
use crate::finding::Finding;
use crate::report::Report;
use std::collections::BTreeSet;

fn is_folded(finding: &Finding, options: &Options) -> bool {
    options.fold.contains(&finding.rule.name) && finding.verification.is_none() && finding.is_unread_status()
}

/// The findings that are shown one by one, in the order of [`Report::by_importance`].
pub(super) fn listed<'r>(report: &'r Report, options: &Options) -> Vec<&'r Finding> {
    let mut findings = report.by_importance();
    findings.retain(|finding| !is_folded(finding, options));
    findings
}

/// What the others come to: `error handling: 834 calls drop their status and 40 launches are not checked in 301 files:
/// --select error-handling lists them; 12 of them in functions that check others`. Nothing where there are none.
pub(super) fn line(report: &Report, options: &Options) -> String {
    let folded: Vec<&Finding> = report.findings.iter().filter(|finding| is_folded(finding, options)).collect();
    if folded.is_empty() {
        return String::new();
    }
    let count = |fault: Fault, mixed: bool| -> usize {
        let of_kind = |finding: &&&Finding| {
            finding.claim.shows == Shows::UnreadStatus { fault } && (!mixed || finding.done_elsewhere)
        };
        folded.iter().filter(of_kind).map(|finding| 1 + finding.related.len()).sum()
    };
    let mut parts = Vec::new();
    for (fault, one, many) in [
        (Fault::Status, "call drops its status", "calls drop their status"),
        (Fault::Launch, "launch is not checked", "launches are not checked"),
        (
            Fault::Asynchronous,
            "function ends without asking for late errors",
            "functions end without asking for late errors",
        ),
    ] {
        match count(fault, false) {
            0 => {}
            1 => parts.push(format!("1 {one}")),
            number => parts.push(format!("{number} {many}")),
        }
    }
    let files: BTreeSet<&str> = folded.iter().map(|finding| &*finding.place.path).collect();
    let files = if files.len() == 1 { "1 file".to_owned() } else { format!("{} files", files.len()) };
    let mixed = count(Fault::Status, true) + count(Fault::Launch, true);
    let mixed = match mixed {
        0 => String::new(),
        1 => "; 1 of them in a function that checks others".to_owned(),
        mixed => format!("; {mixed} of them in functions that check others"),
    };
    let parts = match parts.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, before)) => format!("{} and {last}", before.join(", ")),
        None => String::new(),
    };
    format!("error handling: {parts} in {files}: `--select error-handling` lists them{mixed}\n")
}
