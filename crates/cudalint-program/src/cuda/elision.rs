//! Comments that stand where code would be: `// ... allocate as before ...`.

use super::source::Src;
use super::state::Lowerer;
use crate::ir::{Block, Stmt};
use crate::name::Name;
use cudalint_syntax::Node;
use cudalint_syntax::kinds::{CudaKind, cuda_kind};

/// Words that say that code was left out; without an ellipsis they count where no code follows.
const LEFT_OUT: &[&str] =
    &["as before", "as in example", "as above", "omitted", "for brevity", "same as in", "goes here", "not shown"];
/// Words that name what code would do; without an ellipsis they count only at the end of a block.
const DEEDS: &[&str] = &[
    "allocate",
    "allocation",
    "populate",
    "initialize",
    "initialise",
    "free ",
    "free memory",
    "handle error",
    "error handling",
    "kernel launch",
    "launch kernel",
    "launch the kernel",
    "copy data",
    "copy back",
    "clean up",
];

impl Lowerer<'_> {
    /// Looks at a comment among statements; `siblings` are all nodes of the block, `at` is its position, and `code` how many
    /// of them there are up to the last that is no comment ([`up_to_code`]).
    pub(super) fn comment(&mut self, s: Src<'_>, siblings: &[Node<'_>], at: usize, code: usize, out: &mut Block) {
        let Some(node) = siblings.get(at).copied() else { return };
        if !s.is_file() || !stands_alone(s.text, node) {
            return;
        }
        let words = words(s.text(node));
        let neighbour = |other: Option<&Node<'_>>| {
            // What is said of a line of code, at its end, is another text.
            let other =
                *other.filter(|other| cuda_kind(**other) == CudaKind::Comment && stands_alone(s.text, **other))?;
            let (from, to) = if other.end_byte() <= node.start_byte() {
                (other.end_byte(), node.start_byte())
            } else {
                (node.end_byte(), other.start_byte())
            };
            let between = s.text.get(from..to)?;
            (between.matches('\n').count() <= 1).then(|| self::words(s.text(other)))
        };
        let before = at.checked_sub(1).and_then(|at| neighbour(siblings.get(at)));
        let after = neighbour(siblings.get(at + 1));
        let next = siblings.get(at + 1).copied();
        let ends = at >= code;
        let gap = next.is_some_and(|next| {
            let between = s.text.get(node.end_byte()..next.start_byte()).unwrap_or("");
            between.matches('\n').count() > 1
        });
        // `/* ... */` is no part of a text that goes on from line to line.
        let is_closed = s.text(node).starts_with("/*") && words.bytes().all(|byte| byte == b'.');
        let prose = !is_closed && [before, after].into_iter().flatten().any(|other| !starts_with_dots(other));
        let place = Place { prose, ends, gap };
        if !is_elision(words, place) {
            return;
        }
        let names = self.names_in(words);
        let span = s.span(node);
        out.push(self.push_stmt(Stmt::Elided { names }, span));
    }

    fn names_in(&mut self, words: &str) -> Vec<Name> {
        let mut names: Vec<Name> = Vec::new();
        for word in words.split(|c: char| !c.is_alphanumeric() && c != '_') {
            let starts = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
            if !starts {
                continue;
            }
            let program_like = word.contains('_') || word.contains(|c: char| c.is_ascii_digit());
            if program_like || self.lookup(word).is_some() {
                let name = self.name(word);
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        names
    }
}

/// How many of the nodes of a block there are without the comments at its end.
pub(super) fn up_to_code(nodes: &[Node<'_>]) -> usize {
    nodes.iter().rposition(|node| cuda_kind(*node) != CudaKind::Comment).map_or(0, |last| last + 1)
}

/// What stands around a comment.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// A comment that is no elision stands on the line before or behind: the two are one text.
    prose: bool,
    /// No code follows in the block.
    ends: bool,
    /// A blank line follows.
    gap: bool,
}

/// The words of a comment without its marks.
fn words(text: &str) -> &str {
    text.trim_start_matches(['/', '*', '!', ' ', '\t']).trim_end_matches(['/', '*', ' ', '\t']).trim()
}

/// `... words`; `...words` goes on with a sentence.
fn starts_with_dots(words: &str) -> bool {
    let rest = words.strip_prefix("...").or_else(|| words.strip_prefix('…'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '.']))
}

fn is_elision(words: &str, place: Place) -> bool {
    if place.prose || words.len() > 160 {
        return false;
    }
    if starts_with_dots(words) {
        return true;
    }
    let lower = words.to_ascii_lowercase();
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| lower.contains(phrase));
    let dots = words.ends_with("...") || words.ends_with('…');
    let no_code = place.ends || place.gap;
    (dots && no_code && (says(DEEDS) || says(LEFT_OUT)))
        || (no_code && words.len() <= 80 && says(LEFT_OUT))
        || (place.ends && words.len() <= 40 && says(DEEDS))
}

/// Whether nothing but blanks stands before the comment on its line.
fn stands_alone(text: &str, node: Node<'_>) -> bool {
    let before = text.get(..node.start_byte()).unwrap_or("");
    before.rsplit('\n').next().is_none_or(|line| line.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::{Place, is_elision};

    #[test]
    fn an_ellipsis_stands_for_code() {
        let code_follows = Place::default();
        assert!(is_elision("... allocate memory as before ...", code_follows));
        assert!(is_elision("... kernel launch ...", code_follows));
        assert!(is_elision("...", code_follows));
        assert!(is_elision("allocate memory for a, b on the host...", Place { gap: true, ..code_follows }));
        assert!(is_elision("free memory as in Example 1", Place { ends: true, ..code_follows }));
        assert!(is_elision("free memory", Place { ends: true, ..code_follows }));
    }

    #[test]
    fn an_explanation_does_not() {
        let code_follows = Place::default();
        assert!(!is_elision("allocate device memory", code_follows));
        assert!(!is_elision("allocate device memory", Place { gap: true, ..code_follows }));
        assert!(!is_elision("one element a thread: 0, 1, ..., n - 1", code_follows));
        assert!(!is_elision("...otherwise, the next step", code_follows));
        assert!(!is_elision("... and the rest of a sentence", Place { prose: true, ..code_follows }));
        assert!(!is_elision("sort...", code_follows));
    }
}
