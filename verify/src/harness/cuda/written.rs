//! Programs as written: the user's file itself, or a fence written out with its lines where the document has them.

use super::page;
use crate::scenario::{CudaProgram, Origin, Program, ScenarioFile};
use crate::subject::{Stretch, Subject};
use camino::Utf8PathBuf;
use cudalint_syntax::FileKind;

/// The program that a stretch with a `main` is.
pub(super) fn program(subject: &Subject, stretch: &Stretch) -> Program {
    let flags = page::flags(subject, stretch);
    if subject.kind != FileKind::Markdown {
        return Program::Cuda(CudaProgram {
            origin: Origin::AsWritten,
            unit: subject.file.clone(),
            files: Vec::new(),
            flags,
            arguments: Vec::new(),
            reproducer: None,
        });
    }
    let unit = Utf8PathBuf::from("program.cu");
    let text = format!("{}{}", page::preamble(subject, stretch), page::quoted(subject, stretch));
    Program::Cuda(CudaProgram {
        origin: Origin::AsWritten,
        unit: unit.clone(),
        files: vec![ScenarioFile { path: unit, text }],
        flags,
        arguments: Vec::new(),
        reproducer: None,
    })
}
