//! Shows findings on a GPU. A [`Scenario`] is one finding with the programs that would show it; an [`Experiment`] builds
//! and runs them on a [`Bench`]; what the tools say is matched against the finding, and that gives the [`Verdict`].
//!
//! The way of the data: findings and sources → [`subject`] (what stands at the finding's place) → [`harness`] (programs)
//! → [`experiment`] on the [`lab`] (processes) → [`tools`] (reports of tools, read) → [`matching`] (evidence) → outcome.
//!
//! This crate takes findings as data and knows no rule: an experiment is chosen by the finding's method and by the
//! program text at its place.

mod api;
mod child;
pub mod experiment;
pub mod harness;
pub mod kernel;
pub mod lab;
pub mod machine;
pub mod matching;
pub mod outcome;
mod paths;
pub mod probe;
pub mod project;
pub mod receipt;
pub mod run;
pub mod scenario;
mod script_driver;
mod spelled;
pub mod stop;
pub mod subject;
pub mod tools;
pub mod watch;

pub use child::child;
pub use outcome::{Outcome, exit_status};
pub use scenario::Scenario;
