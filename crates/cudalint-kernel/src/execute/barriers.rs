//! Barriers of the block and of the grid: who comes, who does not, and where those go instead.

use super::lanes::{Mask, OFF, SURE};
use super::machine::{EXIT_MAYBE, EXIT_SURE, Machine};
use super::memory::{Initial, Memory};
use super::state::Absence;
use crate::code::ExprId;
use crate::report::{EventKind, Site};

impl Machine<'_> {
    /// Everything before is ordered before everything after.
    pub(super) fn new_interval(&mut self) {
        self.interval += 1;
        self.interval_start = self.trace.next();
        self.acquired_block = self.objects_wait;
    }

    /// A barrier of the whole block.
    pub(super) fn block_barrier(&mut self, at: ExprId) {
        let site = self.code.expr(at).site;
        let waiting = self.act.clone();
        if waiting.is_empty() {
            return;
        }
        if waiting.sure() > 0 {
            self.is_missed();
        }
        self.meet_absent(site, &waiting);
        if self.stopped {
            return;
        }
        if waiting.sure() == 0 {
            self.note_doubt();
            self.may_be_missed(site, &waiting);
        }
        if waiting.maybe() == 0 && !waiting.is_full() {
            self.partial_barrier(site, &waiting);
        }
        for (late, &level) in self.late.iter_mut().zip(waiting.levels()) {
            *late &= level == OFF;
        }
        self.figures_at_barrier(at);
        self.new_interval();
    }

    fn partial_barrier(&mut self, site: Site, waiting: &Mask) {
        let mut absent = vec![false; self.n];
        let mut first_exit = None;
        let (mut any, mut unsure) = (false, false);
        for (lane, &level) in waiting.levels().iter().enumerate() {
            if level != OFF {
                continue;
            }
            let left = self.left[lane];
            if left & EXIT_SURE != 0 {
                first_exit.get_or_insert(lane);
            } else if left & EXIT_MAYBE != 0 || !self.surely_elsewhere(lane) {
                unsure = true;
            } else {
                absent[lane] = true;
                any = true;
            }
        }
        if unsure && !any {
            return;
        }
        if let Some(leaver) = first_exit {
            let waits = self.mate(waiting, |lane| self.left[lane] & EXIT_SURE != 0, leaver);
            let exit = self.exit_site(waits.1);
            if let Some(exit) = exit {
                let (waits, leaves) = (self.thread(waits.0), self.thread(waits.1));
                let count = self.left.iter().filter(|&&left| left & EXIT_SURE != 0).count() as u64;
                self.event(EventKind::ExitBeforeBarrier { exit, barrier: site, leaves, waits, unwritten: None }, count);
            }
        }
        // Those that missed another barrier wait here instead, as in the other branch of an `if`.
        let late = |(lane, level): (usize, &u8)| *level == OFF || self.late.get(lane).is_some_and(|late| *late);
        if self.silent && waiting.levels().iter().enumerate().all(late) {
            return;
        }
        let told = |absence: &Absence| absence.barrier == site;
        if !any || self.told_barriers.contains(&site) || self.absences.iter().any(told) {
            return;
        }
        let Some(first) = absent.iter().position(|&absent| absent) else { return };
        let (waits, gone) = self.mate(waiting, |lane| absent[lane], first);
        let Some(condition) = self.parting(gone) else { return };
        self.absences.push(Absence {
            barrier: site,
            calls: self.call_sites().to_vec(),
            waits: self.thread(waits),
            absent: gone,
            lanes: absent,
            condition,
            same_warp: waits / 32 == gone / 32,
            may_arrive: false,
            missed: false,
        });
    }

    /// A waiting lane and an absent one, of one warp where there are such.
    fn mate(&self, waiting: &Mask, absent: impl Fn(usize) -> bool, first: usize) -> (usize, usize) {
        let levels = waiting.levels();
        for warp in 0..self.n.div_ceil(32) {
            let lanes = warp * 32..(warp * 32 + 32).min(self.n);
            let waits = lanes.clone().find(|&lane| levels[lane] == SURE);
            let gone = lanes.clone().find(|&lane| absent(lane));
            if let (Some(waits), Some(gone)) = (waits, gone) {
                return (waits, gone);
            }
        }
        (waiting.first_sure().unwrap_or_default(), first)
    }

    /// Whether the lane surely went another way at a branch that is still open.
    fn surely_elsewhere(&self, lane: usize) -> bool {
        self.splits
            .iter()
            .rev()
            .find(|(_, before)| before.levels()[lane] != OFF)
            .is_some_and(|(_, before)| before.levels()[lane] == SURE)
    }

    /// The branch where a lane that is not here went another way.
    pub(super) fn parting(&self, lane: usize) -> Option<Site> {
        self.splits.iter().rev().find(|(_, before)| before.levels()[lane] != OFF).map(|(site, _)| *site)
    }

    /// Lanes that missed a barrier are seen at another one, or at shared memory: they live on.
    pub(super) fn meet_absent(&mut self, at: Site, mask: &Mask) {
        if self.absences.is_empty() {
            return;
        }
        let levels = mask.levels();
        let mut any = false;
        for absence in &mut self.absences {
            for (lane, &level) in levels.iter().enumerate() {
                if absence.lanes[lane] && level == SURE {
                    absence.absent = lane;
                    absence.missed = true;
                    any = true;
                    break;
                }
                absence.may_arrive |= absence.lanes[lane] && level != OFF;
            }
        }
        if !any {
            return;
        }
        let (met, others) = std::mem::take(&mut self.absences).into_iter().partition(|absence| absence.missed);
        self.absences = others;
        let met: Vec<Absence> = met;
        if met.iter().all(|absence| absence.may_arrive) {
            return;
        }
        for absence in met.into_iter().filter(|absence| !absence.may_arrive) {
            self.told_barriers.extend([absence.barrier, at]);
            self.late.resize(self.n, false);
            for (late, absent) in self.late.iter_mut().zip(&absence.lanes) {
                *late |= absent;
            }
            self.tell_absence(absence, Some(at));
        }
        // What follows depends on what the hardware makes of it. As if all had come by, only other barriers are looked at.
        self.silent = true;
        self.absences.clear();
        let cause = "barrier that part of the block misses";
        if self.figures.is_some() {
            self.stop(cause);
        } else {
            self.complete = false;
            self.cause(cause);
            // What threads share may be something else by now.
            for number in 0..self.living.len() {
                let index = self.living[number] as usize;
                if self.objects.get(index).is_some_and(Memory::is_shared) {
                    self.lose(index, true);
                }
            }
        }
    }

    /// An access to an object; tells whether lanes that missed a barrier touch shared memory.
    pub(super) fn shared_met(&mut self, index: usize, at: ExprId, mask: &Mask) {
        if !self.absences.is_empty() && self.objects.get(index).is_some_and(Memory::is_shared) {
            self.meet_absent(self.code.expr(at).site, mask);
        }
    }

    /// Lanes missed a barrier, and went on to another one or to memory that the block shares (`goes_on`), or to the end.
    fn tell_absence(&mut self, absence: Absence, goes_on: Option<Site>) {
        let absent = self.thread(absence.absent);
        let count = absence.lanes.iter().filter(|&&absent| absent).count() as u64;
        let Absence { barrier, calls, waits, condition, same_warp, missed, .. } = absence;
        self.event(
            EventKind::DivergentBarrier { barrier, calls, waits, absent, goes_on, condition, same_warp, missed },
            count,
        );
    }

    /// The block is done: who missed a barrier and met nothing after it has left the kernel.
    pub(super) fn settle_absences(&mut self) {
        for absence in std::mem::take(&mut self.absences) {
            if absence.may_arrive || self.silent {
                continue;
            }
            self.tell_absence(absence, None);
        }
    }

    /// A barrier of the whole grid.
    pub(super) fn grid_barrier(&mut self, at: ExprId) {
        let site = self.code.expr(at).site;
        if self.launch.cooperative == Some(false) && self.act.sure() > 0 {
            self.event(EventKind::GridSyncWithoutCooperation { site }, u64::from(self.act.sure()));
        }
        let waiting = self.act.clone();
        self.meet_absent(site, &waiting);
        self.new_interval();
        self.phase += 1;
        // The other blocks have written whatever they write.
        self.forget_global();
    }

    /// Where a part of the block waits, the others may have written before, in branches that are walked later.
    pub(super) fn meets_absent_writers(&mut self) {
        if !(self.act.is_full() && self.act.maybe() == 0) {
            self.forget_where(|memory| memory.is_global() || memory.is_shared());
        }
    }

    /// Values in memory that other blocks see are not known any more.
    pub(super) fn forget_global(&mut self) {
        self.forget_where(Memory::is_global);
    }

    fn forget_where(&mut self, is_concerned: impl Fn(&Memory) -> bool) {
        let stamp = self.trace.next() - 1;
        for &index in &self.living {
            let memory = &mut self.objects[index as usize];
            if is_concerned(memory) {
                memory.forgotten = stamp;
                memory.changed = stamp + 1;
                memory.may_be_written = true;
                if memory.is_global() {
                    memory.initial = Initial::Something;
                }
            }
        }
    }

    /// Somebody outside of our sight may be ordered before and after this.
    pub(super) fn acquire(&mut self) {
        self.acquired = true;
        self.acquired_block = true;
        self.forget_global();
    }
}
