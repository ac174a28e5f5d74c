//! Statements.

use super::{Block, ExprId, LocalId, PythonStmt};
use crate::name::Name;
use cudalint_syntax::Span;

/// A statement with its place.
#[derive(Clone, Debug)]
pub struct StmtNode {
    /// What it is.
    pub kind: Stmt,
    /// Where it is written in this module's file.
    pub span: Span,
}

/// Statements.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // The fields are said in the variants' own words.
pub enum Stmt {
    /// An expression for its effect.
    Expr(ExprId),
    /// A local variable comes into being, with its initializer in [`Variable::init`](super::Variable::init).
    Declare(LocalId),
    /// `{ … }`: a scope.
    Block(Block),
    /// `if`; `init` statements of C++17 stand before it in the same block. `constant` for `if constexpr`.
    If { condition: ExprId, then: Block, otherwise: Block, constant: bool },
    /// Every loop with a condition.
    Loop { kind: LoopKind, init: Block, condition: Option<ExprId>, step: Option<ExprId>, body: Block },
    /// `for (x : range)`, `for x in range`.
    ForEach { variable: LocalId, range: ExprId, body: Block },
    /// `switch`: the body with its cases as labels in order.
    Switch { value: ExprId, cases: Vec<SwitchCase> },
    /// `break`.
    Break,
    /// `continue`.
    Continue,
    /// `return`.
    Return(Option<ExprId>),
    /// `goto label`.
    Goto(Name),
    /// `label:`.
    Label(Name),
    /// `try { … } catch (…) { … }`: body and handlers.
    Try { body: Block, handlers: Vec<Block> },
    /// Inline assembly: its text and operand expressions, so many outputs first; an output operand `x` is `&x`.
    Asm { text: Box<str>, outputs: u32, operands: Vec<ExprId> },
    /// A comment that stands for code (`// ... allocate as before ...`): the names it mentions may have been given any
    /// value here; with none named, every variable that has no value yet.
    Elided { names: Vec<Name> },
    /// Statements that only Python has.
    Python(Box<PythonStmt>),
    /// Not understood; the children are still run.
    Unknown { exprs: Vec<ExprId>, blocks: Vec<Block> },
}

/// One `case` or `default` with the statements up to the next; control falls through unless they break.
#[derive(Clone, Debug)]
pub struct SwitchCase {
    /// `None` for `default`.
    pub value: Option<ExprId>,
    /// Statements.
    pub body: Block,
}

/// Kinds of loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum LoopKind {
    For,
    While,
    DoWhile,
}
