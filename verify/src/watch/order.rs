//! Which logged accesses nothing orders: the definition of a data race, for what watchpoints follow.

use super::log::{Logged, Memory};
use crate::api;
use cudalint_program::api::ApiId;
use cudalint_program::api::effects::{AtomicOp, DeviceOp};
use cudalint_syntax::{Language, Region, Span, comments};
use std::collections::BTreeSet;

/// Lanes of a warp.
const LANES: u64 = 32;

/// Ways to order accesses that watchpoints do not follow, beside the functions of the catalogue, by how an identifier of them
/// begins.
const UNFOLLOWED: &[&str] = &[
    "atomic_ref",
    "atomic_signal_fence",
    "__nv_atomic",
    "__atomic_",
    "__pipeline",
    "__mbarrier",
    "mbarrier",
    "pipeline",
    "barrier",
    "latch",
    "counting_semaphore",
    "binary_semaphore",
    "memcpy_async",
    "asm",
    "__asm",
    "this_grid",
    "grid_group",
    "multi_grid",
    "this_multi_grid",
    "this_cluster",
    "cluster_group",
    "__cluster",
    "cub",
    "cudaGridDependency",
    "nvshmem",
];

/// Whether two accesses race: they share a byte, one of them writes, not both are atomic, they are of different threads of
/// one launch, and no barrier stands between them. `block` are the threads of a block along x, y, z.
pub fn race(a: &Logged, b: &Logged, block: [u64; 3]) -> bool {
    let conflict = (a.writes || b.writes) && !(a.atomic && b.atomic) && a.overlaps(b) && !a.same_thread(b);
    if !conflict || a.memory == Memory::Other {
        return false;
    }
    if a.block != b.block {
        return true;
    }
    if a.interval != b.interval {
        return false;
    }
    let warp = |access: &Logged| linear(access.thread, block) / LANES;
    if warp(a) != warp(b) {
        return true;
    }
    // Lanes of one warp: after as many waits for all lanes on both sides none stands between the accesses. Waits for some
    // of the lanes cannot be told apart.
    a.lanes == b.lanes && a.lanes.is_multiple_of(2)
}

/// A thread's number within its block.
fn linear(thread: [u64; 3], block: [u64; 3]) -> u64 {
    thread[0] + block[0] * (thread[1] + block[1] * thread[2])
}

/// The first identifier of a text, comments aside, that may order accesses in a way that watchpoints do not follow.
pub fn unfollowed(text: &str) -> Option<String> {
    let begins = |word: &str| UNFOLLOWED.iter().any(|begin| word.starts_with(begin));
    identifiers(text).into_iter().find(|word| begins(word) || api::is(word, orders))
}

/// Whether a function of device code may order accesses in a way that watchpoints do not follow: fences, exchanges that locks
/// are made of, barriers of some threads or grids, pauses in which others go on.
fn orders(api: ApiId) -> bool {
    matches!(
        api.device_op(),
        Some(
            DeviceOp::Fence(_)
                | DeviceOp::NamedBarrier
                | DeviceOp::AsyncCopy
                | DeviceOp::Nothing
                | DeviceOp::Atomic { op: AtomicOp::CompareExchange | AtomicOp::Exchange, .. }
        )
    )
}

/// The identifiers of a text, comments aside.
pub fn identifiers(text: &str) -> BTreeSet<String> {
    let region = Region { language: Language::Cuda, span: Span::new(0, text.len()) };
    let mut kept = String::with_capacity(text.len());
    let mut from = 0;
    for comment in comments(text, &region) {
        kept.push_str(text.get(from..comment.span.start as usize).unwrap_or(""));
        kept.push(' ');
        from = comment.span.end as usize;
    }
    kept.push_str(text.get(from..).unwrap_or(""));
    kept.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| word.starts_with(|c: char| c.is_alphabetic() || c == '_'))
        .map(str::to_owned)
        .collect()
}
