//! Python's scopes while a function is read: what it binds, and where names are used.

use crate::ir::{ExprId, FunctionId, LocalId, Path, Variable};
use rustc_hash::{FxHashMap, FxHashSet};
use typed_index_collections::TiVec;

/// A function being lowered.
#[derive(Debug)]
pub(super) struct Frame<'t> {
    pub function: FunctionId,
    pub is_module: bool,
    pub locals: TiVec<LocalId, Variable>,
    pub bound: FxHashMap<&'t str, Bound>,
    /// Names that it declares `global` or `nonlocal`.
    pub outer: Vec<(&'t str, Outer)>,
    /// Uses of names that nothing has bound so far; without an expression those of functions inside.
    pub pending: Vec<(Option<ExprId>, &'t str)>,
    /// Variables of the comprehensions around the place that is being read, innermost last.
    pub comprehension: Vec<(&'t str, LocalId)>,
    /// Variables of all comprehensions.
    pub inner: Vec<LocalId>,
    pub is_generator: bool,
    /// Whether something was too deep to be read.
    pub cut: bool,
    /// How many loops are around.
    pub loops: u32,
}

/// How a name was declared to be somebody else's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outer {
    Global,
    Nonlocal,
}

/// A name that a function (or the module) binds.
#[derive(Clone, Debug)]
pub(super) struct Bound {
    /// Number of the local; in the module that of the global, where it is a variable at all.
    pub slot: Option<u32>,
    /// What all its bindings together say.
    pub meaning: Meaning,
    /// The value, while there is one plain assignment.
    pub value: Option<ExprId>,
    pub bindings: u32,
}

/// What a binding binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The import of this number.
    Import(u32),
    Function(FunctionId),
    /// A function, and then the value of an assignment, which may have been made of it.
    Remade(FunctionId, ExprId),
    Class,
    /// `None`, which stands for something that is missing.
    Nothing,
    /// Anything else, or several things.
    Other,
}

/// A class whose body is being read.
#[derive(Debug)]
pub(super) struct ClassScope<'t> {
    /// Its name with those of the classes around.
    pub path: Path,
    /// How many functions are around its body.
    pub depth: usize,
    /// What its body has bound so far.
    pub names: FxHashSet<&'t str>,
    pub record: u32,
}

/// A mark to leave a comprehension by.
#[derive(Clone, Copy)]
pub(super) struct ComprehensionMark(pub usize);

impl Frame<'_> {
    pub fn new(function: FunctionId, is_module: bool) -> Self {
        Self {
            function,
            is_module,
            locals: TiVec::new(),
            bound: FxHashMap::default(),
            outer: Vec::new(),
            pending: Vec::new(),
            comprehension: Vec::new(),
            inner: Vec::new(),
            is_generator: false,
            cut: false,
            loops: 0,
        }
    }
}
