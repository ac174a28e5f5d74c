//! A project of the user's, built and run by the user's own commands: once for all findings, and without an edit of its
//! files.
//!
//! It is built in a copy, or in a build folder of its own. The compilers that the build calls are found first on `PATH`,
//! in the toolkit that `CUDA_PATH` names, or through `CMake`'s launchers, and are small scripts that come back to this
//! executable ([`compile_main`]): it makes the same call with lines, debug information and the probe in it. A build that
//! names nvcc by its whole path is given the flags by `NVCC_APPEND_FLAGS`.
//!
//! One build serves all findings, and one run all those that need the same of it: a trace, the report of one tool, memory
//! that is looked at. What the probe is to do it is told by variables, so that runs in which something fails use the same
//! build.

mod build;
mod compiler;
mod detect;
mod processes;
mod programs;
mod python;
mod run;
mod tools;
mod tree;

pub use build::Built;
pub(crate) use build::{Put, built, put_for_scripts};
pub use compiler::compile_main;
pub use detect::{base_of, suggested};
pub use python::{Raised, Reached};
pub(crate) use run::{Awaited, Traced, alone, expect, traced, under, unlaunched, with_variables};
