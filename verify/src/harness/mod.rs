//! Programs that would show a finding: as written, around the user's file, or cut out of it.

use crate::scenario::Candidate;
use crate::subject::Subject;
use cudalint_findings::model::FindingEntry;

/// The programs for a finding, best first: as written where the file has a `main` (or is a script), then around the
/// file, then cut out of it. Never empty: where there is no way to a program, the reason stands in its place.
pub fn candidates(_finding: &FindingEntry, _subject: &Subject) -> Vec<Candidate> {
    vec![Err("not built yet".to_owned())]
}
