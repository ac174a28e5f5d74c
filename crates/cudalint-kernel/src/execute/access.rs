//! Reads and writes of memory by all lanes at once.

use super::events::Unwritten;
use super::lanes::{Lanes, Mask, OFF, SURE};
use super::machine::Machine;
use super::memory::{CHANGED, Cell, INITIAL, KEPT};
use super::ops::{class, is_float, wrap};
use super::races::{Conflicts, Order, values_of};
use super::value::{Bits, Data, KNOWN, NUMBER, SOMEWHERE, UNKNOWN, Val, mix, object_of, offset_of};
use crate::code::{ExprId, Ty};
use crate::report::{AccessKind, EventKind, ObjectKind, RaceValues};

/// One access instruction.
#[derive(Clone, Copy)]
pub(super) struct Touch<'t> {
    /// The expression.
    pub(super) at: ExprId,
    pub(super) kind: AccessKind,
    /// Type of what is read or written.
    pub(super) ty: &'t Ty,
    /// Bytes of one element as the code sees it.
    pub(super) element: u32,
    pub(super) volatile: bool,
    /// Whether it is done later by the copy engine.
    pub(super) asynchronous: bool,
}

/// The part of an access that concerns one scalar and one object.
struct Piece<'t> {
    touch: Touch<'t>,
    ty: &'t Ty,
    bytes: u32,
    stamp: u32,
}

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
        self.spend(if matches!(address.data, Data::Uniform(..)) { 16 } else { self.n as u64 });
        let unknown = self.note_unknown(touch, address, &mask);
        if unknown == Addresses::None {
            return unknown_of(touch.ty);
        }
        let stamp = self.new_record(touch);
        // All lanes in one object is the rule.
        let mut objects: Vec<u32> = Vec::new();
        match address.bits() {
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

    /// Notes accesses whose address is not known: what they might have changed is forgotten.
    fn note_unknown(&mut self, touch: Touch<'_>, address: &Val, mask: &Mask) -> Addresses {
        let local = matches!(address.bits(), Bits::One(bits) if self.is_local(object_of(bits)));
        if address.all_known() {
            if !local {
                self.seen(touch.at, true);
            }
            return Addresses::All;
        }
        let (mut known, mut lost, mut nowhere) = (false, Vec::new(), false);
        for (lane, &level) in mask.levels().iter().enumerate() {
            if level == OFF {
                continue;
            }
            match address.lane(lane) {
                (_, KNOWN) => known = true,
                (bits, SOMEWHERE) => {
                    let id = object_of(bits);
                    if !lost.contains(&id) {
                        lost.push(id);
                    }
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
            for id in 0..self.objects.len() {
                self.lose(id, writes);
            }
        }
        for id in lost {
            if let Some(index) = (id as usize).checked_sub(1) {
                self.shared_met(index, touch.at, mask);
                self.lose(index, writes);
            }
        }
        if known { Addresses::Some } else { Addresses::None }
    }

    /// An access to somewhere in an object.
    pub(super) fn lose(&mut self, index: usize, writes: bool) {
        let stamp = self.trace.next() - 1;
        let Some(memory) = self.objects.get_mut(index) else { return };
        memory.usage.read |= !writes;
        memory.usage.written |= writes;
        memory.usage.inexact = true;
        if writes {
            memory.forgotten = stamp;
            memory.in_doubt = true;
            if let Some(local) = &mut memory.local {
                local.cells.fill(Val::unknown());
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
            self.shared_met(index, touch.at, mask);
            if self.stopped {
                return unknown_of(touch.ty);
            }
        }
        let usage = &mut self.objects[index].usage;
        usage.read |= touch.kind != AccessKind::Write && touch.kind != AccessKind::UpdateWrite;
        usage.written |= touch.kind.writes();
        let Some(size) = size.filter(|&size| size > 0) else {
            self.lose(index, touch.kind.writes());
            return unknown_of(touch.ty);
        };
        let inside = self.check_address(touch, index, address, size, mask);
        if inside.is_empty() {
            return unknown_of(touch.ty);
        }
        if touch.kind.writes() && inside.sure() > 0 && self.objects[index].kind == ObjectKind::Constant {
            self.constant_written(touch, index, address, &inside, size);
            return unknown_of(touch.ty);
        }
        let local = self.objects[index].local.is_some();
        let one = |machine: &mut Self, ty: &Ty, offset: u32, value: Option<&Val>| {
            let Some(bytes) = ty.bytes().filter(|&bytes| bytes > 0) else { return Val::unknown() };
            let address = if offset == 0 { address.clone() } else { moved(address, offset) };
            let piece = Piece { touch, ty, bytes, stamp };
            if local {
                machine.touch_local(&piece, index, &address, &inside, value)
            } else {
                machine.touch_cells(&piece, index, &address, &inside, value)
            }
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

    /// The lanes whose access lies inside the object; reports the others.
    fn check_address(&mut self, touch: Touch<'_>, index: usize, address: &Val, size: u32, mask: &Mask) -> Mask {
        let memory = &self.objects[index];
        let align = i64::from(touch.ty.align());
        let limit = memory.bytes.map(|bytes| bytes as i64 - i64::from(size));
        let base_aligned = i64::from(memory.align) % align == 0;
        let mut low = 0;
        let (mut least, mut most) = (i64::MAX, i64::MIN);
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
        if base_aligned && low % align != 0 {
            self.misaligned(touch, index, address, size, mask);
        }
        if limit.is_none_or(|limit| most <= limit) && least >= 0 {
            return mask.clone();
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
        Mask::new(levels)
    }

    /// Reads or writes one scalar of an object that several threads see.
    fn touch_cells(&mut self, piece: &Piece<'_>, index: usize, address: &Val, mask: &Mask, value: Option<&Val>) -> Val {
        let low = match address.bits() {
            Bits::One(bits) => offset_of(bits),
            Bits::Each(bits) => bits
                .iter()
                .zip(mask.levels())
                .fold(0, |low, (&bits, &level)| if level == OFF { low } else { low | offset_of(bits) }),
        };
        let grain = self.objects[index].refine(piece.bytes, low);
        let uniform = matches!(address.bits(), Bits::One(_)) && mask.count() > 3;
        let representatives = if uniform { Self::representatives(mask) } else { Vec::new() };
        let order = Order {
            trace: &self.trace,
            stamp: piece.stamp,
            interval_start: self.interval_start,
            block_start: self.block_start,
            warp_start: &self.warp_start,
            waited: self.waited,
            global: self.objects[index].is_global(),
        };
        let memory = &mut self.objects[index];
        let mut job = Job {
            order,
            piece,
            cells: 1 << (piece.bytes.trailing_zeros().max(grain) - grain),
            grain,
            whole: piece.bytes == 1 << grain,
            class: class_byte(piece.ty),
            index,
            conflicts: &mut self.conflicts,
            unwritten: None,
        };
        if !piece.bytes.is_power_of_two() {
            job.cells = u64::from(piece.bytes >> grain);
        }
        let result = if uniform {
            let mut first: Option<(i64, u8)> = None;
            for &lane in &representatives {
                let read = job.lane(memory, lane, mask.levels()[lane], address, value);
                first = Some(match first {
                    Some(first) if first != read => (0, UNKNOWN),
                    _ => read,
                });
            }
            if let Some(value) = value
                && !matches!(value.data, Data::Uniform(..))
            {
                job.blur(memory, offset_of(address.lane(0).0));
            }
            let (bits, tag) = first.unwrap_or((0, UNKNOWN));
            Data::Uniform(bits, tag).into()
        } else if value.is_some() {
            for (lane, &level) in mask.levels().iter().enumerate() {
                if level != OFF {
                    job.lane(memory, lane, level, address, value);
                }
            }
            Val::unknown()
        } else {
            let mut bits = Lanes::any(self.n);
            let mut tags = Lanes::any(self.n);
            {
                let (bits, tags) = (bits.edit(), tags.edit());
                for (lane, &level) in mask.levels().iter().enumerate() {
                    (bits[lane], tags[lane]) =
                        if level == OFF { (0, KNOWN) } else { job.lane(memory, lane, level, address, None) };
                }
            }
            Val::tagged(bits, tags)
        };
        if piece.touch.kind.writes() && mask.sure() > 0 {
            memory.wrote = true;
        }
        let unwritten = job.unwritten.take();
        self.report_conflicts(piece.touch, index, piece.bytes);
        if let Some(unwritten) = unwritten {
            self.unwritten_read(piece.touch, index, piece.bytes, &unwritten);
        }
        result
    }

    /// Lanes that stand for all active ones where all do the same: two of the first warp, one of another.
    fn representatives(mask: &Mask) -> Vec<usize> {
        let levels = mask.levels();
        let wanted = if mask.sure() > 0 { SURE } else { super::lanes::MAYBE };
        let mut lanes = levels.iter().enumerate().filter(|&(_, &level)| level == wanted).map(|(lane, _)| lane);
        let mut chosen: Vec<usize> = lanes.by_ref().take(2).collect();
        if let Some(&first) = chosen.first() {
            chosen.extend(lanes.find(|lane| lane / 32 != first / 32));
        }
        if wanted == SURE && mask.maybe() > 0 {
            chosen.extend(levels.iter().position(|&level| level == super::lanes::MAYBE));
        }
        chosen
    }

    /// Reads or writes one scalar of a thread's own variable.
    fn touch_local(&mut self, piece: &Piece<'_>, index: usize, address: &Val, mask: &Mask, value: Option<&Val>) -> Val {
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

/// What lanes that perhaps execute it store is not known afterwards.
pub(super) fn doubted(value: &Val, mask: &Mask) -> Val {
    if mask.maybe() == 0 {
        return value.clone();
    }
    let n = mask.levels().len();
    let maybe =
        Mask::new(Lanes::from_fn(n, |lane| if mask.levels()[lane] == super::lanes::MAYBE { SURE } else { OFF }));
    value.blended(&Val::unknown(), &maybe)
}

fn blur_local(cells: &mut [Val], offset: i64, bytes: i64, grain: i64) {
    let first = (offset.max(0) / grain) as usize;
    let last = ((offset + bytes - 1).max(0) / grain) as usize;
    for cell in cells.iter_mut().take(last + 1).skip(first) {
        *cell = Val::unknown();
    }
}

fn moved(address: &Val, by: u32) -> Val {
    match &address.data {
        Data::Uniform(bits, tag) => Data::Uniform(bits + i64::from(by), *tag).into(),
        Data::Lanes(bits, tags) => {
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

/// Tells apart what cannot be read back as another type.
fn class_byte(ty: &Ty) -> u8 {
    ty.bytes().unwrap_or(0) as u8 | if is_float(ty) { 128 } else { 0 } | if *ty == Ty::Pointer { 64 } else { 0 }
}

/// The work on single lanes of one piece.
struct Job<'j> {
    order: Order<'j>,
    piece: &'j Piece<'j>,
    /// Cells that one lane touches.
    cells: u64,
    grain: u32,
    /// Whether the scalar is one whole cell.
    whole: bool,
    class: u8,
    index: usize,
    conflicts: &'j mut Conflicts,
    unwritten: Option<Unwritten>,
}

impl Job<'_> {
    /// Lets one lane touch its cells; what it reads.
    fn lane(
        &mut self,
        memory: &mut super::memory::Memory,
        lane: usize,
        level: u8,
        address: &Val,
        value: Option<&Val>,
    ) -> (i64, u8) {
        let offset = offset_of(address.lane(lane).0) as u64;
        let first = offset >> self.grain;
        let kind = self.piece.touch.kind;
        let sure = level == SURE;
        let mut result = (0, UNKNOWN);
        for number in first..first + self.cells.max(1) {
            let initial = (memory.forgotten == 0).then_some(offset);
            let known_before = initial.and_then(|offset| memory.initially(offset, self.piece.bytes));
            let empty = sure
                && memory.forgotten == 0
                && !memory.in_doubt
                && memory.was_empty(number << self.grain, 1 << self.grain);
            let forgotten = memory.forgotten;
            let partly = memory.wrote;
            let Some(cell) = memory.cells.at(number) else {
                memory.in_doubt = true;
                memory.usage.inexact = true;
                return (0, UNKNOWN);
            };
            if kind == AccessKind::Atomic {
                let reads = !matches!(value, Some(v) if v.uniform() == Some(STORES_ONLY));
                if empty && reads && cell.write == 0 && cell.doubt == 0 {
                    self.missing(lane, number, partly);
                }
                self.write(cell, lane, sure, number, (0, UNKNOWN), forgotten);
            } else if kind.writes() {
                let stored =
                    value.map_or((0, UNKNOWN), |value| if self.whole { value.lane(lane) } else { (0, UNKNOWN) });
                let before = known_before.map(|bits| wrap(self.piece.ty, bits));
                if cell.tag == INITIAL
                    && self.whole
                    && sure
                    && let Some(bits) = before
                {
                    cell.value = bits;
                    cell.tag = if is_float(self.piece.ty) && bits != 0 { UNKNOWN } else { KNOWN };
                    cell.class = self.class;
                }
                self.write(cell, lane, sure, number, stored, forgotten);
            } else {
                if empty && cell.write == 0 && cell.doubt == 0 {
                    self.missing(lane, number, partly);
                }
                result = self.read(cell, lane, sure, number, known_before, forgotten);
                if !self.whole && cell.tag != INITIAL {
                    result = (0, UNKNOWN);
                }
            }
        }
        if self.whole || result.1 == NUMBER { result } else { (0, UNKNOWN) }
    }

    fn missing(&mut self, lane: usize, number: u64, partly: bool) {
        match &mut self.unwritten {
            Some(seen) => seen.count += 1,
            None => {
                self.unwritten = Some(Unwritten { lane, offset: (number << self.grain) as i64, count: 1, partly });
            }
        }
    }

    fn read(
        &mut self,
        cell: &mut Cell,
        lane: usize,
        sure: bool,
        number: u64,
        before: Option<i64>,
        forgotten: u32,
    ) -> (i64, u8) {
        let offset = (number << self.grain) as i64;
        let mut visible = true;
        if cell.write != 0
            && let Some(scope) = self.order.unordered(cell.write, cell.writer, lane)
        {
            visible = false;
            if sure && self.order.conflict(cell.write, scope, self.piece.touch) {
                let values = match cell.flags {
                    KEPT => RaceValues::Same,
                    CHANGED => RaceValues::Differ,
                    _ => RaceValues::Unknown,
                };
                self.conflicts.add(cell.write, cell.writer, lane as u16, scope, offset, values);
            }
        }
        if sure {
            self.order.note_reader(cell, lane);
        }
        if !visible || (cell.doubt != 0 && cell.doubt >= cell.write) {
            return (0, UNKNOWN);
        }
        if self.piece.touch.volatile {
            return (0, UNKNOWN);
        }
        if cell.tag == INITIAL {
            if let Some(bits) = before {
                // The bytes of a float are not its value, except for zero.
                return match self.piece.ty {
                    Ty::Float { .. } | Ty::Pointer if bits != 0 => {
                        (mix(bits as u64, class(self.piece.ty)) as i64, NUMBER)
                    }
                    ty => (wrap(ty, bits), KNOWN),
                };
            }
            let place = mix(self.index as u64 + 1, number << self.grain);
            return (mix(place, mix(u64::from(forgotten), u64::from(self.class))) as i64, NUMBER);
        }
        if cell.write <= forgotten || cell.write < self.order.block_start || cell.class != self.class {
            return (0, UNKNOWN);
        }
        (if cell.tag == KNOWN { wrap(self.piece.ty, cell.value) } else { cell.value }, cell.tag)
    }

    fn write(&mut self, cell: &mut Cell, lane: usize, sure: bool, number: u64, stored: (i64, u8), forgotten: u32) {
        if !sure {
            cell.doubt = self.piece.stamp;
            return;
        }
        let offset = (number << self.grain) as i64;
        let fresh = cell.write > forgotten || (forgotten == 0 && cell.write == 0 && cell.tag != INITIAL);
        let old = if fresh && cell.class == self.class && cell.doubt < cell.write.max(1) {
            (cell.value, cell.tag)
        } else {
            (0, UNKNOWN)
        };
        let values = if stored.1 == UNKNOWN { RaceValues::Unknown } else { values_of(old, stored) };
        // What the other writer wrote, whoever may have written in between.
        let same_writes = if cell.class == self.class && cell.write != 0 && stored.1 != UNKNOWN {
            values_of((cell.value, cell.tag), stored)
        } else {
            RaceValues::Unknown
        };
        let mut certain = cell.doubt == 0 || cell.doubt < self.order.interval_start;
        if cell.write != 0
            && let Some(scope) = self.order.unordered(cell.write, cell.writer, lane)
        {
            certain &= same_writes == RaceValues::Same;
            if self.order.conflict(cell.write, scope, self.piece.touch) {
                self.conflicts.add(cell.write, cell.writer, lane as u16, scope, offset, same_writes);
            }
        }
        let readers =
            [(cell.read[0], cell.reader[0]), (cell.read[1], cell.reader[1]), (cell.foreign, cell.foreign_reader)];
        for (stamp, reader) in readers {
            if stamp != 0
                && let Some(scope) = self.order.unordered(stamp, reader, lane)
                && self.order.conflict(stamp, scope, self.piece.touch)
            {
                self.conflicts.add(stamp, reader, lane as u16, scope, offset, values);
            }
        }
        cell.flags = match values {
            RaceValues::Same => KEPT,
            RaceValues::Differ => CHANGED,
            RaceValues::Unknown => 0,
        };
        cell.write = self.piece.stamp;
        cell.writer = lane as u16;
        cell.class = self.class;
        (cell.value, cell.tag) = if !certain || self.piece.touch.kind == AccessKind::Atomic {
            (0, UNKNOWN)
        } else if stored.1 == UNKNOWN {
            // Nobody knows what was stored, but all who read it read the same.
            (mix(u64::from(self.piece.stamp), lane as u64 + 1) as i64, NUMBER)
        } else {
            stored
        };
    }

    /// Several lanes stored different things in one place.
    fn blur(&mut self, memory: &mut super::memory::Memory, offset: i64) {
        let first = offset as u64 >> self.grain;
        for number in first..first + self.cells.max(1) {
            if let Some(cell) = memory.cells.at(number) {
                cell.tag = UNKNOWN;
            }
        }
    }
}

/// The value operand of an atomic store or exchange of which nobody reads what was there.
pub(super) const STORES_ONLY: i64 = i64::MIN + 77;
