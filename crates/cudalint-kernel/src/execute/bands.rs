//! Cells of which each belongs to one thread of the block, seen as one: all have gone the same way.
//!
//! Where every thread of a block touches an element of its own, and always the same one, what is to be remembered differs
//! between the elements only in the thread and in the value. Such a band is one cell that stands for all, and a vector of
//! values. It lasts until somebody touches some of its elements in another way; then each gets a cell of its own.

use super::cells::{Empty, Job};
use super::lanes::Lanes;
use super::memory::Memory;
use super::ops::{map1, wrap};
use super::races::values_of;
use super::shadow::{CHANGED, Cell, FRESH, INITIAL, KEPT};
use super::value::{Data, KNOWN, NUMBER, Tags, UNKNOWN, Val, mix, offset_of};
use super::words::Affine;
use crate::report::RaceValues;
use std::rc::Rc;

/// Most bands of one object.
const MOST: usize = 32;

/// The cells at these addresses, one of each lane.
pub(super) struct Band {
    at: Rc<Affine>,
    /// The first and the last of them.
    first: u64,
    last: u64,
    /// That of lane 0, but for its value.
    cell: Cell,
    /// What is in each, where `cell` says that something is.
    value: Val,
}

impl Band {
    const fn meets(&self, first: u64, last: u64) -> bool {
        self.first <= last && first <= self.last
    }
}

impl Memory {
    /// Gives all cells between these two one of their own: somebody is about to touch some of them.
    pub(super) fn unband(&mut self, first: u64, last: u64) {
        let mut at = 0;
        while at < self.bands.len() {
            if self.bands[at].meets(first, last) {
                let band = self.bands.swap_remove(at);
                self.write_out(&band);
            } else {
                at += 1;
            }
        }
        self.single.0 = self.single.0.min(first);
        self.single.1 = self.single.1.max(last);
    }

    /// Gives every cell one of its own.
    pub(super) fn unband_all(&mut self) {
        for band in std::mem::take(&mut self.bands) {
            self.write_out(&band);
        }
    }

    fn write_out(&mut self, band: &Band) {
        let grain = self.grain.unwrap_or(0);
        for (lane, &address) in band.at.written_out().get().iter().enumerate() {
            let number = offset_of(address) as u64 >> grain;
            let Some(cell) = self.cells.at(number) else {
                self.in_doubt = true;
                self.usage.inexact = true;
                return;
            };
            let lane_number = lane as u16;
            *cell = Cell {
                writer: lane_number,
                reader: [lane_number; 2],
                foreign_reader: lane_number,
                ..band.cell
            };
            if cell.tag != INITIAL {
                (cell.value, cell.tag) = band.value.lane(lane);
            }
        }
        self.single.0 = self.single.0.min(band.first);
        self.single.1 = self.single.1.max(band.last);
    }
}

impl Job<'_> {
    /// Reads or writes by all threads of the block, each at a place of its own; what is read. `None`, and nothing is done,
    /// where the cells have to be looked at one by one.
    pub(super) fn touch_band(&self, memory: &mut Memory, at: &Rc<Affine>, stored: Option<&Val>) -> Option<Val> {
        let (first, last) =
            (offset_of(at.least()) as u64 >> self.grain, offset_of(at.most()) as u64 >> self.grain);
        let known = memory.bands.iter().position(|band| band.at.is(at));
        let number = known.unwrap_or(memory.bands.len());
        if known.is_none() {
            let taken = (memory.single.0 <= last && first <= memory.single.1)
                || memory.bands.iter().any(|band| band.meets(first, last));
            if taken || memory.bands.len() >= MOST || !at.is_apart(i64::from(self.piece.bytes)) {
                return None;
            }
            memory.bands.push(Band { at: Rc::clone(at), first, last, cell: FRESH, value: Val::unknown() });
        }
        let done = memory.bands.get_mut(number).and_then(|band| match stored {
            Some(stored) => self.write_band(band, stored),
            None => self.read_band(band),
        });
        if done.is_none() && known.is_none() {
            memory.bands.pop();
        }
        done
    }

    fn read_band(&self, band: &mut Band) -> Option<Val> {
        let n = band.at.written_out().get().len();
        let (cell, ty) = (&mut band.cell, self.piece.ty);
        let missing = cell.write == 0 && matches!(self.empty, Empty::All);
        if missing || !self.order.settled(cell.write, cell.writer, 0) {
            return None;
        }
        let read = if cell.tag == INITIAL {
            let names = map1(n, band.at.written_out().get(), |at| mix(self.seed, offset_of(at) as u64) as i64);
            Data::Lanes(names.into(), Tags::One(NUMBER)).into()
        } else if cell.write <= self.forgotten || cell.write < self.order.block_start || cell.class != self.class {
            Val::alike_in(n, 0, UNKNOWN)
        } else {
            match &band.value.data {
                Data::Uniform(bits, KNOWN) => Val::alike_in(n, wrap(ty, *bits), KNOWN),
                Data::Uniform(bits, tag) => Val::alike_in(n, *bits, *tag),
                Data::Lanes(bits, Tags::One(KNOWN)) => match bits.affine() {
                    Some(affine) if super::words::fits(ty, affine) => Data::Lanes(bits.clone(), Tags::One(KNOWN)).into(),
                    _ => Val::lanes(map1(n, bits.get(), |bits| wrap(ty, bits))),
                },
                Data::Lanes(bits, Tags::One(tag)) => Data::Lanes(bits.clone(), Tags::One(*tag)).into(),
                _ => return None,
            }
        };
        self.order.note_reader(cell, 0);
        Some(read)
    }

    fn write_band(&self, band: &mut Band, stored: &Val) -> Option<Val> {
        let (order, stamp) = (&self.order, self.piece.stamp);
        let cell = &mut band.cell;
        if cell.foreign != 0
            || !order.settled(cell.write, cell.writer, 0)
            || !order.settled(cell.read[0], cell.reader[0], 0)
            || matches!(stored.data, Data::Lanes(_, Tags::Each(_)) | Data::Aggregate(_))
        {
            return None;
        }
        let addresses = band.at.written_out().get();
        let n = addresses.len();
        let unknown = matches!(stored.alike(), Some((_, UNKNOWN)));
        let fresh = cell.write > self.forgotten || (self.forgotten == 0 && cell.write == 0 && cell.tag != INITIAL);
        let values = if fresh && cell.class == self.class && cell.tag != INITIAL && !unknown {
            let (old, new) = (band.value.view(), stored.view());
            let first = values_of(old.lane(0), new.lane(0));
            if (1..n).any(|lane| values_of(old.lane(lane), new.lane(lane)) != first) {
                return None;
            }
            first
        } else {
            RaceValues::Unknown
        };
        cell.flags = match values {
            RaceValues::Same => KEPT,
            RaceValues::Differ => CHANGED,
            RaceValues::Unknown => 0,
        };
        cell.write = stamp;
        cell.class = self.class;
        cell.tag = KNOWN;
        band.value = if unknown {
            let name = |lane: usize| self.something(lane, offset_of(addresses[lane]) as u64 >> self.grain).0;
            Data::Lanes(Lanes::from_fn(n, name).into(), Tags::One(NUMBER)).into()
        } else {
            stored.clone()
        };
        Some(Val::unknown())
    }
}
