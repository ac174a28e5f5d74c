//! Programs that would show a finding: as written, around the user's file, or cut out of it. Each language has its own
//! writer; what they share is the order of the candidates.

mod cuda;
mod python;

use crate::scenario::{Candidate, Program};
use crate::subject::{Stretch, Subject};
use cudalint_findings::model::{FindingEntry, Launch};
use cudalint_syntax::Language;

/// The programs for a finding, best first: as written where the file has a `main` (or is a script), then around the
/// file, then cut out of it. Never empty: where there is no way to a program, the reason stands in its place.
pub fn candidates(finding: &FindingEntry, subject: &Subject) -> Vec<Candidate> {
    let mut found = match subject.stretch_of(finding) {
        Some(stretch) => match stretch.region.language {
            Language::Cuda => cuda::candidates(finding, subject, stretch),
            Language::Python => {
                let mut found = python::candidates(finding, subject, stretch);
                // A kernel in a string is CUDA C++ like any other, once the script has shown nothing.
                if let Some(program) = subject.in_string(finding)
                    && let Some(inner) = program.stretches.first()
                {
                    found.extend(cuda::candidates(finding, program, inner));
                }
                found
            }
        },
        None => Vec::new(),
    };
    for program in found.iter_mut().flatten() {
        add_written(program, subject);
    }
    if found.is_empty() {
        let line = finding.range.start.line;
        return vec![Err(format!("{}: no code in a language that can be run stands at line {line}", subject.path))];
    }
    found
}

/// Adds the files that other cells of a notebook write. A program's own files come first.
fn add_written(program: &mut Program, subject: &Subject) {
    let files = match program {
        Program::Cuda(program) => &mut program.files,
        Program::Python(program) => &mut program.files,
        Program::Kernel(_) => return,
    };
    for file in subject.written_beside() {
        if !files.iter().any(|own| own.path == file.path) {
            files.push(file.clone());
        }
    }
}

/// A program that runs all of a stretch: its `main`, or each of its functions once with made-up arguments. For code that
/// must be clean.
///
/// # Errors
/// What cannot be called, and why.
pub fn drive_all(subject: &Subject, stretch: &Stretch) -> Candidate {
    drive_all_with(subject, stretch, None)
}

/// The same; a Python kernel that nothing launches is launched as said.
///
/// # Errors
/// What cannot be called, and why.
pub fn drive_all_with(subject: &Subject, stretch: &Stretch, launch: Option<&Launch>) -> Candidate {
    match stretch.region.language {
        Language::Cuda => cuda::drive_all(subject, stretch),
        Language::Python => python::drive_all(subject, stretch, launch),
    }
}
