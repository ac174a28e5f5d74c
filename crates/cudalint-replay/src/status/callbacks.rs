//! Functions that are handed out as values, and what comes of it that somebody out of sight calls them later on.

use super::flow::Callee;
use super::join::Join;
use super::known;
use super::solve::{COMPARES, Effect, LOOKS_LATER};
use cudalint_program::Name;

impl Join<'_> {
    /// By function: those that it hands out as values. Whoever gets them may call them later on, as a toolkit for windows draws by such a
    /// function until the program ends.
    pub(super) fn handed_out(&self) -> Vec<Vec<u32>> {
        let given = |(module, place): &(usize, usize)| {
            let names = &self.surveys[*module].functions[*place].flow.mentioned;
            let named = names.iter().flat_map(|name| self.by_name.get(name.as_str()).into_iter().flatten());
            named.copied().filter(|other| self.sees(*module, self.functions[*other as usize].0)).collect()
        };
        self.functions.iter().map(given).collect()
    }

    /// What a call does that may call back what the function around it hands out: one of a function out of sight.
    pub(super) fn with_callbacks(&self, index: usize, call: usize, fixed: Effect, given: &[u32]) -> Effect {
        let of_standard = |scope: &Option<Name>| scope.as_ref().is_some_and(|scope| *scope == known::STANDARD);
        let calls_back = match &self.function(index).flow.calls[call].callee {
            Callee::Named { scope, .. } => !of_standard(scope),
            Callee::Method { .. } => true,
            _ => false,
        };
        let more = if calls_back { self.by_callbacks(given) } else { 0 };
        match fixed {
            _ if more == 0 => fixed,
            Effect::Sets { bits, ends_next } => Effect::Sets { bits: bits | more, ends_next },
            Effect::None => Effect::Sets { bits: more, ends_next: false },
            Effect::Clears | Effect::DroppedSync => fixed,
        }
    }

    /// How functions that are called later on, by whoever got them, may bring an error to light.
    pub(super) fn by_callbacks(&self, given: &[u32]) -> u16 {
        given.iter().fold(0, |bits, other| bits | self.effects[*other as usize] & (LOOKS_LATER | COMPARES))
    }
}
