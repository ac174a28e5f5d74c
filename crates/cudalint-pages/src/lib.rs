//! Rule pages as data: reads the Markdown beside each rule, runs its examples as tests, and derives what is made from
//! the rule folders (registry, documentation). Not published: tests and chores use it, the product does not.

pub mod derive;
pub mod experiments;
pub mod guidelines;
pub mod page;
pub mod run;

pub use page::{Expectation, Fence, FenceKind, Page, PageError};
