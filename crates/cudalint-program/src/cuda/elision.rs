//! Comments that stand where code would be: `// ... allocate as before ...`.

use super::Lowerer;
use super::source::Src;
use crate::ir::{Block, Stmt};
use crate::name::Name;
use cudalint_syntax::Node;
use cudalint_syntax::kinds::{CudaKind, cuda_kind};

/// Words that say that code was left out.
const LEFT_OUT: &[&str] =
    &["as before", "as in example", "as above", "omitted", "for brevity", "same as in", "goes here", "not shown"];
/// Words that name what code would do; they count only where no code follows.
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
    /// Looks at a comment among statements; `next` is what follows it in the block.
    pub(super) fn comment(&mut self, s: Src<'_>, node: Node<'_>, next: Option<Node<'_>>, out: &mut Block) {
        if !s.is_file() {
            return;
        }
        let text = s.text(node);
        let words = text.trim_start_matches(['/', '*', '!', ' ']).trim_end_matches(['/', '*', ' ']).trim();
        let followed = next.is_some_and(|next| cuda_kind(next) != CudaKind::Comment);
        if !is_elision(words, followed) || !stands_alone(s.text, node) {
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

fn is_elision(words: &str, followed: bool) -> bool {
    let dots = |text: &str| text.starts_with("...") || text.starts_with('…');
    if dots(words) || words.ends_with("...") || words.ends_with('…') {
        return true;
    }
    // Titles and prose: a comment of many words explains.
    if words.len() > 160 {
        return false;
    }
    let lower = words.to_ascii_lowercase();
    if LEFT_OUT.iter().any(|phrase| lower.contains(phrase)) {
        return true;
    }
    (lower.contains("...") || lower.contains('…') || !followed) && DEEDS.iter().any(|phrase| lower.contains(phrase))
}

/// Whether nothing but blanks stands before the comment on its line.
fn stands_alone(text: &str, node: Node<'_>) -> bool {
    let before = text.get(..node.start_byte()).unwrap_or("");
    before.rsplit('\n').next().is_none_or(|line| line.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::is_elision;

    #[test]
    fn an_ellipsis_stands_for_code() {
        assert!(is_elision("... allocate memory as before ...", true));
        assert!(is_elision("... kernel launch ...", true));
        assert!(is_elision("allocate memory for a, b on the host...", true));
        assert!(is_elision("free memory as in Example 1", true));
    }

    #[test]
    fn an_explanation_does_not() {
        assert!(!is_elision("allocate device memory", true));
        assert!(!is_elision("one element a thread: 0, 1, ..., n - 1", true));
        assert!(is_elision("free memory", false));
    }
}
