//! What the functions of CUDA's libraries are, as data: no analysis decides this by itself.

pub mod spaces;
