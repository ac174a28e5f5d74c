//! Kernels written in Python: what they lower to, and what is seen when they are executed.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../dump/mod.rs"]
mod dump;

mod arrays;
mod calls;
mod cupy;
mod flow;
mod guesses;
mod sizes;
mod support;
mod types;
