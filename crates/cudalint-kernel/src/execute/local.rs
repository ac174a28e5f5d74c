//! A thread's own variables in memory: a value of all lanes for each piece.

use super::lanes::{Lanes, Mask, OFF, SURE};
use super::machine::Machine;
use super::memory::Meaning;
use super::symbols::class;
use super::touch::Piece;
use super::value::{Bits, Data, KNOWN, NUMBER, UNKNOWN, Val, mix, offset_of};
use crate::code::Ty;

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
        let meaning = Meaning::of(piece.ty);
        let Some(local) = &mut self.objects[index].local else { return Val::unknown() };
        if local.is_unmade() {
            if total == 0 || total / u64::from(bytes) > 4096 || !total.is_multiple_of(u64::from(bytes)) {
                return Val::unknown();
            }
            local.make(bytes, (total / u64::from(bytes)) as usize, Val::undefined(), meaning);
        }
        if bytes < local.grain && local.grain.is_multiple_of(bytes) && total / u64::from(bytes) <= 4096 {
            local.split(bytes);
        }
        let may_active = mask.maybe() > 0;
        if let Bits::One(bits) = address.bits() {
            let offset = offset_of(bits);
            let Some(value) = value else {
                let Some((read, held)) = local.read(offset, bytes) else {
                    return Val::unknown();
                };
                if matches!(read.data, Data::Undefined) {
                    self.unwritten_local(piece.touch, index, offset, bytes, mask);
                    return Val::unknown();
                }
                return if held == meaning { read.clone() } else { reinterpreted(read, held, piece.ty, mask) };
            };
            let lanes = local.lanes;
            local.change(offset, bytes, meaning, |cell| {
                if mask.count() == lanes && !may_active {
                    *cell = value.clone();
                } else {
                    *cell = cell.blended(&unless_may_active(value, mask), mask);
                }
            });
            return Val::unknown();
        }
        if let Some(value) = value {
            for (lane, &level) in mask.levels().iter().enumerate() {
                if level == OFF {
                    continue;
                }
                let offset = offset_of(address.lane(lane).0);
                let (bits, tag) = if level == SURE { value.lane(lane) } else { (0, UNKNOWN) };
                local.change(offset, bytes, meaning, |cell| cell.set_lane(n, lane, bits, tag));
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
                let cell = local.read(offset, bytes);
                (bits[lane], tags[lane]) = match cell {
                    Some((cell, held)) if held == meaning => cell.lane(lane),
                    Some((cell, held)) => as_other(cell.lane(lane), held, piece.ty),
                    None => (0, UNKNOWN),
                };
                if level == SURE && cell.is_some_and(|(cell, _)| matches!(cell.data, Data::Undefined)) {
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

/// What was stored as one kind of value and is read as another: the bits of a float are not its value. Nothing is computed
/// with them, for nobody knows the last ones; but zero is zero, and equal values have equal bits.
fn reinterpreted(read: &Val, held: Meaning, to: &Ty, mask: &Mask) -> Val {
    if let Data::Uniform(bits, tag) = read.data {
        let (bits, tag) = as_other((bits, tag), held, to);
        return Data::Uniform(bits, tag).into();
    }
    Val::in_lanes(mask, |lane| as_other(read.lane(lane), held, to))
}

fn as_other((bits, tag): (i64, u8), held: Meaning, to: &Ty) -> (i64, u8) {
    match tag {
        KNOWN if bits == 0 => (0, KNOWN),
        KNOWN if matches!(held, Meaning::Signed | Meaning::Unsigned) && matches!(to, Ty::Int { .. }) => {
            (to.wrap(bits), KNOWN)
        }
        KNOWN | NUMBER if held != Meaning::Address && *to != Ty::Pointer => {
            (mix(mix(bits as u64, u64::from(tag) + 400), class(to)) as i64, NUMBER)
        }
        _ => (0, UNKNOWN),
    }
}

/// What lanes that perhaps execute it store is not known afterwards.
pub(super) fn unless_may_active(value: &Val, mask: &Mask) -> Val {
    if mask.maybe() == 0 {
        return value.clone();
    }
    value.blended(&Val::unknown(), &mask.only_may_active())
}
