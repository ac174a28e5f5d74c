//! What threads do to each other that come by conditions which nobody knows, and which each decides for itself.
//!
//! Of lanes that are only may-active nothing is sure. But where each of them would touch one place, and change what it has read
//! there, it takes no more than two that come for an update to be lost; and where a barrier stands, one that comes and one
//! that does not. That is the one assumption of such an event: it names the conditions.

use super::doubts::Look;
use super::lanes::{Mask, OFF, SURE};
use super::machine::Machine;
use super::memory::Memory;
use super::state::{Guard, Open};
use super::touch::Touch;
use super::value::{Data, KNOWN, NUMBER, Tags, Val, offset_of};
use crate::code::{BinaryOp, Expr, ExprId, Place};
use crate::readings::passing::{self, Asks};
use crate::report::{
    Access, AccessKind, Doubt, DoubtKind, Event, EventKind, ObjectKind, RaceScope, RaceValues, Reach, Site,
};

/// Most reads of one place by all lanes that are remembered.
const MOST_LOOKS: usize = 16;
/// Most conditions that threads are taken to pass.
const MOST_CONDITIONS: usize = 4;

impl Machine<'_> {
    /// A condition that is not known in all lanes.
    pub(super) fn open(&self, condition: ExprId, value: &Val) -> Option<Open> {
        let function = self.frames.last()?.function;
        let differ = match &value.data {
            Data::Lanes(names, Tags::One(NUMBER)) => {
                let (names, levels) = (names.get(), self.act.levels());
                let first = levels.iter().position(|level| *level != OFF);
                let other = |first: usize, far: bool| {
                    let is = |lane: &usize| levels[*lane] != OFF && names[*lane] != names[first];
                    (first..self.n).filter(is).find(|lane| !far || lane / 32 != first / 32)
                };
                first.and_then(|first| Some([first, other(first, true).or_else(|| other(first, false))?]))
            }
            _ => None,
        };
        let unguarded = [self.unguarded; 2];
        Some(Open { function, condition, negated: false, leaves: false, looped: false, differ, unguarded })
    }

    /// The conditions that nobody knows and that lanes have come past, where these are all that is not known of who is here.
    pub(super) fn open_conditions(&self) -> Option<Vec<Open>> {
        let mut found: Vec<Open> = Vec::new();
        let mut unguarded = 0;
        for Guard { divergence, open, .. } in &self.guards {
            match open {
                Some(open) if open.unguarded[0] == unguarded => {
                    // Behind an early exit: what left was one step.
                    if open.unguarded[1] > unguarded + 1 {
                        return None;
                    }
                    unguarded = open.unguarded[1];
                    found.push(*open);
                }
                Some(_) => return None,
                None if matches!(divergence, super::state::Divergence::None) => {}
                None => return None,
            }
        }
        (unguarded == self.unguarded && !found.is_empty() && found.len() <= MOST_CONDITIONS).then_some(found)
    }

    /// What is asked of a thread that comes past conditions; `None` where they may be made for one thread alone.
    fn asked(&mut self, conditions: &[Open]) -> Option<Asks> {
        let code = self.code;
        let mut all = Asks::default();
        for open in conditions {
            let key = (open.function, open.condition, open.negated);
            let asks = match self.doubts.asked.get(&key) {
                Some(known) => *known,
                None => {
                    let flow = self.doubts.flow.get_or_insert_with(|| Box::new(passing::flow_of(code)));
                    let asks = passing::asks(flow, open.function, open.condition, open.negated);
                    self.doubts.asked.insert(key, asks);
                    asks
                }
            };
            let asks = asks?;
            all.own |= asks.own;
            all.bounds += asks.bounds;
            all.data |= asks.data;
            all.related |= asks.related;
        }
        Some(all)
    }

    fn sites(&self, conditions: &[Open]) -> Vec<Site> {
        conditions.iter().map(|open| self.code.expr(open.condition).site).collect()
    }

    /// An access of several lanes to an object.
    pub(super) fn may_meet(&mut self, touch: Touch<'_>, index: usize, address: &Val, mask: &Mask, value: Option<&Val>) {
        let Data::Uniform(bits, KNOWN) = address.data else { return };
        if mask.count() < 2 || touch.volatile && !touch.of_block || touch.asynchronous || !self.is_common_memory(index)
        {
            return;
        }
        let offset = offset_of(bits);
        let look = Look { index, offset, at: touch.at, interval: self.interval, calls: self.frames.len() };
        match touch.kind {
            AccessKind::Read => self.look(look),
            AccessKind::Atomic if touch.of_block && mask.sure() == 0 => self.scoped_atomic(touch, look, mask),
            AccessKind::UpdateWrite if mask.sure() == 0 => {
                if let Expr::Update { op, value, .. } = &self.code.expr(touch.at).kind
                    && !self.is_harmless(*op, *value)
                {
                    self.lost_update(touch, index, offset, mask, touch.at, AccessKind::UpdateRead);
                }
            }
            AccessKind::Write if mask.sure() == 0 => {
                let Some(read) = self.read_before(touch, index, offset, value) else { return };
                self.lost_update(touch, index, offset, mask, read, AccessKind::Read);
            }
            _ => {}
        }
    }

    fn is_common_memory(&self, index: usize) -> bool {
        self.objects.get(index).is_some_and(|memory: &Memory| {
            matches!(
                memory.kind,
                ObjectKind::Buffer(_) | ObjectKind::Device | ObjectKind::Shared | ObjectKind::DynamicShared
            )
        })
    }

    fn look(&mut self, look: Look) {
        let looks = &mut self.doubts.looks;
        looks.retain(|old| old.at != look.at);
        if looks.len() >= MOST_LOOKS {
            looks.remove(0);
        }
        looks.push(look);
    }

    /// Whether an update changes nothing when it is done once more, or not at all.
    fn is_harmless(&mut self, op: BinaryOp, value: ExprId) -> bool {
        let value = self.computed(value);
        matches!(
            (op, value.map(|value| value.data)),
            (BinaryOp::And | BinaryOp::Or, Some(Data::Uniform(_, KNOWN | NUMBER)))
                | (BinaryOp::Mul | BinaryOp::Div, Some(Data::Uniform(1, KNOWN)))
                | (_, Some(Data::Uniform(0, KNOWN)))
        )
    }

    /// The read of the same place, since the last barrier, on which what is stored hangs, or whether it is.
    fn read_before(&mut self, touch: Touch<'_>, index: usize, offset: i64, value: Option<&Val>) -> Option<ExprId> {
        let Expr::Write(Place::Memory { .. }, stored) = self.code.expr(touch.at).kind else { return None };
        let code = self.code;
        let function = self.frames.last()?.function;
        let here = |look: &&Look| {
            look.index == index
                && look.offset == offset
                && look.interval == self.interval
                && look.calls == self.frames.len()
        };
        let look = self.doubts.looks.iter().rev().find(here)?.at;
        let conditions: Vec<Open> = self.guards.iter().filter_map(|guard| guard.open).collect();
        let flow = self.doubts.flow.get_or_insert_with(|| Box::new(passing::flow_of(code)));
        if passing::is_made_of(flow, function, stored, look) {
            return Some(look);
        }
        // What all store alike is as good as stored once.
        let alike = value.is_none_or(|value| matches!(value.data, Data::Uniform(_, KNOWN | NUMBER)));
        let hangs = conditions.iter().any(|open| passing::is_made_of(flow, open.function, open.condition, look));
        (hangs && !alike).then_some(look)
    }

    /// Reports that of two lanes which come here one undoes what the other has stored.
    fn lost_update(
        &mut self,
        touch: Touch<'_>,
        index: usize,
        offset: i64,
        mask: &Mask,
        read: ExprId,
        read_kind: AccessKind,
    ) {
        if self.silent
            || self.stopped
            || self.code.damaged
            || self.acquired
            || self.acquired_block
            || self.locks.is_held()
        {
            return;
        }
        let Some(conditions) = self.open_conditions() else { return };
        let Some(asks) = self.asked(&conditions) else { return };
        if !asks.own || asks.bounds > 1 {
            return;
        }
        let Some([a, b]) = two_of(mask) else { return };
        let size = touch.ty.bytes().unwrap_or(touch.element);
        let second = self.access_of(touch, b, offset, size);
        let mut first = self.access_of(Touch { at: read, kind: read_kind, ..touch }, a, offset, size);
        first.kind = read_kind;
        let scope = if a / 32 == b / 32 { RaceScope::Warp } else { RaceScope::Block };
        self.in_doubt(DoubtKind::TwoPass, &conditions, race(self.objects[index].object.clone(), first, second, scope));
    }

    /// A barrier that lanes come to past conditions which nobody knows.
    pub(super) fn may_be_missed(&mut self, site: Site, waiting: &Mask) {
        if self.silent || self.stopped || self.code.damaged || waiting.sure() > 0 {
            return;
        }
        let Some(conditions) = self.open_conditions() else { return };
        let parts = |open: &&Open| open.differ.is_some() && !open.leaves;
        let Some(parting) = conditions.iter().rev().find(parts).copied() else { return };
        // How often a loop goes round is mostly made to fit: its limit is a multiple of the threads, or moves with them.
        let fits = |asks: Asks| asks.related || parting.looped && !asks.data;
        if self.asked(&conditions).is_none() || self.asked(&[parting]).is_none_or(fits) {
            return;
        }
        let Some([waits, absent]) = parting.differ else { return };
        let kind = EventKind::DivergentBarrier {
            barrier: site,
            calls: self.call_sites().to_vec(),
            waits: self.thread(waits),
            absent: self.thread(absent),
            goes_on: None,
            condition: self.code.expr(parting.condition).site,
            same_warp: waits / 32 == absent / 32,
            missed: false,
        };
        let doubt = if self.note_suffix(site, &conditions) { DoubtKind::BlockParted } else { DoubtKind::NotAllPass };
        self.in_doubt(doubt, &[parting], kind);
        self.doubts.missable = true;
    }

    /// Behind barriers that lanes may have missed the block comes to another one, as a whole: those that were away take it for theirs.
    pub(super) fn is_missed(&mut self) {
        if !std::mem::take(&mut self.doubts.missable) {
            return;
        }
        for event in &mut self.events.list {
            if let (EventKind::DivergentBarrier { missed, .. }, true) = (&mut event.kind, event.doubt.is_some()) {
                *missed = true;
            }
        }
    }

    /// An atomic operation that is none for the threads of another block, which have come here as well.
    fn scoped_atomic(&mut self, touch: Touch<'_>, look: Look, mask: &Mask) {
        if self.silent || self.stopped || self.code.damaged || self.acquired {
            return;
        }
        let Some(conditions) = self.open_conditions() else { return };
        let Some(([lane, _], asks)) = two_of(mask).zip(self.asked(&conditions)) else { return };
        if !asks.own || asks.bounds > 1 || !self.objects.get(look.index).is_some_and(Memory::is_global) {
            return;
        }
        let own = self.access_of(touch, lane, look.offset, touch.ty.bytes().unwrap_or(touch.element));
        let place = (look.index, look.offset, look.at);
        let mut seen = self.doubts.scoped.iter();
        match seen.find(|(look, _)| (look.index, look.offset, look.at) == place) {
            Some((_, other)) if other.thread.block != own.thread.block => {
                let object = self.objects[look.index].object.clone();
                let mut event = race(object, other.clone(), own, RaceScope::Grid);
                if let EventKind::Race { values, .. } = &mut event {
                    *values = RaceValues::Differ;
                }
                self.in_doubt(DoubtKind::TwoPass, &conditions, event);
            }
            None if self.doubts.scoped.len() < MOST_LOOKS => self.doubts.scoped.push((look, own)),
            _ => {}
        }
    }

    fn in_doubt(&mut self, kind: DoubtKind, conditions: &[Open], event: EventKind) {
        let doubt = Some(Doubt { kind, conditions: self.sites(conditions) });
        let guards = self.guard_sites();
        self.events.add(Event { kind: event, count: 1, guards, reach: Reach::Unasked, again: None, doubt });
    }
}

fn race(object: crate::report::Object, first: Access, second: Access, scope: RaceScope) -> EventKind {
    let values = RaceValues::Unknown;
    EventKind::Race { object, first, second, scope, values, across: None, barrier_between: false }
}

/// Two lanes that may be here, of two warps where there are such.
fn two_of(mask: &Mask) -> Option<[usize; 2]> {
    let lanes = || mask.levels().iter().enumerate().filter(|(_, level)| **level != OFF && **level != SURE);
    let (first, _) = lanes().next()?;
    let (other, _) = lanes().find(|(lane, _)| lane / 32 != first / 32).or_else(|| lanes().nth(1))?;
    Some([first, other])
}
