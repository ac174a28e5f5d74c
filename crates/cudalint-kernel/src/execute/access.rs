//! Reads and writes of memory by all lanes at once.

use super::bits::Affine;
use super::lanes::{Lanes, Mask, OFF};
use super::machine::Machine;
use super::touch::{Piece, Touch};
use super::value::map1;
use super::value::{
    Bits, Data, KNOWN, NUMBER, SOMEWHERE, Tags, UNKNOWN, Val, mix, object_of, offset_of, one_object_of, place_of,
};
use crate::code::Ty;
use crate::report::{AccessKind, EventKind, ObjectKind};

impl Machine<'_> {
    /// Reads from memory.
    pub(super) fn load(&mut self, touch: Touch<'_>, address: &Val) -> Val {
        self.access(touch, address, None)
    }

    /// Writes to memory.
    pub(super) fn store(&mut self, touch: Touch<'_>, address: &Val, value: &Val) {
        self.access(touch, address, Some(value));
    }

    /// One access by all active lanes. An atomic operation is both: it returns what nobody knows.
    pub(super) fn access(&mut self, touch: Touch<'_>, address: &Val, value: Option<&Val>) -> Val {
        let mask = self.act.clone();
        if mask.is_empty() {
            return Val::unknown();
        }
        // What a loop waits for is read anew each time.
        let touch = Touch { volatile: touch.volatile || self.waiting, ..touch };
        self.spend(if matches!(address.data, Data::Uniform(..)) { 16 } else { self.n as u64 });
        self.access_seen(touch, address, value);
        let unknown = self.note_unknown(touch, address, &mask);
        if unknown == Addresses::None {
            return self.named_load(touch, address, &mask);
        }
        let stamp = self.new_record(touch);
        // All lanes in one object is the rule.
        if unknown == Addresses::All
            && let Some(affine) = address.formula()
            && object_of(affine.least()) == object_of(affine.most())
        {
            return self.access_object(touch, object_of(affine.least()), address, &mask, value, stamp);
        }
        if unknown == Addresses::All
            && let Bits::Each(bits) = address.bits()
            && let Some(id) = one_object_of(bits)
        {
            return self.access_object(touch, id, address, &mask, value, stamp);
        }
        let mut objects: Vec<u32> = Vec::new();
        match address.bits() {
            Bits::One(bits) if unknown == Addresses::All => {
                return self.access_object(touch, object_of(bits), address, &mask, value, stamp);
            }
            Bits::One(bits) => objects.push(object_of(bits)),
            Bits::Each(bits) => {
                for (lane, &level) in mask.levels().iter().enumerate() {
                    if level != OFF && (unknown == Addresses::All || address.lane(lane).1 == KNOWN) {
                        let id = object_of(bits[lane]);
                        if objects.last() != Some(&id) && !objects.contains(&id) {
                            objects.push(id);
                        }
                    }
                }
            }
        }
        if let [id] = objects[..]
            && unknown == Addresses::All
        {
            return self.access_object(touch, id, address, &mask, value, stamp);
        }
        let mut result = unknown_of(touch.ty);
        for id in objects {
            let part = Mask::new(Lanes::from_fn(self.n, |lane| {
                let (bits, tag) = address.lane(lane);
                if tag == KNOWN && object_of(bits) == id { mask.levels()[lane] } else { OFF }
            }));
            let read = self.access_object(touch, id, address, &part, value, stamp);
            result = result.blended(&read, &part);
        }
        result
    }

    /// What is read at places that have only names: equal ones hold equal values, as long as nobody writes.
    fn named_load(&mut self, touch: Touch<'_>, address: &Val, mask: &Mask) -> Val {
        if touch.kind.writes()
            || touch.volatile
            || matches!(touch.ty, Ty::Aggregate(_) | Ty::Pointer)
            || self.keeps_origins()
        {
            return unknown_of(touch.ty);
        }
        let class = super::symbols::class(touch.ty);
        let name = |(bits, tag): (i64, u8)| -> (i64, u8) {
            let memory = (object_of(bits) as usize).checked_sub(1).and_then(|index| self.objects.get(index));
            match memory {
                Some(memory) if tag == SOMEWHERE && place_of(bits) != 0 && memory.local.is_none() => {
                    (mix(mix(bits as u64, class), u64::from(memory.changed)) as i64, NUMBER)
                }
                _ => (0, UNKNOWN),
            }
        };
        if let Data::Uniform(bits, tag) = address.data {
            let (bits, tag) = name((bits, tag));
            return Data::Uniform(bits, tag).into();
        }
        if let Some(all) = address.alike() {
            let (bits, tag) = name(all);
            return Val::alike_in(self.n, bits, tag);
        }
        if let Data::Lanes(bits, Tags::One(SOMEWHERE)) = &address.data
            && let Some(&first) = bits.get().first()
            && one_object(address).is_some()
            && !bits.get().iter().fold(false, |some, &bits| some | (place_of(bits) == 0))
            && name((first, SOMEWHERE)).1 == NUMBER
        {
            let changed = self.objects.get(object_of(first) as usize - 1).map_or(0, |memory| u64::from(memory.changed));
            let names = map1(self.n, bits.get(), |bits| mix(mix(bits as u64, class), changed) as i64);
            return Data::Lanes(names.into(), Tags::One(NUMBER)).into();
        }
        let address = address.view();
        Val::in_lanes(mask, |lane| name(address.lane(lane)))
    }

    /// Notes accesses whose address is not known: what they might have changed is forgotten.
    fn note_unknown(&mut self, touch: Touch<'_>, address: &Val, mask: &Mask) -> Addresses {
        let local = matches!(address.data, Data::Uniform(bits, _) if self.is_local(object_of(bits)));
        if address.all_known() {
            if !local {
                self.seen(touch.at, true);
            }
            return Addresses::All;
        }
        self.figures_lose(touch.at);
        let (mut known, mut lost, mut nowhere) = (false, Vec::new(), false);
        let mut newest = None;
        let view = address.view();
        // Of what is the same in all lanes one lane tells all.
        nowhere |= matches!(address.data, Data::Lanes(_, Tags::One(NUMBER)));
        let within = one_object(address);
        lost.extend(within);
        let each = address.varies() && address.alike().is_none() && !nowhere && within.is_none();
        let lanes = match within {
            Some(_) => 0,
            None if each => self.n,
            None => 1,
        };
        for (lane, &level) in mask.levels().iter().take(lanes).enumerate() {
            if level == OFF && each {
                continue;
            }
            match view.lane(lane) {
                (_, KNOWN) => known = true,
                (bits, SOMEWHERE) => {
                    let id = object_of(bits);
                    if newest != Some(id) && !lost.contains(&id) {
                        lost.push(id);
                    }
                    newest = Some(id);
                }
                _ => nowhere = true,
            }
        }
        if lost.is_empty() && !nowhere {
            if !local {
                self.seen(touch.at, true);
            }
            return Addresses::All;
        }
        if !lost.iter().all(|&id| self.is_local(id)) || nowhere {
            self.seen(touch.at, false);
        }
        self.cause(if nowhere { "pointer not known" } else { "index not known" });
        let writes = touch.kind.writes();
        if nowhere {
            self.lose_all(writes);
        }
        for id in lost {
            if let Some(index) = (id as usize).checked_sub(1) {
                self.shared_met(index, touch.at, mask);
                if self.objects.get(index).is_some_and(super::memory::Memory::is_shared) {
                    self.uniform.note_unplaced(self.code.expr(touch.at).site);
                    if mask.sure() == 0 {
                        self.note_doubt();
                    }
                }
                if touch.kind == AccessKind::UpdateRead {
                    self.count_crowd(touch, index, address, mask);
                }
                self.lose(index, writes);
            }
        }
        if known { Addresses::Some } else { Addresses::None }
    }

    /// An access to somewhere in any object.
    pub(super) fn lose_all(&mut self, writes: bool) {
        for number in 0..self.living.len() {
            self.lose(self.living[number] as usize, writes);
        }
    }

    /// An access to somewhere in an object.
    pub(super) fn lose(&mut self, index: usize, writes: bool) {
        let stamp = self.trace.next() - 1;
        let Some(memory) = self.objects.get_mut(index) else { return };
        memory.usage.read |= !writes;
        memory.usage.written |= writes;
        memory.usage.inexact = true;
        if writes {
            memory.changed = stamp + 1;
            memory.forgotten = stamp;
            memory.may_be_written = true;
            if let Some(local) = &mut memory.local {
                local.forget();
            }
        }
    }

    fn is_local(&self, id: u32) -> bool {
        (id as usize).checked_sub(1).and_then(|index| self.objects.get(index)).is_some_and(|m| m.local.is_some())
    }

    fn access_object(
        &mut self,
        touch: Touch<'_>,
        id: u32,
        address: &Val,
        mask: &Mask,
        value: Option<&Val>,
        stamp: u32,
    ) -> Val {
        let Some(index) = (id as usize).checked_sub(1).filter(|&index| index < self.objects.len()) else {
            return unknown_of(touch.ty);
        };
        let size = touch.ty.bytes();
        if self.objects[index].is_shared() {
            if mask.sure() == 0 {
                self.note_doubt();
            }
            self.shared_met(index, touch.at, mask);
            if self.stopped {
                return unknown_of(touch.ty);
            }
            if mask.maybe() > 0 {
                self.meet_suffix(touch, index, address, mask);
            }
        }
        let usage = &mut self.objects[index].usage;
        usage.read |= touch.kind != AccessKind::Write && touch.kind != AccessKind::UpdateWrite;
        usage.written |= touch.kind.writes();
        if touch.kind.writes() {
            self.objects[index].changed = stamp;
            if let Some(value) = value.filter(|_| self.objects[index].is_global()) {
                self.handed_on(touch.ty, value);
            }
        }
        let Some(size) = size.filter(|&size| size > 0) else {
            self.lose(index, touch.kind.writes());
            return unknown_of(touch.ty);
        };
        let (inside, low) = self.check_address(touch, index, address, size, mask);
        if inside.is_empty() {
            return unknown_of(touch.ty);
        }
        if inside.sure() > 0 && !self.silent && matches!(self.objects[index].kind, ObjectKind::Buffer(_)) {
            self.objects[index].usage.surely(touch.kind, || stretch(address, &inside, i64::from(size)));
        }
        self.figures_at_access(touch, index, address, &inside, size);
        self.access_in_lock(touch, index, address);
        self.may_meet(touch, index, address, &inside, value);
        if touch.kind.writes() && inside.sure() > 0 && self.objects[index].kind == ObjectKind::Constant {
            self.constant_written(touch, index, address, &inside, size);
            return unknown_of(touch.ty);
        }
        let local = self.objects[index].local.is_some();
        let one = |machine: &mut Self, ty: &Ty, offset: u32, value: Option<&Val>| {
            let Some(bytes) = ty.bytes().filter(|&bytes| bytes > 0) else { return Val::unknown() };
            let address = if offset == 0 { address.clone() } else { moved(address, offset) };
            let piece = Piece { touch, ty, bytes, stamp, low: low | i64::from(offset) };
            if local {
                return machine.touch_local(&piece, index, &address, &inside, value);
            }
            let read = machine.touch_cells(&piece, index, &address, &inside, value);
            if value.is_some() {
                return read;
            }
            let read = machine.varied(touch, index, bytes, &address, &inside, read);
            let is_whole = inside.sure() + inside.maybe() == mask.sure() + mask.maybe();
            if is_whole { read } else { machine.read_beyond(touch, &address, (mask, &inside), &read) }
        };
        match touch.ty {
            Ty::Aggregate(layout) if !layout.leaves.is_empty() => {
                let mut leaves = Vec::with_capacity(layout.leaves.len());
                for (number, leaf) in layout.leaves.iter().enumerate() {
                    let part = value.map(|value| match &value.data {
                        Data::Aggregate(parts) => parts.get(number).cloned().unwrap_or_else(Val::unknown),
                        _ => Val::unknown(),
                    });
                    leaves.push(one(self, &leaf.ty, leaf.offset, part.as_ref()));
                }
                Val::aggregate(leaves)
            }
            Ty::Aggregate(_) | Ty::Opaque { .. } => {
                // A large record: byte after byte in steps of what is likely its scalar.
                let step = touch.ty.align().clamp(1, 8).min(size);
                let unknown = Val::unknown();
                if size / step > 64 {
                    self.lose(index, touch.kind.writes());
                    return unknown_of(touch.ty);
                }
                for at in 0..size / step {
                    one(self, &Ty::Opaque { bytes: Some(step) }, at * step, value.map(|_| &unknown));
                }
                Val::unknown()
            }
            ty => one(self, ty, 0, value),
        }
    }

    /// Pointers that are stored where later kernels find them: these may write what they point to, whoever is given it.
    fn handed_on(&mut self, ty: &Ty, value: &Val) {
        let leaves = match (&value.data, ty) {
            (Data::Aggregate(leaves), Ty::Aggregate(layout)) => leaves
                .iter()
                .zip(&layout.leaves)
                .filter(|(_, leaf)| leaf.ty == Ty::Pointer)
                .map(|(value, _)| value.lane(0))
                .collect(),
            (_, Ty::Pointer) => vec![value.lane(0)],
            _ => Vec::new(),
        };
        for (bits, tag) in leaves {
            if matches!(tag, KNOWN | SOMEWHERE)
                && let Some(memory) = (object_of(bits) as usize).checked_sub(1).and_then(|at| self.objects.get_mut(at))
            {
                memory.usage.written = true;
                memory.usage.inexact = true;
            }
        }
    }

    /// The lanes whose access lies inside the object, and all offsets joined by `|`; reports the other lanes.
    fn check_address(&mut self, touch: Touch<'_>, index: usize, address: &Val, size: u32, mask: &Mask) -> (Mask, i64) {
        let memory = &self.objects[index];
        let align = i64::from(touch.ty.align());
        let limit = memory.bytes.map(|bytes| bytes as i64 - i64::from(size));
        let base_aligned = i64::from(memory.align) % align == 0;
        let inside = |least: i64, most: i64| limit.is_none_or(|limit| most <= limit) && least >= 0;
        let finest = i64::from(size.next_power_of_two().min(8)).max(align);
        // Nothing finer is asked for, whichever of its lanes are active.
        let tidy = |affine: &Affine| {
            affine.low() & (finest - 1) == 0 && inside(offset_of(affine.least()), offset_of(affine.most()))
        };
        let mut low = 0;
        let (mut least, mut most) = (i64::MAX, i64::MIN);
        if let Some(affine) = address.formula().filter(|affine| tidy(affine)) {
            return (mask.clone(), affine.low());
        }
        match address.bits() {
            Bits::One(bits) => {
                let offset = offset_of(bits);
                (least, most, low) = (offset, offset, offset);
            }
            Bits::Each(bits) => {
                for (&bits, &level) in bits.iter().zip(mask.levels()) {
                    if level != OFF {
                        let offset = offset_of(bits);
                        least = least.min(offset);
                        most = most.max(offset);
                        low |= offset;
                    }
                }
            }
        }
        if low % align != 0 {
            if base_aligned {
                self.misaligned(touch, index, address, size, mask);
            } else {
                self.note_uneven(address, mask, align);
            }
        }
        if inside(least, most) {
            return (mask.clone(), low);
        }
        let outside =
            |offset: i64| limit.is_some_and(|limit| offset < 0 || offset > limit) || (limit.is_none() && offset < 0);
        let levels = Lanes::from_fn(self.n, |lane| {
            let level = mask.levels()[lane];
            if level != OFF && outside(offset_of(address.lane(lane).0)) { OFF } else { level }
        });
        if limit.is_some() {
            self.out_of_bounds(touch, index, address, size, mask, outside);
        }
        (Mask::new(levels), low)
    }

    fn constant_written(&mut self, touch: Touch<'_>, index: usize, address: &Val, mask: &Mask, size: u32) {
        let Some(lane) = mask.first_sure() else { return };
        let access = self.access_of(touch, lane, offset_of(address.lane(lane).0), size);
        let object = self.objects[index].object.clone();
        self.event(EventKind::ConstantWritten { object, access }, u64::from(mask.sure()));
    }
}

/// How much of an address vector is known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Addresses {
    All,
    Some,
    None,
}

/// The object that all lanes point into, active or not, where of all places only names are known.
fn one_object(address: &Val) -> Option<u32> {
    let Data::Lanes(bits, Tags::One(SOMEWHERE)) = &address.data else { return None };
    one_object_of(bits.get())
}

/// Bytes that lanes which are surely active touch: all of them where they lie in a row, else those of the first.
fn stretch(address: &Val, mask: &Mask, size: i64) -> Option<(i64, i64)> {
    let (first, last) = (mask.first_sure()?, mask.levels().iter().rposition(|&level| level != OFF)?);
    let from = offset_of(address.lane(first).0);
    let to = offset_of(address.lane(last).0);
    let count = i64::try_from(last - first).ok()?;
    let in_row = mask.maybe() == 0
        && usize::try_from(mask.sure()).ok()? == last - first + 1
        && address.formula().is_some_and(|affine| affine.in_row(size))
        && to - from == count * size;
    Some((from, if in_row { to + size } else { from + size }))
}

fn moved(address: &Val, by: u32) -> Val {
    match &address.data {
        Data::Uniform(bits, tag) => Data::Uniform(bits + i64::from(by), *tag).into(),
        Data::Lanes(bits, tags) => {
            if let Some(moved) = bits.affine().and_then(|affine| affine.moved(i64::from(by))) {
                return Data::Lanes(moved.into(), tags.clone()).into();
            }
            let mut bits = bits.clone();
            for bits in bits.edit() {
                *bits = bits.wrapping_add(i64::from(by));
            }
            Data::Lanes(bits, tags.clone()).into()
        }
        _ => Val::unknown(),
    }
}

/// An unknown value of a type.
pub(super) fn unknown_of(ty: &Ty) -> Val {
    match ty {
        Ty::Aggregate(layout) => Val::aggregate(vec![Val::unknown(); layout.leaves.len()]),
        _ => Val::unknown(),
    }
}
