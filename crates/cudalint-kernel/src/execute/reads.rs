//! Reads of memory that nobody has written in this launch: what lies there has a name, which the place tells, and who read
//! it matters only once somebody writes. Most inputs of a kernel are never written, so that no cell is made for them.

use super::cells::{foretold, name_there, seed_of};
use super::lanes::{Lanes, Mask, OFF, SURE};
use super::machine::Machine;
use super::memory::{Initial, Memory, NotedRead};
use super::races::Order;
use super::shadow::{LINE, Line, line_of};
use super::sweep::is_line;
use super::touch::Piece;
use super::value::{Bits, Data, NUMBER, Tags, Val, object_of, offset_of};
use crate::report::AccessKind;

impl Memory {
    /// Whether of what was there before only names are known, so that reading it is no defect either.
    fn has_only_names(&self) -> bool {
        match self.initial {
            Initial::Something => true,
            Initial::Nothing | Initial::NothingBut(_) => self.forgotten != 0 || self.may_be_written,
            Initial::Filled(_) | Initial::Integers(..) => self.forgotten != 0,
        }
    }
}

impl Memory {
    /// Whether all lanes, active or not, read where something was put before the launch.
    fn lies_in_one_part(&self, address: &Val, bytes: u32) -> bool {
        let (Initial::NothingBut(parts), Some(formula)) = (&self.initial, address.formula()) else { return false };
        let (least, most) = (offset_of(formula.least()), offset_of(formula.most()));
        let (Ok(least), Ok(most)) = (u64::try_from(least), u64::try_from(most)) else { return false };
        let object = object_of(formula.least());
        object == object_of(formula.most())
            && parts.iter().any(|part| part.start <= least && most + u64::from(bytes) <= part.end)
    }
}

impl Machine<'_> {
    /// What is read where nobody has written yet; `None` where the cells have to be asked.
    pub(super) fn read_unwritten(
        &mut self,
        piece: &Piece<'_>,
        index: usize,
        address: &Val,
        mask: &Mask,
        alike: bool,
    ) -> Option<Val> {
        let memory = self.objects.get(index)?;
        let grain = memory.grain?;
        let plainly = piece.touch.kind == AccessKind::Read && !piece.touch.volatile && piece.bytes == 1 << grain;
        if !plainly || memory.stored || !memory.is_global() {
            return None;
        }
        let seed = seed_of(index, piece.ty, memory);
        let filled = if memory.has_only_names() || memory.lies_in_one_part(address, piece.bytes) {
            None
        } else {
            Some(foretold(seed, piece.ty, memory.filled_with(piece.bytes)?))
        };
        let tag = filled.map_or(NUMBER, |(_, tag)| tag);
        let name = |bits: i64| {
            filled.map_or_else(|| name_there(seed, offset_of(bits) as u64 >> grain << grain), |(value, _)| value)
        };
        let value = if alike {
            let one = mask.levels().iter().position(|&level| level != OFF)?;
            Data::Uniform(name(address.lane(one).0), tag)
        } else {
            let mut names = Lanes::any(self.n);
            let lanes = names.edit().iter_mut().zip(mask.levels());
            match address.bits() {
                Bits::One(bits) => {
                    let there = name(bits);
                    lanes.for_each(|(out, &level)| *out = if level == OFF { 0 } else { there });
                }
                Bits::Each(bits) => {
                    let each = lanes.zip(bits);
                    each.for_each(|((out, &level), &bits)| *out = if level == OFF { 0 } else { name(bits) });
                }
            }
            Data::Lanes(names.into(), Tags::One(tag))
        };
        let read = NotedRead {
            address: address.clone(),
            mask: mask.clone(),
            alike,
            bytes: piece.bytes,
            stamp: piece.stamp,
            interval_start: self.interval_start,
            block_start: self.block_start,
            warp_start: (self.warp_start.iter().any(|start| *start != self.interval_start))
                .then(|| self.warp_start.as_slice().into()),
        };
        self.objects.get_mut(index)?.reads.push(read);
        Some(value.into())
    }

    /// Tells the cells of an object who has read them.
    pub(super) fn settle_reads(&mut self, index: usize) {
        let Some(memory) = self.objects.get_mut(index) else { return };
        if memory.reads.is_empty() {
            return;
        }
        let grain = memory.grain.unwrap_or_default();
        for read in std::mem::take(&mut memory.reads) {
            let alike;
            let order = Order {
                trace: &self.trace,
                locks: &self.locks,
                stamp: read.stamp,
                interval_start: read.interval_start,
                block_start: read.block_start,
                ordered: 0,
                warp_start: match &read.warp_start {
                    Some(starts) => starts,
                    None => {
                        alike = vec![read.interval_start; self.warp_start.len()];
                        &alike
                    }
                },
                waited: 0,
                copies: false,
                global: true,
            };
            let chosen = if read.alike { Self::representatives(&read.mask) } else { Vec::new() };
            let all = if read.alike { 0..0 } else { 0..self.n };
            let cells = u64::from(read.bytes >> grain).max(1);
            let addresses = read.address.view();
            let each = match read.address.bits() {
                Bits::Each(each) if !read.alike && cells == 1 => Some(each),
                _ => None,
            };
            let levels = read.mask.levels();
            let mut here: (u64, Option<&mut Line>) = (u64::MAX, None);
            // Lanes whose line was looked at for all of them at once.
            let mut seen_to = 0;
            for lane in chosen.into_iter().chain(all) {
                if lane < seen_to || levels.get(lane) != Some(&SURE) {
                    continue;
                }
                let first = offset_of(addresses.lane(lane).0) as u64 >> grain;
                for number in first..first + cells {
                    if here.0 != line_of(number) {
                        here = (line_of(number), memory.cells.whole_line(line_of(number)));
                    }
                    let Some(line) = here.1.as_deref_mut() else {
                        memory.may_be_written = true;
                        memory.usage.inexact = true;
                        continue;
                    };
                    if line.in_step && each.is_some_and(|each| is_line(each, levels, lane, number, grain)) {
                        order.note_reader(&mut line.cells[0], lane);
                        seen_to = lane + LINE;
                    } else {
                        order.note_reader(&mut line.each()[number as usize % LINE], lane);
                    }
                }
            }
        }
    }
}
