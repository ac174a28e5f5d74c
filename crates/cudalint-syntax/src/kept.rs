//! Trees of texts that were parsed before, for who reads the same files again and again.

use crate::region::Language;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher as _;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use tree_sitter::Tree;

/// Most bytes of text whose trees are kept; a tree takes about fifteen times as much.
const MOST: usize = 12 << 20;

/// All that a parser is given: equal ones have equal trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Given<'t> {
    pub(crate) bytes: &'t [u8],
    pub(crate) offset: usize,
    pub(crate) gaps: &'t [Range<usize>],
    pub(crate) language: Language,
    pub(crate) stray: usize,
}

/// Trees by the texts that they are of. Threads share it.
#[derive(Debug, Default)]
pub struct KeptTrees(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    all: FxHashMap<u64, Vec<Entry>>,
    /// Bytes of all texts.
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    bytes: Box<[u8]>,
    offset: usize,
    gaps: Box<[Range<usize>]>,
    language: Language,
    stray: usize,
    tree: Tree,
    /// Whether it was asked for since the last sweep.
    used: bool,
}

impl Entry {
    fn given(&self) -> Given<'_> {
        let Self { bytes, offset, gaps, language, stray, .. } = self;
        Given { bytes, offset: *offset, gaps, language: *language, stray: *stray }
    }
}

impl KeptTrees {
    /// Forgets what nobody asked for since the last time.
    pub fn sweep(&self) {
        self.with(|kept| {
            kept.all.retain(|_, entries| {
                entries.retain(|entry| entry.used);
                for entry in entries.iter_mut() {
                    entry.used = false;
                }
                !entries.is_empty()
            });
            kept.bytes = kept.all.values().flatten().map(|entry| entry.bytes.len()).sum();
        });
    }

    /// How many trees there are.
    pub fn count(&self) -> usize {
        self.with(|kept| kept.all.values().map(Vec::len).sum())
    }

    pub(crate) fn find(&self, given: Given<'_>) -> Option<Tree> {
        let key = FxBuildHasher.hash_one(given);
        self.with(|kept| {
            // Two texts may have one number: the text itself decides.
            let entry = kept.all.get_mut(&key)?.iter_mut().find(|entry| entry.given() == given)?;
            entry.used = true;
            Some(entry.tree.clone())
        })
    }

    pub(crate) fn keep(&self, given: Given<'_>, tree: &Tree) {
        let key = FxBuildHasher.hash_one(given);
        let Given { bytes, offset, gaps, language, stray } = given;
        let entry =
            Entry { bytes: bytes.into(), offset, gaps: gaps.into(), language, stray, tree: tree.clone(), used: true };
        self.with(|kept| {
            let entries = kept.all.entry(key).or_default();
            if kept.bytes + bytes.len() <= MOST && entries.iter().all(|known| known.given() != given) {
                kept.bytes += bytes.len();
                entries.push(entry);
            }
        });
    }

    /// A thread that fails while it holds it leaves whole entries.
    fn with<T>(&self, work: impl FnOnce(&mut Kept) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::KeptTrees;
    use crate::{BuildMacros, Language, MacroTable, ParserPool, Region, Span, parse_region_without};
    use std::sync::Arc;

    fn parsed(text: &str, kept: Option<&Arc<KeptTrees>>) -> String {
        let mut pool = ParserPool::new();
        pool.keep(kept.cloned());
        let region = Region { language: Language::Cuda, span: Span::new(0, text.len()) };
        let conditions = BuildMacros::of_default();
        let all = parse_region_without(text, &region, &[], &MacroTable::default(), &[], conditions, &mut pool);
        all.root().unwrap().to_sexp()
    }

    #[test]
    fn a_text_is_parsed_once_and_forgotten_when_nobody_asks_for_it() {
        let kept = Arc::new(KeptTrees::default());
        let (one, other) = ("__global__ void k(int *p) { p[0] = 1; }\n", "int f() { return (1; }\n");
        for _ in 0..2 {
            assert_eq!(parsed(one, Some(&kept)), parsed(one, None));
            assert_eq!(parsed(other, Some(&kept)), parsed(other, None));
            assert_eq!(kept.count(), 2);
        }
        kept.sweep();
        assert_eq!(parsed(one, Some(&kept)), parsed(one, None));
        kept.sweep();
        assert_eq!(kept.count(), 1);
        // What stands elsewhere is another text.
        assert_ne!(parsed(&one.replace('0', "1"), Some(&kept)), String::new());
        assert_eq!(kept.count(), 2);
    }
}
