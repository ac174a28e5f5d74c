//! What is remembered for threads that come by conditions which nobody knows, see `passing.rs` and `suffixes.rs`.

use super::lanes::Mask;
use super::value::Val;
use crate::code::{ExprId, FunctionId};
use crate::readings::deciding::Flow;
use crate::readings::passing::Asks;
use crate::report::{Access, Site};
use rustc_hash::FxHashMap;

/// What is known of such conditions.
#[derive(Default)]
pub(super) struct Doubts<'a> {
    pub(super) flow: Option<Box<Flow<'a>>>,
    pub(super) asked: FxHashMap<(FunctionId, ExprId, bool), Option<Asks>>,
    /// Reads by several lanes at one place, the newest last.
    pub(super) looks: Vec<Look>,
    /// Atomic operations of several lanes at one place that are such within their block only.
    pub(super) scoped: Vec<(Look, Access)>,
    /// Whether lanes of this block may have missed a barrier, and nothing has been seen yet for which that matters.
    pub(super) missable: bool,
    /// Barriers that the last threads of this block may have missed.
    pub(super) suffixes: Suffixes,
}

/// A read by several lanes at one place.
pub(super) struct Look {
    pub(super) index: usize,
    pub(super) offset: i64,
    pub(super) at: ExprId,
    pub(super) interval: u32,
    pub(super) calls: usize,
}

impl Doubts<'_> {
    /// For a new block.
    pub(super) fn renew(&mut self) {
        self.looks.clear();
        self.missable = false;
        self.suffixes.renew();
    }
}

/// What is known of the barriers of the running block that its last threads may miss.
#[derive(Default)]
pub(super) struct Suffixes {
    pub(super) barriers: Vec<Suffix>,
    /// Writes to shared memory by lanes of which some are only may-active, by object, that `stored` does not have yet.
    pub(super) written: Vec<(usize, Val, Mask)>,
    /// Threads that perhaps have stored at a place in shared memory: object and byte.
    pub(super) stored: FxHashMap<(usize, i64), Vec<usize>>,
    /// Some of these are not remembered.
    pub(super) crowded: bool,
}

/// Such a barrier.
pub(super) struct Suffix {
    pub(super) barrier: Site,
    pub(super) conditions: Vec<(FunctionId, ExprId, bool)>,
    /// Of each test the number of each thread: who is away has higher ones than all that come.
    pub(super) numbers: Vec<Vec<i64>>,
}

impl Suffixes {
    /// For a new block.
    fn renew(&mut self) {
        self.barriers.clear();
        self.written.clear();
        self.stored.clear();
        self.crowded = false;
    }
}
