//! Programs as written: the user's file itself, or a fence written out with its lines where the document has them.

use super::page;
use crate::scenario::{CudaProgram, Origin, Program, ScenarioFile};
use crate::subject::{Stretch, Subject};
use camino::{Utf8Path, Utf8PathBuf};
use cudalint_syntax::FileKind;

/// The program that a stretch with a `main` is.
pub(super) fn program(subject: &Subject, stretch: &Stretch) -> Program {
    if subject.kind != FileKind::Markdown {
        return file(subject, stretch, &subject.file);
    }
    let unit = Utf8PathBuf::from("program.cu");
    let text = format!("{}{}", page::preamble(subject, stretch), page::quoted(subject, stretch));
    Program::Cuda(CudaProgram {
        origin: Origin::AsWritten,
        unit: unit.clone(),
        files: vec![ScenarioFile { path: unit, text }],
        flags: page::flags(subject, stretch, &[]),
        arguments: Vec::new(),
        reproducer: None,
        project: None,
    })
}

/// The program of a file with a `main`: the subject's own, or one near it whose program it is a part of.
pub(super) fn file(subject: &Subject, stretch: &Stretch, main: &Utf8Path) -> Program {
    let linked = subject.linked_with(main);
    let mut read = linked.clone();
    if main != subject.file {
        read.push(main.to_owned());
    }
    let mut flags = page::flags(subject, stretch, &linked);
    for folder in subject.include_folders(&read) {
        let flag = format!("-I{folder}");
        if !flags.contains(&flag) {
            flags.push(flag);
        }
    }
    // By their names these are plain C++ to the compiler, and what it knows no name for it refuses.
    let is_plain = !matches!(main.extension(), Some("cu"));
    let has_device_code = subject
        .module(stretch)
        .is_some_and(|module| module.functions.iter().any(|function| function.space.global || function.space.device));
    if is_plain && (main.extension() == Some("C") || (main == subject.file && has_device_code)) {
        flags.extend(["-x".to_owned(), "cu".to_owned()]);
    }
    Program::Cuda(CudaProgram {
        origin: Origin::AsWritten,
        unit: main.to_owned(),
        files: Vec::new(),
        flags,
        arguments: Vec::new(),
        reproducer: None,
        project: None,
    })
}
