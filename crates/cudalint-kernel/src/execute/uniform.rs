//! What is known of conditions without an answer, for a running block.

use crate::report::{OpenCondition, OpenKind, Site};

/// How often an assumed answer is given: a condition around a loop's rounds must fail some time.
pub const ASSUMED_ROUNDS: u32 = 3;
/// Most conditions that are reported.
const MOST: usize = 16;

/// Most accesses at unknown places that are reported.
const MOST_UNPLACED: usize = 32;

/// What is known of such conditions.
#[derive(Default)]
pub(super) struct Uniform {
    /// Conditions whose answers are assumed, each with how often they were in this block.
    pub(super) assumed: Vec<(OpenCondition, u32)>,
    /// Names that got an answer in this block: equal names are equal values.
    pub(super) answers: Vec<(i64, bool)>,
    /// Conditions without an answer, and whether lanes came to shared memory, or to a barrier, behind them, of which none is
    /// sure to be there.
    pub(super) open: Vec<(OpenCondition, bool)>,
    /// Accesses to shared memory at places that nobody knows.
    pub(super) unplaced: Vec<Site>,
}

impl Uniform {
    /// Assumes answers.
    pub(super) fn assume(&mut self, conditions: &[OpenCondition]) {
        self.assumed = conditions.iter().map(|condition| (*condition, 0)).collect();
    }

    /// The assumed condition of each thread by itself at a place.
    pub(super) fn of_threads(&self, at: impl Fn(Site) -> bool) -> Option<OpenCondition> {
        let mut assumed = self.assumed.iter().map(|(condition, _)| *condition);
        assumed.find(|condition| condition.kind == OpenKind::OfThreads && at(condition.site))
    }

    pub(super) fn add(&mut self, condition: OpenCondition, matters: bool) {
        if self.open.len() < MOST && !self.open.iter().any(|(open, _)| open.site == condition.site) {
            self.open.push((condition, matters));
        }
    }

    /// The conditions that matter.
    pub(super) fn reported(&self) -> Vec<OpenCondition> {
        self.open.iter().filter(|(_, matters)| *matters).map(|(open, _)| *open).collect()
    }

    /// Notes an access at a place that nobody knows.
    pub(super) fn note_unplaced(&mut self, site: Site) {
        if self.unplaced.len() < MOST_UNPLACED && !self.unplaced.contains(&site) {
            self.unplaced.push(site);
        }
    }

    /// For a new block.
    pub(super) fn renew(&mut self) {
        self.assumed.iter_mut().for_each(|(_, given)| *given = 0);
        self.answers.clear();
    }
}
