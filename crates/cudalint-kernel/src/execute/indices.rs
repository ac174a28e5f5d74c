//! Takes down the values of subscripts. Only executions that are asked for it carry it along.

use super::lanes::OFF;
use super::machine::Machine;
use super::value::{KNOWN, Val, object_of, offset_of};
use crate::code::ExprId;
use crate::indices::{Indices, Seen, Values};

impl Machine<'_> {
    /// Takes values down from now on.
    pub(super) fn record_indices(&mut self) {
        self.indices = Some(Indices::new());
    }

    /// What was taken down; `None` where the execution does not show who comes where.
    pub(super) fn take_indices(&mut self) -> Option<Vec<Seen>> {
        let followed = self.complete && self.causes.keys().all(|cause| *cause == "index not known");
        let all = self.indices.take().filter(|_| followed)?.into_iter();
        Some(all.map(|(at, values)| Seen { at: ExprId::from(at), values }).collect())
    }

    /// The active lanes compute the address of an element.
    pub(super) fn note_index(&mut self, at: ExprId, base: &Val, index: &Val, stride: i64) {
        if self.indices.is_none() || self.act.is_empty() {
            return;
        }
        let sure = self.act.maybe() == 0 && !self.silent && !self.uncounted && !self.stopped;
        let values = self.ends_of(index).filter(|_| sure);
        let values = values.map(|(least, most)| Values { least, most, of: self.room(base, stride) });
        if let Some(indices) = &mut self.indices {
            let known = indices.entry(at.index()).or_insert(values);
            *known = known.zip(values).map(|(a, b)| a.and(b));
        }
    }

    /// The least and the greatest number in active lanes, where all are known.
    fn ends_of(&self, index: &Val) -> Option<(i64, i64)> {
        let mut ends: Option<(i64, i64)> = None;
        for (lane, _) in self.act.levels().iter().enumerate().filter(|(_, level)| **level != OFF) {
            let (bits, KNOWN) = index.lane(lane) else { return None };
            ends = Some(ends.map_or((bits, bits), |(least, most)| (bits.min(least), bits.max(most))));
        }
        ends
    }

    /// The elements that memory has, where an address is its beginning in all lanes.
    fn room(&self, base: &Val, stride: i64) -> Option<u64> {
        let (bits, KNOWN) = base.alike()? else { return None };
        let memory = self.objects.get((object_of(bits) as usize).checked_sub(1)?)?;
        let stride = u64::try_from(stride).ok().filter(|stride| *stride > 0)?;
        (offset_of(bits) == 0).then_some(memory.bytes? / stride)
    }
}
