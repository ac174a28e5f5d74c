//! Runs rules over files: walking, settings, dispatch, suppression, order. It is handed the rule table and knows no
//! rule by name.

pub mod compile_commands;
mod engine;
mod guard;
mod levels;
mod lint;
mod load;
pub mod names;
mod outcome;
mod pipeline;
mod provider;
mod root;
pub mod rule;
pub mod settings;
mod settle;
mod steps;
mod supposed;
mod suppress;
#[cfg(test)]
mod testing;
mod threads;
mod unmentioned;
mod walk;

pub use cudalint_replay::runs::{Basis, Counts as KernelCounts};
pub use engine::{Configuration, Engine, Reading, Request, StandardInput, UsageError};
pub use guard::keep_panics_quiet;
pub use levels::{Choices, Levels};
pub use outcome::{Executed, Fault, Outcome, Remains, Statistics};
pub use provider::add_text;
pub use rule::{Check, IgnoreComment, IgnoreContext, IgnoredName, ModuleContext, Rule, Sink};
pub use settings::{Level, MinConfidence, Settings};
pub use steps::Progress;
pub use threads::threads;
