//! Scalar types and their arithmetic: what wraps where, what is promoted to what, and what an operator gives. Below every
//! other crate, so that the preprocessor, the host walk and the kernels compute alike; it knows no program.

mod arith;
mod integer;
mod literal;
mod operators;
mod polynomial;
mod quantity;
mod scalar;
mod terms;

pub use arith::{Outcome, Real, binary, exact, floor_rem, overflows, python, raw, real, rounded, unary};
pub use integer::Integer;
pub use literal::{Literal, literal};
pub use operators::{BinaryOp, UnaryOp};
pub use polynomial::{Atom, AtomKind, ClosedOp, Poly, Terms};
pub use quantity::{Comparison, Condition, Quantity};
pub use scalar::{Scalar, cuda_vector};
pub use terms::Terms as Products;
