//! What comes after a function returns: what all of its callers check, and what some of them may.

use super::flow::Callee;
use super::join::{Join, OF_LATER, ROUNDS};
use super::known;
use super::solve::{
    AGAIN, AGAIN_SOMEWHERE, After, DROPS, HIDDEN, LAST, LAUNCHES, LOOKS_LATER, MAY_LOOK, SEEN_LAST, SYNC,
};
use rustc_hash::FxHashMap;

impl<'a> Join<'a> {
    /// Whether a function leaves something for its callers to look at: launches, or statuses that it drops.
    fn leaves_work(&self, index: u32) -> bool {
        self.effects[index as usize] & (LAUNCHES | DROPS) != 0
    }

    /// What callers do after each function that launches or drops a status, and each lambda, returns: on every one of its call sites.
    pub(super) fn settle_exits(&self) -> Vec<After> {
        let handed_out = self.names_handed_out();
        let loose = self.loose_calls();
        let is_test: Vec<bool> = (0..self.functions.len()).map(|index| self.is_test(index)).collect();
        let leaves_work: Vec<bool> = (0..self.functions.len() as u32).map(|index| self.leaves_work(index)).collect();
        let other_calls = self.other_calls();
        let looks = if self.effects.iter().any(|bits| bits & LOOKS_LATER != 0) { MAY_LOOK } else { 0 };
        let mut exits = other_calls.clone();
        for _ in 0..ROUNDS {
            let mut next: Vec<Option<After>> = vec![None; self.functions.len()];
            let mut in_tests: Vec<Option<After>> = vec![None; self.functions.len()];
            let mut maybe = vec![0; self.functions.len()];
            for (index, exit) in exits.iter().enumerate() {
                let leaves_work = self.open[index].iter().any(|call| {
                    let targets = &self.targets[index][*call as usize];
                    targets.iter().any(|target| leaves_work[*target as usize])
                });
                // A lambda is a part of the function around it: what comes after its call there comes after its own calls.
                let calls = &self.function(index).flow.calls;
                let is_lambda = |call: u32| matches!(calls[call as usize].callee, Callee::Lambda(_));
                let followed: Vec<u32> =
                    self.open[index].iter().copied().filter(|call| leaves_work || is_lambda(*call)).collect();
                let loose = loose.get(&index).map_or(&[][..], Vec::as_slice);
                if followed.is_empty() && loose.is_empty() {
                    continue;
                }
                let solved = self.solve(index, *exit);
                // In a file without a word of CUDA, what is out of sight has other things to look at.
                let quiet = self.surveys[self.functions[index].0].of_caller;
                for (call, name) in loose {
                    let after = solved.calls.get(*call).copied().unwrap_or_default();
                    for target in self.by_name.get(name).into_iter().flatten() {
                        maybe[*target as usize] |= in_sight(after).may & (LAST | SYNC | OF_LATER);
                    }
                }
                for call in followed {
                    let call = call as usize;
                    let Some(after) = solved.calls.get(call) else { continue };
                    let is_method = matches!(calls[call].callee, Callee::Method { .. });
                    for target in &self.targets[index][call] {
                        let elsewhere = self.functions[*target as usize].0 != self.functions[index].0;
                        let after = if quiet || is_method && elsewhere { in_sight(*after) } else { *after };
                        // What tests call is meant for somebody else, whose calls count where they are in sight.
                        let callers = if is_test[index] { &mut in_tests } else { &mut next };
                        let slot = &mut callers[*target as usize];
                        *slot = Some(match *slot {
                            // Where a caller does not come by anything that shows it, it stays unseen there.
                            Some(other) => After {
                                must: other.must & after.must,
                                may: (other.may | after.may) & !OF_LATER | other.may & after.may & OF_LATER,
                            },
                            None => after,
                        });
                    }
                }
            }
            // A check by some callers only leaves it open whether the function's own launches are checked.
            let settled = |after: After| {
                let must = after.must & (LAST | SEEN_LAST | SYNC | AGAIN);
                After { must, may: must | after.may & (LAST | SYNC | AGAIN_SOMEWHERE | OF_LATER) }
            };
            let mut next: Vec<After> = next
                .into_iter()
                .zip(in_tests)
                .zip(&other_calls)
                .map(|((after, tested), open)| after.or(tested).map_or(*open, settled))
                .collect();
            for (exit, maybe) in next.iter_mut().zip(maybe) {
                exit.may |= maybe;
            }
            // Whoever gets the function as a value may check.
            for (index, exit) in next.iter_mut().enumerate() {
                if handed_out.contains(self.function(index).name.as_str()) {
                    *exit = After { must: LAST | SYNC, may: LAST | SYNC | looks };
                }
            }
            if next == exits {
                break;
            }
            exits = next;
        }
        exits
    }

    /// Calls of which nobody knows whom they reach, but that have the name of a function that launches: an alias of its class or
    /// namespace may stand before it. By function: which call, and the name.
    fn loose_calls(&self) -> FxHashMap<usize, Vec<(usize, &'a str)>> {
        let launches = |index: &u32| self.effects[*index as usize] & LAUNCHES != 0;
        let mut loose: FxHashMap<usize, Vec<(usize, &str)>> = FxHashMap::default();
        for (index, targets) in self.targets.iter().enumerate() {
            for (call, _) in targets.iter().enumerate().filter(|(_, targets)| targets.is_empty()) {
                let callee = &self.function(index).flow.calls[call].callee;
                let of_std = matches!(callee, Callee::Named { scope: Some(scope), .. } if *scope == known::STANDARD);
                if !of_std
                    && let Callee::Named { name, .. } | Callee::Method { name, class: None } = callee
                    && self.by_name.get(name.as_str()).is_some_and(|all| all.iter().any(launches))
                {
                    loose.entry(index).or_default().push((call, name.as_str()));
                }
            }
        }
        loose
    }
}

/// What is checked after a call without what only code out of sight might do.
fn in_sight(after: After) -> After {
    let seen = after.may & (SEEN_LAST | HIDDEN) != 0 || after.may & LAST == 0;
    let kept = if seen { !0 } else { !(LAST | SYNC) };
    After { must: after.must & kept, may: after.may & kept }
}
