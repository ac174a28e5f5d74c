//! Programs for CUDA C++: the user's own; around the user's file; with what it leaves out supplied; the kernel with what it
//! needs; the kernel alone.

mod arguments;
mod around;
mod base;
mod command;
mod entries;
mod helpers;
mod kernel;
mod launch;
mod library;
mod numbers;
mod page;
mod records;
mod slice;
mod spelling;
mod start;
mod supply;
mod template;
mod undeclared;
mod values;
mod written;

use crate::scenario::{Candidate, CudaProgram, Program};
use crate::subject::{Stretch, Subject};
use camino::Utf8PathBuf;
use cudalint_findings::model::{FindingEntry, Method};
use start::{Start, has_main};

/// Programs around the user's file for one finding, at most.
const MAX_AROUND: usize = 8;
/// Programs of a text with what it leaves out supplied, at most.
const MAX_CUT: usize = 4;
/// Functions that one file is started from, at most.
const MAX_STARTS: usize = 4;
/// Other files of the program that are tried, at most.
const MAX_FILES: usize = 2;

/// The programs for a finding in CUDA C++, best first.
pub(super) fn candidates(finding: &FindingEntry, subject: &Subject, stretch: &Stretch) -> Vec<Candidate> {
    let mut found: Vec<Program> = Vec::new();
    if has_main(subject, stretch) {
        let plain = written::program(subject, stretch);
        let arguments = command::arguments(subject, stretch);
        found.push(plain.clone());
        if let (Program::Cuda(program), false) = (plain, arguments.is_empty()) {
            found.push(Program::Cuda(CudaProgram { arguments, ..program }));
        }
    } else {
        found.extend(subject.mains().iter().take(MAX_FILES).map(|main| written::file(subject, stretch, main)));
    }
    // A file that is included by others may only make sense inside of them.
    let files: Vec<Utf8PathBuf> =
        std::iter::once(subject.file.clone()).chain(subject.includers().into_iter().take(MAX_FILES)).collect();
    let mut reasons: Vec<String> = Vec::new();
    let mut around: Vec<Program> = Vec::new();
    let starts = entries::entries(finding, subject, stretch);
    for file in &files {
        let base = base::Base::file(subject, stretch, file);
        for start in starts.iter().take(MAX_STARTS) {
            match around::programs(Some(finding), subject, stretch, &base, &[*start]) {
                Ok(programs) => around.extend(programs),
                Err(reason) if !reasons.contains(&reason) => reasons.push(reason),
                Err(_) => {}
            }
        }
    }
    around.truncate(MAX_AROUND);
    // Where something is left out, the compiler refuses the file and what is around it.
    found.extend(cut(finding, subject, stretch, &starts));
    found.extend(around);
    if finding.verification.method != Method::FaultInjection
        && let Some(start) = starts.iter().find(|start| start.direct)
    {
        if let Some(base) = slice::base(subject, stretch, *start) {
            found.extend(around::programs(Some(finding), subject, stretch, &base, &[*start]).unwrap_or_default());
        }
        match kernel::program(Some(finding), subject, stretch, *start) {
            Ok(program) => found.push(program),
            Err(reason) => reasons.push(reason),
        }
    }
    if found.is_empty() && reasons.is_empty() {
        let line = finding.range.start.line;
        reasons.push(format!("{}: no function that reaches line {line} can be called", subject.path));
    }
    found.into_iter().map(Ok).chain(reasons.into_iter().map(Err)).collect()
}

/// Programs of a text that leaves something out, with that supplied.
fn cut(finding: &FindingEntry, subject: &Subject, stretch: &Stretch, starts: &[Start]) -> Vec<Program> {
    let mut found = Vec::new();
    if has_main(subject, stretch)
        && let Some(base) = supply::base(subject, stretch, true)
    {
        found.push(around::with_own_main(Some(finding), subject, stretch, &base));
    }
    if let Some(base) = supply::base(subject, stretch, false) {
        for start in starts.iter().take(MAX_STARTS) {
            found.extend(around::programs(Some(finding), subject, stretch, &base, &[*start]).unwrap_or_default());
        }
    }
    found.truncate(MAX_CUT);
    found
}

/// A program that runs all of a stretch: its `main`, or each of its functions once with made-up arguments.
pub(super) fn drive_all(subject: &Subject, stretch: &Stretch) -> Candidate {
    if has_main(subject, stretch) {
        return Ok(match supply::base(subject, stretch, true) {
            Some(base) => around::with_own_main(None, subject, stretch, &base),
            None => written::program(subject, stretch),
        });
    }
    let starts = entries::all(subject, stretch);
    if starts.is_empty() {
        return Err(format!("{}: there is no function to call", subject.path));
    }
    let supplied = supply::base(subject, stretch, false);
    let base = supplied.unwrap_or_else(|| base::Base::file(subject, stretch, &subject.file));
    let programs = around::programs(None, subject, stretch, &base, &starts)?;
    programs.into_iter().next().ok_or_else(|| format!("{}: there is nothing to run", subject.path))
}
