//! Where a harness takes the user's code from.

use super::helpers::Helper;
use super::page;
use super::start::has_main;
use crate::scenario::{Origin, ScenarioFile};
use crate::subject::{Stretch, Subject};
use camino::Utf8Path;
use cudalint_syntax::FileKind;
use std::collections::BTreeSet;

/// Where a harness takes the user's code from.
#[derive(Clone, Debug)]
pub(super) struct Base {
    /// How the program came about.
    pub origin: Origin,
    /// The user's code, as lines of the harness.
    pub text: String,
    /// Flags of the compiler.
    pub flags: Vec<String>,
    /// Files beside the harness.
    pub files: Vec<ScenarioFile>,
    /// Shared functions that the text needs before it.
    pub helpers: BTreeSet<Helper>,
}

impl Base {
    /// The user's file as it is, or one that includes it.
    pub fn file(subject: &Subject, stretch: &Stretch, file: &Utf8Path) -> Self {
        let own = file == subject.file;
        let has_main = if own { has_main(subject, stretch) } else { subject.file_has_main(file) };
        let linked = if subject.kind == FileKind::Markdown { Vec::new() } else { subject.linked_with(file) };
        Self {
            origin: Origin::Around,
            text: page::user_text(subject, stretch, file, has_main),
            flags: page::flags(subject, stretch, &linked),
            files: Vec::new(),
            helpers: BTreeSet::new(),
        }
    }
}
