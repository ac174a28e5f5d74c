//! What functions of CUDA have made in a walk.

use crate::facts::Site;
use crate::host::{ObjId, ObjSet};

/// Memory or a handle that a function of CUDA has made.
#[derive(Debug)]
pub(super) struct Made {
    pub object: ObjId,
    /// The calls that lead there: that of the frame above the entry first.
    pub calls: Vec<Option<Site>>,
}

/// All that functions of CUDA have made in a walk.
#[derive(Debug, Default)]
pub(super) struct Lifetimes {
    pub made: Vec<Made>,
    /// What may be given back where the walk does not see, though nobody there writes it.
    pub kept: ObjSet,
    /// What has been told to be lost.
    pub lost: ObjSet,
    /// How many loops stand around.
    pub loops: u32,
}

impl Lifetimes {
    /// How much has been made on this path.
    pub const fn count(&self) -> usize {
        self.made.len()
    }

    /// Nothing is told any more of what has been made since there was so much.
    pub fn forget_after(&mut self, count: usize) {
        self.made.truncate(count);
    }
}

/// A stream or an event, as it was made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Born {
    /// The device that was current; none where nobody knows.
    pub device: Option<i64>,
    /// Whether it is a stream that does not wait for the default stream.
    pub is_free: bool,
}
