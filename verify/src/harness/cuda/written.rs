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
    })
}

/// The program of a file with a `main`: the subject's own, or one of the same folder whose program it is a part of.
pub(super) fn file(subject: &Subject, stretch: &Stretch, main: &Utf8Path) -> Program {
    Program::Cuda(CudaProgram {
        origin: Origin::AsWritten,
        unit: main.to_owned(),
        files: Vec::new(),
        flags: page::flags(subject, stretch, &subject.linked_with(main)),
        arguments: Vec::new(),
        reproducer: None,
    })
}
