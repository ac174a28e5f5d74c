//! Calls the CUDA driver and NVRTC, with safe functions around them. The only crate with `unsafe` code.
//!
//! Neither library is linked: each is opened when it is first asked for, so this builds and starts where there is none.
//! `cudarc`, which opens them, panics where a library or one of its functions is missing; ask `present` first, and do all
//! of it in a process that may end.

pub mod driver;
pub mod nvrtc;
mod signature;

pub use signature::{Kind, Parameter};
