//! What happens when the program runs: host code walked along its paths with values that are concrete, symbolic or
//! unknown. The result is facts, each with its witness and the assumptions it rests on; no judgement in words is made
//! here.

mod algebra;
pub mod checkers;
mod coverage;
pub mod facts;
pub mod kernel;
pub mod parameters;
pub mod status;
pub mod value;
