//! A stretch as a whole, and the script that is made of it.

use super::sheet::Sheet;
use crate::subject::{Stretch, Subject};
use camino::{Utf8Path, Utf8PathBuf};
use cudalint_syntax::FileKind;

/// The folder of a document or notebook, for the scripts that are made of it. One made of a script finds its way by itself.
pub(super) fn beside(subject: &Subject) -> Option<Utf8PathBuf> {
    let folder = subject.file.parent().filter(|_| subject.kind != FileKind::Python);
    folder.map(Utf8Path::to_owned)
}

/// First and last line of a stretch.
pub(super) fn lines(subject: &Subject, stretch: &Stretch) -> (u32, u32) {
    let span = stretch.region.span;
    let first = subject.line_of(span.start);
    (first, subject.line_of(span.end.max(span.start + 1) - 1))
}

/// A stretch with its lines at their own numbers, without the indentation of a fence in a list.
pub(super) fn whole(subject: &Subject, stretch: &Stretch) -> Sheet {
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
