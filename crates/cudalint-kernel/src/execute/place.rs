//! Sets a launch up and runs its blocks.

use super::distances::SAMPLES;
use super::lanes::Mask;
use super::machine::Machine;
use super::memory::{Initial, Memory};
use super::state::{Frame, Slot};
use super::value::{Data, Shape, Val, mix, pointer};
use super::watch::Watch;
use crate::code::{FunctionId, ObjectSpace, Ty, VariableId};
use crate::figures::Figures;
use crate::indices::Seen;
use crate::launch::Argument;
use crate::report::{BufferUse, Coverage, ExecutionReport, ObjectKind};
use std::rc::Rc;

impl Machine<'_> {
    /// Makes the objects of the code and the buffers of the launch.
    pub(super) fn place_objects(&mut self) {
        let code = self.code;
        let mut dynamic = 0;
        for object in &code.objects {
            let (kind, bytes) = match object.space {
                ObjectSpace::Shared => (ObjectKind::Shared, object.bytes),
                ObjectSpace::DynamicShared => (ObjectKind::DynamicShared, self.launch.dynamic_shared),
                ObjectSpace::Constant => (ObjectKind::Constant, object.bytes),
                ObjectSpace::Device => (ObjectKind::Device, object.bytes),
            };
            if object.space == ObjectSpace::DynamicShared && dynamic != 0 {
                self.statics.push(dynamic);
                continue;
            }
            let mut memory = Memory::new(kind, &object.name, Some(object.site), bytes, object.align.max(1));
            let filled = self.launch.constants.iter().find(|(at, _)| *at == (object.site.module, object.site.span));
            memory.initial = match (&object.values, object.space) {
                (_, ObjectSpace::Constant) if let Some((_, contents)) = filled => Initial::from(contents),
                (Some((bytes, values)), ObjectSpace::Constant | ObjectSpace::Device) => {
                    Initial::Integers(*bytes, values.clone())
                }
                (_, ObjectSpace::Shared | ObjectSpace::DynamicShared) => Initial::Nothing,
                _ => Initial::Something,
            };
            let id = self.add_object(memory);
            if object.space == ObjectSpace::DynamicShared {
                // Its first byte is aligned for everything.
                if let Some(memory) = self.objects.last_mut() {
                    memory.align = 16;
                }
                dynamic = id;
            }
            self.statics.push(id);
        }
        let kernel = code.functions.first();
        for (number, buffer) in self.launch.buffers.iter().enumerate() {
            let parameter = self.launch.arguments.iter().position(|argument| reaches(argument, number, 0));
            let variable = parameter.and_then(|at| kernel?.variables.get(VariableId::from(at)));
            let name = variable.map_or_else(String::new, |variable| format!("{}{}", variable.name, buffer.field));
            let site = variable.map(|variable| variable.site);
            // An allocation of nothing gives no memory at all: more likely its size was not understood.
            let bytes = buffer.bytes.filter(|&bytes| bytes > 0);
            let mut memory = Memory::new(ObjectKind::Buffer(number), &name, site, bytes, buffer.align.max(1));
            memory.initial = Initial::from(&buffer.contents);
            let id = self.add_object(memory);
            self.buffers.push(id);
        }
    }

    /// Runs the blocks that matter and says what happened.
    pub(super) fn run_grid(mut self) -> (ExecutionReport, Watch) {
        self.run_blocks();
        let of_blocks = self.launch.grid.iter().map(|&size| u64::from(size)).product();
        let every = self.blocks_run.len() as u64 == of_blocks;
        self.settle_pending(every && self.complete);
        self.settle_crowds();
        let met = |state: u8| self.sites.iter().fold(0, |count, &site| count + u32::from(site == state));
        let (known, unknown) = (met(1), met(2));
        let places = self
            .sites
            .iter()
            .zip(&self.code.exprs)
            .filter(|(state, _)| **state != 0)
            .map(|(state, node)| (node.site, *state == 1))
            .collect();
        let exact = self.complete && !self.code.damaged;
        let buffers = self
            .buffers
            .iter()
            .map(|&id| {
                let memory = (id as usize).checked_sub(1).and_then(|i| self.objects.get(i));
                let usage = memory.map(|memory| memory.usage.clone()).unwrap_or_default();
                let exact = exact && !usage.inexact;
                let left = memory.filter(|_| exact && every).map(Memory::left_alone).unwrap_or_default();
                BufferUse { read: usage.read, written: usage.written, exact, sure: usage.sure, left }
            })
            .collect();
        let report = ExecutionReport {
            events: self.events.list,
            coverage: Coverage {
                blocks: self.blocks_run.len() as u64,
                of_blocks,
                accesses: known + unknown,
                known,
                places,
                operations: self.operations,
                complete: self.complete,
                uneven: self.uneven,
                causes: self.causes.into_iter().collect(),
                open: self.uniform.reported(),
                unplaced: self.uniform.unplaced,
            },
            buffers,
        };
        (report, self.watch)
    }

    /// As [`Self::run_grid`], for what is counted on the way.
    pub(super) fn run_grid_for_figures(mut self) -> Figures {
        self.run_blocks();
        self.take_figures().unwrap_or_default()
    }

    /// As [`Self::run_grid`], for the values of subscripts; and whether all blocks were executed. `None` where what was executed
    /// was not followed to the end.
    pub(super) fn run_grid_for_indices(mut self) -> Option<(Vec<Seen>, bool)> {
        self.run_blocks();
        let of_blocks: u64 = self.launch.grid.iter().map(|&size| u64::from(size)).product();
        Some((self.take_indices()?, self.blocks_run.len() as u64 == of_blocks))
    }

    /// Executes the blocks that matter, as far as the budget goes.
    fn run_blocks(&mut self) {
        let mut blocks =
            chosen_blocks(self.launch.grid.map(|blocks| blocks.max(1)), self.budget.blocks.max(1) as usize);
        if let Watch::Varies(seen) = &self.watch
            && let Some(only) = seen.only
        {
            blocks = vec![only];
        }
        let total = self.budget.lane_operations;
        let all: u64 = self.launch.grid.iter().map(|&size| u64::from(size)).product();
        if all > blocks.len() as u64 && blocks.len() > 2 {
            self.flips.ask(self.code.exprs.len());
        }
        let mut number = 0;
        while let Some(&block) = blocks.get(number) {
            let left = total.saturating_sub(self.operations);
            let ahead = (blocks.len() - number) as u64;
            let share = if number == 0 && ahead > 1 { left / 2 } else { left / ahead };
            if share < 64 {
                self.complete = false;
                break;
            }
            self.limit = self.operations + share;
            self.patient = self.limit;
            self.run_block_of_grid(block);
            if number == 0 {
                // A few blocks to their ends say more than many to their beginnings.
                let affordable = total.saturating_sub(self.operations) / self.operations.max(1);
                blocks.truncate(1 + affordable.max(2) as usize);
            }
            number += 1;
            if number == SAMPLES.min(blocks.len()) {
                let flips = self.blocks_of_flips(&blocks);
                blocks.splice(number..number, flips);
            }
        }
    }

    fn run_block_of_grid(&mut self, block: [u32; 3]) {
        self.block = block;
        self.blocks_run.push(block);
        self.act = Mask::full(self.n);
        self.left.fill(0);
        self.left_any = 0;
        self.frames.clear();
        self.calls = Rc::from([]);
        self.guards.clear();
        self.unguarded = 0;
        self.gone = 0;
        self.doubts.renew();
        self.locks.renew();
        self.uniform.renew();
        self.splits.clear();
        self.absences.clear();
        self.iteration = 0;
        self.depth = 0;
        self.stopped = false;
        self.silent = false;
        self.told_barriers.clear();
        self.late.clear();
        self.acquired = false;
        self.acquired_block = false;
        self.objects_wait = false;
        self.interval = 0;
        self.phase = 0;
        let now = self.trace.next();
        self.interval_start = now;
        self.block_start = now;
        self.warp_start.fill(now);
        self.waited = 0;
        self.copies = false;
        // A thread's own variables do not outlive it; those of the code and the launch come first.
        let lasting = self.statics.iter().chain(&self.buffers).max().copied().unwrap_or_default() as usize;
        self.objects.truncate(lasting);
        self.living.truncate(lasting);
        for memory in &mut self.objects {
            if memory.is_shared() {
                memory.renew();
            }
        }
        let code = self.code;
        let Some(kernel) = code.functions.first() else { return };
        let lanes = self.n as u32;
        let slots =
            (0..kernel.variables.len()).map(|_| Slot { value: Val::undefined(), declared: lanes, object: 0 }).collect();
        self.frames.push(Frame { function: FunctionId(0), slots, result: Val::undefined(), lanes });
        for (number, variable) in kernel.variables.iter().enumerate().take(kernel.parameters as usize) {
            let argument = self.launch.arguments.get(number).unwrap_or(&Argument::Unknown);
            let value = self.argument(argument, &variable.ty);
            let value = one_for_all(value, mix(0x5eed, number as u64));
            self.set_parameter(VariableId::from(number), &value);
        }
        self.run_block(&kernel.body);
        if !self.stopped {
            self.settle_absences();
        }
        self.figures_of_block();
    }

    fn argument(&self, argument: &Argument, ty: &Ty) -> Val {
        if let Ty::Aggregate(layout) = ty {
            let leaf = |offset: u32, ty: &Ty| match argument {
                Argument::Record(fields) => fields
                    .iter()
                    .find(|(at, _)| *at == u64::from(offset))
                    .map_or_else(Val::unknown, |(_, value)| self.argument(value, ty)),
                _ => Val::unknown(),
            };
            return Val::aggregate(layout.leaves.iter().map(|l| leaf(l.offset, &l.ty)).collect());
        }
        let value = match argument {
            Argument::Int(value) => Val::known(ty.wrap(*value)),
            Argument::Float(value) if matches!(ty, Ty::Float { bytes: 4 }) => {
                Val::known(f64::from(*value as f32).to_bits() as i64)
            }
            Argument::Float(value) if ty.is_float() => Val::known(value.to_bits() as i64),
            Argument::Null => Val::known(0),
            Argument::Pointer { buffer, offset } if *ty == Ty::Pointer => match self.buffers.get(*buffer) {
                Some(&id) if id != 0 && offset.unsigned_abs() < 1 << 42 => Val::known(pointer(id, *offset)),
                _ => Val::unknown(),
            },
            Argument::Record(fields) => match fields.first() {
                Some((0, value)) if !matches!(value, Argument::Record(_)) => self.argument(value, ty),
                _ => Val::unknown(),
            },
            _ => return Val::unknown(),
        };
        Val { shape: Shape::Constant, ..value }
    }
}

/// What nobody knows of an argument is still one value for all threads.
fn one_for_all(value: Val, name: u64) -> Val {
    match &value.data {
        Data::Aggregate(leaves) => {
            let leaf = |(at, leaf): (usize, &Val)| one_for_all(leaf.clone(), mix(name, at as u64 + 1));
            Val::aggregate(leaves.iter().enumerate().map(leaf).collect())
        }
        _ if value.is_unknown() => Val { shape: Shape::Constant, ..Val::number(name) },
        _ => value,
    }
}

/// Whether an argument points into a buffer; records in records are looked into a few levels deep.
fn reaches(argument: &Argument, buffer: usize, depth: u32) -> bool {
    match argument {
        Argument::Pointer { buffer: to, .. } => *to == buffer,
        Argument::Record(fields) => depth < 8 && fields.iter().any(|(_, inner)| reaches(inner, buffer, depth + 1)),
        _ => false,
    }
}

/// The blocks at the corners and edges of the grid and their neighbours, the most telling first: at most so many.
fn chosen_blocks(grid: [u32; 3], most: usize) -> Vec<[u32; 3]> {
    let total: u64 = grid.iter().map(|&size| u64::from(size)).product();
    let mut chosen: Vec<[u32; 3]> = Vec::new();
    let mut add = |block: [u32; 3]| {
        let block = [0, 1, 2].map(|axis| block[axis].min(grid[axis] - 1));
        if chosen.len() < most && !chosen.contains(&block) {
            chosen.push(block);
        }
    };
    let [x, y, z] = grid.map(|size| size - 1);
    add([0, 0, 0]);
    add([x, y, z]);
    add([1, 0, 0]);
    add([0, 1, 0]);
    add([x, 0, 0]);
    add([0, y, 0]);
    add([0, 0, 1]);
    add([0, 0, z]);
    add([x.saturating_sub(1), y, z]);
    add([x, y.saturating_sub(1), z]);
    add([1, 1, 0]);
    add([x, y, 0]);
    if total <= most as u64 {
        for number in 0..total {
            let (gx, gy) = (u64::from(grid[0]), u64::from(grid[1]));
            add([(number % gx) as u32, (number / gx % gy) as u32, (number / (gx * gy)) as u32]);
        }
    }
    chosen
}
