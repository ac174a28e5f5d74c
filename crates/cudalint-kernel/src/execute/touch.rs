//! One access to memory, and its parts.

use crate::code::{ExprId, Ty};
use crate::report::AccessKind;

/// One access instruction.
#[derive(Clone, Copy)]
pub(super) struct Touch<'t> {
    /// The expression.
    pub(super) at: ExprId,
    pub(super) kind: AccessKind,
    /// Type of what is read or written.
    pub(super) ty: &'t Ty,
    /// Bytes of one element as the code sees it.
    pub(super) element: u32,
    pub(super) volatile: bool,
    /// Whether it is atomic among the threads of one block only.
    pub(super) of_block: bool,
    /// Whether it is done later by the copy engine.
    pub(super) asynchronous: bool,
}

impl<'t> Touch<'t> {
    /// A plain access: to one element of the type, and neither volatile nor atomic.
    pub(super) fn plain(at: ExprId, kind: AccessKind, ty: &'t Ty) -> Self {
        Self { at, kind, ty, element: ty.bytes().unwrap_or(1), volatile: false, of_block: false, asynchronous: false }
    }
}

/// The part of an access that concerns one scalar and one object.
pub(super) struct Piece<'t> {
    pub(super) touch: Touch<'t>,
    pub(super) ty: &'t Ty,
    pub(super) bytes: u32,
    pub(super) stamp: u32,
    /// All offsets, joined by `|`: their lowest bit tells how they are aligned.
    pub(super) low: i64,
}

/// The value operand of an atomic store or exchange of which nobody reads what was there.
pub(super) const STORES_ONLY: i64 = i64::MIN + 77;

/// The value operand of an atomic operation whose outcome depends on every one before it: a sum, a counter.
pub(super) const ACCUMULATES: i64 = i64::MIN + 78;
