//! Symbols with what is always true of them, and the question whether facts contradict each other.

use super::impossible::impossible;
use super::sums::{Fact, OTHER, Sum, Symbol};
use crate::code::Ty;
use rustc_hash::{FxHashMap, FxHashSet};

/// Most facts that one question is decided with.
const MAX_FACTS: usize = 90;
/// What all questions about one kernel may cost.
const WORK: u64 = 60_000_000;
/// What one question may cost.
const WORK_OF_ONE: u64 = 400_000;
/// How many symbols of both threads are told apart by which is greater.
const MAX_SPLITS: usize = 3;

/// How the values of a symbol differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Nature {
    /// Two threads, or one thread at two moments of one barrier interval, may have different values.
    pub own: bool,
    /// Threads that come by together have the same value.
    pub uniform: bool,
}

impl Nature {
    /// One value for all threads and moments.
    pub const COMMON: Self = Self { own: false, uniform: true };
    /// A value for each thread.
    pub const OWN: Self = Self { own: true, uniform: false };

    pub const fn and(self, other: Self) -> Self {
        Self { own: self.own || other.own, uniform: self.uniform && other.uniform }
    }
}

struct Known {
    nature: Nature,
    facts: Vec<Fact>,
}

/// What a symbol stands for, where equal things get equal symbols: an operation with its operands,
/// and the bytes and the sign of its type.
pub(super) type Key = (Op, (u32, bool), Vec<Sum>);

/// Operations of which nothing but bounds is known.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Op {
    /// What is at a place of memory that nobody changes.
    Constant(u32),
    Quotient,
    Remainder,
    /// A number brought into the range of a type.
    Wrapped,
    Least,
    Greatest,
    /// Any other, by its group and its number in it.
    Other(u8, u32),
}

pub(super) struct Symbols {
    all: Vec<Known>,
    keyed: FxHashMap<Key, Symbol>,
    /// Questions that were answered.
    answers: FxHashMap<(Fact, Vec<Fact>), bool>,
    work: u64,
}

impl Symbols {
    pub fn new() -> Self {
        Self { all: Vec::new(), keyed: FxHashMap::default(), answers: FxHashMap::default(), work: WORK }
    }

    /// The number of the next symbol.
    pub fn mark(&self) -> Symbol {
        self.all.len() as Symbol
    }

    pub fn add(&mut self, nature: Nature) -> Symbol {
        self.all.push(Known { nature, facts: Vec::new() });
        (self.all.len() - 1) as Symbol
    }

    /// The symbol for an operation, and whether it is new.
    pub fn keyed(&mut self, key: Key, nature: Nature) -> (Symbol, bool) {
        if let Some(known) = self.keyed.get(&key) {
            return (*known, false);
        }
        let symbol = self.add(nature);
        self.keyed.insert(key, symbol);
        (symbol, true)
    }

    /// Notes what is always true of a symbol.
    pub fn note(&mut self, symbol: Symbol, fact: Option<Fact>) {
        if let (Some(known), Some(fact)) = (self.all.get_mut(symbol as usize), fact) {
            known.facts.push(fact);
        }
    }

    /// Notes the range of an integer type.
    pub fn note_range(&mut self, symbol: Symbol, ty: &Ty) {
        let Some((least, most)) = range(ty) else { return };
        let own = Sum::symbol(symbol);
        self.note(symbol, Fact::at_least(&own, &Sum::number(least)));
        if let Some(most) = most {
            self.note(symbol, Fact::at_least(&Sum::number(most), &own));
        }
    }

    pub fn nature(&self, sum: &Sum) -> Nature {
        sum.symbols().fold(Nature::COMMON, |all, symbol| {
            all.and(self.all.get((symbol & !OTHER) as usize).map_or(Nature::OWN, |known| known.nature))
        })
    }

    /// Symbols that others are defined by.
    pub fn behind(&self, symbols: &[Symbol]) -> Vec<Symbol> {
        let known = symbols.iter().filter_map(|symbol| self.all.get(*symbol as usize));
        known.flat_map(|known| &known.facts).flat_map(|fact| fact.sum.symbols()).collect()
    }

    /// Of the second of two threads.
    pub fn of_other(&self, symbol: Symbol) -> Symbol {
        let own = self.all.get((symbol & !OTHER) as usize).is_none_or(|known| known.nature.own);
        if own { symbol | OTHER } else { symbol }
    }

    /// Whether nothing is left to be spent.
    pub fn is_spent(&self) -> bool {
        self.work == 0
    }

    /// Whether a fact holds wherever the others do.
    pub fn follows(&mut self, path: &[Fact], fact: Option<Fact>) -> bool {
        let Some(fact) = fact else { return false };
        if let Some(value) = fact.sum.constant() {
            return if fact.zero { value == 0 } else { value >= 0 };
        }
        if path.contains(&fact) {
            return true;
        }
        // More may be known by now: then the answer was too careful.
        let question = (fact, path.to_vec());
        if let Some(known) = self.answers.get(&question) {
            return *known;
        }
        let fact = &question.0;
        let below = |sum: Option<Sum>| sum.and_then(|sum| sum.plus(-1)).map(|sum| Fact { sum, zero: false });
        let less = below(fact.sum.scaled(-1));
        let more = fact.zero.then(|| below(Some(fact.sum.clone())));
        let denied = std::iter::once(less).chain(more);
        let answer = denied.into_iter().all(|denied| denied.is_some_and(|denied| self.contradict(&[denied], path)));
        self.answers.insert(question, answer);
        answer
    }

    /// Whether a goal cannot hold on a path.
    pub fn contradict(&mut self, goal: &[Fact], path: &[Fact]) -> bool {
        let facts = self.around(goal, path);
        let mut work = self.work.min(WORK_OF_ONE);
        let before = work;
        let found = impossible(&facts, &mut work);
        self.work = self.work.saturating_sub(before - work + facts.len() as u64);
        found
    }

    /// The same, with symbols that both threads have compared where need be.
    pub fn contradict_for_two(&mut self, goal: &[Fact], path: &[Fact], splits: &[Symbol], depth: usize) -> bool {
        if self.contradict(goal, path) {
            return true;
        }
        let Some((symbol, splits)) = splits.split_first().filter(|_| depth < MAX_SPLITS) else { return false };
        let (one, two) = (Sum::symbol(*symbol), Sum::symbol(*symbol | OTHER));
        let cases = [Fact::equal(&one, &two), Fact::above(&one, &two), Fact::above(&two, &one)];
        cases.into_iter().all(|case| {
            let Some(case) = case else { return false };
            let mut goal = goal.to_vec();
            goal.push(case);
            self.contradict_for_two(&goal, path, splits, depth + 1)
        })
    }

    /// The goal with all that is known of its symbols, of theirs, and so on.
    fn around(&self, goal: &[Fact], path: &[Fact]) -> Vec<Fact> {
        let mut facts = goal.to_vec();
        let mut met: FxHashSet<Symbol> = FxHashSet::default();
        let mut open: Vec<Symbol> = goal.iter().flat_map(|fact| fact.sum.symbols()).collect();
        let mut used = vec![false; path.len()];
        while let Some(symbol) = open.pop() {
            if !met.insert(symbol) {
                continue;
            }
            let other = symbol & OTHER != 0;
            for fact in self.all.get((symbol & !OTHER) as usize).into_iter().flat_map(|known| &known.facts) {
                let fact = if other { fact.renamed(|symbol| self.of_other(symbol)) } else { fact.clone() };
                open.extend(fact.sum.symbols());
                facts.push(fact);
            }
            for (fact, used) in path.iter().zip(&mut used) {
                if !*used && fact.sum.symbols().any(|it| it == symbol) {
                    *used = true;
                    open.extend(fact.sum.symbols());
                    facts.push(fact.clone());
                }
            }
            if facts.len() > MAX_FACTS {
                break;
            }
        }
        facts
    }
}

/// The least and, where a number of 64 bits with a sign holds it, the greatest value of an integer type.
pub(super) fn range(ty: &Ty) -> Option<(i64, Option<i64>)> {
    Some(match ty {
        Ty::Bool => (0, Some(1)),
        Ty::Int { bytes: 8, signed: false } => (0, None),
        Ty::Int { bytes: bytes @ 1..=4, signed: true } => {
            let half = 1_i64 << (8 * u32::from(*bytes) - 1);
            (-half, Some(half - 1))
        }
        Ty::Int { bytes: bytes @ 1..=4, signed: false } => (0, Some((1_i64 << (8 * u32::from(*bytes))) - 1)),
        _ => return None,
    })
}
