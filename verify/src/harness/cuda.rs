//! Programs for CUDA C++: the user's own, then one around the user's file, then one cut out of it.

mod arguments;
mod around;
mod entries;
mod page;
mod values;
mod written;

use crate::scenario::Candidate;
use crate::subject::{Stretch, Subject};
use cudalint_findings::model::FindingEntry;
use cudalint_program::ir::{FunctionId, FunctionRole};

/// Programs around the user's file for one finding, at most.
const MAX_AROUND: usize = 6;

/// The programs for a finding in CUDA C++, best first.
pub(super) fn candidates(finding: &FindingEntry, subject: &Subject, stretch: &Stretch) -> Vec<Candidate> {
    let mut found = Vec::new();
    if has_main(subject, stretch) {
        found.push(Ok(written::program(subject, stretch)));
    }
    let mut reasons: Vec<String> = Vec::new();
    let mut around = 0;
    for entry in entries::entries(finding, subject, stretch) {
        if around == MAX_AROUND {
            break;
        }
        match around::programs(Some(finding), subject, stretch, &[entry]) {
            Ok(programs) => {
                around += programs.len();
                found.extend(programs.into_iter().map(Ok));
            }
            Err(reason) if !reasons.contains(&reason) => reasons.push(reason),
            Err(_) => {}
        }
    }
    if found.is_empty() && reasons.is_empty() {
        reasons.push(format!(
            "{}: no function that reaches line {} can be called",
            subject.path, finding.range.start.line
        ));
    }
    found.extend(reasons.into_iter().map(Err));
    found
}

/// A program that runs all of a stretch: its `main`, or each of its functions once with made-up arguments.
pub(super) fn drive_all(subject: &Subject, stretch: &Stretch) -> Candidate {
    if has_main(subject, stretch) {
        return Ok(written::program(subject, stretch));
    }
    let entries = entries::all(subject, stretch);
    if entries.is_empty() {
        return Err(format!("{}: there is no function to call", subject.path));
    }
    let mut programs = around::programs(None, subject, stretch, &entries)?;
    if programs.is_empty() { Err("nothing to run".to_owned()) } else { Ok(programs.remove(0)) }
}

/// Whether a stretch defines `main`.
fn has_main(subject: &Subject, stretch: &Stretch) -> bool {
    subject.module(stretch).is_some_and(|module| {
        module.functions.iter().any(|function| {
            function.name == "main"
                && function.body.is_some()
                && function.role == FunctionRole::Free
                && !function.space.global
        })
    })
}

/// A function to start from: what a harness calls or launches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Start {
    /// The function.
    pub function: FunctionId,
}
