//! Stores of what lies there anyway: `p = particles[i]; … particles[i] = p`, of which a part was not changed.
//!
//! Whoever reads such a place meanwhile reads the same, and whoever else stores back what was there stores the same. Only one that
//! stores something else races with it, as with a reader: for the cells it is one.

use super::cells::{foretold, name_there, seed_of};
use super::lanes::{Lanes, Mask, OFF};
use super::machine::Machine;
use super::memory::{Initial, NotedRead, is_outside};
use super::touch::Piece;
use super::value::{Data, NUMBER, Tags, UNKNOWN, Val, offset_of};
use crate::report::AccessKind;

impl Machine<'_> {
    /// Notes the lanes that store what was there before the launch as readers. The others; `None` where that is all of them.
    pub(super) fn without_rewrites(
        &mut self,
        piece: &Piece<'_>,
        index: usize,
        (address, mask): (&Val, &Mask),
        value: &Val,
        grain: u32,
    ) -> Option<Mask> {
        let memory = &self.objects[index];
        let is_asked = piece.touch.kind == AccessKind::Write
            && !(piece.touch.volatile || piece.touch.asynchronous)
            && memory.is_global()
            && memory.forgotten == 0
            && !matches!(memory.initial, Initial::Nothing)
            && piece.bytes == 1 << grain
            && !matches!(value.data, Data::Lanes(_, Tags::One(UNKNOWN)) | Data::Uniform(_, UNKNOWN));
        if !is_asked {
            return None;
        }
        let seed = seed_of(index, piece.ty, memory);
        let (address_of, value_of) = (address.view(), value.view());
        let rewrites = |lane: usize| {
            let offset = offset_of(address_of.lane(lane).0) as u64;
            let before = match &memory.initial {
                // Nobody knows what lies where nobody has written; that it stays so is no use to anybody.
                Initial::NothingBut(parts) if is_outside(parts, offset, piece.bytes) => return false,
                Initial::Something | Initial::NothingBut(_) => (name_there(seed, offset), NUMBER),
                _ => match memory.initially(offset, piece.bytes) {
                    Some(bits) => foretold(seed, piece.ty, bits),
                    None => (name_there(seed, offset), NUMBER),
                },
            };
            value_of.lane(lane) == before && memory.cells.peek(offset >> grain).is_none_or(|cell| cell.is_as_before())
        };
        let levels = mask.levels();
        let rewritten: Vec<bool> = (0..levels.len()).map(|lane| levels[lane] != OFF && rewrites(lane)).collect();
        if !rewritten.contains(&true) {
            return None;
        }
        let part = |wanted: bool| {
            Mask::new(Lanes::from_fn(levels.len(), |lane| if rewritten[lane] == wanted { levels[lane] } else { OFF }))
        };
        let read = NotedRead {
            address: address.clone(),
            mask: part(true),
            alike: false,
            bytes: piece.bytes,
            stamp: piece.stamp,
            interval_start: self.interval_start,
            block_start: self.block_start,
            warp_start: Some(self.warp_start.as_slice().into()),
        };
        let cells: Vec<u64> = (0..levels.len())
            .filter(|lane| rewritten[*lane])
            .map(|lane| offset_of(address_of.lane(lane).0) as u64 >> grain)
            .collect();
        self.objects[index].rewritten.extend(cells);
        self.objects[index].reads.push(read);
        Some(part(false))
    }
}
