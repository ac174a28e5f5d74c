//! Configurations for kernels whose launch, or whose block, is not in sight: taken from what the kernel says of itself.

use super::report::{Event, EventKind, ObjectKind, RaceScope};
use cudalint_kernel::code::Ty;
use cudalint_kernel::{Argument, Buffer, Code, Contents, LaunchInput, readings};

/// Most threads of a block.
const MAX_THREADS: i64 = 1024;

/// A block that a kernel is probably meant for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Guess {
    pub block: [u32; 3],
    /// Another block that what is found must hold for too, where nothing in the kernel speaks for the first.
    pub other: Option<[u32; 3]>,
    /// Whether the kernel states the block itself, by `__launch_bounds__`.
    pub stated: bool,
}

impl Guess {
    /// A block of one row, of a common size.
    const fn one_row() -> Self {
        Self { block: [256, 1, 1], other: Some([64, 1, 1]), stated: false }
    }

    /// As many threads, which were in one row, in one column.
    fn with_one_column(self) -> Self {
        let turn = |[x, y, z]: [u32; 3]| [y, x, z];
        Self { block: turn(self.block), other: self.other.map(turn), ..self }
    }

    /// As many threads in one row.
    pub fn in_one_row(&self) -> Self {
        let [x, y, _] = self.block;
        Self { block: [x.saturating_mul(y), 1, 1], other: self.other.and(Self::one_row().other), stated: self.stated }
    }

    /// The assumption that it is.
    pub fn text(&self) -> String {
        let threads: Vec<String> =
            self.block.iter().rev().skip_while(|axis| **axis == 1).map(ToString::to_string).collect();
        let threads: Vec<String> = threads.into_iter().rev().collect();
        match threads.len() {
            0 => "the kernel is launched with 1 thread a block".to_owned(),
            _ => format!("the kernel is launched with {} threads a block", threads.join(" x ")),
        }
    }

    /// Whether an event of an execution with a guessed block means anything: those that hang on sizes do not.
    pub fn admits(&self, event: &Event) -> bool {
        match &event.kind {
            // A kernel may be meant for one thread.
            EventKind::Race { object, scope, .. } => {
                *scope != RaceScope::Grid && matches!(object.kind, ObjectKind::Shared | ObjectKind::DynamicShared)
            }
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

/// The block for a kernel: from `__launch_bounds__`, from the sizes of its shared arrays, or a common one.
pub(super) fn guess(code: &Code) -> Option<Guess> {
    let [one, two, three] = readings::block::axes(code);
    if three {
        return None;
    }
    // Threads that a kernel does not tell apart along x would all do the same: it has one there.
    if two && !one {
        return along_x(code, false).map(Guess::with_one_column);
    }
    along_x(code, two)
}

/// The same, for a kernel that tells threads apart along x, and perhaps along y.
fn along_x(code: &Code, two: bool) -> Option<Guess> {
    let bound = code.launch_bounds.filter(|threads| (1..=MAX_THREADS as u32).contains(threads));
    if let Some(threads) = bound {
        let block = if two { square(i64::from(threads))? } else { [threads, 1, 1] };
        return Some(Guess { block, other: None, stated: true });
    }
    if let Some(block) = from_shared(code, two) {
        return Some(Guess { block, other: None, stated: false });
    }
    Some(if two { Guess { block: [16, 16, 1], other: Some([32, 8, 1]), stated: false } } else { Guess::one_row() })
}

/// The block that shared arrays are made for: of one dimension a power of two, of two dimensions a square tile, each
/// perhaps with some room beside it for a halo or against bank conflicts.
fn from_shared(code: &Code, two: bool) -> Option<[u32; 3]> {
    let sides = readings::block::tiles(code).filter_map(|extents| match extents {
        [outer, width, ..] if two => Some(floor_power(*outer.min(width))),
        [outer] if !two => Some(floor_power(*outer)),
        _ => None,
    });
    let range = if two { 4..=32 } else { 32..=MAX_THREADS };
    let side = u32::try_from(sides.filter(|side| range.contains(side)).max()?).ok()?;
    Some(if two { [side, side, 1] } else { [side, 1, 1] })
}

/// The largest power of two that is not above a number.
fn floor_power(value: i64) -> i64 {
    if value <= 0 { 0 } else { 1_i64 << (63 - value.leading_zeros()) }
}

/// A block of so many threads in two dimensions.
fn square(threads: i64) -> Option<[u32; 3]> {
    let side = floor_power(threads.isqrt()).max(1);
    let other = threads.checked_div(side)?;
    Some([u32::try_from(other).ok()?, u32::try_from(side).ok()?, 1])
}

/// A launch of a kernel with nothing known but the block: numbers unknown, pointers to memory of their own.
pub(super) fn bare_launch(code: &Code, block: [u32; 3]) -> Option<(LaunchInput, Vec<super::RunBuffer>)> {
    let kernel = code.functions.first()?;
    let (mut arguments, mut buffers, mut run) = (Vec::new(), Vec::new(), Vec::new());
    for parameter in kernel.variables.iter().take(kernel.parameters as usize) {
        if parameter.ty != Ty::Pointer {
            arguments.push(Argument::Unknown);
            continue;
        }
        arguments.push(Argument::Pointer { buffer: buffers.len(), offset: 0 });
        buffers.push(Buffer { bytes: None, contents: Contents::Unknown, align: 1, field: String::new() });
        run.push(super::RunBuffer {
            parameter: parameter.name.clone(),
            argument: String::new(),
            allocation: None,
            bytes: None,
        });
    }
    let launch = LaunchInput { grid: [0, 0, 0], block, dynamic_shared: None, cooperative: None, arguments, buffers };
    Some((launch, run))
}
