//! Names that macros put together with `##`.

use cudalint_program::ir::MacroDefinition;

/// Two pieces that a macro's body joins with `##`.
struct Join<'m> {
    /// What stands on both sides, each nothing where it is a parameter.
    sides: [&'m str; 2],
    /// Whether another piece is joined to these.
    goes_on: bool,
}

/// What a macro's body joins with `##`.
fn joins(defined: &MacroDefinition) -> impl Iterator<Item = Join<'_>> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let own = |word: &str| !defined.params.iter().flatten().any(|param| *param == *word) && !word.starts_with("__VA");
    let body = &*defined.body;
    body.match_indices("##").map(move |(at, mark)| {
        let (before, behind) = (body[..at].trim_end(), body[at + mark.len()..].trim_start());
        let last = before.rsplit(|letter| !is_part(letter)).next().unwrap_or(before);
        let next = behind.split(|letter| !is_part(letter)).next().unwrap_or(behind);
        let goes_on = before[..before.len() - last.len()].trim_end().ends_with("##")
            || behind[next.len()..].trim_start().starts_with("##");
        Join { sides: [last, next].map(|word| if own(word) { word } else { "" }), goes_on }
    })
}

/// Whether a macro makes names of which it says no part.
pub(crate) fn pastes_blindly(defined: &MacroDefinition) -> bool {
    joins(defined).any(|join| join.sides.iter().all(|side| side.is_empty()))
}

/// A part of the names that a macro makes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part<'m> {
    text: &'m str,
    /// Whether it begins them, or ends them.
    begins: bool,
    /// Whether the macro puts them together of more than two pieces.
    many: bool,
}

impl Part<'_> {
    /// Whether the macro may make a name. `is_word`: whether anybody writes the rest of it, which an argument has to say.
    pub(crate) fn may_make(&self, name: &str, is_word: &dyn Fn(&str) -> bool) -> bool {
        let rest = if self.begins { name.strip_prefix(self.text) } else { name.strip_suffix(self.text) };
        rest.is_some_and(|rest| self.many || rest.is_empty() || is_word(rest))
    }
}

/// The parts of names that a macro makes.
pub(crate) fn pasted<'m>(defined: &'m MacroDefinition) -> Vec<Part<'m>> {
    let of = |join: Join<'m>| {
        let [before, behind] = join.sides;
        [(before, true), (behind, false)].map(|(text, begins)| Part { text, begins, many: join.goes_on })
    };
    joins(defined).flat_map(of).filter(|part| !part.text.is_empty()).collect()
}
