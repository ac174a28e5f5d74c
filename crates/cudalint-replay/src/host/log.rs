//! What a walk reports, and when it does.

use crate::facts::{Event, Site};
use rustc_hash::FxHashMap;

/// How many outcomes of one place a walk reports: loops meet one place many times.
const MAX_OUTCOMES: u32 = 12;

/// The events of a walk.
#[derive(Debug, Default)]
pub(crate) struct EventLog {
    /// In the order in which they happen.
    pub events: Vec<Event>,
    /// Above 0: nothing is reported, since the same code is walked only to see what it does.
    pub muted: u32,
    /// How often each place has been reported.
    outcomes: FxHashMap<Site, u32>,
}

impl EventLog {
    /// Counts an outcome at a place; whether it is to be reported.
    pub fn wants(&mut self, site: Site) -> bool {
        let count = self.outcomes.entry(site).or_insert(0);
        *count += 1;
        *count <= MAX_OUTCOMES
    }
}
