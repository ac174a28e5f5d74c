//! What experiments with Python in a project's own run share.

use crate::project::{Built, Traced};
use std::sync::Arc;

/// A project that is built, and its run alone.
pub(super) struct Tested {
    pub built: Arc<Built>,
    pub alone: Arc<Traced>,
    /// Python and its packages, in words.
    pub back_end: String,
}
