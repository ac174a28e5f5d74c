//! Conditions that are the same for the whole block although nobody knows them: a value that all threads read at one place,
//! a vote of the block. What comes behind one is in doubt for all threads alike, so that an execution which assumes its
//! answer sees again what the block does together.

use super::machine::Machine;
use super::value::{Data, NUMBER, Val};
use crate::code::ExprId;
use crate::report::OpenCondition;

/// How often an assumed answer is given: a condition around a loop's rounds must fail some time.
pub const ASSUMED_ROUNDS: u32 = 3;
/// Most conditions that are told of.
const MOST: usize = 8;

/// What is known of such conditions.
#[derive(Default)]
pub(super) struct Uniform {
    /// The condition whose answer is assumed.
    pub(super) assumed: Option<OpenCondition>,
    /// How often it was.
    given: u32,
    /// Names that got an answer in this block: equal names are equal values.
    answers: Vec<(i64, bool)>,
    /// Conditions without an answer.
    pub(super) open: Vec<OpenCondition>,
    /// Lanes came to shared memory, or to a barrier, of which none is sure to be there.
    pub(super) matters: bool,
}

impl Uniform {
    /// For a new block.
    pub(super) fn renew(&mut self) {
        self.given = 0;
        self.answers.clear();
    }
}

impl Machine<'_> {
    /// The name of a value of which nothing else is known, where all active lanes have the same one.
    pub(super) fn name_in_common(&self, value: &Val) -> Option<i64> {
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
    pub(super) fn answer(&mut self, condition: ExprId, name: i64, holds: bool, is_loop: bool) -> Option<Val> {
        let site = self.code.expr(condition).site;
        let uniform = &mut self.uniform;
        let assumed = uniform.assumed.filter(|assumed| assumed.site == site);
        if let Some(assumed) = assumed {
            if uniform.given >= ASSUMED_ROUNDS {
                return None;
            }
            uniform.given += 1;
            uniform.answers.push((name, assumed.holds));
            return Some(Val::known(i64::from(assumed.holds)));
        }
        if let Some((_, holds)) = uniform.answers.iter().find(|(known, _)| *known == name) {
            return Some(Val::known(i64::from(*holds)));
        }
        if uniform.open.len() < MOST && !uniform.open.iter().any(|open| open.site == site) {
            uniform.open.push(OpenCondition { site, holds, is_loop });
        }
        None
    }
}
