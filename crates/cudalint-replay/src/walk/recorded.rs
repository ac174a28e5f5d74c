//! Recorded walks of functions: what a walk depended on, what it gave, and within which budgets it would go the same way.
//! `memo.rs` makes and uses them.

use crate::memory::Asked;
use crate::quantity::{Assumptions, Quantity};
use crate::value::{Int, Kind, Val};
use cudalint_program::ir::{FunctionId, ModuleId};
use std::sync::Arc;

/// A value that can be compared with one of another walk: it points into no memory and contains no symbol, both of which
/// are numbered anew in each walk. `3`, a null pointer and "unknown" are plain; `&x` and `n + 1` are not.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plain {
    pub kind: PlainKind,
    /// The assumptions that the value rests on.
    pub why: Assumptions,
}

/// As [`Kind`], without what cannot be compared.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum PlainKind {
    Unknown,
    Null,
    Status,
    Success(bool),
    Flag(bool),
    Int {
        value: Option<i64>,
        bytes: u8,
        signed: bool,
    },
    /// The bits of a floating-point number.
    Float(u64),
    /// A string literal. Its text makes no difference to a walk, but whether two arguments are the same one may: `f("a",
    /// "b")` and `f("c", "d")` are alike, `f("a", "a")` is not. So it is the number of the first argument with this text.
    Str(usize),
    /// A parameter that the function only prints: any argument does.
    Printed,
}

/// A template argument that is a plain type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlainType {
    Bool,
    Int { bytes: u8, signed: bool },
    Float { bytes: u8 },
}

/// All that a walk depends on beside the code, and that has to be the same for it to be used again.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Key {
    /// How many rounds of a loop are run one by one.
    pub iterations: u32,
    /// How many calls stand around: deep ones are not followed.
    pub frames: usize,
    /// How many loops around run their first round by itself.
    pub loops_inside: u32,
    pub dry: bool,
    pub muted: bool,
    /// Assumptions that do not hold on the path.
    pub excluded: Vec<String>,
    pub template: Vec<PlainType>,
    pub arguments: Vec<Plain>,
}

/// By how much the budget could have been another without any difference to a walk. A loop whose rounds are expensive is
/// cut when they have taken half of the steps that were left before it; with more steps it might have run on, with fewer
/// it might have been cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Margins {
    /// So many steps fewer would make a difference: a loop that ran to its end would be cut.
    pub fewer: i64,
    /// So many steps more would: a loop that was cut would run on.
    pub more: i64,
}

impl Default for Margins {
    fn default() -> Self {
        Self { fewer: i64::MAX, more: i64::MAX }
    }
}

impl Margins {
    /// A loop has used its steps but for `over` of the half that it may have: below 0 it is cut.
    pub fn note_loop(&mut self, over: i64) {
        if over < 0 { self.more = self.more.min(-over) } else { self.fewer = self.fewer.min(over) }
    }

    /// The narrower of both, each way.
    pub fn narrowed(self, other: Self) -> Self {
        Self { fewer: self.fewer.min(other.fewer), more: self.more.min(other.more) }
    }

    /// The margins seen from a budget with so many steps more.
    pub const fn shifted(self, more: i64) -> Self {
        Self { fewer: self.fewer.saturating_add(more), more: self.more.saturating_sub(more) }
    }

    /// Whether so many steps more (below 0: fewer) make no difference. A step at either end is left for the call itself.
    pub const fn allow(self, more: i64) -> bool {
        -more < self.fewer.saturating_sub(2) && more < self.more.saturating_sub(2)
    }
}

/// A walk of a function that left no trace: what it depended on, what it cost, and what it gave.
#[derive(Debug)]
pub(super) struct Recorded {
    pub key: Key,
    /// String literals that the function met: had an argument been one of them, it could have been told from others.
    pub literals: Vec<Arc<str>>,
    /// Functions that were entered, and whether they were walked to their ends.
    pub entered: Vec<(ModuleId, FunctionId, bool)>,
    /// Kinds of memory that the walk would have changed, had there been any: "code out of sight may write all objects
    /// that have escaped". Where there are some now, it cannot be used.
    pub asked: Asked,
    /// The same on paths that were walked and given up.
    pub asked_aside: Asked,
    /// Steps taken.
    pub steps: u32,
    /// Steps that were left before it.
    pub steps_left: u32,
    pub margins: Margins,
    /// Rounds of loops taken of those that an entry may run one by one.
    pub iterations: u32,
    /// Whether it may have waited for work that was started before.
    pub waits: bool,
    /// How much deeper than the call it nested.
    pub depth: u32,
    /// How many symbols were made; the numbers of later ones follow them.
    pub atoms: u32,
    /// Types whose sizes became symbols, in order.
    pub sized: Vec<Box<str>>,
    /// What the function gave back.
    pub value: Plain,
}

/// What is noted while walks are recorded; recordings nest, as calls do.
#[derive(Debug, Default)]
pub(super) struct Recording {
    /// How many are open.
    pub open: u32,
    /// How often something was done that outlasts a function's walk, or looked at that others make.
    pub traces: u32,
    /// How often all work that was started may have been waited for.
    pub waits: u32,
    pub margins: Margins,
    /// String literals met since the outermost recording began.
    pub literals: Vec<Arc<str>>,
    /// Functions entered since then; with `true` when they were left at their ends.
    pub entered: Vec<(ModuleId, FunctionId, bool)>,
}

/// The state of a walk when the recording of a call began.
pub(super) struct Start {
    pub key: Key,
    /// The texts of the arguments that are string literals.
    pub strings: Vec<Arc<str>>,
    /// Objects with lower numbers are the caller's.
    pub objects: u32,
    pub lowest: u32,
    pub asked: Asked,
    pub asked_aside: Asked,
    /// Which objects were watched for escaping, and whether one had.
    pub escapes: (u32, bool),
    pub traces: u32,
    pub waits: u32,
    pub atoms: u32,
    pub sized: Option<Vec<Box<str>>>,
    pub steps: u32,
    pub margins: Margins,
    pub iterations: u32,
    pub deepest: u32,
    /// How many literals, entered functions, events, conditions and cut walks there were.
    pub literals: usize,
    pub entered: usize,
    pub events: usize,
    pub conditions: usize,
    pub cut: u32,
}

impl Plain {
    /// The value in a walk.
    pub fn val(&self) -> Val {
        let kind = match &self.kind {
            PlainKind::Unknown | PlainKind::Str(_) | PlainKind::Printed => Kind::Unknown,
            PlainKind::Null => Kind::Null,
            PlainKind::Status => Kind::Status,
            PlainKind::Success(value) => Kind::Success(*value),
            PlainKind::Flag(value) => Kind::Flag(*value),
            PlainKind::Int { value, bytes, signed } => {
                Kind::Int(Int { q: value.map_or(Quantity::Unknown, Quantity::Known), bytes: *bytes, signed: *signed })
            }
            PlainKind::Float(bits) => Kind::Float(f64::from_bits(*bits)),
        };
        Val { kind, why: self.why.clone() }
    }

    /// A value without its assumptions, where it can be compared; strings are told apart by whoever asks.
    pub fn kind_of(kind: &Kind) -> Option<PlainKind> {
        Some(match kind {
            Kind::Unknown => PlainKind::Unknown,
            Kind::Null => PlainKind::Null,
            Kind::Status => PlainKind::Status,
            Kind::Success(value) => PlainKind::Success(*value),
            Kind::Flag(value) => PlainKind::Flag(*value),
            Kind::Float(value) => PlainKind::Float(value.to_bits()),
            Kind::Int(Int { q: Quantity::Known(value), bytes, signed }) => {
                PlainKind::Int { value: Some(*value), bytes: *bytes, signed: *signed }
            }
            Kind::Int(Int { q: Quantity::Unknown, bytes, signed }) => {
                PlainKind::Int { value: None, bytes: *bytes, signed: *signed }
            }
            _ => return None,
        })
    }
}
