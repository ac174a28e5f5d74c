//! What the path that is being walked rests on.

use crate::quantity::{Assumptions, Condition};

/// Most conditions of a path that are kept.
const MAX_CONDITIONS: usize = 48;

/// Conditions that hold on a path, and assumptions that do not.
#[derive(Debug, Default)]
pub(crate) struct PathState {
    /// What the path says of the inputs, with the number of the frame at whose end it is no longer sure (0: never).
    conditions: Vec<(usize, Condition)>,
    /// Assumptions that do not hold: on the path behind `if (argc > 1)` it is not so that no argument is given.
    excluded: Vec<String>,
}

impl PathState {
    /// How many conditions are known, for [`Self::unlearn`].
    pub const fn known(&self) -> usize {
        self.conditions.len()
    }

    /// All conditions.
    pub fn conditions(&self) -> Vec<Condition> {
        self.conditions.iter().map(|(_, condition)| condition.clone()).collect()
    }

    /// Adds a condition that holds until the frame with this number ends; `false` when there are too many.
    pub fn learn(&mut self, condition: Condition, until: usize) -> bool {
        let room = self.conditions.len() < MAX_CONDITIONS;
        if room {
            self.conditions.push((until, condition));
        }
        room
    }

    /// Drops what has been learned since so many were known.
    pub fn unlearn(&mut self, known: usize) {
        self.conditions.truncate(known);
    }

    /// Drops what has been learned since `known` and holds only inside the frame with this number, or deeper.
    pub fn leave_frame(&mut self, known: usize, frame: usize) {
        let mut index = 0;
        self.conditions.retain(|(until, _)| {
            index += 1;
            index <= known || *until < frame
        });
    }

    /// Assumptions that do not hold.
    pub fn excluded(&self) -> &[String] {
        &self.excluded
    }

    /// On what follows the assumptions do not hold; how many were excluded before, for [`Self::readmit`].
    pub fn exclude(&mut self, assumptions: &Assumptions) {
        self.excluded.extend(assumptions.iter().flat_map(|list| list.iter().cloned()));
    }

    /// Only the first `count` of the excluded assumptions still do not hold.
    pub fn readmit(&mut self, count: usize) {
        self.excluded.truncate(count);
    }

    /// Whether something rests on an assumption that does not hold here.
    pub fn excludes(&self, assumptions: &Assumptions) -> bool {
        !self.excluded.is_empty()
            && assumptions.as_ref().is_some_and(|list| list.iter().any(|text| self.excluded.contains(text)))
    }
}
