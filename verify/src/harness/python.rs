//! Programs for Python.

use crate::scenario::Candidate;
use crate::subject::{Stretch, Subject};
use cudalint_findings::model::FindingEntry;

/// The programs for a finding in Python, best first.
pub(super) fn candidates(_finding: &FindingEntry, _subject: &Subject, _stretch: &Stretch) -> Vec<Candidate> {
    vec![Err("not built yet".to_owned())]
}

/// A script that runs all of a stretch.
pub(super) fn drive_all(_subject: &Subject, _stretch: &Stretch) -> Candidate {
    Err("not built yet".to_owned())
}
