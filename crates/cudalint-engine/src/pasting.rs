//! Names that macros put together with `##`.

use cudalint_program::ir::MacroDefinition;

/// What a macro's body joins with `##`: what stands on both sides, each nothing where it is a parameter.
fn joins(defined: &MacroDefinition) -> impl Iterator<Item = [&str; 2]> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let own = |word: &str| !defined.params.iter().flatten().any(|param| *param == *word) && !word.starts_with("__VA");
    let body = &*defined.body;
    body.match_indices("##").map(move |(at, mark)| {
        let (before, behind) = (body[..at].trim_end(), body[at + mark.len()..].trim_start());
        let last = before.rsplit(|letter| !is_part(letter)).next().unwrap_or(before);
        let next = behind.split(|letter| !is_part(letter)).next().unwrap_or(behind);
        [last, next].map(|word| if own(word) { word } else { "" })
    })
}

/// Whether a macro makes names of which it says no part.
pub(crate) fn pastes_blindly(defined: &MacroDefinition) -> bool {
    joins(defined).any(|[before, behind]| before.is_empty() && behind.is_empty())
}

/// The parts of names that a macro makes, each with whether it begins them.
pub(crate) fn pasted(defined: &MacroDefinition) -> Vec<(&str, bool)> {
    let parts = joins(defined).flat_map(|[before, behind]| [(before, true), (behind, false)]);
    parts.filter(|(part, _)| !part.is_empty()).collect()
}
