//! Shuffles, votes and masks of a warp.

use super::access::unknown_of;
use super::lanes::{Lanes, Mask, OFF, SURE};
use super::machine::{EXIT_MAYBE, EXIT_SURE, Machine};
use super::value::{Data, KNOWN, NUMBER, UNKNOWN, Val, mix};
use crate::code::{ExprId, Shuffle, Ty, Vote};
use crate::report::{EventKind, MaskFault};

/// The operation's name in CUDA C++.
const fn shuffle_name(kind: Shuffle) -> &'static str {
    match kind {
        Shuffle::Index => "__shfl_sync",
        Shuffle::Up => "__shfl_up_sync",
        Shuffle::Down => "__shfl_down_sync",
        Shuffle::Xor => "__shfl_xor_sync",
    }
}

/// The operation's name in CUDA C++, as far as its kind tells.
const fn vote_name(kind: Vote) -> &'static str {
    match kind {
        Vote::Any => "__any_sync",
        Vote::All => "__all_sync",
        Vote::Count | Vote::Ballot => "__ballot_sync",
        Vote::MatchAny => "__match_any_sync",
        Vote::MatchAll => "__match_all_sync",
        Vote::Reduce => "__reduce_sync",
    }
}

impl Machine<'_> {
    fn warp_lanes(&self, warp: usize) -> std::ops::Range<usize> {
        warp * 32..(warp * 32 + 32).min(self.n)
    }

    /// Compares the mask of a warp-wide operation with the lanes that execute it.
    pub(super) fn check_mask(&mut self, at: ExprId, mask: &Val, name: &str) {
        let act = self.act.clone();
        for warp in 0..self.n.div_ceil(32) {
            let lanes = self.warp_lanes(warp);
            let levels = &act.levels()[lanes.clone()];
            if levels.iter().all(|&level| level == OFF) {
                continue;
            }
            let mut faults = Vec::new();
            let (mut alien, mut compared) = (false, None);
            for lane in lanes.clone() {
                if act.levels()[lane] != SURE {
                    continue;
                }
                let (bits, tag) = mask.lane(lane);
                if tag != KNOWN {
                    continue;
                }
                let bits = bits as u32;
                if bits >> (lane % 32) & 1 == 0 {
                    if !alien {
                        faults.push((lane, bits, MaskFault::CallerMissing, lane));
                    }
                    alien = true;
                    continue;
                }
                if compared == Some(bits) {
                    continue;
                }
                compared = Some(bits);
                // Others that the mask names and that are not here.
                for other in lanes.clone() {
                    if bits >> (other % 32) & 1 == 0 || act.levels()[other] != OFF {
                        continue;
                    }
                    if self.left[other] & EXIT_SURE != 0 {
                        faults.push((lane, bits, MaskFault::LaneGone(other as u32 % 32), other));
                    } else if self.left[other] & EXIT_MAYBE == 0 && self.is_elsewhere(other) {
                        faults.push((lane, bits, MaskFault::LaneAbsent(self.thread(other)), other));
                        break;
                    }
                }
            }
            for (lane, bits, fault, other) in faults {
                let condition = match fault {
                    MaskFault::LaneGone(_) => self.exit_site(other),
                    MaskFault::LaneAbsent(_) => self.parting(other),
                    _ => self.parting(lane),
                };
                let (site, by) = (self.code.expr(at).site, self.thread(lane));
                let name = self.written(name);
                let event = EventKind::WarpMask { site, name, mask: bits, by, fault, condition };
                self.event(event, 1);
            }
        }
    }

    fn is_elsewhere(&self, lane: usize) -> bool {
        self.splits
            .iter()
            .rev()
            .find(|(_, before)| before.levels()[lane] != OFF)
            .is_some_and(|(_, before)| before.levels()[lane] == SURE)
    }

    pub(super) fn shuffle(&mut self, at: ExprId, kind: Shuffle, masked: bool, values: &[Val], ty: &Ty) -> Val {
        let mut operands = values.iter();
        if masked && let Some(mask) = operands.next() {
            self.check_mask(at, mask, shuffle_name(kind));
        }
        let (value, by, width) = (operands.next(), operands.next(), operands.next());
        self.warp_barrier();
        let (Some(value), Some(by)) = (value, by) else { return unknown_of(ty) };
        let width = match width {
            None => 32,
            Some(width) => {
                let Some(width) = width.uniform() else { return unknown_of(ty) };
                if !(1..=32).contains(&width) || width & (width - 1) != 0 {
                    if self.act.sure() > 0
                        && let Some(lane) = self.act.first_sure()
                    {
                        let (site, by) = (self.code.expr(at).site, self.thread(lane));
                        let (mask, fault) = (u32::MAX, MaskFault::Width(width));
                        let name = self.written(shuffle_name(kind));
                        self.event(EventKind::WarpMask { site, name, mask, by, fault, condition: None }, 1);
                    }
                    return unknown_of(ty);
                }
                width
            }
        };
        if matches!(value.data, Data::Aggregate(_)) || self.act.maybe() > 0 {
            return unknown_of(ty);
        }
        if value.uniform().is_some() && self.act.is_full() && self.n.is_multiple_of(32) {
            return Val { wrapped: None, ..value.clone() };
        }
        self.spend(self.n as u64 * 2);
        let value = &self.named(value);
        let from = |lane: usize| -> (i64, u8) {
            if self.act.levels()[lane] == OFF {
                return (0, KNOWN);
            }
            let (by, tag) = by.lane(lane);
            if tag != KNOWN {
                return (0, UNKNOWN);
            }
            let own = (lane % 32) as i64;
            let start = own & !(width - 1);
            let source = match kind {
                Shuffle::Index => start + by.rem_euclid(width),
                Shuffle::Up if own - by < start => own,
                Shuffle::Up => own - by,
                Shuffle::Down if own + by >= start + width => own,
                Shuffle::Down => own + by,
                Shuffle::Xor if (own ^ by) >= start + width => own,
                Shuffle::Xor => own ^ by,
            };
            let source = lane as i64 - own + source;
            if source < 0 || source >= self.n as i64 || self.act.levels()[source as usize] != SURE {
                return (0, UNKNOWN);
            }
            value.lane(source as usize)
        };
        let mut bits = Lanes::any(self.n);
        let mut tags = Lanes::any(self.n);
        {
            let (bits, tags) = (bits.edit(), tags.edit());
            for lane in 0..self.n {
                (bits[lane], tags[lane]) = from(lane);
            }
        }
        Val::tagged(bits, tags)
    }

    pub(super) fn warp_vote(&mut self, at: ExprId, kind: Vote, masked: bool, values: &[Val]) -> Val {
        let mut operands = values.iter();
        let mut mask = None;
        if masked {
            mask = operands.next();
            if let Some(mask) = mask {
                self.check_mask(at, mask, vote_name(kind));
            }
        }
        self.warp_barrier();
        let Some(value) = operands.next() else { return Val::unknown() };
        let act = self.act.clone();
        let mut results = Vec::new();
        for warp in 0..self.n.div_ceil(32) {
            let lanes = self.warp_lanes(warp);
            let result = Self::vote_of(kind, lanes, &act, value, mask, at);
            // Whatever it is, all lanes of the warp get the same.
            let result =
                if result.1 == UNKNOWN && !self.keeps_origins() { (self.fresh() as i64, NUMBER) } else { result };
            results.push(result);
        }
        if let [only] = results[..] {
            return Data::Uniform(only.0, only.1).into();
        }
        self.spend(self.n as u64);
        let bits = Lanes::from_fn(self.n, |lane| results[lane / 32].0);
        let tags = Lanes::from_fn(self.n, |lane| if act.levels()[lane] == OFF { KNOWN } else { results[lane / 32].1 });
        Val::tagged(bits, tags)
    }

    /// What a vote among these lanes gives.
    fn vote_of(
        kind: Vote,
        lanes: std::ops::Range<usize>,
        act: &Mask,
        value: &Val,
        mask: Option<&Val>,
        at: ExprId,
    ) -> (i64, u8) {
        let here: Vec<usize> = lanes.clone().filter(|&lane| act.levels()[lane] != OFF).collect();
        if here.is_empty() {
            return (0, KNOWN);
        }
        // Equal operands give equal results: in a name for them all.
        let mut name = mix(u64::from(at.0), kind as u64 + 900);
        let (mut ballot, mut known) = (0u32, true);
        for &lane in &here {
            let (bits, tag) = value.lane(lane);
            let named = mask.is_none_or(|mask| {
                let (mask, tag) = mask.lane(here[0]);
                tag != KNOWN || mask >> (lane % 32) & 1 != 0
            });
            known &= tag == KNOWN && act.levels()[lane] == SURE;
            if named && bits != 0 {
                ballot |= 1 << (lane % 32);
            }
            if tag > NUMBER {
                name = 0;
            } else if name != 0 {
                name = mix(name, mix(bits as u64, u64::from(tag) + 2 * lane as u64));
            }
        }
        let unknown = if name == 0 { (0, UNKNOWN) } else { (name as i64, NUMBER) };
        if !known {
            return unknown;
        }
        match kind {
            Vote::Any => (i64::from(ballot != 0), KNOWN),
            Vote::All => {
                let all = here.iter().fold(0u32, |all, lane| all | 1 << (lane % 32));
                let named = match mask.map(|mask| mask.lane(here[0])) {
                    Some((mask, KNOWN)) => all & mask as u32,
                    _ => all,
                };
                (i64::from(ballot & named == named), KNOWN)
            }
            Vote::Ballot => (i64::from(ballot), KNOWN),
            Vote::Count => (i64::from(ballot.count_ones()), KNOWN),
            _ => unknown,
        }
    }

    /// The result of a vote of the whole block, equal in all threads.
    pub(super) fn block_vote(&mut self, kind: Vote, value: &Val) -> Val {
        if self.act.maybe() > 0 {
            return Val::unknown();
        }
        let mut count = 0;
        let mut here = 0;
        for (lane, &level) in self.act.levels().iter().enumerate() {
            if level == OFF {
                continue;
            }
            let (bits, tag) = value.lane(lane);
            if tag != KNOWN && self.keeps_origins() {
                return Val::unknown();
            }
            if tag != KNOWN {
                // The same in every thread, whatever it is.
                return Val::number(mix(u64::from(self.trace.next()), u64::from(self.interval) + 77));
            }
            here += 1;
            count += i64::from(bits != 0);
        }
        match kind {
            Vote::Any => Val::known(i64::from(count > 0)),
            Vote::All => Val::known(i64::from(count == here)),
            Vote::Count => Val::known(count),
            _ => Val::unknown(),
        }
    }

    /// `__activemask()`: the lanes of the warp that are here, as long as the warp has not come apart in other ways.
    pub(super) fn active_mask(&self) -> Val {
        if self.act.maybe() > 0 {
            return Val::unknown();
        }
        let mut masks = vec![0i64; self.n.div_ceil(32)];
        for (lane, &level) in self.act.levels().iter().enumerate() {
            if level != OFF {
                masks[lane / 32] |= 1 << (lane % 32);
            }
        }
        if let [mask] = masks[..] {
            Val::known(mask)
        } else {
            Val::lanes(Lanes::from_fn(self.n, |lane| masks[lane / 32]))
        }
    }
}
