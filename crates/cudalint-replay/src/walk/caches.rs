//! What the walks of one module find out about its code once: none of it depends on what a walk knows.

use cudalint_program::Entry;
use cudalint_program::ir::{ExprId, FunctionId, ModuleId, TypeId};
use cudalint_program::types::Ty;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};

/// What is found out about the code of any module, by the addresses of the paths that were asked for (they stand in the
/// modules) or by module and position. It serves the walks of other modules, too.
#[derive(Debug, Default)]
pub(crate) struct Learned {
    /// Names looked up so far, by what was asked.
    pub(super) names: RefCell<FxHashMap<(usize, u32), Found>>,
    /// Whether functions in sight go by a name.
    pub(super) overloaded: RefCell<FxHashMap<usize, bool>>,
    /// By function: which locals are given values anywhere but at their declarations.
    pub(super) assigned: RefCell<FxHashMap<(ModuleId, FunctionId), Assigned>>,
    /// What looking at an expression again does.
    pub(super) looks: RefCell<FxHashMap<(ModuleId, ExprId), Look>>,
    /// By the first statement of a loop's body: whether its iterations are worth running one by one.
    pub(super) worth: RefCell<FxHashMap<(ModuleId, u32), bool>>,
    /// Sizes of records without template arguments; none where they are not known.
    pub(super) layouts: RefCell<FxHashMap<Entry, Option<i64>>>,
    /// By record without template arguments: whether something is written where an object of it ends.
    pub(super) guarded: RefCell<FxHashMap<Entry, bool>>,
    /// By function: which parameters are only printed.
    pub(super) printed: RefCell<FxHashMap<(ModuleId, FunctionId), Printed>>,
    /// By kernel: which parameters it only reads through.
    pub(super) only_read: RefCell<FxHashMap<(ModuleId, FunctionId), Printed>>,
    /// Walks of functions that left no trace.
    pub(super) walks: RefCell<FxHashMap<(ModuleId, FunctionId), Walks>>,
}

/// By parameter.
type Printed = Arc<[bool]>;

/// Walks of one function.
type Walks = Vec<Arc<super::recorded::Recorded>>;

/// What was found out by walks that have ended, for those to come: one for each that may run at a time.
#[derive(Debug, Default)]
pub(crate) struct Library(Mutex<Vec<Learned>>);

impl Library {
    /// Something to go on with, if only nothing.
    pub fn take(&self) -> Learned {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Keeps what has been learned.
    pub fn keep(&self, learned: Learned) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(learned);
    }
}

/// Answers for the walks of one module.
#[derive(Debug, Default)]
pub(crate) struct Caches {
    pub learned: Learned,
    /// Types of code without template arguments, by the function around, where finding them evaluates nothing.
    pub(super) resolved: RefCell<FxHashMap<Asked, Ty>>,
}

/// A type of a module, and the function that it is asked from.
type Asked = (ModuleId, Option<FunctionId>, TypeId);

/// By local.
pub(super) type Assigned = Arc<[bool]>;

/// What the project knows by a name.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Found {
    /// A constant of CUDA's own.
    Number(i64),
    Global(Entry),
    Enumerator(Entry),
    Function(ModuleId, FunctionId),
    Nothing,
}

/// What looking at an expression again does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// Something may happen again.
    Effects,
    /// Nothing, but what only one side of a condition saw may be forgotten.
    Plain,
    /// Nothing, and the same is found.
    Straight,
}

impl Caches {
    /// Answers that others have found already.
    pub fn with(learned: Learned) -> Self {
        Self { learned, ..Self::default() }
    }
}
