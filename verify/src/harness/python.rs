//! Programs for Python: the script as written, then what matters cut out of it, with its lines at their own numbers.

mod cut;
mod drive;
mod names;
mod prediction;
mod sheet;

use crate::scenario::{Candidate, Origin, Program, PythonProgram, Raise, ScenarioFile};
use crate::subject::{Stretch, Subject};
use camino::Utf8PathBuf;
use cudalint_findings::model::{FindingEntry, Method};
use cudalint_program::python::PythonNames;
use cudalint_syntax::FileKind;
use sheet::Sheet;

/// Packages whose absence makes a run say nothing.
const PACKAGES: [(&str, &str); 4] = [("numba", "numba"), ("cupy", "cupy"), ("cupyx", "cupy"), ("pycuda", "pycuda")];

/// The programs for a finding in Python, best first.
pub(super) fn candidates(finding: &FindingEntry, subject: &Subject, stretch: &Stretch) -> Vec<Candidate> {
    let names = prediction::facts(subject, stretch);
    let fact = names.as_ref().and_then(|names| prediction::at(names, subject.span_of(finding)));
    let by_exception = finding.verification.method == Method::Exception;
    let raises = by_exception.then(|| match fact {
        Some(fact) => with_launches(prediction::raise(fact, subject), fact, subject, stretch),
        None => prediction::in_words(finding),
    });
    let packages = match fact {
        // Python stops before it imports anything.
        Some(prediction::Fact::Chevron(_)) => Vec::new(),
        _ => names.as_ref().map(imported_packages).unwrap_or_default(),
    };
    let mut found = vec![Ok(Program::Python(as_written(subject, stretch, packages, raises)))];
    if let (true, Some(names), Some(fact)) = (by_exception, names.as_ref(), fact) {
        found.push(cut::candidate(finding, subject, stretch, names, fact));
    }
    found
}

/// A script that runs all of a stretch.
pub(super) fn drive_all(subject: &Subject, stretch: &Stretch) -> Candidate {
    drive::candidate(subject, stretch)
}

/// The user's file where it lies; of a document, the fence as a file.
fn as_written(subject: &Subject, stretch: &Stretch, packages: Vec<String>, raises: Option<Raise>) -> PythonProgram {
    let written = PythonProgram {
        origin: Origin::AsWritten,
        script: subject.file.clone(),
        files: Vec::new(),
        packages,
        reproducer: None,
        raises,
        control: None,
        made_up: Vec::new(),
    };
    if subject.kind == FileKind::Python {
        return written;
    }
    let script = Utf8PathBuf::from("as_written.py");
    let (first, last) = lines(subject, stretch);
    let comments = [
        format!("Lines {first} to {last} of {}, at their own line numbers.", subject.path),
        format!("Run it with: python {script}"),
    ];
    let text = whole(subject, stretch).render(&comments);
    PythonProgram {
        files: vec![ScenarioFile { path: script.clone(), text }],
        reproducer: Some(script.clone()),
        script,
        ..written
    }
}

/// First and last line of a stretch.
fn lines(subject: &Subject, stretch: &Stretch) -> (u32, u32) {
    let span = stretch.region.span;
    let first = subject.line_of(span.start);
    (first, subject.line_of(span.end.max(span.start + 1) - 1))
}

/// A stretch with its lines at their own numbers, without the indentation of a fence in a list.
fn whole(subject: &Subject, stretch: &Stretch) -> Sheet {
    let text = subject.slice(stretch.region.span);
    let indentation = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start_matches([' ', '\t']).len())
        .next()
        .unwrap_or(0);
    let mut sheet = Sheet::default();
    for (number, line) in (subject.line_of(stretch.region.span.start)..).zip(text.lines()) {
        let blanks = line.len() - line.trim_start_matches([' ', '\t']).len();
        sheet.set(number, line.get(blanks.min(indentation)..).unwrap_or(line));
    }
    sheet
}

/// The GPU packages that a file imports.
fn imported_packages(names: &PythonNames) -> Vec<String> {
    let mut found: Vec<String> = names
        .imports
        .values()
        .filter_map(|path| package(path.split('.').next().unwrap_or(path)))
        .map(str::to_owned)
        .collect();
    found.sort();
    found.dedup();
    found
}

/// The package that brings a module.
fn package(module: &str) -> Option<&'static str> {
    PACKAGES.iter().find(|(name, _)| *name == module).map(|(_, package)| *package)
}

/// A keyword that a kernel's decorator does not take shows where the kernel is compiled: at its launches.
fn with_launches(mut raises: Raise, fact: prediction::Fact<'_>, subject: &Subject, stretch: &Stretch) -> Raise {
    let prediction::Fact::Name(unknown) = fact else { return raises };
    let Some(root) = stretch.parsed.root() else { return raises };
    let Some(definition) = cut::decorated_definition(root, unknown.span) else { return raises };
    let Some(name) = cut::defined_name(definition, &subject.text) else { return raises };
    for launch in cut::launches_of(root, name, &subject.text) {
        raises.lines.push((subject.line_of(launch.start), subject.line_of(launch.end.max(launch.start + 1) - 1)));
    }
    raises
}
