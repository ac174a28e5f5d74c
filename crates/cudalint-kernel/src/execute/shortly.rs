//! The short way of an access to a cell, which nearly all lanes take: nobody else has a part in what is there.

use super::cells::{Empty, Job};
use super::memory::Memory;
use super::ops::wrap;
use super::races::values_of;
use super::shadow::{CHANGED, INITIAL, KEPT};
use super::value::{KNOWN, UNKNOWN};
use crate::report::RaceValues;

impl Job<'_> {
    /// Reads a cell that nobody else has written meanwhile; `None` where there is more to it.
    #[inline]
    pub(super) fn read_shortly(
        &mut self,
        memory: &mut Memory,
        lane: usize,
        sure: bool,
        number: u64,
    ) -> Option<(i64, u8)> {
        let cell = self.cell(&mut memory.cells, number)?;
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

    /// Writes a cell that nobody else has touched meanwhile; `None` where there is more to it.
    #[inline]
    pub(super) fn write_shortly(
        &mut self,
        memory: &mut Memory,
        lane: usize,
        sure: bool,
        number: u64,
        stored: (i64, u8),
    ) -> Option<(i64, u8)> {
        let (class, forgotten, stamp) = (self.class, self.forgotten, self.piece.stamp);
        let cell = self.cell(&mut memory.cells, number)?;
        if !sure {
            cell.doubt = stamp;
            return Some((0, UNKNOWN));
        }
        let order = &self.order;
        if cell.foreign != 0
            || !order.settled(cell.write, cell.writer, lane)
            || !order.settled(cell.read[0], cell.reader[0], lane)
            || !order.settled(cell.read[1], cell.reader[1], lane)
        {
            return None;
        }
        let fresh = cell.write > forgotten || (forgotten == 0 && cell.write == 0 && cell.tag != INITIAL);
        let comparable = cell.class == class && cell.tag != INITIAL && stored.1 != UNKNOWN;
        let values = if fresh && comparable && cell.doubt < cell.write.max(1) {
            values_of((cell.value, cell.tag), stored)
        } else {
            RaceValues::Unknown
        };
        cell.flags = match values {
            RaceValues::Same => KEPT,
            RaceValues::Differ => CHANGED,
            RaceValues::Unknown => 0,
        };
        cell.write = stamp;
        cell.writer = lane as u16;
        cell.class = class;
        let certain = cell.doubt == 0 || cell.doubt < order.interval_start;
        (cell.value, cell.tag) = if certain && stored.1 != UNKNOWN { stored } else { self.something(lane, number) };
        Some((0, UNKNOWN))
    }
}
