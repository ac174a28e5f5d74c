//! The preprocessor's questions, answered in one place: which macros a build defines, and whether a condition holds.

mod build;
mod condition;

pub use build::{
    Build, BuildMacros, DEFAULT_ARCHITECTURE, DEFAULT_STANDARD, DEFAULT_TOOLKIT, name_of, standard_of, version_of,
};
pub use condition::{Conditions, Meaning, evaluate, names_in};
