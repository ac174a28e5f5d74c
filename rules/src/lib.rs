//! The rules of cudalint: each one turns facts into findings, and words them. A rule is a
//! pair of files, `<group>/<rule>.rs` and `<group>/<rule>.md`; the table of all rules is derived from the folders.

pub mod counts;
pub mod directions;
pub mod early;
mod ended;
pub mod figures;
pub mod fixes;
pub mod parts;
pub mod python;
pub mod read_back;
mod registry;
pub mod runs;

pub use registry::{RECEIPTS, RULES, UNPROVEN};
