//! Kernels from source text to resolved device code, which is compared as text.
#![allow(clippy::unwrap_used)]

#[path = "../dump/mod.rs"]
mod dump;

mod calls;
mod constructs;
mod groups;
mod idioms;
mod memory;
mod readings;
mod support;
mod types;
