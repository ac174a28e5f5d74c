//! Reads and writes of memory that several threads see, cell by cell.

use super::events::Unwritten;
use super::lanes::{Lanes, MAYBE, Mask, SURE};
use super::machine::Machine;
use super::memory::{Initial, Memory, is_outside};
use super::races::{Conflicts, Order, values_of};
use super::shadow::{ACCUMULATED, BY_WARP, CHANGED, Cell, Cells, INITIAL, KEPT, STILL, line_of};
use super::touch::{ACCUMULATES, Piece, STORES_ONLY};
use super::value::{Bits, Data, KNOWN, NUMBER, UNKNOWN, Val, View, mix, offset_of};
use crate::code::Ty;
use crate::report::{AccessKind, RaceScope, RaceValues};
use std::ops::Range;
use std::sync::Arc;

impl Machine<'_> {
    /// Reads or writes one scalar of an object that several threads see.
    pub(super) fn touch_cells(
        &mut self,
        piece: &Piece<'_>,
        index: usize,
        address: &Val,
        mask: &Mask,
        value: Option<&Val>,
    ) -> Val {
        let grain = self.objects[index].refine(piece.bytes, piece.low);
        let changing = value.and_then(|value| self.without_rewrites(piece, index, (address, mask), value, grain));
        let mask = changing.as_ref().unwrap_or(mask);
        if mask.is_empty() {
            return Val::unknown();
        }
        let uniform = !address.varies() && mask.count() > 3;
        let writes = value.is_some() || piece.touch.kind.writes();
        if !writes && let Some(read) = self.read_unwritten(piece, index, address, mask, uniform) {
            return read;
        }
        self.settle_reads(index);
        self.objects[index].stored |= writes;
        let mut representatives = if uniform { Self::representatives(mask) } else { Vec::new() };
        if let (Some(value), Some(&one)) = (value, representatives.first())
            && value.varies()
        {
            let differs = |lane: &usize| mask.levels()[*lane] == SURE && value.lane(*lane) != value.lane(one);
            representatives.extend((0..self.n).find(differs));
        }
        let copies = self.copies && self.code.gaps.is_empty();
        let (keeps_origins, collects) = (self.keeps_origins(), self.collects());
        self.conflicts.collect(collects);
        let order = Order {
            trace: &self.trace,
            locks: &self.locks,
            stamp: piece.stamp,
            interval_start: self.interval_start,
            ordered: if copies { 0 } else { self.interval_start.saturating_sub(self.block_start) },
            block_start: self.block_start,
            warp_start: &self.warp_start,
            waited: self.waited,
            copies,
            global: self.objects[index].is_global(),
        };
        let memory = &mut self.objects[index];
        let mut job = Job::new(order, piece, grain, index, memory, &mut self.conflicts);
        let operand = value.filter(|_| piece.touch.kind == AccessKind::Atomic).and_then(Val::uniform);
        job.stores_only = operand == Some(STORES_ONLY);
        job.accumulates = operand == Some(ACCUMULATES);
        job.keeps_origins = keeps_origins;
        job.collected = collects.then(Vec::new);
        let stored = value.map(Val::view);
        // A few lanes at one place are taken as they come.
        let lanes;
        let each = match address.bits() {
            Bits::Each(bits) => bits,
            Bits::One(_) if uniform => &[],
            Bits::One(bits) => {
                lanes = Lanes::filled(self.n, bits);
                lanes.get()
            }
        };
        let result = if uniform {
            let agree = piece.touch.kind == AccessKind::Write
                && mask.is_full()
                && job.untouched(memory, offset_of(address.lane(0).0));
            let mut first: Option<(i64, u8)> = None;
            for &lane in &representatives {
                let read = job.lane(memory, lane, mask.levels()[lane], offset_of(address.lane(lane).0) as u64, stored);
                first = Some(match first {
                    Some(first) if first != read => (0, UNKNOWN),
                    _ => read,
                });
            }
            if let Some(value) = value
                && !matches!(value.data, Data::Uniform(..))
            {
                job.blur(memory, offset_of(address.lane(0).0));
            } else if agree {
                job.agree(memory, offset_of(address.lane(0).0));
            }
            let (bits, tag) = first.unwrap_or((0, UNKNOWN));
            Data::Uniform(bits, tag).into()
        } else if let Some(stored) = stored {
            job.write_all(memory, mask, each, stored);
            Val::unknown()
        } else {
            job.read_all(memory, mask, each)
        };
        if piece.touch.kind.writes() && mask.sure() > 0 {
            memory.wrote = true;
        }
        let unwritten = job.unwritten.take();
        let collected = job.collected.take().unwrap_or_default();
        self.report_conflicts(piece.touch, index, piece.bytes);
        // What an atomic operation reads stays where it was.
        let plain = piece.touch.kind != AccessKind::Atomic;
        for offset in collected.into_iter().filter(|_| plain) {
            self.collect((self.code.expr(piece.touch.at).site, self.block), index, offset, None);
        }
        if let Some(unwritten) = unwritten {
            self.unwritten_read(piece.touch, index, piece.bytes, &unwritten);
        }
        result
    }

    /// Lanes that stand for all active ones where all do the same: two of the first warp, one of another.
    pub(super) fn representatives(mask: &Mask) -> Vec<usize> {
        let levels = mask.levels();
        let wanted = if mask.sure() > 0 { SURE } else { MAYBE };
        let mut lanes = levels.iter().enumerate().filter(|&(_, &level)| level == wanted).map(|(lane, _)| lane);
        let mut chosen: Vec<usize> = lanes.by_ref().take(2).collect();
        if let Some(&first) = chosen.first() {
            chosen.extend(lanes.find(|lane| lane / 32 != first / 32));
        }
        if wanted == SURE && mask.maybe() > 0 {
            chosen.extend(levels.iter().position(|&level| level == MAYBE));
        }
        chosen
    }
}

/// Tells apart what cannot be read back as another type.
fn class_byte(ty: &Ty) -> u8 {
    ty.bytes().unwrap_or(0) as u8 | if ty.is_float() { 128 } else { 0 } | if *ty == Ty::Pointer { 64 } else { 0 }
}

/// Of names for what lies in an object, read as some type.
pub(super) fn seed_of(index: usize, ty: &Ty, memory: &Memory) -> u64 {
    mix(mix(index as u64 + 1, u64::from(class_byte(ty))), u64::from(memory.forgotten))
}

/// The name for what lay at a byte offset before anybody wrote.
#[inline]
pub(super) const fn name_there(seed: u64, offset: u64) -> i64 {
    mix(seed, offset) as i64
}

/// What is read of bytes that were there before. The bytes of a float are not its value, except for zero.
pub(super) fn foretold(seed: u64, ty: &Ty, bits: i64) -> (i64, u8) {
    match ty {
        Ty::Float { bytes: 4 } if !f32::from_bits(bits as u32).is_nan() => {
            (f64::from(f32::from_bits(bits as u32)).to_bits() as i64, KNOWN)
        }
        Ty::Float { bytes: 8 } if !super::ops::float(bits).is_nan() => (bits, KNOWN),
        Ty::Float { .. } | Ty::Pointer if bits != 0 => (name_there(seed ^ bits as u64, 0), NUMBER),
        ty => (ty.wrap(bits), KNOWN),
    }
}

/// How much of an object is known to hold nothing.
#[derive(Clone, Copy)]
pub(super) enum Empty {
    Nothing,
    Parts,
    All,
}

/// The work on single lanes of one piece.
#[allow(clippy::struct_excessive_bools, reason = "independent facts about the piece and its object")]
pub(super) struct Job<'j> {
    pub(super) order: Order<'j>,
    pub(super) piece: &'j Piece<'j>,
    /// Cells that one lane touches.
    cells: u64,
    pub(super) grain: u32,
    /// Whether the scalar is one whole cell.
    whole: bool,
    pub(super) class: u8,
    /// Of names for what was there before.
    seed: u64,
    /// Whether some of what was there before is known.
    foreknown: bool,
    /// What was there before, where it is the same everywhere.
    filled: Option<i64>,
    /// What of it nobody has written before, not even a may-active lane.
    pub(super) empty: Empty,
    /// The parts that were not empty, where there are such.
    parts: Option<Arc<[Range<u64>]>>,
    /// Stamps up to this one say nothing of values.
    pub(super) forgotten: u32,
    /// Whether an atomic operation only stores, and nobody reads what was there.
    stores_only: bool,
    /// Whether an atomic operation adds to what was there.
    accumulates: bool,
    /// Whether most lanes go the short way: they touch one cell each, of which nothing was known beforehand.
    pub(super) plain: bool,
    /// Whether nothing may get a name that hides what it was made of.
    pub(super) keeps_origins: bool,
    /// Offsets of unwritten cells that are read, where they are collected.
    collected: Option<Vec<i64>>,
    /// The line found last, with its number.
    line: Option<(u64, usize)>,
    conflicts: &'j mut Conflicts,
    unwritten: Option<Unwritten>,
}

impl<'j> Job<'j> {
    fn new(
        order: Order<'j>,
        piece: &'j Piece<'j>,
        grain: u32,
        index: usize,
        memory: &Memory,
        conflicts: &'j mut Conflicts,
    ) -> Self {
        let class = class_byte(piece.ty);
        let cells = if piece.bytes.is_power_of_two() {
            1 << (piece.bytes.trailing_zeros().max(grain) - grain)
        } else {
            u64::from(piece.bytes >> grain).max(1)
        };
        let untouched = memory.forgotten == 0;
        let whole = piece.bytes == 1 << grain;
        let foreknown = untouched && matches!(memory.initial, Initial::Filled(_) | Initial::Integers(..));
        let filled = if untouched { memory.filled_with(piece.bytes) } else { None };
        let empty = match memory.initial {
            Initial::Nothing if untouched && !memory.may_be_written => Empty::All,
            Initial::NothingBut(_) if untouched && !memory.may_be_written => Empty::Parts,
            _ => Empty::Nothing,
        };
        let kind = piece.touch.kind;
        let reads = !kind.writes() && !piece.touch.volatile;
        let writes = kind.writes() && kind != AccessKind::Atomic;
        Self {
            order,
            piece,
            cells,
            grain,
            whole,
            class,
            seed: seed_of(index, piece.ty, memory),
            foreknown,
            filled,
            empty,
            parts: match (&memory.initial, empty) {
                (Initial::NothingBut(parts), Empty::Parts) => Some(Arc::clone(parts)),
                _ => None,
            },
            plain: whole && cells == 1 && (!foreknown || filled.is_some()) && (reads || writes),
            forgotten: memory.forgotten,
            stores_only: false,
            accumulates: false,
            keeps_origins: false,
            collected: None,
            line: None,
            conflicts,
            unwritten: None,
        }
    }

    #[inline]
    fn cell<'m>(&mut self, cells: &'m mut Cells, number: u64) -> Option<&'m mut Cell> {
        let line = match self.line {
            Some((known, line)) if known == line_of(number) => line,
            _ => {
                let line = cells.line(line_of(number))?;
                self.line = Some((line_of(number), line));
                line
            }
        };
        cells.on_line(line, number)
    }

    /// Lets one lane touch its cells; what it reads.
    pub(super) fn lane(
        &mut self,
        memory: &mut Memory,
        lane: usize,
        level: u8,
        offset: u64,
        value: Option<View<'_>>,
    ) -> (i64, u8) {
        let first = offset >> self.grain;
        let kind = self.piece.touch.kind;
        let sure = level == SURE;
        let mut result = (0, UNKNOWN);
        for number in first..first + self.cells {
            let partly = memory.wrote;
            let before = if self.foreknown { memory.initially(offset, self.piece.bytes) } else { None };
            let empty = sure && self.was_empty(number);
            let Some(cell) = self.cell(&mut memory.cells, number) else {
                memory.may_be_written = true;
                memory.usage.inexact = true;
                return (0, UNKNOWN);
            };
            let untouched = cell.write == 0 && cell.may_write == 0;
            if kind == AccessKind::Atomic {
                if empty && !self.stores_only && untouched {
                    self.missing(lane, number, partly);
                }
                self.write(cell, lane, sure, number, (0, UNKNOWN));
            } else if kind.writes() {
                let stored =
                    value.map_or((0, UNKNOWN), |value| if self.whole { value.lane(lane) } else { (0, UNKNOWN) });
                if let Some(bits) = before
                    && cell.tag == INITIAL
                    && self.whole
                    && sure
                {
                    (cell.value, cell.tag) = self.as_value(bits);
                    cell.class = self.class;
                }
                self.write(cell, lane, sure, number, stored);
            } else {
                if empty && untouched {
                    self.missing(lane, number, partly);
                }
                result = self.read(cell, lane, sure, number, before);
                if !self.whole && cell.tag != INITIAL {
                    result = (0, UNKNOWN);
                }
            }
        }
        if self.whole || result.1 == NUMBER { result } else { (0, UNKNOWN) }
    }

    fn missing(&mut self, lane: usize, number: u64, partly: bool) {
        if let Some(collected) = &mut self.collected {
            collected.push((number << self.grain) as i64);
        }
        match &mut self.unwritten {
            Some(seen) => seen.count += 1,
            None => {
                self.unwritten = Some(Unwritten { lane, offset: (number << self.grain) as i64, count: 1, partly });
            }
        }
    }

    fn read(&mut self, cell: &mut Cell, lane: usize, sure: bool, number: u64, before: Option<i64>) -> (i64, u8) {
        let mut visible = true;
        if cell.write != 0
            && cell.flags & STILL == 0
            && let Some(scope) = self.order.unordered(cell.write, cell.writer, lane)
        {
            visible = false;
            if sure && self.order.conflict(cell.write, scope, self.piece.touch) {
                let values = match cell.last_write() {
                    _ if cell.flags & BY_WARP != 0 && scope == RaceScope::Warp => RaceValues::Same,
                    KEPT => RaceValues::Same,
                    CHANGED | ACCUMULATED => RaceValues::Differ,
                    _ => RaceValues::Unknown,
                };
                let offset = (number << self.grain) as i64;
                self.conflicts.add(cell.write, cell.writer, lane as u16, scope, offset, values);
            }
        }
        if sure {
            self.order.note_reader(cell, lane);
        }
        if !visible || self.piece.touch.volatile {
            return (0, UNKNOWN);
        }
        if cell.may_write != 0 && cell.may_write >= cell.write {
            return self.after_may_write(cell.may_write, number);
        }
        if cell.tag == INITIAL {
            return before.map_or_else(|| self.name(0, number), |bits| foretold(self.seed, self.piece.ty, bits));
        }
        if cell.write <= self.forgotten {
            return self.after_may_write(self.forgotten, number);
        }
        if cell.write < self.order.block_start || cell.class != self.class {
            return (0, UNKNOWN);
        }
        (if cell.tag == KNOWN { self.piece.ty.wrap(cell.value) } else { cell.value }, cell.tag)
    }

    /// What is in a cell that a may-active lane wrote, or an access to somewhere in the object may have: since the barrier all read the same.
    pub(super) fn after_may_write(&self, stamp: u32, number: u64) -> (i64, u8) {
        let stamp = stamp.max(self.forgotten);
        let settled = stamp < self.order.interval_start && stamp >= self.order.block_start;
        if settled && !self.keeps_origins { self.name(u64::from(stamp), number) } else { (0, UNKNOWN) }
    }

    /// Whether what the last sure write left in a cell may not be there any more.
    #[inline]
    pub(super) const fn may_have_changed(&self, cell: &Cell) -> bool {
        cell.may_write != 0 && cell.may_write >= cell.write || cell.write != 0 && cell.write <= self.forgotten
    }

    /// Whether a store leaves what is in a cell that a may-active lane may have written before the barrier.
    pub(super) fn stays_after_may_write(&self, cell: &Cell, number: u64, stored: (i64, u8)) -> RaceValues {
        match values_of(self.after_may_write(cell.may_write, number), stored) {
            RaceValues::Same => RaceValues::Same,
            _ => RaceValues::Unknown,
        }
    }

    /// A name for what lies in a cell since `when`.
    pub(super) fn name(&self, when: u64, number: u64) -> (i64, u8) {
        (mix(self.seed ^ when, number << self.grain) as i64, NUMBER)
    }

    /// Nobody knows what a lane has stored, but all who read it after the next barrier read the same.
    pub(super) fn something(&self, lane: usize, number: u64) -> (i64, u8) {
        if self.keeps_origins {
            return (0, UNKNOWN);
        }
        (mix(u64::from(self.piece.stamp), (number << 10) | lane as u64) as i64, NUMBER)
    }

    /// Whether surely nothing was in a cell before.
    #[inline]
    pub(super) fn was_empty(&self, number: u64) -> bool {
        match self.empty {
            Empty::Nothing => false,
            Empty::Parts => {
                self.parts.as_ref().is_some_and(|parts| is_outside(parts, number << self.grain, 1 << self.grain))
            }
            Empty::All => true,
        }
    }

    /// What lies in a cell that nobody has written, where most lanes go the short way.
    #[inline]
    pub(super) fn initial(&self, number: u64) -> (i64, u8) {
        self.filled.map_or_else(|| self.name(0, number), |bits| foretold(self.seed, self.piece.ty, bits))
    }

    /// What is known of a value that nobody has written, for those that write over it.
    pub(super) fn before_write(&self) -> Option<(i64, u8)> {
        self.filled.map(|bits| self.as_value(bits))
    }

    fn as_value(&self, bits: i64) -> (i64, u8) {
        (self.piece.ty.wrap(bits), if self.piece.ty.is_float() && bits != 0 { UNKNOWN } else { KNOWN })
    }

    fn write(&mut self, cell: &mut Cell, lane: usize, sure: bool, number: u64, stored: (i64, u8)) {
        if !sure {
            cell.may_write = self.piece.stamp;
            return;
        }
        let offset = (number << self.grain) as i64;
        let fresh = cell.write > self.forgotten || (self.forgotten == 0 && cell.write == 0 && cell.tag != INITIAL);
        // What the other writer wrote, whoever may have written in between.
        let same_writes = if self.accumulates || cell.last_write() == ACCUMULATED {
            // A store before it, or behind it, makes another sum.
            RaceValues::Differ
        } else if cell.class == self.class && cell.tag != INITIAL && stored.1 != UNKNOWN {
            values_of((cell.value, cell.tag), stored)
        } else {
            RaceValues::Unknown
        };
        let values = if self.may_have_changed(cell) {
            self.stays_after_may_write(cell, number, stored)
        } else if fresh {
            same_writes
        } else {
            RaceValues::Unknown
        };
        let mut certain = cell.may_write == 0 || cell.may_write < self.order.interval_start;
        if cell.write != 0
            && let Some(scope) = self.order.unordered(cell.write, cell.writer, lane)
        {
            certain &= same_writes == RaceValues::Same;
            if self.order.conflict(cell.write, scope, self.piece.touch) {
                self.conflicts.add(cell.write, cell.writer, lane as u16, scope, offset, same_writes);
            }
        }
        let readers =
            [(cell.read[0], cell.reader[0]), (cell.read[1], cell.reader[1]), (cell.foreign, cell.foreign_reader)];
        let keeps = self.order.keeps(cell, values, stored.1);
        for (stamp, reader) in readers {
            if stamp != 0
                && !keeps
                && let Some(scope) = self.order.unordered(stamp, reader, lane)
                && self.order.conflict(stamp, scope, self.piece.touch)
            {
                self.conflicts.add(stamp, reader, lane as u16, scope, offset, values);
            }
        }
        cell.flags = if self.accumulates { ACCUMULATED } else { self.order.flags_after(cell, values, stored.1, lane) };
        // A store of the same warp conflicts with more than an atomic operation does: it stays the last write, for other
        // warps to meet.
        let own_store = self.piece.touch.kind == AccessKind::Atomic
            && usize::from(cell.writer) / 32 == lane / 32
            && cell.write >= self.order.interval_start.max(1)
            && self.order.trace.record(cell.write).is_some_and(|record| record.kind != AccessKind::Atomic);
        if !own_store {
            cell.write = self.piece.stamp;
            cell.writer = lane as u16;
        }
        cell.class = self.class;
        (cell.value, cell.tag) = if !certain || stored.1 == UNKNOWN { self.something(lane, number) } else { stored };
    }

    /// Whether nobody has touched a shared place since the barrier.
    fn untouched(&self, memory: &Memory, offset: i64) -> bool {
        let since = self.order.interval_start.max(1);
        let first = offset as u64 >> self.grain;
        !self.order.global
            && !self.order.copies
            && (first..first + self.cells)
                .filter_map(|number| memory.cells.peek(number))
                .all(|cell| cell.write < since && cell.may_write < since && cell.read.iter().all(|read| *read < since))
    }

    /// All threads of the block have stored one value in such a place: each reads what it has stored itself, whoever came last.
    fn agree(&self, memory: &mut Memory, offset: i64) {
        let first = offset as u64 >> self.grain;
        for number in first..first + self.cells {
            if let Some(cell) = memory.cells.at(number)
                && cell.tag != UNKNOWN
            {
                cell.flags = KEPT | STILL;
            }
        }
    }

    /// Several lanes stored different things in one place.
    fn blur(&mut self, memory: &mut Memory, offset: i64) {
        let first = offset as u64 >> self.grain;
        let tag = if self.keeps_origins { UNKNOWN } else { NUMBER };
        for number in first..first + self.cells {
            if let Some(cell) = memory.cells.at(number) {
                (cell.value, cell.tag) = (mix(u64::from(self.piece.stamp), number << 10) as i64, tag);
            }
        }
    }
}
