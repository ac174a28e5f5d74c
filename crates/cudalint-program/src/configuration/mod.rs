//! One configuration for a program: what each name means to the preprocessor at each place of each file, and which branches
//! of `#if` are the program. Directives are read in the order in which a compiler meets them, headers where they are
//! included; whoever asks (the mask, the lowering, macros' bodies, other files) gets the same answer.

mod libraries;
mod lost;
mod once;
mod supposed;
mod tables;
mod view;

pub use supposed::{configure, lone_branches};
pub use tables::{Configuration, ConfiguredFile};
pub use view::{Grounds, Sight, View};
