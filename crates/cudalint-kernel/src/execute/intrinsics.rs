//! Operations that the executor knows.

use super::access::unknown_of;
use super::bits::Affine;
use super::lanes::{Lanes, MAYBE, Mask, OFF};
use super::machine::Machine;
use super::touch::{ACCUMULATES, STORES_ONLY, Touch};
use super::value::{Data, NUMBER, Val, mix, object_of};
use super::{convert, ops};
use crate::code::{AtomicOp, BinaryOp, ExprId, FloatMath, Group, Intrinsic, Scope, Ty};
use crate::report::{Access, AccessKind, EventKind, RaceScope, RaceValues};

impl Machine<'_> {
    pub(super) fn intrinsic(&mut self, id: ExprId, intrinsic: &Intrinsic, operands: &[ExprId]) -> Val {
        let code = self.code;
        let ty = &code.expr(id).ty;
        let values: Vec<Val> = operands.iter().map(|&operand| self.eval(operand)).collect();
        if self.act.is_empty() {
            return unknown_of(ty);
        }
        self.spend(if values.iter().any(Val::varies) { self.n as u64 } else { 4 });
        let first = values.first().cloned().unwrap_or_else(Val::unknown);
        let second = values.get(1).cloned().unwrap_or_else(Val::unknown);
        if !hands_on(intrinsic) {
            for value in &values {
                self.seen_outside(value);
            }
        }
        if matches!(intrinsic, Intrinsic::Fence(Scope::Block | Scope::Device | Scope::System) | Intrinsic::GridBarrier)
        {
            self.published();
        }
        self.figures_meet(intrinsic);
        match intrinsic {
            Intrinsic::BlockBarrier => self.block_barrier(id),
            Intrinsic::BlockVote(vote) => {
                self.block_barrier(id);
                return self.block_vote(*vote, &first);
            }
            // Who takes part is not followed: it orders everything.
            Intrinsic::NamedBarrier | Intrinsic::NamedArrive => {
                self.meets_absent_writers();
                self.new_interval();
            }
            Intrinsic::BarrierObjectArrive => {
                self.barrier_object(id, &first);
                // Nobody waits here. Where some threads alone arrive, others may wait for them.
                if !(self.act.is_full() && self.act.maybe() == 0) {
                    self.new_interval();
                }
            }
            // Threads of other blocks may be among them: those of a cluster, say.
            Intrinsic::UnknownBarrier => {
                self.new_interval();
                self.acquire();
                self.acquired_block = false;
            }
            Intrinsic::BarrierObjectWait => {
                self.barrier_object(id, &first);
                self.objects_wait = true;
                self.meets_absent_writers();
                self.new_interval();
                self.acquired = true;
                self.waited = self.trace.next();
            }
            Intrinsic::GridBarrier => self.grid_barrier(id),
            Intrinsic::WarpBarrier => {
                if let Some(mask) = values.first() {
                    self.check_mask(id, mask, "__syncwarp");
                }
                self.warp_barrier();
            }
            Intrinsic::TileBarrier(0..=1) => {}
            Intrinsic::TileBarrier(_) | Intrinsic::CoalescedBarrier => self.warp_barrier(),
            Intrinsic::Shuffle { kind, masked } => return self.shuffle(id, *kind, *masked, &values, ty),
            Intrinsic::WarpVote { kind, masked } => return self.warp_vote(id, *kind, *masked, &values),
            Intrinsic::ActiveMask => return self.active_mask(),
            // Waits for copies of its own are written so.
            Intrinsic::Fence(Scope::Thread) => self.waited = self.trace.next(),
            Intrinsic::Fence(scope) => self.fence(*scope),
            Intrinsic::Atomic { op, scope, bytes, .. } => {
                let of_block = matches!(scope, Scope::Block | Scope::Thread);
                return self.atomic(id, (*op, of_block), *bytes, &values, ty);
            }
            Intrinsic::AsyncCopy => self.copy(id, &values, true),
            Intrinsic::GroupAsyncCopy => self.group_copy(&values),
            Intrinsic::Copy => self.copy(id, &values, false),
            Intrinsic::Set => self.set(id, &values),
            Intrinsic::TileLoad => self.tile(id, &first, &second, AccessKind::Read),
            Intrinsic::TileStore => self.tile(id, &first, &second, AccessKind::Write),
            Intrinsic::LoadCached => {
                let touch = Touch::plain(id, AccessKind::Read, ty);
                return self.load(touch, &first);
            }
            Intrinsic::StoreCached => {
                let stored = operands.get(1).map_or(ty, |&operand| &code.expr(operand).ty);
                let touch = Touch::plain(id, AccessKind::Write, stored);
                self.store(touch, &first, &second);
            }
            Intrinsic::Min | Intrinsic::Max => {
                return self.extreme(ty, &first, &second, *intrinsic == Intrinsic::Min, id);
            }
            Intrinsic::Abs => {
                let float = ty.is_float();
                return ops::unary(&first, &self.act, mix(60, super::symbols::class(ty)), |x| {
                    Some(if float { ops::float(x).abs().to_bits() as i64 } else { ty.wrap(x.wrapping_abs()) })
                });
            }
            Intrinsic::Bits(what) => return self.bit_function(*what, id, operands, &values),
            Intrinsic::FloatMath(function) => return self.float_math(*function, ty, &values),
            Intrinsic::Assume => {
                let parting = self.part(&first);
                let unknown = !parting.unknown.is_empty();
                if parting.no.is_empty() {
                    return Val::unknown();
                }
                // Where it does not hold the program is wrong in another way; where nobody knows it holds.
                let stays = if unknown { parting.yes.or(&parting.unknown) } else { parting.yes };
                let goes = Mask::new(Lanes::from_fn(self.n, |lane| {
                    if stays.levels()[lane] == OFF { self.act.levels()[lane] } else { OFF }
                }));
                self.act = goes;
                self.leave_kernel(code.expr(id).site);
                self.act = stays;
            }
            Intrinsic::Exit => self.leave_kernel(code.expr(id).site),
            Intrinsic::GroupRank(group) => return self.rank(*group),
            Intrinsic::GroupSize(group) => return self.group_size(*group),
            Intrinsic::BlockPrimitive => self.block_primitive(id, &values),
            Intrinsic::WarpPrimitive => {
                for value in &values {
                    self.lose_target(value);
                }
                self.warp_barrier();
            }
            Intrinsic::DynamicSharedBytes => {
                return match self.launch.dynamic_shared.map(i64::try_from) {
                    Some(Ok(bytes)) => Val::known(bytes),
                    _ => Val::number(mix(0x6d1f, 0)),
                };
            }
            Intrinsic::FloorRem => return self.floor_rem(ty, &first, &second, id),
            Intrinsic::WrapIndex { .. } => return self.wrap_index(id, intrinsic, &first, &second),
            Intrinsic::Print => {}
        }
        unknown_of(ty)
    }

    fn atomic(&mut self, id: ExprId, (op, of_block): (AtomicOp, bool), bytes: u8, values: &[Val], ty: &Ty) -> Val {
        let Some(address) = values.first() else { return unknown_of(ty) };
        let cell = Ty::Int { bytes: bytes.max(1), signed: false };
        let mut touch = Touch::plain(id, AccessKind::Atomic, &cell);
        if op == AtomicOp::Load {
            touch.kind = AccessKind::Read;
            touch.volatile = true;
            self.load(touch, address);
            return unknown_of(ty);
        }
        touch.of_block = of_block;
        // The read before the first try is checked by the try itself.
        touch.volatile = op == AtomicOp::CompareExchange;
        let stores_only = matches!(op, AtomicOp::Store | AtomicOp::Exchange | AtomicOp::CompareExchange);
        let accumulates = matches!(op, AtomicOp::Add | AtomicOp::Sub | AtomicOp::Xor | AtomicOp::Inc | AtomicOp::Dec);
        let marker = match (stores_only, accumulates) {
            (true, _) => Val::known(STORES_ONLY),
            (_, true) => Val::known(ACCUMULATES),
            _ => Val::unknown(),
        };
        self.access(touch, address, Some(&marker));
        unknown_of(ty)
    }

    /// What arriving at a barrier object does to its state.
    fn barrier_object(&mut self, id: ExprId, address: &Val) {
        let state = Ty::Int { bytes: 8, signed: false };
        // That it was set up is not asked here: it may be so in many ways.
        let touch = Touch { volatile: true, ..Touch::plain(id, AccessKind::Atomic, &state) };
        self.access(touch, address, Some(&Val::known(ACCUMULATES)));
    }

    /// Objects that a pointer may point into are not known any more.
    pub(super) fn lose_target(&mut self, value: &Val) {
        let mut targets = Vec::new();
        match &value.data {
            Data::Uniform(bits, _) => targets.push(object_of(*bits)),
            Data::Lanes(bits, _) => {
                for (&bits, &level) in bits.get().iter().zip(self.act.levels()) {
                    if level != OFF && targets.last() != Some(&object_of(bits)) {
                        targets.push(object_of(bits));
                    }
                }
            }
            _ => {}
        }
        for id in targets {
            if let Some(index) = (id as usize).checked_sub(1) {
                self.lose(index, true);
                self.lose(index, false);
            }
        }
    }

    /// `memcpy` by each thread for itself.
    fn copy(&mut self, id: ExprId, values: &[Val], asynchronous: bool) {
        let [to, from, bytes, ..] = values else { return };
        let size = bytes.uniform().filter(|&size| (1..=256).contains(&size));
        let Some(size) = size else {
            self.seen(id, false);
            self.lose_target(to);
            return;
        };
        let step = [8, 4, 2, 1].into_iter().find(|step| size % step == 0).unwrap_or(1);
        let step = if self.act.levels().iter().enumerate().any(|(lane, &level)| {
            level != OFF
                && (super::value::offset_of(to.lane(lane).0) | super::value::offset_of(from.lane(lane).0)) % step != 0
        }) {
            1
        } else {
            step
        };
        let ty = Ty::Int { bytes: step as u8, signed: false };
        for at in 0..size / step {
            let shift = Val::known(at * step);
            let source = convert::offset(from, &shift, 1, &self.act);
            let target = convert::offset(to, &shift, 1, &self.act);
            let touch = Touch::plain(id, AccessKind::Read, &ty);
            let value = self.load(touch, &source);
            let touch = Touch { asynchronous, ..Touch::plain(id, AccessKind::Write, &ty) };
            // What has a type of its own there is read back as a name only.
            let value = if asynchronous { Val::unknown() } else { value };
            self.store(touch, &target, &value);
        }
    }

    /// A tile that each warp reads or writes as a whole: which lane touches which element is its own affair, but every tile
    /// has at least so many rows, and each its first element.
    fn tile(&mut self, id: ExprId, address: &Val, stride: &Val, kind: AccessKind) {
        const ROWS: usize = 4;
        let all = self.act.clone();
        let rows = if stride.all_known() { ROWS } else { 1 };
        self.warp_barrier();
        self.act = Mask::new(Lanes::from_fn(self.n, |lane| if lane % 32 < rows { all.levels()[lane] } else { OFF }));
        if !self.act.is_empty() {
            let code = self.code;
            let ty = &code.expr(id).ty;
            let number = Val::lanes(Lanes::from_fn(self.n, |lane| (lane % 32) as i64));
            let int = Ty::Int { bytes: 8, signed: true };
            let index = ops::binary(BinaryOp::Mul, &int, &number, stride, &self.act, id);
            let index = if rows == 1 { Val::known(0) } else { index };
            let address = convert::offset(address, &index, i64::from(ty.bytes().unwrap_or(1)), &self.act);
            let value = Val::unknown();
            if kind.writes() {
                // The rest of the tile is written, too.
                self.lose_target(&address);
            }
            self.access(Touch::plain(id, kind, ty), &address, kind.writes().then_some(&value));
        }
        self.act = all;
        self.warp_barrier();
    }

    /// A copy that all threads of a group make together: which of them writes what is not said.
    fn group_copy(&mut self, values: &[Val]) {
        if let Some(to) = values.first() {
            self.lose_target(to);
        }
        self.new_interval();
    }

    fn set(&mut self, id: ExprId, values: &[Val]) {
        let [to, byte, bytes, ..] = values else { return };
        let Some(size) = bytes.uniform().filter(|&size| (1..=256).contains(&size)) else {
            self.seen(id, false);
            self.lose_target(to);
            return;
        };
        let step = [4, 2, 1].into_iter().find(|step| size % step == 0).unwrap_or(1);
        let ty = Ty::Int { bytes: step as u8, signed: false };
        let value = if byte.uniform() == Some(0) { Val::known(0) } else { Val::unknown() };
        for at in 0..size / step {
            let target = convert::offset(to, &Val::known(at * step), 1, &self.act);
            let touch = Touch::plain(id, AccessKind::Write, &ty);
            self.store(touch, &target, &value);
        }
    }

    fn extreme(&mut self, ty: &Ty, a: &Val, b: &Val, least: bool, id: ExprId) -> Val {
        // The name is that of a sum with a salt of its own: the order of the two does not matter.
        let named = |machine: &mut Self| {
            let both = ops::binary(BinaryOp::Add, &Ty::Opaque { bytes: None }, a, b, &machine.act, id);
            machine.pure(&[both], u32::MAX - u32::from(least), ty)
        };
        let smaller = ops::binary(BinaryOp::Lt, ty, a, b, &self.act, id);
        let smaller = if least { self.relaxed(id, BinaryOp::Lt, (a, b), smaller, true) } else { smaller };
        if let (Data::Uniform(_, NUMBER), Data::Uniform(_, NUMBER), false) = (&a.data, &b.data, smaller.all_known()) {
            return named(self);
        }
        let parting = self.part(&smaller);
        let (yes, no) = if least { (a, b) } else { (b, a) };
        let mut value = no.blended(yes, &parting.yes);
        if !parting.unknown.is_empty() {
            let name = named(self);
            value = value.blended(&name, &parting.unknown);
        }
        value
    }

    fn float_math(&mut self, function: FloatMath, ty: &Ty, values: &[Val]) -> Val {
        let double = matches!(ty, Ty::Float { bytes: 8 });
        let single = matches!(ty, Ty::Float { bytes: 4 });
        let (Some(a), b) = (values.first(), values.get(1)) else { return unknown_of(ty) };
        // Only what every machine computes alike to the last bit, or what is exact in the cases that matter.
        let known = (double || single).then(|| a.uniform().map(ops::float)).flatten();
        let other = b.map(|b| b.uniform().map(ops::float));
        if function == FloatMath::Fma
            && let (Some(b), Some(sum)) = (b, values.get(2))
        {
            let value = self.pure(values, 1000 + function as u32, ty);
            return self.without_zeros(a, b, sum, value);
        }
        let result = match (known, function) {
            (Some(x), FloatMath::Floor) => Some(x.floor()),
            (Some(x), FloatMath::Ceil) => Some(x.ceil()),
            (Some(x), FloatMath::Trunc) => Some(x.trunc()),
            (Some(x), FloatMath::Round) => Some(x.round()),
            (Some(x), FloatMath::Rint) => Some(x.round_ties_even()),
            (Some(x), FloatMath::Sqrt) => Some(x.sqrt()),
            (Some(x), FloatMath::Log2) if x > 0.0 && x.log2().fract() == 0.0 => Some(x.log2()),
            (Some(x), FloatMath::Exp2) if x.fract() == 0.0 && x.abs() < 60.0 => Some(x.exp2()),
            (Some(x), FloatMath::Pow) => match other.flatten() {
                Some(y) if x.fract() == 0.0 && y.fract() == 0.0 && (0.0..20.0).contains(&y) && x.abs() < 1e6 => {
                    Some(x.powi(y as i32)).filter(|result| result.abs() < if single { 1.6e7 } else { 9e15 })
                }
                _ => None,
            },
            (Some(x), FloatMath::Fmod) => other.flatten().filter(|&y| y != 0.0).map(|y| x % y),
            _ => None,
        };
        if let Some(result) = result {
            let rounded = if single { f64::from(result as f32) } else { result };
            return Val::known(rounded.to_bits() as i64);
        }
        if let FloatMath::Floor | FloatMath::Ceil | FloatMath::Trunc = function
            && (double || single)
        {
            return ops::unary(a, &self.act, 700 + function as u64, |x| {
                let x = ops::float(x);
                Some(
                    match function {
                        FloatMath::Floor => x.floor(),
                        FloatMath::Ceil => x.ceil(),
                        _ => x.trunc(),
                    }
                    .to_bits() as i64,
                )
            });
        }
        self.pure(values, 1000 + function as u32, ty)
    }

    fn rank(&self, group: Group) -> Val {
        let n = self.n;
        match group {
            Group::Block => Val::affine(Affine::lane(self.extent), n, |lane| lane as i64),
            // The extents do not count for the very first block.
            Group::Grid if self.launch.grid.contains(&0) && self.block != [0; 3] => Val::unknown(),
            Group::Grid => {
                let [x, y, _] = self.launch.grid.map(u64::from);
                let [bx, by, bz] = self.block.map(u64::from);
                let start = ((bz * y + by) * x + bx) * n as u64;
                let formula = Affine::lane(self.extent).and_then(|lane| lane.moved(start as i64));
                Val::affine(formula, n, |lane| start as i64 + lane as i64)
            }
            Group::Tile(size) => {
                let size = i64::from(size.max(1));
                Val::lanes(Lanes::from_fn(n, |lane| lane as i64 % size))
            }
            Group::Coalesced => {
                if self.act.maybe() > 0 {
                    return Val::unknown();
                }
                let mut ranks = vec![0; n.div_ceil(32)];
                Val::lanes(Lanes::from_fn(n, |lane| {
                    let rank = ranks[lane / 32];
                    ranks[lane / 32] += i64::from(self.act.levels()[lane] != OFF);
                    rank
                }))
            }
            Group::Thread => Val::known(0),
        }
    }

    fn group_size(&self, group: Group) -> Val {
        match group {
            Group::Block => Val::known(self.n as i64),
            Group::Grid if self.launch.grid.contains(&0) => Val::unknown(),
            Group::Grid if self.launch.grid.contains(&0) => Val::number(mix(0x6d1d, 1)),
            Group::Grid => {
                let blocks = self.launch.grid.iter().fold(1i64, |all, &size| all.wrapping_mul(i64::from(size)));
                Val::known(blocks.wrapping_mul(self.n as i64))
            }
            Group::Tile(size) => Val::known(i64::from(size)),
            Group::Coalesced => {
                if self.act.maybe() > 0 {
                    return Val::unknown();
                }
                let mut sizes = vec![0; self.n.div_ceil(32)];
                for (lane, &level) in self.act.levels().iter().enumerate() {
                    sizes[lane / 32] += i64::from(level != OFF);
                }
                Val::lanes(Lanes::from_fn(self.n, |lane| sizes[lane / 32]))
            }
            Group::Thread => Val::known(1),
        }
    }

    /// A library operation of the whole block on its temporary storage.
    fn block_primitive(&mut self, id: ExprId, values: &[Val]) {
        let whole = self.act.is_full();
        let storage = values.first().and_then(Val::uniform).map_or(0, object_of);
        if let Some(index) = (storage as usize).checked_sub(1).filter(|&index| index < self.objects.len()) {
            let used = self.objects[index].primitive;
            let shared = self.objects[index].is_shared();
            if shared && whole && used >= self.interval_start.max(self.block_start) && self.n > 32 {
                self.storage_reused(id, index, used);
            }
        }
        // Inside it threads talk to each other; the exact moment is its own affair.
        self.new_interval();
        for value in values {
            self.lose_target(value);
        }
        if let Some(index) = (storage as usize).checked_sub(1).filter(|&index| index < self.objects.len()) {
            let ty = Ty::Int { bytes: 4, signed: false };
            let touch = Touch::plain(id, AccessKind::Write, &ty);
            let stamp = self.new_record(touch);
            if whole {
                self.objects[index].primitive = stamp;
            }
        }
    }

    fn storage_reused(&mut self, id: ExprId, index: usize, used: u32) {
        let Some(record) = self.trace.record(used).cloned() else { return };
        if record.acquired_block || self.acquired_block {
            return;
        }
        let ty = Ty::Int { bytes: 4, signed: false };
        let touch = Touch::plain(id, AccessKind::Write, &ty);
        let second = self.access_of(touch, 32.min(self.n - 1), 0, 4);
        let first = Access {
            thread: self.thread(0),
            kind: AccessKind::Read,
            site: record.site,
            calls: record.calls.to_vec(),
            offset: 0,
            size: 4,
            element: 4,
            interval: record.interval,
            iteration: self.iteration_of(record.iteration),
        };
        let mut own = record.clone();
        own.iteration = self.iteration;
        own.interval = self.interval;
        let across = self.trace.across(&record, &own);
        let object = self.objects[index].object.clone();
        let (scope, values) = (RaceScope::Block, RaceValues::Unknown);
        self.event(EventKind::Race { object, first, second, scope, values, across, barrier_between: false }, 1);
    }

    /// Orders what the lanes of each active warp did before against what they do after.
    pub(super) fn warp_barrier(&mut self) {
        let next = self.trace.next();
        for (warp, start) in self.warp_start.iter_mut().enumerate() {
            let lanes = warp * 32..(warp * 32 + 32).min(self.n);
            if self.act.levels()[lanes].iter().any(|&level| level >= MAYBE) {
                *start = next;
            }
        }
    }
}

/// Whether what an operation makes of its operands is its result, or what it stores through the accesses that it makes.
const fn hands_on(intrinsic: &Intrinsic) -> bool {
    matches!(
        intrinsic,
        Intrinsic::Shuffle { .. }
            | Intrinsic::WarpVote { .. }
            | Intrinsic::BlockVote(_)
            | Intrinsic::Min
            | Intrinsic::Max
            | Intrinsic::Abs
            | Intrinsic::Bits(_)
            | Intrinsic::FloatMath(_)
            | Intrinsic::FloorRem
            | Intrinsic::WrapIndex { .. }
            | Intrinsic::LoadCached
            | Intrinsic::StoreCached
    )
}
