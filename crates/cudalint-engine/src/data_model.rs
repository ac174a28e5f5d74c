//! Files that only compilers for Windows take, because they include that system's headers whatever is built: `long` has 4 bytes there, and
//! 8 wherever else 64-bit code for GPUs is built (LLP64 and LP64).

use crate::others::words_at;
use cudalint_findings::{Finding, Place, Shows};
use cudalint_program::Project;
use cudalint_program::ir::ModuleId;
use cudalint_syntax::Span;

/// Headers that no other system has.
const HEADERS: [&str; 5] = ["windows.h", "tchar.h", "winsock2.h", "sdkddkver.h", "atlbase.h"];

/// Whether what a finding says hangs on the size of `long` in a file that is built for Windows alone: what would have to be otherwise, in
/// words.
pub(crate) fn takes_long_for_larger(project: &Project, id: ModuleId, finding: &Finding) -> Option<String> {
    // Races, barriers and statuses do not hang on sizes.
    if !matches!(finding.claim.shows, Shows::FailedCall { .. } | Shows::Access { .. } | Shows::Memory { .. }) {
        return None;
    }
    let spells = |place: &Place| {
        let is_it = |id: &ModuleId| **project.path(*id) == *place.path;
        let module = if is_it(&id) { id } else { project.modules().find(is_it)? };
        let text = project.source(module);
        let line = text.get(..place.range.start)?.rfind('\n').map_or(0, |end| end + 1);
        let end = text.get(place.range.end..)?.find('\n').map_or(text.len(), |end| place.range.end + end);
        let lines = text.get(line..end)?;
        // Of `long long` neither word is a `long`.
        let alone = |at: usize| {
            let before = lines[..at].trim_end().ends_with("long");
            !before
                && !lines[at + 4..].trim_start().starts_with("long")
                && !lines[at + 4..].trim_start().starts_with("double")
        };
        words_at(lines, "long").any(alone).then_some(())
    };
    let places = std::iter::once(&finding.place).chain(finding.related.iter().map(|label| &label.place));
    places.into_iter().find_map(spells)?;
    let included = project.includes().reach(id.index() as u32).included.iter();
    let header = included.copied().map(ModuleId).chain([id]).find_map(|file| {
        let module = project.module(file);
        let counts = |span: Span| !module.passed_over.iter().any(|passed| passed.contains(span));
        let includes = module.includes.iter().filter(|include| counts(include.span));
        includes.map(|include| &*include.target).find(|target| HEADERS.contains(&&*target.to_ascii_lowercase()))
    })?;
    Some(format!("`long` has 8 bytes, which it has not where there is a `{header}`"))
}
