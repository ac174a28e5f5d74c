//! Runs rules over files: walking, settings, dispatch, suppression, order. It is handed the rule table and knows no
//! rule by name.

mod analyse;
pub mod baseline;
mod callers;
mod changes;
pub mod compile_commands;
pub mod coverage;
mod dead;
mod draft;
mod engine;
pub mod ignoring;
mod levels;
mod lint;
mod makefiles;
pub mod mending;
mod others;
mod outcome;
mod overview;
mod paths;
mod project;
mod provider;
mod reading;
mod relevance;
mod roles;
mod root;
pub mod rule;
pub mod selectors;
pub mod settings;
mod settle;
mod sources;
mod steps;
mod supposed;
mod suppress;
#[cfg(test)]
mod testing;
mod threads;
mod uncalled;
mod unlisted;
mod walk;

pub use baseline::{Baseline, BaselineChoice};
pub use cudalint_program::guard::{guarded, keep_panics_quiet};
pub use cudalint_replay::facts::Site;
pub use cudalint_replay::runs::{Basis, Counts as KernelCounts};
pub use cudalint_syntax::FileKind;
pub use draft::Draft;
pub use engine::{Configuration, Engine, Request, StandardInput};
pub use levels::{Choices, Levels};
pub use outcome::{Cut, Executed, Fault, Outcome, Remains, Statistics, UsageError};
pub use overview::ProjectView;
pub use paths::{display, real_path};
pub use provider::{Overlay, add_text};
pub use reading::Reading;
pub use rule::{Check, IgnoreComment, IgnoreContext, IgnoredName, ModuleContext, Rule, RuleTable, Sink};
pub use settings::{Level, MinConfidence, Settings};
pub use steps::{Progress, Stop};
pub use threads::threads;
