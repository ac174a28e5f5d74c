//! From kernels written in Python to [`Code`].
//!
//! A Python kernel is compiled once for each combination of argument types: a [`Specialization`]. An array becomes
//! several parameters of the code (its data and extents, and its strides where they do not follow from the extents), so that
//! `a.shape[0]` is a number like any other; [`parameters`] gives them in order, and whoever launches the kernel hands over
//! a value for each.

mod calls;
mod constants;
mod device;
mod exprs;
mod fold;
mod guess;
mod gufunc;
mod index;
mod instances;
mod library;
mod locals;
mod loops;
mod lower;
mod meaning;
mod memory;
mod records;
mod scan;
mod signature;
mod slices;
mod specialization;
mod stmts;
mod stores;
mod types;
mod ufunc;
mod value;

pub use guess::guess_arguments;
pub use lower::lower_python;
pub use signature::{Signature, stated_signatures};

pub use crate::code::Part;

pub use specialization::{ArgumentType, Constant, Field, Order, Parameter, Record, Specialization, parameters};
