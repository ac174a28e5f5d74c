//! Updates at places that nobody knows, by more threads than there are elements: wherever they go, two of them meet.
//!
//! Counted is one step of a block: the lanes that execute the update at once, which nothing orders. Of several steps of a
//! block (the rounds of a loop) the one with most lanes counts. Steps of several blocks add up for memory that all
//! blocks see, since nothing orders blocks either, unless one has waited for another.

use super::lanes::{MAYBE, Mask, OFF, SURE};
use super::machine::Machine;
use super::state::{Crowd, Passing, Tally};
use super::touch::Touch;
use super::value::{Data, KNOWN, NUMBER, SOMEWHERE, Val, object_of};
use crate::code::{BinaryOp, Expr, ExprId, Place};
use crate::report::{AccessKind, Event, EventKind, ObjectKind, Reach};

/// Most places that are counted at.
const MOST: usize = 64;

impl Machine<'_> {
    /// Counts the lanes that read, change and write back an element of an object, nobody knows which.
    pub(super) fn count_crowd(&mut self, touch: Touch<'_>, index: usize, address: &Val, mask: &Mask) {
        let Some((place, elements)) = self.updated(touch, index) else { return };
        let in_object = |lane: usize| {
            let (bits, tag) = address.lane(lane);
            tag == SOMEWHERE && object_of(bits) as usize == index + 1
        };
        let levels = mask.levels();
        let sure = (0..self.n).filter(|&lane| levels[lane] == SURE && in_object(lane)).count() as u64;
        let Some(first) = (0..self.n).find(|&lane| levels[lane] != OFF && in_object(lane)) else { return };
        let block = self.blocks_run.len();
        let known = self.crowds.iter().position(|crowd| crowd.at == touch.at && crowd.index == index);
        let number = known.unwrap_or(self.crowds.len());
        if known.is_none() {
            if self.crowds.len() >= MOST {
                return;
            }
            let global = self.objects[index].is_global();
            let size = touch.element;
            let access = self.access_of(touch, first, 0, size);
            let guards = self.guard_sites();
            let (phase, sure, at) = (self.phase, Tally::new(global), touch.at);
            self.crowds.push(Crowd { at, index, elements, access, guards, phase, sure, passing: None });
        }
        let Some(crowd) = self.crowds.get_mut(number).filter(|crowd| crowd.phase == self.phase) else { return };
        if crowd.sure.is_more(block, sure) {
            crowd.sure.add(block, sure);
        }
        if mask.maybe() == 0 {
            if let Some(passing) = crowd.passing.as_mut().filter(|passing| passing.tally.is_more(block, sure)) {
                passing.tally.add(block, sure);
            }
            return;
        }
        let Some(unsure) = self.only_divergence() else { return };
        let passes = |lane: usize| match levels[lane] {
            SURE => true,
            MAYBE => unsure.entry.levels()[lane] == SURE,
            _ => false,
        };
        let lanes = (0..self.n).filter(|&lane| passes(lane) && in_object(lane)).count() as u64;
        let more = |passing: &Passing| passing.condition == unsure.condition && passing.tally.is_more(block, lanes);
        let passing = self.crowds.get(number).and_then(|crowd| crowd.passing.as_ref());
        if passing.is_some_and(|passing| !more(passing)) {
            return;
        }
        let Some(limits) = self.range_check(&unsure, place) else { return };
        let Some(crowd) = self.crowds.get_mut(number) else { return };
        let passing = crowd.passing.get_or_insert_with(|| Passing {
            condition: unsure.condition,
            limits: limits.clone(),
            tally: Tally::new(crowd.sure.global),
        });
        // Limits that differ between blocks give each block places of its own.
        if passing.limits == limits {
            passing.tally.add(block, lanes);
        }
    }

    /// The address of an update, and the elements of its object, where it is worth being counted.
    fn updated(&mut self, touch: Touch<'_>, index: usize) -> Option<(ExprId, u64)> {
        let Expr::Update { place: Place::Memory { address, .. }, op, value, .. } = &self.code.expr(touch.at).kind
        else {
            return None;
        };
        if touch.kind != AccessKind::UpdateRead
            || touch.volatile
            || self.silent
            || self.stopped
            || self.uncounted
            || self.acquired
            || self.acquired_block
        {
            return None;
        }
        let size = touch.ty.bytes().filter(|&size| size > 0 && size == touch.element)?;
        let memory = self.objects.get(index)?;
        let counts = matches!(
            memory.kind,
            ObjectKind::Buffer(_) | ObjectKind::Shared | ObjectKind::DynamicShared | ObjectKind::Device
        );
        let elements = memory.bytes.filter(|_| counts)? / u64::from(size);
        let most = self.n as u64 * if memory.is_global() { u64::from(self.budget.blocks) } else { 1 };
        if elements == 0 || elements >= most {
            return None;
        }
        // Who comes last does not matter where all do the same once and for all, or nothing.
        let value = self.computed(*value);
        let harmless = matches!(
            (op, value.map(|value| value.data)),
            (BinaryOp::And | BinaryOp::Or, Some(Data::Uniform(_, KNOWN | NUMBER)))
                | (BinaryOp::Mul | BinaryOp::Div, Some(Data::Uniform(1, KNOWN)))
                | (_, Some(Data::Uniform(0, KNOWN)))
        );
        (!harmless).then_some((*address, elements))
    }

    /// At the end of the run: where there were more lanes than elements.
    pub(super) fn settle_crowds(&mut self) {
        if self.code.damaged {
            return;
        }
        for crowd in std::mem::take(&mut self.crowds) {
            let sure = crowd.sure.total();
            let passing = crowd.passing.as_ref().map_or(0, |passing| passing.tally.total());
            let (threads, condition) = match crowd.passing {
                _ if sure > crowd.elements => (sure, None),
                Some(passing_check) if passing > crowd.elements => {
                    (passing, Some(self.code.expr(passing_check.condition).site))
                }
                _ => continue,
            };
            let kind = EventKind::CrowdedUpdate {
                object: self.objects[crowd.index].object.clone(),
                access: crowd.access,
                threads,
                elements: crowd.elements,
                sure: condition.is_none(),
                condition,
            };
            self.events.add(Event {
                kind,
                count: threads,
                guards: crowd.guards,
                reach: Reach::Unasked,
                again: None,
                doubt: None,
            });
        }
    }
}
