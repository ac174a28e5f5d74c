//! Watchpoints: a copy of a source in which flagged accesses to memory are logged by the GPU, with address, thread and
//! barrier interval. For what no tool sees (races on global memory), and where the tools are missing.
//!
//! [`sites`] finds the accesses, [`whole`] all those to one array, [`copy`] writes the copy, [`log`] reads what the program wrote, [`order`] says which
//! logged accesses nothing orders, and [`judge`] holds all that against a finding.

pub mod copy;
pub mod hidden;
pub mod judge;
pub mod log;
pub mod order;
pub mod sites;
pub mod whole;
mod written;

/// The header that a copy includes.
pub const HEADER: &str = include_str!("cudalint_watch.cuh");
/// Its file name.
pub const HEADER_NAME: &str = "cudalint_watch.cuh";

/// Compiler flags of a program with watchpoints.
pub fn flags() -> Vec<String> {
    crate::spelled::watched()
}
