//! A finding that evidence is compared with.

use cudalint_findings::model::FindingEntry;
use std::ops::Deref;

/// A finding that evidence is compared with.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    pub(super) finding: &'a FindingEntry,
    pub(super) statement: Option<(u32, u32)>,
}

impl<'a> Target<'a> {
    /// A finding.
    pub fn new(finding: &'a FindingEntry) -> Self {
        Self { finding, statement: None }
    }

    /// The same; its call or launch is a part of a statement on these lines, of which a compiler may name the first.
    #[must_use]
    pub fn in_statement(self, lines: (u32, u32)) -> Self {
        Self { statement: Some(lines), ..self }
    }
}

impl Deref for Target<'_> {
    type Target = FindingEntry;

    fn deref(&self) -> &FindingEntry {
        self.finding
    }
}
