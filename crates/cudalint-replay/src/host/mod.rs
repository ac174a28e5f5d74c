//! What the walks over host code share, whatever it is written in: how far they go, what they report, what their path
//! rests on, and what they know of the project beforehand.

mod budget;
mod log;
mod options;
mod path;
mod scan;
pub(crate) mod steps;
mod walked;

pub(crate) use budget::{Budget, OUT_OF_STEPS};
pub(crate) use log::EventLog;
pub use options::ReplayOptions;
pub(crate) use path::PathState;
pub use scan::ProjectScan;
pub use walked::Walked;

/// What a program is taken to be started with when nothing says otherwise.
pub(crate) const NO_ARGUMENTS: &str = "no command-line argument is given";

/// How deep calls are followed.
pub(crate) const MAX_FRAMES: usize = 9;
