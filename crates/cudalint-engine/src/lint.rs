//! One project from sources to findings: read, load, analyse, judge; suppression and levels.

use crate::analyse::{self, Unit};
use crate::outcome::{Fault, Part};
use crate::project::ProjectInput;
use crate::settle::{damaged_functions, settle, texts};
use crate::sources::{Loaded, read_all};
use crate::suppress::{MARK, Suppressions, remarks};
use cudalint_findings::{Finding, Incomplete};
use cudalint_program::guard::guarded;
use cudalint_program::load::{self, FileNotes};
use rayon::prelude::*;
use rustc_hash::FxHashSet;

/// Lints a project.
pub(crate) fn lint_project(input: &ProjectInput<'_>) -> Part {
    let mut part = Part::default();
    let (files, calls) = read_all(input, &mut part);
    part.read = files.iter().map(|file| file.source.real.clone()).collect();
    let units: Vec<Unit<'_>> = files
        .iter()
        .flat_map(|file| file.file.pieces.iter().map(move |piece| Unit { source: &file.source, file, piece }))
        .collect();
    // Every file is parsed; every unit is looked at, then judged.
    input.steps.expect(files.len() + 2 * units.len());
    let program = load::load_telling(&files, &input.reading.options, &|| input.steps.step());
    let mut suppressions: Vec<Suppressions> = Vec::new();
    for (file, found) in files.iter().zip(files.par_iter().map(|file| suppressions_of(file, input)).collect::<Vec<_>>())
    {
        suppressions.push(found.unwrap_or_else(|said| {
            part.faults.push(Fault::internal(&file.source.path, &said));
            Suppressions::default()
        }));
    }
    let mut findings: Vec<Finding> = Vec::new();
    for (unit, result) in units.iter().zip(analyse::analyse(&program.project, &units, &calls, input, &mut part.remains))
    {
        match result {
            Ok(mut said) => {
                if unit.piece.stretch.inside {
                    drop_unwritable_fixes(&mut said.findings, unit);
                }
                findings.append(&mut said.findings);
                if unit.source.reported {
                    said.count(unit, &units, &mut part.statistics);
                }
            }
            Err(fault) => part.faults.push(fault),
        }
    }
    drop_fixes_of_damaged_files(&mut findings, &files, &program.files);
    for (file, notes) in files.iter().zip(&program.files) {
        let path = || file.source.path.to_string();
        part.faults.extend(notes.fault.iter().map(|said| Fault::internal(&file.source.path, said)));
        if file.source.reported {
            part.files.checked += 1;
            part.files.damaged += usize::from(notes.damaged);
            let refusal = notes.refusal.map(|refusal| format!("not analysed: {refusal}"));
            part.incomplete.extend(refusal.map(|reason| Incomplete { path: path(), reason }));
        }
    }
    // What went wrong in a file that nobody asked about is reported when that file is asked about.
    let reported: FxHashSet<&str> =
        files.iter().filter(|file| file.source.reported).map(|file| &*file.source.path).collect();
    part.faults.retain(|fault| !fault.internal || reported.contains(fault.path.as_str()));
    let damaged = damaged_functions(&units, &program.project);
    part.findings = settle(input, &files, &mut suppressions, &damaged, findings, &mut part.statistics.suppressed);
    part.sources = texts(&files, &part.findings);
    part.remains.keep((files, program));
    part
}

/// The suppression comments of a file.
fn suppressions_of(file: &Loaded, input: &ProjectInput<'_>) -> Result<Suppressions, String> {
    let text = &*file.file.text;
    if !file.source.reported || !text.contains(MARK) {
        return Ok(Suppressions::default());
    }
    guarded(|| Suppressions::collect(text, &remarks(&file.file), input.rules))
}

/// Where the parser lost a part of a file, nobody knows what an edit means.
fn drop_fixes_of_damaged_files(findings: &mut [Finding], files: &[Loaded], notes: &[FileNotes]) {
    let damaged: FxHashSet<&str> =
        files.iter().zip(notes).filter(|(_, notes)| notes.damaged).map(|(file, _)| &*file.source.path).collect();
    for finding in findings.iter_mut().filter(|_| !damaged.is_empty()) {
        finding.fix.take_if(|fix| fix.edits.iter().any(|edit| damaged.contains(&*edit.place.path)));
    }
}

/// Fixes of a program in a string are edits of the string: those stay that mean the same in each kind of string.
fn drop_unwritable_fixes(findings: &mut [Finding], unit: &Unit<'_>) {
    for finding in findings {
        let plain = |edit: &cudalint_findings::Edit| {
            let range = edit.place.range.clone();
            unit.file.file.text.get(range.clone()) == unit.piece.stretch.text.get(range)
                && !edit.text.contains(['\\', '"', '\'', '{', '}', '%', '$', '\n', '\r'])
        };
        finding.fix.take_if(|fix| !fix.edits.iter().all(plain));
    }
}
