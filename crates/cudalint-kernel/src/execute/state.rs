//! Records that an execution keeps of what runs: calls, conditions, updates that are counted, barriers that lanes missed.

use super::lanes::Mask;
use super::value::Val;
use crate::code::{ExprId, FunctionId, VariableId};
use crate::report::{Access, Site, Thread};
use std::rc::Rc;
use typed_index_collections::TiVec;

/// A register, or the object that a variable in memory is.
pub(super) struct Slot {
    pub(super) value: Val,
    /// Lanes that were active where it came into being: a write by as many writes all.
    pub(super) declared: u32,
    /// Its object, once somebody asked for the address; numbered from 1, 0 for none.
    pub(super) object: u32,
}

/// A call that is running.
pub(super) struct Frame {
    pub(super) function: FunctionId,
    pub(super) slots: TiVec<VariableId, Slot>,
    pub(super) result: Val,
    /// Lanes active at the call.
    pub(super) lanes: u32,
}

/// A barrier that some lanes did not come to, whose way goes on: are they leaving the kernel or not?
pub(super) struct Absence {
    pub(super) barrier: Site,
    pub(super) calls: Vec<Site>,
    pub(super) waits: Thread,
    /// A lane that is absent, and all of them.
    pub(super) absent: usize,
    pub(super) lanes: Vec<bool>,
    pub(super) condition: Site,
    pub(super) same_warp: bool,
    /// Something that is not sure happened to them since.
    pub(super) may_arrive: bool,
    /// A read of shared memory that nobody has written was seen since.
    pub(super) missed: bool,
}

/// A condition that holds in the active lanes.
pub(super) struct Guard {
    pub(super) site: Site,
    pub(super) divergence: Divergence,
    /// Where it is not known in all lanes: what is needed to ask for whom it is made.
    pub(super) open: Option<Open>,
}

/// A condition that is not known in some lanes.
#[derive(Clone, Copy)]
pub(super) struct Open {
    pub(super) function: FunctionId,
    pub(super) condition: ExprId,
    /// Lanes that go on are those for which it does not hold.
    pub(super) negated: bool,
    /// It stands before code that leaves the function: lanes that go on are those that did not.
    pub(super) leaves: bool,
    /// It stands before the rounds of a loop.
    pub(super) looped: bool,
    /// Two lanes whose answers have different names.
    pub(super) differ: Option<[usize; 2]>,
    /// [`super::machine::Machine::unguarded`] when lanes came to it, and when they went on.
    pub(super) unguarded: [u32; 2],
}

impl Open {
    /// The same, once lanes have gone on.
    pub(super) const fn after(self, unguarded: u32) -> Self {
        Self { unguarded: [self.unguarded[0], unguarded], ..self }
    }
}

/// Whether lanes passed a condition that is not known there.
#[derive(Clone)]
pub(super) enum Divergence {
    /// None did.
    None,
    /// The condition of an `if`.
    If(Rc<Unsure>),
    /// Another one.
    Other,
}

/// An `if` whose condition is not known in some lanes.
pub(super) struct Unsure {
    pub(super) condition: ExprId,
    /// Lanes that go on are those for which it does not hold.
    pub(super) negated: bool,
    /// Lanes that came to it.
    pub(super) entry: Mask,
    /// Calls that were running.
    pub(super) frames: usize,
    /// [`Machine::unguarded`] when lanes came to it.
    pub(super) unguarded: u32,
}

/// What a range check compares an index with: bits and tag of each limit.
pub(super) type Limits = Vec<(i64, u8)>;

/// An update of an object at one place of the code.
pub(super) struct Crowd {
    pub(super) at: ExprId,
    pub(super) index: usize,
    pub(super) elements: u64,
    /// By the first lane that was counted, or that perhaps is.
    pub(super) access: Access,
    pub(super) guards: Vec<Site>,
    pub(super) phase: u32,
    pub(super) sure: Tally,
    /// With those that perhaps pass a range check of the index.
    pub(super) passing: Option<Passing>,
}

/// Lanes that are counted where they pass a range check.
pub(super) struct Passing {
    pub(super) condition: ExprId,
    pub(super) limits: Limits,
    pub(super) tally: Tally,
}

/// Lanes of one step in each block.
pub(super) struct Tally {
    /// The block that is counted, in order of execution.
    pub(super) block: usize,
    /// Of the blocks before it.
    pub(super) before: u64,
    pub(super) now: u64,
    /// Whether all blocks see the object.
    pub(super) global: bool,
}

impl Tally {
    pub(super) const fn new(global: bool) -> Self {
        Self { block: 0, before: 0, now: 0, global }
    }

    /// Whether a step of so many lanes changes anything.
    pub(super) const fn is_more(&self, block: usize, lanes: u64) -> bool {
        lanes > 0 && (block != self.block || lanes > self.now)
    }

    pub(super) fn add(&mut self, block: usize, lanes: u64) {
        if block != self.block {
            self.before = self.total();
            self.now = 0;
            self.block = block;
        }
        self.now = self.now.max(lanes);
    }

    pub(super) fn total(&self) -> u64 {
        if self.global { self.before + self.now } else { self.before.max(self.now) }
    }
}
