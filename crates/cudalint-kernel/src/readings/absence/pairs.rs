//! Whether two threads of a block may touch the same bytes between two barriers, and whether an access stays within memory.

use super::state::{Access, Base, Kind};
use super::sums::{Fact, OTHER, Sum, Symbol};
use super::walk::Walker;

/// Most pairs of accesses of one kernel that are looked at.
const MAX_PAIRS: usize = 6000;

/// Why nothing is said of an object whose accesses are all known.
pub(super) const SAME_ELEMENT: &str = "two threads may touch the same element";

impl Walker<'_> {
    /// Compares accesses that no barrier parts.
    pub(super) fn close(&mut self, open: &[usize]) {
        if self.probing > 0 || !self.compares {
            return;
        }
        let mut open = open.to_vec();
        open.sort_unstable();
        open.dedup();
        for (place, first) in open.iter().enumerate() {
            for second in open.get(place..).unwrap_or_default() {
                self.compare(*first, *second);
            }
        }
    }

    fn compare(&mut self, first: usize, second: usize) {
        let (Some(a), Some(b)) = (self.accesses.get(first), self.accesses.get(second)) else { return };
        let conflict = match (a.kind, b.kind) {
            (Kind::Read, Kind::Read) => false,
            // Atomic operations of one size on one element are ordered; others may overlap in part.
            (Kind::Atomic, Kind::Atomic) => a.size != b.size,
            _ => true,
        };
        if a.base != b.base || !conflict || !self.is_shared(a.base) || self.doubtful.contains_key(&a.base) {
            return;
        }
        if !self.pairs.insert((first, second)) {
            return;
        }
        let (a, b) = (a.clone(), b.clone());
        if self.pairs.len() > MAX_PAIRS {
            return self.doubt(a.base, "too much to follow", a.site);
        }
        if !self.are_apart(&a, &b) {
            self.doubt(b.base, SAME_ELEMENT, b.site);
        }
    }

    /// Whether two different threads never touch the same bytes by these accesses.
    fn are_apart(&mut self, a: &Access, b: &Access) -> bool {
        let other = |symbol: Symbol| self.symbols.of_other(symbol);
        let offset = b.offset.renamed(other);
        let mut path = a.path.clone();
        path.extend(b.path.iter().map(|fact| fact.renamed(other)));
        let end = |offset: &Sum, size: u32| offset.plus(i64::from(size) - 1);
        let (Some(a_end), Some(b_end)) = (end(&a.offset, a.size), end(&offset, b.size)) else { return false };
        let overlap = [Fact::at_least(&a_end, &offset), Fact::at_least(&b_end, &a.offset)];
        let Some(overlap) = overlap.into_iter().collect::<Option<Vec<Fact>>>() else { return false };
        let compared = self.compared(a, b);
        let mut before: Vec<Fact> = overlap;
        let mut axes: Vec<Symbol> = self.threads.iter().filter_map(Sum::as_symbol).collect();
        // Two threads differ along some axis; of the axes before it nothing is said.
        while let Some(symbol) = axes.pop() {
            let thread = Sum::symbol(symbol);
            let splits: Vec<Symbol> = axes.iter().rev().chain(&compared).copied().collect();
            let twin = Sum::symbol(symbol | OTHER);
            for case in [Fact::above(&thread, &twin), Fact::above(&twin, &thread)] {
                let Some(case) = case else { return false };
                let mut goal = before.clone();
                goal.push(case);
                if !self.symbols.contradict_for_two(&goal, &path, &splits, 0) {
                    return false;
                }
            }
            before.extend(Fact::equal(&thread, &twin));
        }
        true
    }

    /// Numbers that each of the threads has for itself in both accesses: rounds of a loop, quotients.
    fn compared(&self, a: &Access, b: &Access) -> Vec<Symbol> {
        let threads: Vec<Symbol> = self.threads.iter().filter_map(Sum::as_symbol).collect();
        let of = |access: &Access| {
            let path = access.path.iter().flat_map(|fact| fact.sum.symbols());
            access.offset.symbols().chain(path).collect::<Vec<Symbol>>()
        };
        let mut others = of(b);
        others.extend(self.symbols.behind(&others));
        let mut own = of(a);
        own.extend(self.symbols.behind(&own));
        let mut found = Vec::new();
        for symbol in own {
            let own = self.symbols.of_other(symbol) != symbol;
            if own && others.contains(&symbol) && !threads.contains(&symbol) && !found.contains(&symbol) {
                found.push(symbol);
            }
        }
        found
    }

    /// Whether all accesses to memory that begins there lie in its first bytes.
    pub(super) fn stays_within(&mut self, base: Base, bytes: &Sum) -> bool {
        let all: Vec<Access> = self.accesses.iter().filter(|access| access.base == base).cloned().collect();
        !all.is_empty()
            && all.iter().all(|access| {
                let end = access.offset.plus(i64::from(access.size));
                self.symbols.follows(&access.path, Fact::at_least(&access.offset, &Sum::default()))
                    && self.symbols.follows(&access.path, end.and_then(|end| Fact::at_least(bytes, &end)))
            })
    }
}
