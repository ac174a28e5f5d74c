//! An access of many lanes, each to a cell: in a few steps where nobody else has a part in what is there, which is the rule.

use super::cells::Job;
use super::lanes::{Lanes, Mask, OFF, SURE};
use super::memory::Memory;
use super::races::values_of;
use super::shadow::{Cell, INITIAL, LINE, Line, line_of};
use super::value::{Data, KNOWN, NUMBER, Tags, UNKNOWN, Val, View, offset_of};
use crate::report::RaceValues;

impl Job<'_> {
    /// Reads at the addresses of the active lanes.
    pub(super) fn read_all(&mut self, memory: &mut Memory, mask: &Mask, addresses: &[i64]) -> Val {
        let n = addresses.len();
        let mut all_bits = Lanes::any(n);
        // The tag of the last active lane, which is that of all of them as long as there are no others.
        let (mut last, mut others) = (None, None);
        let mut here: (u64, Option<&mut Line>) = (u64::MAX, None);
        let (all, levels) = (all_bits.edit(), mask.levels());
        let mut lane = 0;
        while lane < n {
            let level = levels[lane];
            if level == OFF {
                all[lane] = 0;
                lane += 1;
                continue;
            }
            let offset = offset_of(addresses[lane]) as u64;
            let number = offset >> self.grain;
            let mut done = None;
            let mut read_at_once = 1;
            if self.plain {
                if here.0 != line_of(number) {
                    here = (line_of(number), memory.cells.whole_line(line_of(number)));
                }
                if let Some(line) = here.1.as_deref_mut() {
                    if is_line(addresses, levels, lane, number, self.grain)
                        && let Some(out) = all.get_mut(lane..lane + LINE)
                        && let Some(tag) = self.read_line(line, lane, level == SURE, number, out)
                    {
                        read_at_once = LINE;
                        done = Some((all[lane], tag));
                    } else {
                        let cell = &mut line.each()[number as usize % LINE];
                        done = self.read_shortly(cell, lane, level == SURE, number);
                    }
                }
            }
            let read = match done {
                Some(read) => read,
                None => {
                    here = (u64::MAX, None);
                    self.lane(memory, lane, level, offset, None)
                }
            };
            all[lane] = read.0;
            if last != Some(read.1) {
                if let Some(last) = last {
                    let tags = others.get_or_insert_with(|| (Lanes::filled(n, last), lane));
                    fill(&mut tags.0, tags.1..lane, last);
                    tags.1 = lane;
                }
                last = Some(read.1);
            }
            lane += read_at_once;
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
        let mut here: (u64, Option<&mut Line>) = (u64::MAX, None);
        let levels = mask.levels();
        let mut lane = 0;
        while let (Some(&address), Some(&level)) = (addresses.get(lane), levels.get(lane)) {
            if level == OFF {
                lane += 1;
                continue;
            }
            let offset = offset_of(address) as u64;
            let number = offset >> self.grain;
            if self.plain {
                if here.0 != line_of(number) {
                    here = (line_of(number), memory.cells.whole_line(line_of(number)));
                }
                if let Some(line) = here.1.as_deref_mut() {
                    if is_line(addresses, levels, lane, number, self.grain)
                        && self.write_line(line, lane, level == SURE, number, stored)
                    {
                        lane += LINE;
                        continue;
                    }
                    let cell = &mut line.each()[number as usize % LINE];
                    if self.write_shortly(cell, lane, level == SURE, number, stored.lane(lane)) {
                        lane += 1;
                        continue;
                    }
                }
            }
            here = (u64::MAX, None);
            self.lane(memory, lane, level, offset, Some(stored));
            lane += 1;
        }
    }

    /// Reads a line in step by as many lanes from `lane` on, of which `number` is the first's cell; the tag of what is read.
    /// `None`, and nothing is done, where there is more to it.
    fn read_line(&self, line: &mut Line, lane: usize, sure: bool, number: u64, out: &mut [i64]) -> Option<u8> {
        if !line.in_step {
            return None;
        }
        // What is asked of the first lane and cell has the same answer for the others, which are one step behind it.
        let first = &mut line.cells[0];
        let untouched = sure && first.write == 0 && first.may_write == 0;
        let missing = untouched && (number..number + LINE as u64).any(|number| self.was_empty(number));
        if missing || !self.order.settled(first.write, first.writer, lane) {
            return None;
        }
        if sure {
            self.order.note_reader(first, lane);
        }
        let (write, may_write, tag, class) = (first.write, first.may_write, first.tag, first.class);
        let each = out.iter_mut().zip(number..);
        if may_write != 0 && may_write >= write {
            let mut tag = UNKNOWN;
            each.for_each(|(out, number)| (*out, tag) = self.after_may_write(may_write, number));
            return Some(tag);
        }
        if tag == INITIAL {
            let mut tag = NUMBER;
            each.for_each(|(out, number)| (*out, tag) = self.initial(number));
            return Some(tag);
        }
        if write <= self.forgotten {
            let mut tag = UNKNOWN;
            each.for_each(|(out, number)| (*out, tag) = self.after_may_write(write, number));
            return Some(tag);
        }
        if write < self.order.block_start || class != self.class {
            out.fill(0);
            return Some(UNKNOWN);
        }
        for (out, cell) in out.iter_mut().zip(&line.cells) {
            *out = if tag == KNOWN { self.piece.ty.wrap(cell.value) } else { cell.value };
        }
        Some(tag)
    }

    /// Writes a line in step by as many lanes from `lane` on, of which `number` is the first's cell; false, and nothing is
    /// done, where there is more to it.
    fn write_line(&self, line: &mut Line, lane: usize, sure: bool, number: u64, stored: View<'_>) -> bool {
        if !line.in_step {
            return false;
        }
        let (order, forgotten, stamp) = (&self.order, self.forgotten, self.piece.stamp);
        let first = &mut line.cells[0];
        if !sure {
            first.may_write = stamp;
            return true;
        }
        let Some(tag) = stored.tag_of(lane..lane + LINE) else { return false };
        if first.foreign != 0
            || !order.settled(first.write, first.writer, lane)
            || !order.settled(first.read[0], first.reader[0], lane)
            || !order.settled(first.read[1], first.reader[1], lane)
        {
            return false;
        }
        if first.tag == INITIAL
            && let Some((value, tag)) = self.before_write()
        {
            first.tag = tag;
            first.class = self.class;
            line.cells.iter_mut().for_each(|cell| cell.value = value);
        }
        let first = &line.cells[0];
        let fresh = first.write > forgotten || (forgotten == 0 && first.write == 0 && first.tag != INITIAL);
        let comparable = first.class == self.class && first.tag != INITIAL && tag != UNKNOWN;
        let mut values = RaceValues::Unknown;
        let may_be_written = self.may_have_changed(first);
        if may_be_written || fresh && comparable {
            let old = first.tag;
            let mut each = line.cells.iter().zip(lane..).zip(number..).map(|((cell, lane), number)| {
                if may_be_written {
                    self.stays_after_may_write(first, number, stored.lane(lane))
                } else {
                    values_of((cell.value, old), stored.lane(lane))
                }
            });
            values = each.next().unwrap_or(RaceValues::Unknown);
            if each.any(|other| other != values) {
                return false;
            }
        }
        let first = &mut line.cells[0];
        first.flags = order.flags_after(first, values, tag, lane);
        first.write = stamp;
        first.writer = lane as u16;
        first.class = self.class;
        let certain = first.may_write == 0 || first.may_write < order.interval_start;
        if certain && tag != UNKNOWN {
            first.tag = tag;
            line.cells.iter_mut().zip(lane..).for_each(|(cell, lane)| cell.value = stored.lane(lane).0);
        } else {
            first.tag = if self.keeps_origins { UNKNOWN } else { NUMBER };
            let each = line.cells.iter_mut().zip(lane..).zip(number..);
            each.for_each(|((cell, lane), number)| cell.value = self.something(lane, number).0);
        }
        true
    }

    /// Reads a cell that nobody else has written meanwhile; `None` where there is more to it.
    #[inline]
    pub(super) fn read_shortly(&self, cell: &mut Cell, lane: usize, sure: bool, number: u64) -> Option<(i64, u8)> {
        let missing = sure && cell.write == 0 && cell.may_write == 0 && self.was_empty(number);
        if missing || !self.order.settled(cell.write, cell.writer, lane) {
            return None;
        }
        if sure {
            self.order.note_reader(cell, lane);
        }
        Some(if cell.may_write != 0 && cell.may_write >= cell.write {
            self.after_may_write(cell.may_write, number)
        } else if cell.tag == INITIAL {
            self.initial(number)
        } else if cell.write <= self.forgotten {
            self.after_may_write(cell.write, number)
        } else if cell.write < self.order.block_start || cell.class != self.class {
            (0, UNKNOWN)
        } else if cell.tag == KNOWN {
            (self.piece.ty.wrap(cell.value), KNOWN)
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
            cell.may_write = stamp;
            return true;
        }
        if cell.foreign != 0
            || !order.settled(cell.write, cell.writer, lane)
            || !order.settled(cell.read[0], cell.reader[0], lane)
            || !order.settled(cell.read[1], cell.reader[1], lane)
        {
            return false;
        }
        if cell.tag == INITIAL
            && let Some(before) = self.before_write()
        {
            (cell.value, cell.tag) = before;
            cell.class = self.class;
        }
        let fresh = cell.write > forgotten || (forgotten == 0 && cell.write == 0 && cell.tag != INITIAL);
        let comparable = cell.class == self.class && cell.tag != INITIAL && stored.1 != UNKNOWN;
        let values = if self.may_have_changed(cell) {
            self.stays_after_may_write(cell, number, stored)
        } else if fresh && comparable {
            values_of((cell.value, cell.tag), stored)
        } else {
            RaceValues::Unknown
        };
        cell.flags = order.flags_after(cell, values, stored.1, lane);
        cell.write = stamp;
        cell.writer = lane as u16;
        cell.class = self.class;
        let certain = cell.may_write == 0 || cell.may_write < order.interval_start;
        (cell.value, cell.tag) = if certain && stored.1 != UNKNOWN { stored } else { self.something(lane, number) };
        true
    }
}

/// Whether the lanes from `lane` on, of one warp and all there in one way, come to the cells of a line one after the other.
#[inline]
pub(super) fn is_line(addresses: &[i64], levels: &[u8], lane: usize, number: u64, grain: u32) -> bool {
    number.is_multiple_of(LINE as u64) && lane % 32 <= 32 - LINE && are_neighbours(addresses, levels, lane, grain)
}

fn are_neighbours(addresses: &[i64], levels: &[u8], lane: usize, grain: u32) -> bool {
    let lanes = lane..lane + LINE;
    let (Some(addresses), Some(levels)) = (addresses.get(lanes.clone()), levels.get(lanes)) else { return false };
    let (first, level) = (addresses[0], levels[0]);
    addresses[1] == first + (1 << grain)
        && levels.iter().fold(0, |other, here| other | (here ^ level)) == 0
        && addresses.iter().zip(0..).fold(0, |other, (address, way)| other | (address ^ (first + (way << grain)))) == 0
}

/// Gives some lanes one tag.
fn fill(tags: &mut Lanes<u8>, lanes: std::ops::Range<usize>, tag: u8) {
    if let Some(tags) = tags.edit().get_mut(lanes) {
        tags.fill(tag);
    }
}
