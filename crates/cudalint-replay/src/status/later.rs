//! How a status that nobody looks at may come to light all the same: somebody looks at the last error later on, a later call is looked
//! at and fails for the same reason, or the program compares its results with others. Whoever runs it then sees that something is wrong.

use super::join::Join;
use super::solve::{AGAIN, AGAIN_SOMEWHERE, After, COMPARES, LOOKS_LATER, MAY_LOOK};
use crate::facts::SeenLater;
use cudalint_program::frameworks::test_at;
use cudalint_program::ir::{FunctionRole, ModuleId};
use rustc_hash::{FxHashMap, FxHashSet};

/// By what the loss of a call's status may be seen later. `kept`: whether the runtime keeps it as the last error; `again`: whether later
/// calls return what has stopped the device; `waits`: whether that is all that the call has to report.
pub(super) fn of_call(after: After, kept: bool, again: bool, waits: bool) -> Option<SeenLater> {
    let again_bits = if waits { AGAIN | AGAIN_SOMEWHERE } else { AGAIN };
    if kept && after.may & (LOOKS_LATER | MAY_LOOK) != 0 {
        Some(SeenLater::LastError)
    } else if again && after.may & again_bits != 0 {
        Some(SeenLater::Call)
    } else {
        (after.may & COMPARES != 0).then_some(SeenLater::Results)
    }
}

/// By what a refused launch may be seen later. Its error is not returned by other calls, and who may call what else is not asked: a
/// function that launches has its own launches to look after.
pub(super) fn of_launch(after: After) -> Option<SeenLater> {
    if after.may & LOOKS_LATER != 0 {
        Some(SeenLater::LastError)
    } else {
        (after.may & COMPARES != 0).then_some(SeenLater::Results)
    }
}

impl Join<'_> {
    /// What may come after the functions of an interface, which nobody in sight calls: whatever else whoever calls them may call. Where
    /// another of them looks at the last error, that may come next.
    pub(super) fn other_calls(&self) -> Vec<After> {
        let mut after = vec![After::default(); self.functions.len()];
        let has_callers = self.functions_with_callers();
        let is_open = |index: &usize| !has_callers.contains(&(*index as u32)) && self.is_of_interface(*index);
        let looks = |index: &usize| self.effects[*index] & LOOKS_LATER != 0;
        let mut looking = (0..self.functions.len()).filter(|index| looks(index) && is_open(index));
        let (Some(one), other) = (looking.next(), looking.next()) else { return after };
        for (index, after) in after.iter_mut().enumerate().filter(|(index, _)| is_open(index)) {
            // A method is called again.
            if index != one || other.is_some() || self.function(index).role == FunctionRole::Method {
                after.may |= MAY_LOOK;
            }
        }
        after
    }

    /// Functions that no `main` in sight leads to: what comes after their calls is not known.
    pub(super) fn out_of_programs(&self) -> FxHashSet<u32> {
        let all = || 0..self.functions.len() as u32;
        let mut next: Vec<u32> = all().filter(|index| *self.function(*index as usize).name == *"main").collect();
        let mut reached: FxHashSet<u32> = next.iter().copied().collect();
        while let Some(index) = next.pop() {
            for target in self.targets[index as usize].iter().flatten() {
                if reached.insert(*target) {
                    next.push(*target);
                }
            }
        }
        all().filter(|index| !reached.contains(index)).collect()
    }

    /// By module: two of the functions around that look at the last error, in its file or in folders above and below, as far as there are
    /// such. What a function leaves there comes to light in one of them, whichever is called next. `has_callers`: functions that somebody
    /// calls; a checker that nobody uses looks at nothing.
    pub(super) fn looking_around(&self, has_callers: &FxHashSet<u32>) -> Vec<[Option<u32>; 2]> {
        let looks = |index: &u32| {
            let at = *index as usize;
            let works = || *self.function(at).name == *"main" || !self.function(at).flow.launches.is_empty();
            self.effects[at] & LOOKS_LATER != 0 && (has_callers.contains(index) || works())
        };
        // Two of each module are enough.
        let mut looking: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for index in (0..self.functions.len() as u32).filter(looks) {
            let own = looking.entry(self.functions[index as usize].0 as u32).or_default();
            if own.len() < 2 {
                own.push(index);
            }
        }
        let of_module = |module: u32| {
            let is_near = |other: u32| other == module || self.project.includes().are_neighbours(module, other);
            let mut near = looking.iter().filter(|(other, _)| is_near(**other)).flat_map(|(_, all)| all).copied();
            [near.next(), near.next()]
        };
        (0..self.surveys.len() as u32).map(of_module).collect()
    }

    /// Whether a function is made for `PyTorch`: its file includes headers of that. What it computes goes into operations of `PyTorch`, and
    /// these look at the last error.
    pub(super) fn is_for_torch(&self, index: usize) -> bool {
        const FOLDERS: [&str; 3] = ["ATen/", "c10/", "torch/"];
        let at = self.functions[index].0 as u32;
        let included = self.project.includes().reach(at).included.iter();
        included.copied().chain([at]).any(|file| {
            let targets = self.project.module(ModuleId(file)).includes.iter().map(|include| &*include.target);
            targets.into_iter().any(|target| FOLDERS.iter().any(|folder| target.starts_with(folder)))
        })
    }

    /// Whether code elsewhere may call a function: it is no program, no test, and no part of a function.
    fn is_of_interface(&self, index: usize) -> bool {
        let function = self.function(index);
        if *function.name == *"main" || function.role == FunctionRole::Lambda {
            return false;
        }
        !self.is_test(index)
    }

    /// Whether a function is a test of some framework.
    pub(super) fn is_test(&self, index: usize) -> bool {
        let id = ModuleId(self.functions[index].0 as u32);
        let span = self.project.module(id).functions.get(self.function(index).id).map(|function| function.span);
        span.is_some_and(|span| test_at(self.project.text(id, span)).is_some())
    }
}
