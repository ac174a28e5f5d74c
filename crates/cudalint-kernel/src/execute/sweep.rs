//! An access of many lanes, each to a cell: in a few steps where nobody else has a part in what is there, which is the rule.

use super::cells::{Empty, Job};
use super::lanes::{Lanes, Mask, OFF, SURE};
use super::memory::Memory;
use super::ops::wrap;
use super::races::values_of;
use super::shadow::{Cell, INITIAL, LINE, line_of};
use super::value::{Data, KNOWN, Tags, UNKNOWN, Val, View, offset_of};
use crate::report::RaceValues;

impl Job<'_> {
    /// Reads at the addresses of the active lanes.
    pub(super) fn read_all(&mut self, memory: &mut Memory, mask: &Mask, addresses: &[i64]) -> Val {
        let n = addresses.len();
        let mut all_bits = Lanes::any(n);
        // The tag of the last active lane, which is that of all of them as long as there are no others.
        let (mut last, mut others) = (None, None);
        let mut here: (u64, Option<&mut [Cell; LINE]>) = (u64::MAX, None);
        let lanes = all_bits.edit().iter_mut().zip(addresses).zip(mask.levels());
        for (lane, ((bits, &address), &level)) in lanes.enumerate() {
            if level == OFF {
                *bits = 0;
                continue;
            }
            let offset = offset_of(address) as u64;
            let number = offset >> self.grain;
            let done = if self.plain {
                if here.0 != line_of(number) {
                    here = (line_of(number), memory.cells.whole_line(line_of(number)));
                }
                let cell = here.1.as_deref_mut().map(|line| &mut line[number as usize % LINE]);
                cell.and_then(|cell| self.read_shortly(cell, lane, level == SURE, number))
            } else {
                None
            };
            let read = match done {
                Some(read) => read,
                None => {
                    here = (u64::MAX, None);
                    self.lane(memory, lane, level, offset, None)
                }
            };
            *bits = read.0;
            if last != Some(read.1) {
                if let Some(last) = last {
                    let tags = others.get_or_insert_with(|| (Lanes::filled(n, last), lane));
                    fill(&mut tags.0, tags.1..lane, last);
                    tags.1 = lane;
                }
                last = Some(read.1);
            }
        }
        let last = last.unwrap_or(KNOWN);
        let Some((mut tags, from)) = others else {
            return Data::Lanes(all_bits.into(), Tags::One(last)).into();
        };
        // Lanes that are away count as what the one before them is: most vectors are of one kind.
        fill(&mut tags, from..n, last);
        Val::tagged(all_bits, tags)
    }

    /// Writes at the addresses of the active lanes.
    pub(super) fn write_all(&mut self, memory: &mut Memory, mask: &Mask, addresses: &[i64], stored: View<'_>) {
        let mut here: (u64, Option<&mut [Cell; LINE]>) = (u64::MAX, None);
        for (lane, (&address, &level)) in addresses.iter().zip(mask.levels()).enumerate() {
            if level == OFF {
                continue;
            }
            let offset = offset_of(address) as u64;
            let number = offset >> self.grain;
            if self.plain {
                if here.0 != line_of(number) {
                    here = (line_of(number), memory.cells.whole_line(line_of(number)));
                }
                let cell = here.1.as_deref_mut().map(|line| &mut line[number as usize % LINE]);
                let stored = stored.lane(lane);
                if cell.is_some_and(|cell| self.write_shortly(cell, lane, level == SURE, number, stored)) {
                    continue;
                }
            }
            here = (u64::MAX, None);
            self.lane(memory, lane, level, offset, Some(stored));
        }
    }

    /// Reads a cell that nobody else has written meanwhile; `None` where there is more to it.
    #[inline]
    pub(super) fn read_shortly(&self, cell: &mut Cell, lane: usize, sure: bool, number: u64) -> Option<(i64, u8)> {
        let missing = sure && cell.write == 0 && cell.doubt == 0 && matches!(self.empty, Empty::All);
        if missing || !self.order.settled(cell.write, cell.writer, lane) {
            return None;
        }
        if sure {
            self.order.note_reader(cell, lane);
        }
        Some(if cell.doubt != 0 && cell.doubt >= cell.write {
            self.doubtful(cell.doubt, number)
        } else if cell.tag == INITIAL {
            self.name(0, number)
        } else if cell.write <= self.forgotten || cell.write < self.order.block_start || cell.class != self.class {
            (0, UNKNOWN)
        } else if cell.tag == KNOWN {
            (wrap(self.piece.ty, cell.value), KNOWN)
        } else {
            (cell.value, cell.tag)
        })
    }

    /// Writes a cell that nobody else has touched meanwhile; false, and nothing is done, where there is more to it.
    #[inline]
    pub(super) fn write_shortly(
        &self,
        cell: &mut Cell,
        lane: usize,
        sure: bool,
        number: u64,
        stored: (i64, u8),
    ) -> bool {
        let (order, forgotten, stamp) = (&self.order, self.forgotten, self.piece.stamp);
        if !sure {
            cell.doubt = stamp;
            return true;
        }
        if cell.foreign != 0
            || !order.settled(cell.write, cell.writer, lane)
            || !order.settled(cell.read[0], cell.reader[0], lane)
            || !order.settled(cell.read[1], cell.reader[1], lane)
        {
            return false;
        }
        let fresh = cell.write > forgotten || (forgotten == 0 && cell.write == 0 && cell.tag != INITIAL);
        let comparable = cell.class == self.class && cell.tag != INITIAL && stored.1 != UNKNOWN;
        let values = if fresh && comparable && cell.doubt < cell.write.max(1) {
            values_of((cell.value, cell.tag), stored)
        } else {
            RaceValues::Unknown
        };
        cell.flags = order.flags_after(cell, values, lane);
        cell.write = stamp;
        cell.writer = lane as u16;
        cell.class = self.class;
        let certain = cell.doubt == 0 || cell.doubt < order.interval_start;
        (cell.value, cell.tag) = if certain && stored.1 != UNKNOWN { stored } else { self.something(lane, number) };
        true
    }
}

/// Gives some lanes one tag.
fn fill(tags: &mut Lanes<u8>, lanes: std::ops::Range<usize>, tag: u8) {
    if let Some(tags) = tags.edit().get_mut(lanes) {
        tags.fill(tag);
    }
}
