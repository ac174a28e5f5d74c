//! Ways to one thing: of several that lead there, somebody may know that one begins where nothing does.

use crate::facts::{Facts, Step};

/// Ways that are kept beside the first, at most.
const MAX_WAYS: usize = 8;

/// Adds ways to those that are kept beside one.
pub(crate) fn add_ways(path: &[Step], ways: &mut Vec<Vec<Step>>, other: Vec<Step>, others: Vec<Vec<Step>>) {
    for way in std::iter::once(other).chain(others) {
        if ways.len() < MAX_WAYS && way != path && !ways.contains(&way) {
            ways.push(way);
        }
    }
}

/// Whether another execution may be kept beside so many.
pub(crate) fn has_room(others: usize) -> bool {
    others < MAX_WAYS
}

impl Facts {
    /// Tells of what happens by a way that `is_walked`, where there is one.
    pub fn prefer(&mut self, mut is_walked: impl FnMut(&[Step]) -> bool) {
        let events = self.events.iter_mut().map(|event| (&mut event.path, &mut event.ways));
        let runs = self.runs.iter_mut().map(|run| (&mut run.path, &mut run.ways));
        for (path, ways) in events.chain(runs).filter(|(_, ways)| !ways.is_empty()) {
            if !is_walked(path)
                && let Some(other) = ways.iter().position(|way| is_walked(way))
            {
                std::mem::swap(path, &mut ways[other]);
            }
        }
        let runs = &self.runs;
        let mut walked = |run: usize| runs.get(run).is_some_and(|run| is_walked(&run.path));
        for fact in self.defects.iter_mut().filter(|fact| !fact.others.is_empty()) {
            if !walked(fact.run)
                && let Some((run, event)) = fact.others.iter().copied().find(|(run, _)| walked(*run))
            {
                (fact.run, fact.event) = (run, event);
                fact.alike.clear();
            }
        }
    }
}
