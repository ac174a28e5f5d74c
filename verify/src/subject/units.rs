//! Files on their way into a small project.

use camino::Utf8Path;
use cudalint_files::read_file;
use cudalint_program::{Program, ProjectOptions, SourceFile, load};
use cudalint_syntax::{FileKind, FileText};

/// A file of C++; none when it cannot be read.
pub(super) fn source_file(file: &Utf8Path) -> Option<SourceFile> {
    let text = FileText::from_bytes(FileKind::CFamily, read_file(file.as_std_path()).ok()?).ok()?;
    Some(SourceFile::new(file.as_str(), &text))
}

/// The program of one file of C++ alone; none when it cannot be read.
pub(super) fn program_of(file: &Utf8Path) -> Option<Program> {
    Some(load(&[source_file(file)?], &ProjectOptions::default()))
}
