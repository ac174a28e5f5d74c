//! Where programs are built and run: child processes in their own groups and folders, with limits of time, memory, size
//! and network, a few at a time. Nothing here knows what a finding is.

mod ask;
mod bench;
mod build;
mod enough;
mod environment;
mod errors;
mod focus;
mod inputs;
mod job;
mod launch;
mod launcher;
mod libraries;
mod make;
mod memory;
mod once;
mod process;
mod run;
mod sandbox;
mod shelf;
mod slots;
pub(crate) mod stand_ins;
mod watch;

pub(crate) use ask::{Answer, readable};
pub use bench::{Bench, Lab, Phase, Times};
pub(crate) use build::library_folder;
pub(crate) use enough::Decided;
pub(crate) use environment::CHILD;
pub(crate) use errors::first_error;
pub use focus::Focus;
pub use job::{Build, BuildFailure, End, Limits, Run, RunOutcome, Watcher};
pub use launch::launch_main;
pub use launcher::Launcher;
pub(crate) use process::{head_of, quoted};
pub(crate) use slots::lock;
