//! How much of a project's launches was executed, and why not the rest.

use std::collections::BTreeMap;

/// Counts over the kernels of one module; they add up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Launches in the source.
    pub launches: u64,
    /// Those executed with nothing but facts.
    pub with_facts: u64,
    /// Of the others those of which the first block was executed with nothing but facts: the grid is not known.
    pub first_block: u64,
    /// Of all but the first those executed with assumptions as well.
    pub assumed: u64,
    /// Those executed only with a block that was guessed.
    pub guessed: u64,
    /// Those not executed, by cause.
    pub not_executed: BTreeMap<&'static str, u64>,
    /// Kernels whose launch is not in sight.
    pub unlaunched: u64,
    /// Those of them executed with a configuration that was chosen.
    pub unlaunched_executed: u64,
    /// Places in executed kernels where memory is accessed, each kernel's once.
    pub accesses: u64,
    /// Those whose address was known for every thread.
    pub known_accesses: u64,
    /// Lane-operations spent.
    pub operations: u64,
    /// What execution could not follow, by cause.
    pub causes: BTreeMap<&'static str, u64>,
}

/// Causes in these counts that are budgets which ran out; the others are code that is not understood or not in sight.
const BUDGETS: [&str; 5] = [
    "budget spent",
    "long loop",
    "calls too deep",
    "operations of a file used up",
    "more configurations of one kernel",
];

impl Counts {
    /// What was cut short, by cause.
    pub fn cuts(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        let all = self.causes.iter().chain(&self.not_executed).map(|(cause, count)| (*cause, *count));
        all.filter(|(cause, _)| BUDGETS.contains(cause))
    }

    /// Adds another module's.
    pub fn add(&mut self, other: &Self) {
        self.launches += other.launches;
        self.with_facts += other.with_facts;
        self.first_block += other.first_block;
        self.assumed += other.assumed;
        self.guessed += other.guessed;
        self.unlaunched += other.unlaunched;
        self.unlaunched_executed += other.unlaunched_executed;
        self.accesses += other.accesses;
        self.known_accesses += other.known_accesses;
        self.operations += other.operations;
        for (from, to) in [(&other.not_executed, &mut self.not_executed), (&other.causes, &mut self.causes)] {
            for (cause, count) in from {
                *to.entry(cause).or_default() += count;
            }
        }
    }
}
