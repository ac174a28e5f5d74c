//! One kernel launch, executed: the threads of the blocks that matter, barrier interval by barrier interval, with a
//! shadow of every byte they touch. It is given numbers (grid, block, arguments, sizes of allocations) and gives back
//! what happened, each event with the threads and the addresses. It knows no host code and judges nothing in words.
//!
//! ```text
//!  program IR ──lower──► Code ──execute(LaunchInput)──► ExecutionReport
//! ```
//!
//! *Lowering* resolves names, types, templates and overloads once for each kernel and binding of its template
//! parameters. *Execution* runs all threads of a block in lock-step, a vector of lanes for each value.
//!
//! **What is unknown stays silent.** A value is known or it is not; a lane is surely active, perhaps active, or off. An
//! event is reported only where every lane it names is surely active and every address is known. What could not be
//! read (a damaged statement) makes values unknown and lanes only may-active, a call out of sight makes unknown what it may have
//! written; neither makes an event.

pub mod code;
mod execute;
pub mod figures;
mod indices;
mod kept;
pub mod launch;
mod lower;
pub mod python;
pub mod readings;
pub mod report;
mod sites;
pub mod solve;

pub use code::Code;
pub use execute::{ASSUMED_ROUNDS, execute, execute_assuming, figures, index_ranges, reach};
pub use indices::{IndexRange, Values, unknown_indices};
pub use kept::KeptRuns;
pub use launch::{Argument, Budget, Buffer, Contents, LaunchInput};
pub use lower::lower;
pub use python::lower_python;
pub use report::{Event, ExecutionReport};
