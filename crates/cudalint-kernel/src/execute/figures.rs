//! Counts what the requests of an execution cost, and finds barriers that order nothing. Only executions that are asked for it
//! carry it along.

use super::lanes::{Mask, SURE};
use super::machine::Machine;
use super::recorder::{Barrier, Recorder, Tally};
use super::touch::Touch;
use super::value::{Val, offset_of};
use crate::code::{Expr, ExprId, Intrinsic, Scope, Ty};
use crate::figures::{Figures, Requests, SECTOR, WARP, passes, sectors};
use crate::report::AccessKind;
use rustc_hash::FxHashSet;

/// A request is costly from so many times on what it would have to cost.
const COSTLY: u32 = 4;

impl Machine<'_> {
    /// Counts from now on.
    pub(super) fn record_figures(&mut self) {
        self.figures = Some(Box::default());
    }

    /// What was counted.
    pub(super) fn take_figures(&mut self) -> Option<Figures> {
        let recorder = self.figures.take()?;
        let known = |at: ExprId| self.sites.get(at.index()) == Some(&1);
        let open = !self.uniform.reported().is_empty() || !self.uniform.unplaced.is_empty() || !self.causes.is_empty();
        let whole = self.complete && !open && !self.code.damaged && !self.sites.contains(&2);
        Some(recorder.finish(known, whole, |at| self.code.expr(ExprId::from(at)).site))
    }

    /// Something orders threads, or is seen from outside, that is not compared.
    pub(super) fn muddles(&mut self) {
        if let Some(figures) = &mut self.figures {
            figures.muddled = true;
        }
    }

    /// An access whose address is not known in some lanes.
    pub(super) fn figures_lose(&mut self, at: ExprId) {
        if let Some(figures) = &mut self.figures {
            figures.lost.insert(at.index());
        }
    }

    /// Whether an operation may order threads in a way that is not compared.
    pub(super) fn figures_meet(&mut self, intrinsic: &Intrinsic) {
        let harmless = matches!(
            intrinsic,
            Intrinsic::BlockBarrier
                | Intrinsic::WarpBarrier
                | Intrinsic::TileBarrier(_)
                | Intrinsic::CoalescedBarrier
                | Intrinsic::Shuffle { .. }
                | Intrinsic::WarpVote { .. }
                | Intrinsic::ActiveMask
                | Intrinsic::Fence(Scope::Thread)
                | Intrinsic::Copy
                | Intrinsic::Set
                | Intrinsic::LoadCached
                | Intrinsic::StoreCached
                | Intrinsic::Min
                | Intrinsic::Max
                | Intrinsic::Abs
                | Intrinsic::Bits(_)
                | Intrinsic::FloatMath(_)
                | Intrinsic::GroupRank(_)
                | Intrinsic::GroupSize(_)
                | Intrinsic::DynamicSharedBytes
                | Intrinsic::FloorRem
                | Intrinsic::WrapIndex { .. }
        );
        if !harmless {
            self.muddles();
        }
    }

    /// A barrier of the block.
    pub(super) fn figures_at_barrier(&mut self, at: ExprId) {
        let (everybody, called) = (self.act.is_full() && self.act.maybe() == 0, self.frames.len() > 1);
        let looped = self.iteration != 0;
        let Some(figures) = &mut self.figures else { return };
        figures.muddled |= !everybody;
        let barrier = Barrier { rounds: 0, looped, called, needed: false };
        let known = figures.barriers.entry(at.index()).or_insert(barrier);
        known.looped |= looped;
        figures.met.push((at, figures.accesses.len()));
    }

    /// The running block is done.
    pub(super) fn figures_of_block(&mut self) {
        let stopped = self.stopped;
        if let Some(figures) = &mut self.figures {
            figures.muddled |= stopped;
            figures.settle_block();
        }
    }

    /// An access by the lanes of the mask, all to places inside of one object.
    pub(super) fn figures_at_access(&mut self, touch: Touch<'_>, index: usize, address: &Val, mask: &Mask, size: u32) {
        let Some(mut figures) = self.figures.take() else { return };
        let memory = &self.objects[index];
        if memory.is_shared() || memory.is_global() {
            figures.compare(touch, index, address, mask, size);
            if self.is_one_request(touch) {
                self.count_requests(&mut figures, touch, index, address, mask, size);
            }
        }
        self.figures = Some(figures);
    }

    /// Whether the access is one instruction, or a few in a row.
    fn is_one_request(&self, touch: Touch<'_>) -> bool {
        let plain = match &self.code.expr(touch.at).kind {
            Expr::Intrinsic(what, _) => matches!(what, Intrinsic::LoadCached | Intrinsic::StoreCached),
            _ => true,
        };
        plain && touch.kind != AccessKind::Atomic && !touch.asynchronous
    }

    fn count_requests(
        &self,
        figures: &mut Recorder,
        touch: Touch<'_>,
        index: usize,
        address: &Val,
        mask: &Mask,
        size: u32,
    ) {
        let memory = &self.objects[index];
        let shared = memory.is_shared();
        // Several words of one thread are one access only where they are a vector.
        let is_vector = match touch.ty {
            Ty::Aggregate(_) | Ty::Opaque { .. } => matches!(size, 8 | 16) && touch.ty.align() == size,
            _ => true,
        };
        if shared && !is_vector {
            return;
        }
        let block = (self.blocks_run.len() as u32).saturating_sub(1);
        let writes = touch.kind.writes();
        for (warp, levels) in mask.levels().chunks(WARP).enumerate() {
            let lanes: Vec<Option<i64>> = (levels.iter().enumerate())
                .map(|(lane, &level)| (level == SURE).then(|| offset_of(address.lane(warp * WARP + lane).0)))
                .collect();
            let offsets: Vec<i64> = lanes.iter().flatten().copied().collect();
            if offsets.is_empty() {
                continue;
            }
            let key = (block, warp, index, writes);
            if !shared {
                let used = figures.used.entry(key).or_default();
                for byte in offsets.iter().flat_map(|start| *start..start + i64::from(size)) {
                    *used.entry(byte.div_euclid(SECTOR)).or_default() |= 1 << byte.rem_euclid(SECTOR);
                }
            }
            if offsets.len() < 2 {
                continue;
            }
            let (cost, least) = if shared { passes(&lanes, size) } else { sectors(&offsets, size) };
            let tally = figures.requests.entry((touch.at.index(), index)).or_insert_with(|| {
                let access = self.access_of(touch, 0, 0, size);
                let requests = Requests {
                    object: memory.object.clone(),
                    shared,
                    lanes: [access.clone(), access],
                    count: 0,
                    warps: 0,
                    costly: 0,
                    cost: 0,
                    least: 0,
                    worst: (0, 1),
                    moved_over_used: 0,
                    known: false,
                };
                Tally { requests, at: touch.at, warps: FxHashSet::default() }
            });
            let requests = &mut tally.requests;
            requests.count += 1;
            requests.cost += u64::from(cost);
            requests.least += u64::from(least);
            requests.costly += u64::from(cost >= COSTLY * least);
            if cost * requests.worst.1 > requests.worst.0 * least {
                requests.worst = (cost, least);
                let (first, second) = telling(&lanes, shared);
                let access = |lane: usize| {
                    let offset = lanes.get(lane).copied().flatten().unwrap_or_default();
                    self.access_of(touch, warp * WARP + lane, offset, size)
                };
                requests.lanes = [access(first), access(second)];
            }
            tally.warps.insert(key);
        }
    }
}

/// The first two lanes that show what a request costs: in different sectors, or with different words of one bank.
fn telling(lanes: &[Option<i64>], shared: bool) -> (usize, usize) {
    let active = || lanes.iter().enumerate().filter_map(|(lane, offset)| Some((lane, (*offset)?)));
    let Some((first, offset)) = active().next() else { return (0, 0) };
    let tells = |other: i64| {
        let apart = offset.div_euclid(4) != other.div_euclid(4);
        if shared {
            apart && (other.div_euclid(4) - offset.div_euclid(4)) % 32 == 0
        } else {
            other.div_euclid(SECTOR) != offset.div_euclid(SECTOR)
        }
    };
    let second = active().find(|(_, other)| tells(*other)).or_else(|| active().nth(1));
    (first, second.map_or(first, |(lane, _)| lane))
}
