//! What surely does not happen, whatever the launch: no two threads of a block race in shared memory, no access leaves memory of
//! a stated size. Shown by an argument over two threads whose numbers are not known, never by an execution.
//!
//! The kernel is walked with a symbol for each number that a launch decides; what it touches is a sum over symbols, with what
//! the conditions around say of them. Accesses that no barrier parts are compared: that the same bytes are meant, that the
//! threads differ, and all that holds of each of them must contradict each other. Whatever is not understood (calls out of
//! sight, pointers that may lead anywhere, barriers that not all threads reach, indices from memory) ends in no statement.
//!
//! Integers with a sign are taken not to overflow, as C++ has it; others are shown to stay in the range of their type. That is
//! only so where numbers are not too large: parameters of 32 bits are at most [`LARGEST`], and so are threads along an axis.

mod arithmetic;
mod bounds;
mod exprs;
mod impossible;
mod intrinsics;
mod loops;
mod meetings;
mod pairs;
mod shape;
mod state;
mod statements;
mod sums;
mod symbols;
mod touches;
mod values;
mod walk;

pub(crate) use bounds::in_all_blocks;
pub use shape::{LARGEST, Shape};
pub use state::Refusal;
pub use statements::{Absence, Extent, Says, Statement, absence};
