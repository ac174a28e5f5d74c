//! Configurations for kernels whose launch, or whose block, is not in sight: taken from what the kernel says of itself.

use super::extents::{Axis, Block, combinations, open_block};
use super::report::{Access, AccessKind, Event, EventKind, ObjectKind, RaceScope, RaceValues};
use cudalint_kernel::code::Ty;
use cudalint_kernel::readings::deciding::Given;
use cudalint_kernel::{Argument, Buffer, Code, Contents, LaunchInput, readings};

/// Most threads of a block.
const MAX_THREADS: i64 = 1024;
/// Threads of a warp: kernels are hardly made for fewer.
const WARP: u32 = 32;

/// Blocks that a kernel is probably meant for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Guess {
    pub block: [u32; 3],
    /// Another block that what is found must hold for too, where nothing in the kernel speaks for the first.
    pub other: Option<[u32; 3]>,
    /// Blocks that the launches in sight may have as well: what is found must hold for these, too.
    pub others: Vec<[u32; 3]>,
    /// A small block: races in memory that all blocks see must show there as well.
    pub small: [u32; 3],
    /// Whether the kernel states the block itself, by `__launch_bounds__`. Of several axes it states the product alone: how the
    /// threads lie is chosen here.
    pub stated: bool,
    /// Whether a launch in sight has the block.
    launched: bool,
    /// Along which axes the kernel tells threads apart.
    axes: [bool; 3],
    /// What is written of the block.
    written: Block,
}

/// What else an execution with a guessed block rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// Nothing.
    Nothing,
    /// Numbers that were chosen.
    Numbers,
    /// Several blocks, perhaps with numbers that were chosen.
    Blocks,
    /// Zeros in all memory of which nobody knows what is in it, perhaps with numbers that were chosen.
    Zeros,
}

impl Guess {
    /// The block of a launch in sight.
    pub fn of_launch(code: &Code, block: [u32; 3]) -> Self {
        let axes = readings::block::thread_axes(code);
        let written = block.map(|extent| Axis::from(Some(extent)));
        Self { block, other: None, others: Vec::new(), small: block, stated: false, launched: true, axes, written }
    }

    /// Whether the kernel states the block, or a launch in sight has it.
    pub const fn is_given(&self) -> bool {
        self.stated || self.launched
    }

    /// Whether a launch in sight has the block.
    pub const fn is_launched(&self) -> bool {
        self.launched
    }

    /// As many threads, which were in one row, in one column.
    fn with_one_column(self) -> Self {
        let turn = |[x, y, z]: [u32; 3]| [y, x, z];
        Self { block: turn(self.block), other: self.other.map(turn), small: turn(self.small), ..self }
    }

    /// As many threads in one row, if nothing that is written speaks against it.
    pub fn in_one_row(&self) -> Self {
        let [x, y, _] = self.block;
        if !agrees(&self.written, [x.saturating_mul(y), 1, 1]) {
            return self.clone();
        }
        let other = self.other.map(|_| [64, 1, 1]);
        Self {
            block: [x.saturating_mul(y), 1, 1],
            other,
            small: [32, 1, 1],
            axes: [true, false, false],
            ..self.clone()
        }
    }

    /// With half of the threads along the last axis of which nothing is written: for kernels that leave their shared arrays with more.
    pub fn narrower(&self) -> Option<Self> {
        let free = |axis: &usize| self.written[*axis].is_free() && self.block[*axis] > 1;
        let axis = [1, 0].into_iter().find(free).filter(|_| !self.is_given() && self.block[2] == 1)?;
        let (mut block, mut small) = (self.block, self.small);
        block[axis] /= 2;
        small[axis] = small[axis].min(block[axis]);
        let mut others = self.others.clone();
        for other in &mut others {
            other[axis] = block[axis];
        }
        (block.iter().product::<u32>() >= WARP).then(|| Self { block, other: None, others, small, ..self.clone() })
    }

    /// With what is written of the block in place of what was guessed; `None` where that is more threads than a block can have.
    fn with_written(self, written: Block) -> Option<Self> {
        let put = |block: [u32; 3]| {
            let block = [0, 1, 2].map(|axis: usize| written[axis].nearest(block[axis]));
            is_block(block).then_some(block)
        };
        let mut others = combinations(&written, self.block);
        others.retain(|other| is_block(*other));
        let other = self.other.and_then(put);
        let block = put(self.block).or(other).or_else(|| others.pop())?;
        others.retain(|other| *other != block);
        let stated = self.stated && block == self.block;
        let small = put(self.small).unwrap_or(block);
        Some(Self { block, other: other.filter(|other| *other != block), others, small, stated, written, ..self })
    }

    /// The assumption that it is; nothing where that is a fact.
    pub fn text(&self, grid: [u32; 3]) -> String {
        if self.launched {
            return String::new();
        }
        let shape = |axes: [u32; 3]| {
            let last = axes.iter().rposition(|axis| *axis != 1).unwrap_or_default();
            axes.iter().take(last + 1).map(ToString::to_string).collect::<Vec<_>>().join(" × ")
        };
        let threads = if self.block == [1, 1, 1] { "thread" } else { "threads" };
        if grid.iter().any(|blocks| *blocks > 1) {
            return format!("the kernel is launched with {} blocks of {} {threads}", shape(grid), shape(self.block));
        }
        format!("the kernel is launched with {} {threads} per block", shape(self.block))
    }

    /// Whether an event of an execution with a guessed block means anything: those that hang on sizes do not.
    pub fn admits(&self, event: &Event, rest: Rest) -> bool {
        let scoped =
            matches!(&event.kind, EventKind::Race { first, second, .. } if is_atomic(first) && is_atomic(second));
        if event.doubt.is_some() && !(rest == Rest::Nothing || rest == Rest::Blocks && scoped) {
            return false;
        }
        match &event.kind {
            EventKind::Race { object, scope, first, second, values, .. } => {
                let shared = matches!(object.kind, ObjectKind::Shared | ObjectKind::DynamicShared);
                let global = matches!(object.kind, ObjectKind::Buffer(_) | ObjectKind::Device);
                // A kernel may be meant for one thread, or for one along an axis.
                let (a, b) = (first.thread.thread, second.thread.thread);
                let told_apart = (0..3).all(|axis| a[axis] == b[axis] || self.axes[axis]);
                let alike = first.kind.writes() && second.kind.writes() && *values != RaceValues::Differ && !scoped;
                match (*scope, rest) {
                    (RaceScope::Grid, Rest::Blocks) => global && !alike,
                    (RaceScope::Grid, _) | (_, Rest::Blocks) => false,
                    (_, Rest::Zeros) => shared,
                    _ => shared || global && told_apart && !alike,
                }
            }
            EventKind::DivergentBarrier { .. } => matches!(rest, Rest::Nothing | Rest::Numbers),
            EventKind::WarpMask { condition: Some(_), .. } => matches!(rest, Rest::Nothing | Rest::Numbers),
            _ if rest != Rest::Nothing => false,
            EventKind::OutOfBounds { object, .. } => {
                self.stated && matches!(object.kind, ObjectKind::Shared | ObjectKind::Local)
            }
            EventKind::UninitializedRead { .. }
            | EventKind::WarpMask { .. }
            | EventKind::CrowdedUpdate { .. }
            | EventKind::GridSyncWithoutCooperation { .. } => false,
            _ => true,
        }
    }
}

const fn is_atomic(access: &Access) -> bool {
    matches!(access.kind, AccessKind::Atomic)
}

/// Whether a block can be launched.
fn is_block(block: [u32; 3]) -> bool {
    let threads = block.iter().try_fold(1_u32, |all, axis| all.checked_mul(*axis));
    threads.is_some_and(|threads| (1..=MAX_THREADS as u32).contains(&threads))
}

/// Whether a block is as it is written.
fn agrees(written: &Block, block: [u32; 3]) -> bool {
    written.iter().zip(block).all(|(written, extent)| written.admits(extent))
}

/// The block for a kernel: what launches say of it, and the rest from `__launch_bounds__`, from the sizes of its shared arrays, or a
/// common one.
pub(super) fn guess(code: &Code, written: Block) -> Option<Guess> {
    let axes = readings::block::thread_axes(code);
    let of = |dimensions: usize| {
        let small = [[32, 1, 1], [8, 4, 1], [4, 4, 2]][dimensions - 1];
        let bound = code.launch_bounds.filter(|threads| (1..=MAX_THREADS as u32).contains(threads));
        let (block, other) = match (bound, from_shared(code, dimensions)) {
            (Some(threads), _) => (spread(threads, dimensions)?, None),
            (None, Some(block)) => (block, None),
            (None, None) => {
                let common = [([256, 1, 1], [64, 1, 1]), ([16, 16, 1], [32, 8, 1]), ([8, 8, 4], [16, 4, 4])];
                let (block, other) = common[dimensions - 1];
                (block, Some(other))
            }
        };
        Some(Guess {
            block,
            other,
            small,
            stated: bound.is_some() && dimensions == 1,
            launched: false,
            axes,
            others: Vec::new(),
            written: open_block(),
        })
    };
    let flat = |axis: usize| written[axis].only() == Some(1);
    let guess = match readings::block::axes(code) {
        [_, _, true] if !flat(2) => of(3),
        // Threads that a kernel does not tell apart along x would all do the same: it has one there.
        [false, true, _] if !flat(1) && (written[0].is_free() || flat(0)) => of(1).map(Guess::with_one_column),
        [_, true, _] if !flat(1) => of(2),
        _ => of(1),
    };
    guess?.with_written(written)
}

/// The block that shared arrays are made for: of one dimension a power of two, of two dimensions a square tile, each
/// perhaps with some room beside it for a halo or against bank conflicts.
fn from_shared(code: &Code, dimensions: usize) -> Option<[u32; 3]> {
    let sides = readings::block::tiles(code).filter_map(|extents| match (extents, dimensions) {
        ([outer, width, ..], 2) => Some(floor_power(*outer.min(width))),
        ([outer], 1) => Some(floor_power(*outer)),
        _ => None,
    });
    // One element for each warp of the largest block says nothing of how large blocks are.
    let least = if readings::block::works_with_warps(code) { 33 } else { 32 };
    let range = if dimensions == 2 { 4..=32 } else { least..=MAX_THREADS };
    let side = u32::try_from(sides.filter(|side| range.contains(side)).max()?).ok()?;
    Some(if dimensions == 2 { [side, side, 1] } else { [side, 1, 1] })
}

/// The largest power of two that is not above a number.
fn floor_power(value: i64) -> i64 {
    if value <= 0 { 0 } else { 1_i64 << (63 - value.leading_zeros()) }
}

/// A block of so many threads.
fn spread(threads: u32, dimensions: usize) -> Option<[u32; 3]> {
    if dimensions == 1 {
        return Some([threads, 1, 1]);
    }
    let depth = if dimensions == 3 && threads >= 64 { 4 } else { 1 };
    let of_layer = i64::from(threads / depth);
    let side = floor_power(of_layer.isqrt()).max(1);
    let other = of_layer.checked_div(side)?;
    Some([u32::try_from(other).ok()?, u32::try_from(side).ok()?, depth])
}

/// A launch of a kernel with nothing known but the block: numbers unknown, pointers to memory of their own. Members of records
/// that are pointers have names.
pub(super) fn bare_launch(
    code: &Code,
    block: [u32; 3],
    pointers: &[(Given, String)],
) -> Option<(LaunchInput, Vec<super::RunBuffer>)> {
    let kernel = code.functions.first()?;
    let (mut arguments, mut buffers, mut run) = (Vec::new(), Vec::new(), Vec::new());
    for (number, parameter) in kernel.variables.iter().enumerate().take(kernel.parameters as usize) {
        let mut memory = |name: &str| {
            buffers.push(Buffer {
                bytes: None,
                contents: Contents::Unknown,
                align: 1,
                field: name.strip_prefix(&parameter.name).unwrap_or_default().to_owned(),
            });
            run.push(super::RunBuffer {
                parameter: name.to_owned(),
                argument: String::new(),
                allocation: None,
                from_start: false,
                bytes: None,
            });
            Argument::Pointer { buffer: buffers.len() - 1, offset: 0 }
        };
        if parameter.ty == Ty::Pointer {
            arguments.push(memory(&parameter.name));
            continue;
        }
        let members = pointers.iter().filter_map(|(given, name)| match given {
            Given::Member { parameter, byte, .. } if *parameter == number => Some((*byte, name)),
            _ => None,
        });
        let fields: Vec<(u64, Argument)> = members.map(|(byte, name)| (u64::from(byte), memory(name))).collect();
        arguments.push(if fields.is_empty() { Argument::Unknown } else { Argument::Record(fields) });
    }
    let launch = LaunchInput {
        grid: [0, 0, 0],
        block,
        dynamic_shared: None,
        cooperative: None,
        arguments,
        buffers,
        constants: Vec::new(),
        reads: Vec::new(),
    };
    Some((launch, run))
}

/// The launch with values for some of the numbers.
pub(super) fn with_values(launch: &LaunchInput, numbers: &[(Given, String)], values: &[Option<i64>]) -> LaunchInput {
    let mut launch = launch.clone();
    for ((given, _), value) in numbers.iter().zip(values) {
        let Some(value) = *value else { continue };
        let number = Argument::Int(value);
        match given {
            Given::Parameter(parameter) => {
                if let Some(argument) = launch.arguments.get_mut(*parameter) {
                    *argument = number;
                }
            }
            Given::Member { parameter, byte, .. } => match launch.arguments.get_mut(*parameter) {
                Some(Argument::Record(fields)) => fields.push((u64::from(*byte), number)),
                Some(argument) => *argument = Argument::Record(vec![(u64::from(*byte), number)]),
                None => {}
            },
            Given::Memory { reads, .. } => launch.reads.extend(reads.iter().map(|read| (read.index(), value))),
        }
    }
    launch
}
