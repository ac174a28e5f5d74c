//! Objects in memory and the shadow of their bytes: who touched a cell last, and what is in it.

use super::value::Val;
use crate::report::{Object, ObjectKind, Site};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::Arc;

/// A few neighbouring bytes: as many as the smallest access to the object touches.
#[derive(Clone, Copy)]
pub(super) struct Cell {
    /// Bits of the value in it, as `tag` says.
    pub(super) value: i64,
    /// Stamp of the last write by a lane that surely executed it; 0 for none.
    pub(super) write: u32,
    /// Stamps of two reads by different lanes, of different warps where there were such.
    pub(super) read: [u32; 2],
    /// Stamp of a read by a block that ran before.
    pub(super) foreign: u32,
    /// The lanes of these.
    pub(super) writer: u16,
    pub(super) reader: [u16; 2],
    pub(super) foreign_reader: u16,
    /// [`super::value::KNOWN`] and so on, or [`INITIAL`].
    pub(super) tag: u8,
    /// The type class of the value.
    pub(super) class: u8,
    /// [`KEPT`], [`CHANGED`] or 0.
    pub(super) flags: u8,
    /// Stamp of the last write by a lane that perhaps executed it; 0 for none.
    pub(super) doubt: u32,
}

/// What was there before the launch or the block.
pub(super) const INITIAL: u8 = 7;
/// The last write stored what was there already.
pub(super) const KEPT: u8 = 1;
/// The last write surely changed the value.
pub(super) const CHANGED: u8 = 2;

const FRESH: Cell = Cell {
    value: 0,
    write: 0,
    read: [0; 2],
    foreign: 0,
    writer: 0,
    reader: [0; 2],
    foreign_reader: 0,
    tag: INITIAL,
    class: 0,
    flags: 0,
    doubt: 0,
};

const PAGE_BITS: u32 = 7;
/// Cells of a page.
pub(super) const PAGE: usize = 1 << PAGE_BITS;
/// Pages that are found without hashing.
const NEAR_PAGES: usize = 2048;
/// Most pages of one object; what lies beyond is not followed.
const MAX_PAGES: usize = 1 << 14;

/// The cells of one object, made as they are touched.
#[derive(Default)]
pub(super) struct Cells {
    near: Vec<u32>,
    far: FxHashMap<u64, u32>,
    pages: Vec<Vec<Cell>>,
    used: usize,
}

impl Cells {
    /// Where the page with this number is kept; it is made where there is none.
    pub(super) fn page(&mut self, number: u64) -> Option<usize> {
        let slot = if (number as usize) < NEAR_PAGES {
            if self.near.len() <= number as usize {
                self.near.resize(number as usize + 1, 0);
            }
            &mut self.near[number as usize]
        } else {
            self.far.entry(number).or_default()
        };
        if *slot == 0 {
            if self.used >= MAX_PAGES {
                return None;
            }
            if self.used == self.pages.len() {
                self.pages.push(vec![FRESH; PAGE]);
            } else {
                self.pages[self.used].fill(FRESH);
            }
            self.used += 1;
            *slot = self.used as u32;
        }
        Some(*slot as usize - 1)
    }

    /// A cell of a page that [`Self::page`] gave.
    pub(super) fn on_page(&mut self, page: usize, cell: u64) -> Option<&mut Cell> {
        self.pages.get_mut(page)?.get_mut(cell as usize & (PAGE - 1))
    }

    /// The cell with this number.
    pub(super) fn at(&mut self, cell: u64) -> Option<&mut Cell> {
        let page = self.page(cell >> PAGE_BITS)?;
        self.pages[page].get_mut(cell as usize & (PAGE - 1))
    }

    /// The cell, where something touched it or its neighbours.
    pub(super) fn peek(&self, cell: u64) -> Option<&Cell> {
        let number = cell >> PAGE_BITS;
        let slot = if (number as usize) < NEAR_PAGES {
            self.near.get(number as usize).copied().unwrap_or_default()
        } else {
            self.far.get(&number).copied().unwrap_or_default()
        };
        let page = (slot as usize).checked_sub(1)?;
        self.pages.get(page)?.get(cell as usize & (PAGE - 1))
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.near.clear();
        self.far.clear();
        self.used = 0;
    }

    /// Cells of half the size; each half says of itself what the whole said, but for the value.
    fn halve(&mut self) {
        let mut finer = Self::default();
        let near = self.near.iter().enumerate().map(|(number, &slot)| (number as u64, slot));
        let mut all: Vec<(u64, u32)> = near.chain(self.far.iter().map(|(&number, &slot)| (number, slot))).collect();
        all.sort_unstable();
        for (number, slot) in all {
            let Some(page) = (slot as usize).checked_sub(1) else { continue };
            for at in 0..PAGE {
                let mut cell = self.pages[page][at];
                if cell.tag != INITIAL {
                    cell.tag = super::value::UNKNOWN;
                }
                for half in 0..2 {
                    if let Some(slot) = finer.at((((number << PAGE_BITS) | at as u64) << 1) | half) {
                        *slot = cell;
                    }
                }
            }
        }
        *self = finer;
    }
}

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
    /// Integers of so many bytes.
    Integers(u8, Arc<[i64]>),
}

/// A thread's own variable: one value for each piece of it.
pub(super) struct LocalCells {
    /// Bytes of a piece.
    pub(super) grain: u32,
    /// The pieces; empty where the variable is too large to follow or of unknown size.
    pub(super) cells: Vec<Val>,
    /// Lanes for which it was made.
    pub(super) lanes: u32,
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
    pub(super) initial: Initial,
    pub(super) local: Option<LocalCells>,
    /// Stamp at which all values in it were forgotten; 0 for never.
    pub(super) forgotten: u32,
    /// Stamp of the last write of any kind.
    pub(super) changed: u32,
    /// Somebody perhaps wrote somewhere in it.
    pub(super) in_doubt: bool,
    /// Somebody surely wrote somewhere in it, this block or another.
    pub(super) wrote: bool,
    /// Stamp of the last library primitive that used it as its storage.
    pub(super) primitive: u32,
    pub(super) usage: Usage,
}

/// What became of an object.
#[derive(Clone, Copy, Default)]
pub(super) struct Usage {
    pub(super) read: bool,
    pub(super) written: bool,
    pub(super) inexact: bool,
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
            initial: Initial::Something,
            local: None,
            forgotten: 0,
            changed: 0,
            in_doubt: false,
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
        self.forgotten = 0;
        self.in_doubt = false;
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
                }
                self.grain = Some(wanted);
                wanted
            }
        }
    }

    /// The integer that lies in `bytes` bytes from `offset` on before anybody writes.
    pub(super) fn initially(&self, offset: u64, bytes: u32) -> Option<i64> {
        match &self.initial {
            Initial::Filled(byte) => {
                let mut value = 0i64;
                for _ in 0..bytes.min(8) {
                    value = (value << 8) | i64::from(*byte);
                }
                Some(value)
            }
            Initial::Integers(size, values) if u32::from(*size) == bytes && offset.is_multiple_of(u64::from(bytes)) => {
                values.get((offset / u64::from(bytes)) as usize).copied()
            }
            _ => None,
        }
    }

    /// Whether surely nobody wrote these bytes before the launch.
    pub(super) fn was_empty(&self, offset: u64, bytes: u32) -> bool {
        match &self.initial {
            Initial::Nothing => true,
            Initial::NothingBut(ranges) => {
                ranges.iter().all(|range| range.end <= offset || offset + u64::from(bytes) <= range.start)
            }
            _ => false,
        }
    }
}
