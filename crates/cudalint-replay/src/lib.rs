//! What happens when the program runs: host code walked along its paths with values that are concrete, symbolic or
//! unknown. The result is facts, each with its witness and the assumptions it rests on; no judgement in words is made
//! here.

mod arith;
pub mod checkers;
mod clock;
mod compile_logs;
mod ended;
pub mod facts;
pub mod fillings;
mod forks;
mod freed_twice;
pub mod given;
mod global_writes;
pub mod hints;
mod host;
mod kept;
mod mangled;
mod memory;
mod merge;
mod only_read;
pub mod parameters;
mod python;
pub mod quantity;
mod reliance;
pub mod runs;
mod spaces;
mod speaks;
mod spelled;
mod statics;
pub mod status;
mod stored_first;
pub mod structure;
mod sure_calls;
mod traits;
mod unneeded;
mod value;
mod walk;
mod ways;

pub use host::{NO_ARGUMENTS, ProjectScan, ReplayOptions, Walked};
pub use kept::KeptFacts;
pub use merge::{merge, replay_all, walk_module};
pub use reliance::Reliance;
