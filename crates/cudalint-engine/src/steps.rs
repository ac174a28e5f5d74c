//! How far a run is, over all its projects.

use std::sync::atomic::{AtomicUsize, Ordering};

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Steps done.
    pub done: usize,
    /// Steps in sight: it may grow.
    pub total: usize,
}

/// Counts steps and reports each.
pub(crate) struct Steps<'a> {
    done: AtomicUsize,
    total: AtomicUsize,
    report: &'a (dyn Fn(Progress) + Sync),
}

impl<'a> Steps<'a> {
    /// No steps yet.
    pub fn new(report: &'a (dyn Fn(Progress) + Sync)) -> Self {
        Self { done: AtomicUsize::new(0), total: AtomicUsize::new(0), report }
    }

    /// Steps that come into sight.
    pub fn expect(&self, count: usize) {
        self.total.fetch_add(count, Ordering::Relaxed);
    }

    /// One of them is done.
    pub fn step(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        (self.report)(Progress { done, total: self.total.load(Ordering::Relaxed) });
    }
}
