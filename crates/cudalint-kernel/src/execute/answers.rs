//! Conditions that nobody knows, and executions that assume an answer to one.
//!
//! One that is the same for the whole block (a value in memory that all threads read at one place, a vote of the block)
//! makes everything behind it may-active for all threads alike. One of each thread by itself (`if (key[i] > key[j])`) lets some
//! threads pass, nobody knows which: then one access behind it and one that is not say something, but not two behind it.

use super::machine::Machine;
use super::uniform::ASSUMED_ROUNDS;
use super::value::{Data, KNOWN, NUMBER, Val};
use crate::code::ExprId;
use crate::report::{OpenCondition, OpenKind};

impl Machine<'_> {
    /// The name of a value of which nothing else is known, where all active lanes have the same one.
    pub(super) fn uniform_name(&self, value: &Val) -> Option<i64> {
        if self.act.sure() == 0 {
            return None;
        }
        match &value.data {
            Data::Uniform(name, NUMBER) => Some(*name),
            Data::Lanes(..) => {
                let levels = self.act.levels();
                let mut lanes = (0..self.n).filter(|&lane| levels[lane] != super::lanes::OFF);
                let first = value.lane(lanes.next()?);
                (first.1 == NUMBER && lanes.all(|lane| value.lane(lane) == first)).then_some(first.0)
            }
            _ => None,
        }
    }

    /// The assumed answer to a condition, if there is one. `holds` is the answer with which the block goes on.
    pub(super) fn answer(&mut self, condition: ExprId, name: i64, holds: bool, kind: OpenKind) -> Option<Val> {
        let site = self.code.expr(condition).site;
        let uniform = &mut self.uniform;
        let mut assumed = uniform.assumed.iter_mut();
        let here = |it: &&mut (OpenCondition, u32)| it.0.site == site && it.0.kind != OpenKind::OfThreads;
        if let Some((assumed, given)) = assumed.find(here) {
            if *given >= ASSUMED_ROUNDS {
                return None;
            }
            *given += 1;
            uniform.answers.push((name, assumed.holds));
            return Some(Val::known(i64::from(assumed.holds)));
        }
        if let Some((_, holds)) = uniform.answers.iter().find(|(known, _)| *known == name) {
            return Some(Val::known(i64::from(*holds)));
        }
        uniform.add(OpenCondition { site, holds, kind }, false);
        None
    }

    /// The assumed answer of each thread by itself to a condition that is not known in some of them.
    pub(super) fn answer_of_threads(&self, condition: ExprId, value: &Val) -> Option<Val> {
        let here = self.code.expr(condition).site;
        let assumed = self.uniform.of_threads(|site| site == here)?;
        let holds = (i64::from(assumed.holds), KNOWN);
        Some(Val::from_lanes(self.n, |lane| if value.lane(lane).1 == KNOWN { value.lane(lane) } else { holds }))
    }

    /// Whether what is executed now stands behind a condition that some threads are assumed to pass.
    pub(super) fn is_behind_assumed(&self) -> bool {
        let behind = |site| self.guards.iter().any(|guard| guard.site == site);
        !self.uniform.assumed.is_empty() && self.uniform.of_threads(behind).is_some()
    }

    /// Lanes come to shared memory, or to a barrier, of which none is sure to be there.
    pub(super) fn note_doubt(&mut self) {
        for (open, matters) in &mut self.uniform.open {
            *matters |= self.guards.iter().any(|guard| guard.site == open.site);
        }
        if let Some(unsure) = self.only_divergence().filter(|unsure| unsure.entry.sure() > 0) {
            let site = self.code.expr(unsure.condition).site;
            self.uniform.add(OpenCondition { site, holds: !unsure.negated, kind: OpenKind::OfThreads }, true);
        }
    }
}
