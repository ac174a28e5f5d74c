//! What an expression gives.

use crate::memory::Place;
use crate::value::Val;
use cudalint_program::types::Ty;

/// An evaluated expression.
#[derive(Clone, Debug)]
pub(crate) struct Out {
    pub val: Val,
    pub ty: Ty,
    /// Where it is stored, for lvalues.
    pub place: Option<Place>,
}

impl Out {
    pub const fn new(val: Val, ty: Ty) -> Self {
        Self { val, ty, place: None }
    }

    pub const fn unknown() -> Self {
        Self::new(Val::unknown(), Ty::Unknown)
    }
}
