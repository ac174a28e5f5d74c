//! Conditions that nobody knows, and executions that assume an answer to one.
//!
//! One that is the same for the whole block (a value in memory that all threads read at one place, a vote of the block)
//! makes everything behind it may-active for all threads alike. One of each thread by itself (`if (key[i] > key[j])`) lets some
//! threads pass, nobody knows which: then one access behind it and one that is not say something, but not two behind it.

use super::machine::Machine;
use super::value::{Data, KNOWN, NUMBER, Val};
use crate::code::ExprId;
use crate::report::{OpenCondition, OpenKind, Site};

/// How often an assumed answer is given: a condition around a loop's rounds must fail some time.
pub const ASSUMED_ROUNDS: u32 = 3;
/// Most conditions that are told of.
const MOST: usize = 16;

/// Most accesses at unknown places that are told of.
const MOST_UNPLACED: usize = 32;

/// What is known of such conditions.
#[derive(Default)]
pub(super) struct Uniform {
    /// Conditions whose answers are assumed, each with how often they were in this block.
    assumed: Vec<(OpenCondition, u32)>,
    /// Names that got an answer in this block: equal names are equal values.
    answers: Vec<(i64, bool)>,
    /// Conditions without an answer, and whether lanes came to shared memory, or to a barrier, behind them, of which none is
    /// sure to be there.
    open: Vec<(OpenCondition, bool)>,
    /// Accesses to shared memory at places that nobody knows.
    pub(super) unplaced: Vec<Site>,
}

impl Uniform {
    /// Assumes answers.
    pub(super) fn assume(&mut self, conditions: &[OpenCondition]) {
        self.assumed = conditions.iter().map(|condition| (*condition, 0)).collect();
    }

    /// The assumed condition of each thread by itself at a place.
    fn of_threads(&self, at: impl Fn(Site) -> bool) -> Option<OpenCondition> {
        let mut assumed = self.assumed.iter().map(|(condition, _)| *condition);
        assumed.find(|condition| condition.kind == OpenKind::OfThreads && at(condition.site))
    }

    fn add(&mut self, condition: OpenCondition, matters: bool) {
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
