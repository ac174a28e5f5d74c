//! What the walks over host code share, whatever it is written in: how far they go, what they report, what their path
//! rests on, and what they know of the project beforehand.

mod budget;
mod common;
mod exits;
mod log;
mod objects;
mod options;
mod path;
mod paths;
mod scan;
pub(crate) mod steps;
mod store;
mod walked;

pub(crate) use budget::{Budget, OUT_OF_STEPS};
pub(crate) use common::{Common, Frame, names_agree};
pub(crate) use exits::{Flow, Pending};
pub(crate) use log::EventLog;
pub(crate) use objects::{ObjId, ObjSet};
pub use options::ReplayOptions;
pub(crate) use path::PathState;
pub(crate) use paths::Paths;
pub use scan::ProjectScan;
pub(crate) use store::{Diff, JoinRule, Joined, Mark, Store, Stored};
pub use walked::Walked;

/// What a program is taken to be started with when nothing says otherwise.
pub const NO_ARGUMENTS: &str = "no command-line argument is given";

/// How deep calls are followed.
pub(crate) const MAX_FRAMES: usize = 9;
