//! What tells code from other code.

use blake3::Hash;
use cudalint_program::ir::ModuleId;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// What code is, wherever it stands; and where it stands.
#[derive(Debug)]
pub(crate) struct Identity {
    pub(crate) hash: Hash,
    pub(crate) stands: Arc<Stands>,
}

/// The first byte of a code's places in each module that it is from.
pub(crate) type Stands = BTreeMap<ModuleId, u32>;

/// The identity of code, once somebody has asked for it. A copy may be changed, so that it has none.
#[derive(Debug, Default)]
pub(crate) struct Lazy(pub(crate) OnceLock<Identity>);

impl Clone for Lazy {
    fn clone(&self) -> Self {
        Self::default()
    }
}
