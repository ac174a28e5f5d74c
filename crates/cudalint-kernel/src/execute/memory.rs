//! Objects in memory: what is known of them, and how finely they are shadowed.

use super::lanes::Mask;
use super::shadow::Cells;
use super::value::{Data, Shape, Val};
use crate::code::Ty;
use crate::launch::Contents;
use crate::report::{AccessKind, Object, ObjectKind, Site, SureUse};
use rustc_hash::FxHashSet;
use std::ops::Range;
use std::sync::Arc;

/// What an object holds before anybody writes.
#[derive(Clone)]
pub(super) enum Initial {
    /// Something.
    Something,
    /// Nothing: reading it is a defect.
    Nothing,
    /// Nothing outside these bytes.
    NothingBut(Arc<[Range<u64>]>),
    /// This byte everywhere.
    Filled(u8),
    /// Integers of so many bytes, or the bits of fractions.
    Integers(u8, Arc<[i64]>),
}

impl From<&Contents> for Initial {
    fn from(contents: &Contents) -> Self {
        match contents {
            Contents::Unknown => Self::Something,
            Contents::WrittenOnly(ranges) if ranges.is_empty() => Self::Nothing,
            Contents::WrittenOnly(ranges) => Self::NothingBut(ranges.clone().into()),
            Contents::Filled(byte) => Self::Filled(*byte),
            Contents::Integers { bytes, values } => Self::Integers(*bytes, values.clone()),
        }
    }
}

/// What the bits of a stored value mean: who reads them as something else gets another value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Signed,
    Unsigned,
    /// A floating-point number, whatever its size.
    Real,
    Address,
}

impl Meaning {
    pub(super) const fn of(ty: &Ty) -> Self {
        match ty {
            Ty::Float { .. } => Self::Real,
            Ty::Pointer => Self::Address,
            Ty::Int { signed: true, .. } => Self::Signed,
            _ => Self::Unsigned,
        }
    }
}

/// A value in memory of a thread.
#[derive(Clone)]
struct Held {
    value: Val,
    meaning: Meaning,
}

impl Held {
    const fn plain(value: Val) -> Self {
        Self { value, meaning: Meaning::Unsigned }
    }

    /// To be changed by a store of something with this meaning: what was there of another kind is not known beside it.
    fn changed(&mut self, meaning: Meaning, change: impl FnOnce(&mut Val)) {
        if self.meaning != meaning {
            if !matches!(self.value.data, Data::Undefined) {
                self.value = Val::unknown();
            }
            self.meaning = meaning;
        }
        change(&mut self.value);
    }
}

/// Most values of several pieces that one variable is followed for.
const MOST_WIDE: usize = 64;

/// A thread's own variable: one value for each piece of it.
pub(super) struct LocalCells {
    /// Bytes of a piece.
    pub(super) grain: u32,
    /// How many pieces there are; 0 where nobody has touched the variable, or it is too large to follow or of unknown size.
    pieces: usize,
    /// The first pieces.
    cells: Vec<Held>,
    /// What all others hold.
    rest: Held,
    /// Values that take several pieces, a pointer beside integers: the first piece, how many, and the value. Their pieces
    /// by themselves are unknown.
    wide: Vec<(usize, usize, Held)>,
    /// Lanes for which it was made.
    pub(super) lanes: u32,
}

impl LocalCells {
    /// Made for so many lanes; nobody has touched it.
    pub(super) const fn new(lanes: u32) -> Self {
        let rest = Held::plain(Val { data: Data::Undefined, shape: Shape::Other, wrapped: None });
        Self { grain: 1, pieces: 0, cells: Vec::new(), rest, wide: Vec::new(), lanes }
    }

    /// Of so many pieces that all hold the same.
    pub(super) fn make(&mut self, grain: u32, pieces: usize, value: Val, meaning: Meaning) {
        self.grain = grain;
        self.pieces = pieces;
        self.cells.clear();
        self.wide.clear();
        self.rest = Held { value, meaning };
    }

    /// Makes the pieces smaller. What they hold takes several of them from now on.
    pub(super) fn split(&mut self, grain: u32) {
        let each = (self.grain / grain.max(1)) as usize;
        let cells = std::mem::take(&mut self.cells);
        let wide = std::mem::take(&mut self.wide);
        let undefined = |cell: &Held| matches!(cell.value.data, Data::Undefined);
        let hidden = |cell: &Held| if undefined(cell) { cell.clone() } else { Held::plain(Val::unknown()) };
        self.cells.reserve(cells.len() * each);
        for cell in &cells {
            self.cells.resize(self.cells.len() + each, hidden(cell));
        }
        self.rest = hidden(&self.rest);
        let whole = cells.into_iter().enumerate().filter(|(_, cell)| !undefined(cell));
        self.wide = wide.into_iter().map(|(first, count, value)| (first * each, count * each, value)).collect();
        self.wide.extend(whole.filter(|(_, cell)| !cell.value.is_unknown()).map(|(at, cell)| (at * each, each, cell)));
        self.wide.truncate(MOST_WIDE);
        self.grain = grain;
        self.pieces *= each;
    }

    /// As if nobody had touched it.
    pub(super) fn unmake(&mut self) {
        self.pieces = 0;
        self.cells.clear();
        self.wide.clear();
    }

    /// Whether nobody has touched it, or it cannot be followed.
    pub(super) const fn is_unmade(&self) -> bool {
        self.pieces == 0
    }

    /// Whether anything was stored in it.
    pub(super) fn is_touched(&self) -> bool {
        let touched = |cell: &Held| !matches!(cell.value.data, Data::Undefined);
        self.cells.iter().any(touched) || (self.cells.len() < self.pieces && touched(&self.rest))
    }

    /// Nothing is known of any piece.
    pub(super) fn forget(&mut self) {
        self.cells.clear();
        self.wide.clear();
        self.rest = Held::plain(Val::unknown());
    }

    /// Which pieces these bytes are, where they are whole ones.
    fn pieces_of(&self, offset: i64, bytes: u32) -> Option<(usize, usize)> {
        let grain = i64::from(self.grain);
        if offset < 0 || offset % grain != 0 || !bytes.is_multiple_of(self.grain) {
            return None;
        }
        let (first, count) = ((offset / grain) as usize, (bytes / self.grain) as usize);
        (count > 0 && first.checked_add(count)? <= self.pieces).then_some((first, count))
    }

    /// What these bytes hold, and what it was stored as; `None` where they are not followed as one value.
    pub(super) fn read(&self, offset: i64, bytes: u32) -> Option<(&Val, Meaning)> {
        let (first, count) = self.pieces_of(offset, bytes)?;
        let held = if count == 1 {
            self.cells.get(first).unwrap_or(&self.rest)
        } else {
            &self.wide.iter().find(|(at, pieces, _)| *at == first && *pieces == count)?.2
        };
        Some((&held.value, held.meaning))
    }

    /// Changes what these bytes hold.
    pub(super) fn change(&mut self, offset: i64, bytes: u32, meaning: Meaning, change: impl FnOnce(&mut Val)) {
        let Some((first, count)) = self.pieces_of(offset, bytes) else {
            self.blur(offset, i64::from(bytes));
            return;
        };
        if count == 1 {
            if let Some(cell) = self.get_mut(first) {
                cell.changed(meaning, change);
            }
            return;
        }
        let known = self.wide.iter().position(|(at, pieces, _)| *at == first && *pieces == count);
        let mut value = if let Some(known) = known {
            self.wide.swap_remove(known).2
        } else {
            let held = |piece: usize| self.cells.get(piece).unwrap_or(&self.rest);
            let fresh = (first..first + count).all(|piece| matches!(held(piece).value.data, Data::Undefined));
            self.blur(offset, i64::from(bytes));
            Held { value: if fresh { Val::undefined() } else { Val::unknown() }, meaning }
        };
        value.changed(meaning, change);
        if self.wide.len() < MOST_WIDE && !value.value.is_unknown() {
            self.wide.push((first, count, value));
        }
    }

    /// A piece, to be changed.
    fn get_mut(&mut self, piece: usize) -> Option<&mut Held> {
        if piece >= self.pieces {
            return None;
        }
        if !self.wide.is_empty() {
            self.wide.retain(|(first, count, _)| !(*first..first + count).contains(&piece));
        }
        if piece >= self.cells.len() {
            self.cells.resize(piece + 1, self.rest.clone());
        }
        self.cells.get_mut(piece)
    }

    /// Nothing is known any more of the pieces that these bytes lie in.
    pub(super) fn blur(&mut self, offset: i64, bytes: i64) {
        let grain = i64::from(self.grain);
        let first = (offset.max(0) / grain) as usize;
        let last = ((offset + bytes - 1).max(0) / grain) as usize;
        for piece in first..self.pieces.min(last + 1) {
            if let Some(cell) = self.get_mut(piece) {
                *cell = Held::plain(Val::unknown());
            }
        }
    }
}

/// A read that the cells do not know of yet.
pub(super) struct NotedRead {
    pub(super) address: Val,
    pub(super) mask: Mask,
    /// Whether a few lanes stand for all, which read the same place.
    pub(super) alike: bool,
    pub(super) bytes: u32,
    pub(super) stamp: u32,
    pub(super) interval_start: u32,
    pub(super) block_start: u32,
    /// First stamp since the last barrier of each warp, where that is not the block's.
    pub(super) warp_start: Option<Box<[u32]>>,
}

/// An object that pointers can point into.
pub(super) struct Memory {
    pub(super) object: Object,
    pub(super) kind: ObjectKind,
    pub(super) bytes: Option<u64>,
    /// Alignment of the first byte.
    pub(super) align: u32,
    /// log2 of the bytes of a cell, once something touched it.
    pub(super) grain: Option<u32>,
    pub(super) cells: Cells,
    /// Reads that the cells do not know of yet: nobody has written in this launch.
    pub(super) reads: Vec<NotedRead>,
    /// Whether cells of it have been written, surely or perhaps.
    pub(super) stored: bool,
    /// Cells in which somebody has stored what was there before: readers, as the cells have it.
    pub(super) rewritten: FxHashSet<u64>,
    pub(super) initial: Initial,
    pub(super) local: Option<LocalCells>,
    /// Stamp at which all values in it were forgotten; 0 for never.
    pub(super) forgotten: u32,
    /// Stamp of the last write of any kind.
    pub(super) changed: u32,
    /// A lane that was only may-active wrote somewhere in it.
    pub(super) may_be_written: bool,
    /// Somebody surely wrote somewhere in it, this block or another.
    pub(super) wrote: bool,
    /// Stamp of the last library primitive that used it as its storage.
    pub(super) primitive: u32,
    pub(super) usage: Usage,
}

/// What became of an object.
#[derive(Clone, Default)]
pub(super) struct Usage {
    pub(super) read: bool,
    pub(super) written: bool,
    pub(super) inexact: bool,
    /// Of buffers.
    pub(super) sure: SureUse,
}

impl Usage {
    /// Most stretches of a kind that are kept.
    const MAX_STRETCHES: usize = 4;

    /// Some lanes surely touch these bytes.
    pub(super) fn surely(&mut self, kind: AccessKind, stretch: impl FnOnce() -> Option<(i64, i64)>) {
        let all = match kind {
            AccessKind::Read | AccessKind::UpdateRead => &mut self.sure.read,
            AccessKind::Write | AccessKind::UpdateWrite => &mut self.sure.written,
            AccessKind::Atomic => &mut self.sure.atomic,
        };
        if all.len() < Self::MAX_STRETCHES
            && let Some((from, to)) = stretch()
            && !all.iter().any(|known| known.0 <= from && to <= known.1)
        {
            all.push((from, to));
        }
    }
}

impl Memory {
    pub(super) fn new(kind: ObjectKind, name: &str, declared: Option<Site>, bytes: Option<u64>, align: u32) -> Self {
        Self {
            object: Object { kind, name: name.to_owned(), declared, bytes },
            kind,
            bytes,
            align,
            grain: None,
            cells: Cells::default(),
            reads: Vec::new(),
            stored: false,
            rewritten: FxHashSet::default(),
            initial: Initial::Something,
            local: None,
            forgotten: 0,
            changed: 0,
            may_be_written: false,
            wrote: false,
            primitive: 0,
            usage: Usage::default(),
        }
    }

    /// Whether the object is one for each block.
    pub(super) const fn is_shared(&self) -> bool {
        matches!(self.kind, ObjectKind::Shared | ObjectKind::DynamicShared)
    }

    /// Whether all blocks see the object and may write it.
    pub(super) const fn is_global(&self) -> bool {
        matches!(self.kind, ObjectKind::Buffer(_) | ObjectKind::Device)
    }

    /// Cells for a new block.
    pub(super) fn renew(&mut self) {
        self.cells.clear();
        self.rewritten.clear();
        self.forgotten = 0;
        self.may_be_written = false;
        self.wrote = false;
        self.primitive = 0;
    }

    /// Makes the cells fine enough for accesses of `bytes` bytes at addresses whose lowest set bits `low` tells.
    pub(super) fn refine(&mut self, bytes: u32, low: i64) -> u32 {
        let wanted = bytes.max(1).trailing_zeros().min(low.trailing_zeros()).min(3);
        match self.grain {
            None => {
                self.grain = Some(wanted);
                wanted
            }
            Some(grain) if grain <= wanted => grain,
            Some(grain) => {
                for _ in wanted..grain {
                    self.cells.halve();
                    self.rewritten = self.rewritten.iter().flat_map(|cell| [cell << 1, (cell << 1) | 1]).collect();
                }
                self.grain = Some(wanted);
                wanted
            }
        }
    }

    /// Stretches of bytes, the first and the last ones, that nobody has written, surely or perhaps.
    pub(super) fn left_alone(&self) -> Vec<(u64, u64)> {
        /// Most cells that are looked at.
        const MOST_CELLS: u64 = 1 << 18;
        /// Most stretches that are kept.
        const MOST: usize = 16;
        let Some(bytes) = self.bytes.filter(|_| !self.may_be_written) else { return Vec::new() };
        let Some(grain) = self.grain.filter(|_| self.stored) else {
            return if self.wrote || self.usage.written { Vec::new() } else { vec![(0, bytes)] };
        };
        let cells = bytes >> grain;
        if cells > MOST_CELLS {
            return Vec::new();
        }
        let mut left: Vec<(u64, u64)> = Vec::new();
        for number in 0..cells {
            if self.cells.peek(number).is_some_and(|cell| cell.write != 0 || cell.may_write != 0)
                || self.rewritten.contains(&number)
            {
                continue;
            }
            let (from, to) = (number << grain, (number + 1) << grain);
            match left.last_mut() {
                Some(last) if last.1 == from => last.1 = to,
                _ => left.push((from, to)),
            }
            if left.len() > MOST {
                left.remove(MOST / 2);
            }
        }
        left
    }

    /// The integer that lies in any `bytes` bytes before anybody writes.
    pub(super) fn filled_with(&self, bytes: u32) -> Option<i64> {
        let Initial::Filled(byte) = &self.initial else { return None };
        Some((0..bytes.min(8)).fold(0, |value, _| (value << 8) | i64::from(*byte)))
    }

    /// The integer that lies in `bytes` bytes from `offset` on before anybody writes.
    pub(super) fn initially(&self, offset: u64, bytes: u32) -> Option<i64> {
        match &self.initial {
            Initial::Filled(_) => self.filled_with(bytes),
            Initial::Integers(size, values) if u32::from(*size) == bytes && offset.is_multiple_of(u64::from(bytes)) => {
                values.get((offset / u64::from(bytes)) as usize).copied()
            }
            _ => None,
        }
    }
}

/// Whether bytes lie outside of all ranges.
pub(super) fn is_outside(ranges: &[Range<u64>], offset: u64, bytes: u32) -> bool {
    ranges.iter().all(|range| range.end <= offset || offset + u64::from(bytes) <= range.start)
}
