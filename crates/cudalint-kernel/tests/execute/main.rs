//! Kernels as CUDA text, lowered and executed for one launch: what is seen, and what is not said.
#![allow(clippy::unwrap_used)]

mod answers;
mod barriers;
mod bounds;
mod crowds;
mod damage;
mod divergence;
mod doubts;
mod figures;
mod formulas;
mod indices;
mod memory;
mod races;
mod relevance;
mod support;
mod warps;
