//! How far a run is, over all its projects.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Steps done.
    pub done: usize,
    /// Steps in sight: it may grow.
    pub total: usize,
}

/// Ends a run early: whoever holds a copy may ask for it. What the run then gives is not whole, and says nothing.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Asks for the end.
    pub fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether somebody asked.
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Counts steps and reports each.
pub(crate) struct Steps<'a> {
    stop: Stop,
    done: AtomicUsize,
    total: AtomicUsize,
    report: &'a (dyn Fn(Progress) + Sync),
}

impl<'a> Steps<'a> {
    /// No steps yet.
    pub fn new(report: &'a (dyn Fn(Progress) + Sync), stop: Stop) -> Self {
        Self { stop, done: AtomicUsize::new(0), total: AtomicUsize::new(0), report }
    }

    /// Whether nobody wants the rest.
    pub fn are_over(&self) -> bool {
        self.stop.is_asked()
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
