//! A thread's own variables in memory: a value of all lanes for each piece.

use super::access::Piece;
use super::lanes::{Lanes, MAYBE, Mask, OFF, SURE};
use super::machine::Machine;
use super::value::{Bits, Data, KNOWN, UNKNOWN, Val, offset_of};

impl Machine<'_> {
    /// Reads or writes one scalar of a thread's own variable.
    pub(super) fn touch_local(
        &mut self,
        piece: &Piece<'_>,
        index: usize,
        address: &Val,
        mask: &Mask,
        value: Option<&Val>,
    ) -> Val {
        let n = self.n;
        let bytes = piece.bytes;
        let total = self.objects[index].bytes.unwrap_or(0);
        let Some(local) = &mut self.objects[index].local else { return Val::unknown() };
        if local.cells.is_empty() {
            if total == 0 || total / u64::from(bytes) > 4096 || !total.is_multiple_of(u64::from(bytes)) {
                return Val::unknown();
            }
            local.grain = bytes;
            local.cells = vec![Val::undefined(); (total / u64::from(bytes)) as usize];
        }
        if bytes < local.grain && local.grain.is_multiple_of(bytes) && total / u64::from(bytes) <= 4096 {
            let touched = local.cells.iter().any(|cell| !matches!(cell.data, Data::Undefined));
            let fill = if touched { Val::unknown() } else { Val::undefined() };
            local.grain = bytes;
            local.cells = vec![fill; (total / u64::from(bytes)) as usize];
        }
        let grain = i64::from(local.grain);
        let exact = bytes == local.grain;
        let doubtful = mask.maybe() > 0;
        let cell_at = |offset: i64| (exact && offset % grain == 0).then_some((offset / grain) as usize);
        if let Bits::One(bits) = address.bits() {
            let offset = offset_of(bits);
            let Some(cell) = cell_at(offset).and_then(|cell| local.cells.get_mut(cell)) else {
                if value.is_some() {
                    blur_local(&mut local.cells, offset, i64::from(bytes), grain);
                }
                return Val::unknown();
            };
            let Some(value) = value else {
                let read = cell.clone();
                if matches!(read.data, Data::Undefined) {
                    self.unwritten_local(piece.touch, index, offset, bytes, mask);
                    return Val::unknown();
                }
                return read;
            };
            if mask.count() == local.lanes && !doubtful {
                *cell = value.clone();
            } else {
                *cell = cell.blended(&doubted(value, mask), mask);
            }
            return Val::unknown();
        }
        if let Some(value) = value {
            for (lane, &level) in mask.levels().iter().enumerate() {
                if level == OFF {
                    continue;
                }
                let offset = offset_of(address.lane(lane).0);
                match cell_at(offset).and_then(|cell| local.cells.get_mut(cell)) {
                    Some(cell) => {
                        let (bits, tag) = if level == SURE { value.lane(lane) } else { (0, UNKNOWN) };
                        cell.set_lane(n, lane, bits, tag);
                    }
                    None => blur_local(&mut local.cells, offset, i64::from(bytes), grain),
                }
            }
            return Val::unknown();
        }
        let mut bits = Lanes::any(n);
        let mut tags = Lanes::any(n);
        let mut missing = None;
        {
            let (bits, tags) = (bits.edit(), tags.edit());
            for (lane, &level) in mask.levels().iter().enumerate() {
                (bits[lane], tags[lane]) = (0, KNOWN);
                if level == OFF {
                    continue;
                }
                let offset = offset_of(address.lane(lane).0);
                let cell = cell_at(offset).and_then(|cell| local.cells.get(cell));
                (bits[lane], tags[lane]) = cell.map_or((0, UNKNOWN), |cell| cell.lane(lane));
                if level == SURE && cell.is_some_and(|cell| matches!(cell.data, Data::Undefined)) {
                    missing.get_or_insert(offset);
                }
            }
        }
        if let Some(offset) = missing {
            let only = Mask::new(Lanes::from_fn(n, |lane| {
                if offset_of(address.lane(lane).0) == offset { mask.levels()[lane] } else { OFF }
            }));
            self.unwritten_local(piece.touch, index, offset, bytes, &only);
        }
        Val::tagged(bits, tags)
    }
}

/// What lanes that perhaps execute it store is not known afterwards.
pub(super) fn doubted(value: &Val, mask: &Mask) -> Val {
    if mask.maybe() == 0 {
        return value.clone();
    }
    let n = mask.levels().len();
    let maybe = Mask::new(Lanes::from_fn(n, |lane| if mask.levels()[lane] == MAYBE { SURE } else { OFF }));
    value.blended(&Val::unknown(), &maybe)
}

fn blur_local(cells: &mut [Val], offset: i64, bytes: i64, grain: i64) {
    let first = (offset.max(0) / grain) as usize;
    let last = ((offset + bytes - 1).max(0) / grain) as usize;
    for cell in cells.iter_mut().take(last + 1).skip(first) {
        *cell = Val::unknown();
    }
}
