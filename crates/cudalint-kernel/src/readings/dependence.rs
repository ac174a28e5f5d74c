//! What the variables of a function hang on: the thread's and the block's index, what the launch gives, memory.

use super::source::Source;
use crate::code::{Builtin, Code, Expr, ExprId, FunctionId, Group, Intrinsic, Item, Place, VariableId};
use rustc_hash::FxHashSet;
use typed_index_collections::TiVec;

/// A parameter that a function dereferences.
#[derive(Clone, Debug)]
pub(super) struct Dereferenced {
    pub(super) parameter: u32,
    pub(super) surely: bool,
    pub(super) room: Room,
}

/// Whether accesses through an address leave room in front of the elements that they reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Room {
    None,
    /// All do.
    Left,
    /// They do where whoever calls gives one of these parameters such a number.
    LeftBy(Vec<u32>),
}

impl Room {
    /// Of two accesses together.
    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, _) | (_, Self::None) => Self::None,
            (Self::Left, room) | (room, Self::Left) => room,
            (Self::LeftBy(mut own), Self::LeftBy(other)) => {
                own.retain(|parameter| other.contains(parameter));
                if own.is_empty() { Self::None } else { Self::LeftBy(own) }
            }
        }
    }
}

/// One function while it is read.
pub(super) struct Frame<'c> {
    pub(super) source: Source<'c>,
    /// What each variable is ever given.
    pub(super) given: TiVec<VariableId, Vec<ExprId>>,
    /// Variables computed from the thread's or block's index.
    indices: FxHashSet<VariableId>,
    /// Variables computed from what the launch gives, or from memory.
    given_by_launch: FxHashSet<VariableId>,
    pub(super) dereferenced: Vec<Dereferenced>,
    pub(super) calls: u32,
}

impl<'c> Frame<'c> {
    pub(super) fn new(code: &'c Code, id: FunctionId, calls: u32) -> Option<Self> {
        let function = code.functions.get(id)?;
        let mut frame = Self {
            source: Source::new(code, function),
            given: vec![Vec::new(); function.variables.len()].into(),
            indices: FxHashSet::default(),
            given_by_launch: FxHashSet::default(),
            dereferenced: Vec::new(),
            calls,
        };
        let mut given = std::mem::take(&mut frame.given);
        code.walk(&function.body, |item| {
            if let Item::Expr(id) = item
                && let Expr::Write(Place::Register { variable, .. }, value) = &code.expr(id).kind
            {
                given.get_mut(*variable).into_iter().for_each(|all| all.push(*value));
                if frame.mentions_index(*value) {
                    frame.indices.insert(*variable);
                }
                if frame.depends_on_launch(*value) {
                    frame.given_by_launch.insert(*variable);
                }
            }
            true
        });
        frame.given = given;
        Some(frame)
    }

    /// The parameter of the kernel that is a condition by itself: `if (flag)`.
    pub(super) fn parameter_asked(&self, condition: ExprId) -> Option<u32> {
        let Expr::Read(Place::Register { variable, .. }) = self.source.kind(self.source.bare(condition)) else {
            return None;
        };
        let unchanged = self.given.get(*variable).is_some_and(Vec::is_empty);
        (self.calls == 0 && unchanged && variable.0 < self.source.function.parameters).then_some(variable.0)
    }

    /// Whether an expression depends on the thread's or block's index.
    pub(super) fn mentions_index(&self, expr: ExprId) -> bool {
        self.mentions(expr, |kind| match kind {
            Expr::Builtin(Builtin::ThreadIdx(_) | Builtin::BlockIdx(_)) => true,
            Expr::Intrinsic(Intrinsic::GroupRank(group), _) => *group != Group::Thread,
            Expr::Read(Place::Register { variable, .. }) => self.indices.contains(variable),
            _ => false,
        })
    }

    /// Whether an expression depends on an argument, on the launch's extents or on memory: another launch has another value.
    pub(super) fn depends_on_launch(&self, expr: ExprId) -> bool {
        self.mentions(expr, |kind| match kind {
            Expr::Builtin(Builtin::BlockDim(_) | Builtin::GridDim(_)) | Expr::Call(..) | Expr::Opaque { .. } => true,
            Expr::Read(Place::Memory { .. }) => true,
            Expr::Read(Place::Register { variable, .. }) => {
                variable.0 < self.source.function.parameters || self.given_by_launch.contains(variable)
            }
            _ => false,
        })
    }

    fn mentions(&self, expr: ExprId, wanted: impl Fn(&Expr) -> bool) -> bool {
        let mut found = false;
        self.source.code.walk_expr(expr, |_, kind| {
            found |= wanted(kind);
            !found
        });
        found
    }
}
