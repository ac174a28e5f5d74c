//! What the walk over a kernel's code carries with it.

use super::sums::{Fact, Sum};
use super::symbols::Nature;
use crate::code::{Block, ExprId, ObjectId, StmtId, VariableId};
use crate::report::Site;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// What an address begins at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Base {
    /// Memory with static storage; all dynamic shared arrays are the first one of them.
    Object(ObjectId),
    /// What a parameter of the kernel points to, or the pointer at a leaf of it.
    Parameter(VariableId, u16),
    /// A thread's own variable.
    Local,
    /// A pointer that was read from memory.
    Loaded,
    /// Nobody knows.
    Unknown,
}

/// A value of a register.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// A number. Of what is no integer only that equal sums are equal values.
    Number(Sum),
    /// The outcome of a condition.
    Truth(Rc<Truth>),
    /// Bytes from where something begins.
    Address(Base, Sum),
    /// The leaves of an aggregate.
    Parts(Rc<Vec<Self>>),
}

/// A condition: what holds where it is true, what holds where it is false.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Truth {
    pub yes: Vec<Fact>,
    pub no: Vec<Fact>,
    pub nature: Nature,
}

/// A way through the kernel that threads of a block take together.
#[derive(Clone, Debug)]
pub(super) struct State {
    /// Registers of the functions that run, the innermost last.
    pub frames: Vec<Vec<Option<Value>>>,
    /// What the conditions passed say of the thread that came here.
    pub path: Vec<Fact>,
    /// Accesses since the last barrier, by any thread.
    pub open: Vec<usize>,
    /// Whether a barrier was passed since the round of the loop began.
    pub crossed: bool,
    /// Whether the walk is only about what comes before the next barrier.
    pub stops: bool,
    /// Nobody comes here.
    pub dead: bool,
}

/// Where control goes on.
#[derive(Default)]
pub(super) struct Flow {
    pub next: Vec<State>,
    pub breaks: Vec<State>,
    pub continues: Vec<State>,
    pub returns: Vec<(State, Option<Value>)>,
}

impl Flow {
    pub fn at(state: State) -> Self {
        Self { next: vec![state], ..Self::default() }
    }

    /// Takes over all but what goes on directly.
    pub fn take_jumps(&mut self, other: &mut Self) {
        self.breaks.append(&mut other.breaks);
        self.continues.append(&mut other.continues);
        self.returns.append(&mut other.returns);
    }

    pub fn states(&mut self) -> impl Iterator<Item = &mut State> {
        let jumps = self.breaks.iter_mut().chain(&mut self.continues);
        self.next.iter_mut().chain(jumps).chain(self.returns.iter_mut().map(|(state, _)| state))
    }
}

/// What `break`, `continue` and `return` leave.
#[derive(Clone, Copy, Debug)]
pub(super) struct Enclosing {
    /// Whether threads meet at a barrier in it.
    pub barrier: bool,
    /// How many branches that part threads stood around its beginning.
    pub divergent: u32,
    /// Whether some threads left it while others went on.
    pub apart: bool,
    /// A `switch`, which `continue` does not end.
    pub switch: bool,
}

/// How an access touches memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Read,
    Write,
    Atomic,
}

/// How an access touches memory, and how much of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    pub kind: Kind,
    /// Bytes, where known.
    pub size: Option<u32>,
    /// Bytes of an element.
    pub element: u32,
}

/// An access to memory that threads share.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Access {
    pub base: Base,
    pub offset: Sum,
    pub size: u32,
    /// Bytes of an element of what is accessed, as the code sees it.
    pub element: u32,
    pub kind: Kind,
    pub path: Vec<Fact>,
    pub site: Site,
}

/// A loop as it stands in the code.
#[derive(Clone, Copy)]
pub(super) struct Loop<'c> {
    pub id: StmtId,
    pub condition: Option<ExprId>,
    pub body_first: bool,
    pub step: Option<ExprId>,
    pub body: &'c Block,
}

/// What subscripts are, by the address that they are a part of: a sum, `None` where it is no number that is followed, with what
/// the conditions passed say of the thread.
pub(super) type Indices = FxHashMap<ExprId, Vec<(Option<Sum>, Vec<Fact>)>>;

/// Why nothing is said of a kernel, and where that stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The reason.
    pub cause: &'static str,
    /// Its place.
    pub site: Site,
}

pub(super) fn has_address(value: &Value) -> bool {
    match value {
        Value::Address(..) => true,
        Value::Parts(parts) => parts.iter().any(has_address),
        Value::Number(_) | Value::Truth(_) => false,
    }
}

/// The value with pointers that may lead anywhere.
pub(super) fn without_bases(value: &Value) -> Value {
    with_base(value, Base::Unknown)
}

/// The value with pointers that begin there.
pub(super) fn with_base(value: &Value, base: Base) -> Value {
    match value {
        Value::Address(_, offset) => Value::Address(base, offset.clone()),
        Value::Parts(parts) => Value::Parts(Rc::new(parts.iter().map(|part| with_base(part, base)).collect())),
        other => other.clone(),
    }
}
