//! What only Python has: expressions, statements, imports, and what a function's definition says beyond its parameters.
//!
//! Everything else of Python uses the forms it shares with C++: literals ([`Expr::Int`](super::Expr::Int) of 8 bytes, [`Expr::Float`](super::Expr::Float) of 8,
//! [`Expr::Str`](super::Expr::Str), [`Expr::Null`](super::Expr::Null) for `None`), operators (`x is None` is `==`; `a < b < c` is `a < b && b < c`), names, calls,
//! attributes ([`Expr::Member`](super::Expr::Member)), subscripts ([`Expr::Index`](super::Expr::Index) with one operand for each part between commas), assignments
//! (the target may be a [`PythonExpr::Tuple`]), conditional expressions and lambdas. A launch `k[grid, block](args)` is a
//! call of a subscript: what `k` is turns out when the program runs. `k[grid,]` has one operand, a tuple of one.
//!
//! Names: what a function binds anywhere (imports, functions and classes too) is a local in all of it
//! ([`super::Function::python_local`]); variables of comprehensions are locals that no name outside means. An
//! [`Expr::Name`](super::Expr::Name) of one segment is a variable of a function around where [`super::Function::captures`] lists it, else global
//! (or built in). Of several segments it is a variable of the class whose body is being executed: `C::x`. Only what is
//! assigned is among [`super::Module::globals`], with a value where one assignment outside loops is all that there is;
//! functions, classes and imports of the module have lists of their own.
//!
//! A function directly in a class's body is a method: its scope is the path of that class, and no [`PythonStmt::Define`] stands
//! for it. `parent` is the function around; in the module itself there is none, except where a function uses a variable of
//! a comprehension there. A lambda's body is one `return`.

use super::ids::{Block, ExprId, FunctionId, LocalId, StmtId};
use crate::name::Name;
use cudalint_syntax::Span;

/// Expressions that only Python has.
#[derive(Clone, Debug)]
pub enum PythonExpr {
    /// `(a, b)`, and `a, b` without parentheses.
    Tuple(Vec<ExprId>),
    /// `[a, b]`.
    List(Vec<ExprId>),
    /// `{a, b}`.
    Set(Vec<ExprId>),
    /// `{k: v}`; without a key it is `**v`.
    Dict(Vec<(Option<ExprId>, ExprId)>),
    /// `start:stop:step` between the brackets of a subscript.
    Slice([Option<ExprId>; 3]),
    /// `name=value` among the arguments of a call.
    Keyword(Name, ExprId),
    /// `*x` or `**x` among arguments, elements or targets.
    Spread {
        /// What is spread.
        value: ExprId,
        /// Whether it is `**x`.
        keywords: bool,
    },
    /// `f"…{x}…"`.
    Format(Vec<FormatPart>),
    /// `value in container`, `value not in container`.
    In {
        /// The value.
        value: ExprId,
        /// The container.
        container: ExprId,
        /// Whether it is `not in`.
        negated: bool,
    },
    /// `[x for x in xs if c]` and its kin. Its variables are locals of the function around.
    Comprehension {
        /// What is made.
        kind: Comprehension,
        /// The element; of a dictionary the key.
        element: ExprId,
        /// The value of a dictionary's element.
        value: Option<ExprId>,
        /// The clauses, outermost first.
        clauses: Vec<ForClause>,
    },
    /// `...`.
    Ellipsis,
}

/// Kinds of comprehensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Comprehension {
    List,
    Set,
    Dict,
    Generator,
}

/// `for target in iterable if condition`.
#[derive(Clone, Debug)]
pub struct ForClause {
    /// What is bound: a local or a tuple of targets.
    pub target: ExprId,
    /// What is gone through.
    pub iterable: ExprId,
    /// All must hold.
    pub conditions: Vec<ExprId>,
}

/// A part of a formatted string.
#[derive(Clone, Debug)]
pub enum FormatPart {
    /// As it is.
    Text(Box<str>),
    /// What is put in as `str` has it.
    Hole(ExprId),
    /// What is put in as a format or a conversion behind it says, which is dropped.
    Formatted(ExprId),
}

/// Statements that only Python has. `try … finally` is a [`super::Stmt::Try`] with the `finally` block behind it, and `else` is
/// the end of its body; a handler begins with a statement for what it catches: `except E` with the expression `E`, `except E as
/// e` with the assignment of something unknown to `e`. `while … else` has the `else` as a block behind it, under an unknown condition
/// where a `break` may leave the loop. `match` is a [`super::Stmt::Unknown`] with a block for each case. `raise` is
/// [`Expr::Throw`](super::Expr::Throw).
#[derive(Clone, Debug)]
pub enum PythonStmt {
    /// `for target in iterable: … else: …`.
    For {
        /// What is bound: a local, global, attribute or subscript, or a tuple of targets.
        target: ExprId,
        /// What is gone through.
        iterable: ExprId,
        /// The body.
        body: Block,
        /// Runs when no `break` ended the loop.
        otherwise: Block,
    },
    /// `with item as target: …`.
    With {
        /// The context managers with what they are bound to.
        items: Vec<(ExprId, Option<ExprId>)>,
        /// The body.
        body: Block,
    },
    /// `def`: the function comes into being here, and closures see the variables of this moment's scope. Decorators are in
    /// [`PythonFunction::decorators`].
    Define(FunctionId),
    /// `class`: the position of its [`super::Record`] in the module, and the statements of its body that are neither methods nor
    /// plain class variables.
    Class(u32, Block),
    /// `assert condition, message`.
    Assert(ExprId, Option<ExprId>),
    /// `del a, b[i]`.
    Delete(Vec<ExprId>),
    /// `import` or `from … import`: the positions of its names in [`super::Module::imports`].
    Import(std::ops::Range<u32>),
}

/// A name that an import binds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The name it gets here: `cuda` of `from numba import cuda`, `np` of `import numpy as np`, `os` of `import os.path`; empty for
    /// `from m import *`.
    pub local: Name,
    /// What it means, dotted: `numba.cuda`, `numpy`; of `import os.path` it is `os`. Relative imports without their dots.
    pub path: Box<str>,
    /// How many dots stand before a relative import.
    pub level: u32,
    /// Whether `path` ends in a name taken from a module (`from a import b`): then `b` may be a module or anything in it.
    pub from: bool,
    /// The function in which it stands; `None` at module level and in a class.
    pub function: Option<FunctionId>,
    /// Whether the name means this wherever it is used in its scope: nothing else is bound to it there but `None` and other
    /// imports of the same.
    pub sure: bool,
    /// The whole statement.
    pub span: Span,
}

/// What the definition of a Python function says beside its parameters (all of which are the first locals of its
/// [`super::Function`], defaults as their initializers, in the order positional, `*rest`, keyword-only, `**keywords`).
#[derive(Clone, Debug, Default)]
pub struct PythonFunction {
    /// Expressions behind `@`, outermost (first) first. Locals in them, and in defaults, are those of the function around.
    pub decorators: Vec<ExprId>,
    /// How many parameters may be given by position.
    pub positional: u32,
    /// `*rest`.
    pub rest: Option<LocalId>,
    /// `**keywords`.
    pub keywords: Option<LocalId>,
    /// Whether it contains `yield`.
    pub is_generator: bool,
    /// Names that it declares `global` or `nonlocal`.
    pub outer: Vec<Name>,
    /// Locals that are variables of comprehensions: no name outside the comprehension means them. Sorted.
    pub inner: Vec<LocalId>,
    /// What decorators make of it, as far as imports tell.
    pub kernel: Option<KernelDecorator>,
    /// Whether it is the code of the module itself.
    pub is_module: bool,
}

/// What makes a function device code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelDecorator {
    /// Which compiler.
    pub dialect: Dialect,
    /// `device=True`, or a decorator that never makes kernels.
    pub device: bool,
    /// The signature, where one is given: the expression (a string, a call such as `void(float32[:])`, a list of them).
    pub signature: Option<ExprId>,
    /// The whole decorator's expression; where the function was compiled by a call elsewhere (`k = cuda.jit(f)`), that call. Then
    /// the function itself stays a plain one, and what the call gives is the kernel.
    pub expr: ExprId,
}

/// Compilers of kernels that are written in Python.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dialect {
    /// `numba.cuda.jit`.
    Numba,
    /// `cupyx.jit.rawkernel`.
    CupyJit,
    /// `numba.vectorize(…, target="cuda")`: one call an element.
    Vectorize,
    /// `numba.guvectorize(…, target="cuda")`.
    Guvectorize,
    /// `numba.cuda.reduce`: the function that puts two elements together.
    Reduce,
}

impl PythonExpr {
    /// Calls `visit` for each direct operand, in order of evaluation.
    pub fn operands(&self, mut visit: impl FnMut(ExprId)) {
        match self {
            Self::Tuple(all) | Self::List(all) | Self::Set(all) => all.iter().copied().for_each(visit),
            Self::Dict(entries) => entries.iter().for_each(|(key, value)| {
                key.iter().copied().for_each(&mut visit);
                visit(*value);
            }),
            Self::Slice(parts) => parts.iter().flatten().copied().for_each(visit),
            Self::Keyword(_, value) | Self::Spread { value, .. } => visit(*value),
            Self::Format(parts) => parts.iter().for_each(|part| {
                if let FormatPart::Hole(hole) | FormatPart::Formatted(hole) = part {
                    visit(*hole);
                }
            }),
            Self::In { value, container, .. } => {
                visit(*value);
                visit(*container);
            }
            Self::Comprehension { element, value, clauses, .. } => {
                for clause in clauses {
                    visit(clause.iterable);
                    visit(clause.target);
                    clause.conditions.iter().copied().for_each(&mut visit);
                }
                visit(*element);
                value.iter().copied().for_each(visit);
            }
            Self::Ellipsis => {}
        }
    }
}

impl PythonStmt {
    /// The statement's own expressions, in order of evaluation.
    pub fn exprs(&self) -> Vec<ExprId> {
        match self {
            Self::For { target, iterable, .. } => vec![*iterable, *target],
            Self::With { items, .. } => {
                items.iter().flat_map(|(item, target)| [Some(*item), *target]).flatten().collect()
            }
            Self::Assert(condition, message) => std::iter::once(*condition).chain(*message).collect(),
            Self::Delete(all) => all.clone(),
            Self::Define(_) | Self::Class(..) | Self::Import(_) => Vec::new(),
        }
    }

    /// The blocks inside, in order.
    pub fn blocks(&self) -> Vec<&[StmtId]> {
        match self {
            Self::For { body, otherwise, .. } => vec![body, otherwise],
            Self::With { body, .. } | Self::Class(_, body) => vec![body],
            Self::Define(_) | Self::Assert(..) | Self::Delete(_) | Self::Import(_) => Vec::new(),
        }
    }
}
