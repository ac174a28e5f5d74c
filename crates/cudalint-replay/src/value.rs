//! Values of the replay: integers that are known, symbolic or unknown, with what they rest on.

use std::collections::BTreeMap;
use std::sync::Arc;

/// A symbol of the replay: an input nobody fixes (a parameter, a result read from outside), or an operation that
/// stays closed (`n / 256`). Equal ids mean equal values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Atom(pub u32);

/// A polynomial over atoms with integer coefficients: a map from sorted products of atoms to coefficients, without
/// zeros. The empty product is the constant term.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Poly {
    /// Terms.
    pub terms: BTreeMap<Vec<Atom>, i64>,
}

/// What a value rests on besides the source: empty for facts. Cheap to clone.
pub type Assumptions = Option<Arc<Vec<String>>>;

/// An integer as the replay knows it.
#[derive(Clone, Debug, PartialEq)]
pub enum Quantity {
    /// A number.
    Known(i64),
    /// A polynomial that is not constant.
    Symbolic(Poly),
    /// Nothing is known.
    Unknown,
}
