//! What one question for a type or a value may cost, and what was found on the way to its answer.

use crate::ir::{FunctionId, ModuleId, TypeId};
use crate::types::Ty;
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};

/// Steps of one question, so that recursive definitions end.
const MAX_STEPS: u32 = 20_000;
/// Nesting of one question.
const MAX_DEPTH: u32 = 48;

/// Steps from which on what a question asks on its way is kept: templates that name each other ask the same thousands of times.
const LONG: u32 = 64;

/// A question that comes up on the way to another: for a type at a place, with what template parameters stand for there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub module: ModuleId,
    pub function: Option<FunctionId>,
    pub inside: u64,
    pub env: u64,
    pub ty: TypeId,
}

/// What is left to spend on one question.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    steps: Cell<u32>,
    depth: Cell<u32>,
    /// How often a level was too deep.
    cuts: Cell<u32>,
    /// What was found on the way; nothing while it is looked for.
    known: RefCell<FxHashMap<Key, Option<Ty>>>,
}

impl Budget {
    pub fn reset(&self) {
        self.steps.set(0);
        self.depth.set(0);
        self.cuts.set(0);
        let mut known = self.known.borrow_mut();
        if !known.is_empty() {
            known.clear();
        }
    }

    /// Whether the question has taken many steps already.
    pub const fn is_long(&self) -> bool {
        self.steps.get() > LONG
    }

    /// The answer to a question on the way, found once. A type that asks for itself is not known.
    pub fn once(&self, key: Key, find: impl FnOnce() -> Ty) -> Ty {
        if let Some(known) = self.known.borrow().get(&key) {
            return known.clone().unwrap_or(Ty::Unknown);
        }
        let cuts = self.cuts.get();
        self.known.borrow_mut().insert(key, None);
        let found = find();
        let mut known = self.known.borrow_mut();
        if self.cuts.get() == cuts {
            known.insert(key, Some(found.clone()));
        } else {
            // Nearer to the start there may be an answer.
            known.remove(&key);
        }
        found
    }

    /// Runs `work` one level deeper; `None` when the budget is spent.
    pub fn deeper<T>(&self, work: impl FnOnce() -> T) -> Option<T> {
        self.steps.set(self.steps.get() + 1);
        if self.depth.get() >= MAX_DEPTH || self.steps.get() > MAX_STEPS {
            self.cuts.set(self.cuts.get() + 1);
            return None;
        }
        self.depth.set(self.depth.get() + 1);
        let result = work();
        self.depth.set(self.depth.get() - 1);
        Some(result)
    }
}
