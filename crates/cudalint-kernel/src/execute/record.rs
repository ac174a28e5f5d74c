//! What is remembered of each executed access, and the loops around it.

use crate::report::{AccessKind, Site};
use std::rc::Rc;

/// One access instruction, executed once by the lanes of a block. Its stamp is its place among the records; stamps grow
/// with time, so "since the last barrier" is a comparison.
#[derive(Clone)]
#[allow(clippy::struct_excessive_bools, reason = "independent facts about the access")]
pub(super) struct Record {
    pub(super) site: Site,
    pub(super) kind: AccessKind,
    pub(super) size: u32,
    pub(super) element: u32,
    /// Which block, in order of execution.
    pub(super) block: u32,
    /// Block-wide barriers passed.
    pub(super) interval: u32,
    /// Grid-wide barriers passed.
    pub(super) phase: u32,
    /// The innermost loop iteration, in [`Trace::iterations`]; 0 for none.
    pub(super) iteration: u32,
    pub(super) calls: Rc<[Site]>,
    /// `volatile`, or an atomic load or store.
    pub(super) volatile: bool,
    /// `volatile`, in the condition of a loop.
    pub(super) polled: bool,
    /// Atomic among the threads of one block only.
    pub(super) of_block: bool,
    /// The block may have waited for another one before: nothing orders it for us, and perhaps all is ordered.
    pub(super) acquired: bool,
    /// Its lanes may have waited for others since the last barrier.
    pub(super) acquired_block: bool,
    /// The session of a lock that it belongs to, 0 for none.
    pub(super) session: u32,
    /// Behind a condition that some threads are assumed to pass.
    pub(super) assumed: bool,
    /// Done by the copy engine some time later.
    pub(super) asynchronous: bool,
}

/// One round of one loop.
#[derive(Clone, Copy)]
pub(super) struct Iteration {
    /// The round of the loop around, 0 for none.
    pub(super) parent: u32,
    /// Which execution of the loop.
    pub(super) instance: u32,
    pub(super) site: Site,
    pub(super) number: u32,
    /// The barrier interval when it began.
    pub(super) interval: u32,
}

/// The records of a run.
#[derive(Default)]
pub(super) struct Trace {
    /// From stamp 1.
    pub(super) records: Vec<Record>,
    /// From 1.
    pub(super) iterations: Vec<Iteration>,
    /// Executions of loops so far.
    pub(super) instances: u32,
}

impl Trace {
    /// The stamp that the next record will have.
    pub(super) const fn next(&self) -> u32 {
        self.records.len() as u32 + 1
    }

    pub(super) fn record(&self, stamp: u32) -> Option<&Record> {
        self.records.get((stamp as usize).checked_sub(1)?)
    }

    pub(super) fn iteration(&self, id: u32) -> Option<&Iteration> {
        self.iterations.get((id as usize).checked_sub(1)?)
    }

    /// The loop whose way around brings two accesses into one barrier interval: they stand in different rounds of it, and
    /// a barrier stood between the round's begin and the first one.
    pub(super) fn across(&self, first: &Record, second: &Record) -> Option<Site> {
        let chain = |mut id: u32| {
            let mut chain = Vec::new();
            while let Some(iteration) = self.iteration(id) {
                chain.push(*iteration);
                id = iteration.parent;
            }
            chain.reverse();
            chain
        };
        let (a, b) = (chain(first.iteration), chain(second.iteration));
        let (a, b) = a.iter().zip(&b).find(|(a, b)| a.number != b.number || a.instance != b.instance)?;
        (a.instance == b.instance && first.interval > a.interval).then_some(b.site)
    }
}
