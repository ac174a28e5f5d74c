//! Integers that are known, symbolic or unknown, and the comparisons that may be made of them.
//!
//! Comparisons take every plain atom (a parameter, a count read from outside) to be a count: at least 0. They say
//! nothing where that would matter for the sign of an intermediate result, so an unsigned wrap-around can hide a
//! result, never make one.

use crate::polynomial::{Atom, AtomKind, Poly};
use std::collections::BTreeMap;
use std::fmt;

/// An integer as far as the source tells it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Quantity {
    /// A number.
    Known(i64),
    /// A polynomial that is not constant.
    Symbolic(Poly),
    /// Nothing is known.
    #[default]
    Unknown,
}

/// The outcome of `a > b`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// For every choice of the inputs, each count being at least 1.
    Always,
    /// For these values of the inputs, by the names of the source; both sides were evaluated there without overflow
    /// and without a negative intermediate operand.
    ForSome {
        /// Input names with their values.
        assignment: Vec<(String, i64)>,
    },
    /// For no choice of the inputs.
    Never,
    /// Not decided.
    Unknown,
}

/// What is known on a path: a polynomial that is other than 0 there (or 0).
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The polynomial; a comparison is one of 0 and 1.
    pub poly: Poly,
    /// Whether it is other than 0.
    pub holds: bool,
}

impl Condition {
    /// Whether the values of the atoms by their ids surely agree with it, or have nothing to do with it.
    pub fn admits(&self, at: &BTreeMap<u32, i64>) -> bool {
        match self.poly.evaluate(at) {
            Some(value) => (value != 0) == self.holds,
            // Something else decides it: nothing says that these values get here.
            None => !self.poly.bases().0.iter().any(|atom| at.contains_key(&atom.id())),
        }
    }
}

/// Points at which symbolic sizes are tried, in this order. None is small: a size that is short only for a handful of
/// elements is usually excluded by the program's purpose.
const POINTS: [i64; 8] = [1000, 513, 257, 100, 4097, 1025, 333, 65];

impl From<i64> for Quantity {
    fn from(value: i64) -> Self {
        Self::Known(value)
    }
}

impl From<Option<i64>> for Quantity {
    fn from(value: Option<i64>) -> Self {
        value.map_or(Self::Unknown, Self::Known)
    }
}

impl Quantity {
    /// A polynomial as a quantity.
    pub fn from_poly(poly: Poly) -> Self {
        match poly.as_constant() {
            Some(value) => Self::Known(value),
            None => Self::Symbolic(poly),
        }
    }

    /// An optional polynomial as a quantity.
    pub fn from_option(poly: Option<Poly>) -> Self {
        poly.map_or(Self::Unknown, Self::from_poly)
    }

    /// The number, when it is one.
    pub const fn known(&self) -> Option<i64> {
        match self {
            Self::Known(value) => Some(*value),
            _ => None,
        }
    }

    /// Whether nothing is known.
    pub const fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown)
    }

    /// As a polynomial; `None` when unknown.
    pub fn poly(&self) -> Option<Poly> {
        match self {
            Self::Known(value) => Some(Poly::constant(*value)),
            Self::Symbolic(poly) => Some(poly.clone()),
            Self::Unknown => None,
        }
    }

    /// `self + other`, as mathematical integers.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        if let (Self::Known(a), Self::Known(b)) = (self, other) {
            return a.checked_add(*b).map_or(Self::Unknown, Self::Known);
        }
        Self::from_option(self.poly().zip(other.poly()).and_then(|(a, b)| a.plus_times(&b, 1)))
    }

    /// `self - other`, as mathematical integers.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        if let (Self::Known(a), Self::Known(b)) = (self, other) {
            return a.checked_sub(*b).map_or(Self::Unknown, Self::Known);
        }
        Self::from_option(self.poly().zip(other.poly()).and_then(|(a, b)| a.plus_times(&b, -1)))
    }

    /// `self * other`, as mathematical integers.
    #[must_use]
    pub fn times(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Known(a), Self::Known(b)) => a.checked_mul(*b).map_or(Self::Unknown, Self::Known),
            (Self::Known(0), _) | (_, Self::Known(0)) => Self::Known(0),
            _ => Self::from_option(self.poly().zip(other.poly()).and_then(|(a, b)| a.times(&b))),
        }
    }

    /// `self - other` when that is the same number for all inputs.
    pub fn constant_difference(&self, other: &Self) -> Option<i64> {
        self.minus(other).known()
    }

    /// Whether both are surely the same number.
    pub fn surely_equals(&self, other: &Self) -> bool {
        self.constant_difference(other) == Some(0)
    }

    /// Names and ids of the plain atoms it is made of.
    pub fn inputs(&self) -> Vec<Atom> {
        match self {
            Self::Symbolic(poly) => poly.bases().0.into_iter().collect(),
            _ => Vec::new(),
        }
    }

    /// The value where the plain atoms named have these numbers (all atoms must be named).
    pub fn evaluate(&self, assignment: &[(String, i64)]) -> Option<i64> {
        match self {
            Self::Known(value) => Some(*value),
            Self::Symbolic(poly) => {
                let mut at = BTreeMap::new();
                for atom in poly.bases().0 {
                    let (_, value) = assignment.iter().find(|(name, _)| name == atom.name())?;
                    at.insert(atom.id(), *value);
                }
                poly.evaluate(&at)
            }
            Self::Unknown => None,
        }
    }

    /// Whether `self > other`: see [`Comparison`]. Sides that speak of different inputs are not compared, since
    /// nothing says how those are related.
    pub fn exceeds(&self, other: &Self) -> Comparison {
        self.exceeds_where(other, &[])
    }

    /// Whether `self > other`, where values of inputs are chosen only such that the conditions hold.
    pub fn exceeds_where(&self, other: &Self, conditions: &[Condition]) -> Comparison {
        let (Some(a), Some(b)) = (self.poly(), other.poly()) else { return Comparison::Unknown };
        let Some(difference) = a.plus_times(&b, -1) else { return Comparison::Unknown };
        if let Some(value) = difference.as_constant() {
            return if value > 0 { Comparison::Always } else { Comparison::Never };
        }
        let (a_bases, mut constants) = a.bases();
        let (b_bases, b_constants) = b.bases();
        if a_bases != b_bases {
            // A count alone says nothing against a fixed size; only the sign of the whole difference can.
            let none = Poly::constant(0).plus_times(&difference, -1).is_some_and(|d| d.is_non_negative(0));
            return if none { Comparison::Never } else { Comparison::Unknown };
        }
        if difference.is_positive_for_counts() {
            return Comparison::Always;
        }
        if Poly::constant(0).plus_times(&difference, -1).is_some_and(|d| d.is_non_negative(0)) {
            return Comparison::Never;
        }
        if a_bases.len() > 2 || !a_bases.iter().all(|atom| matches!(atom.kind(), AtomKind::Input)) {
            return Comparison::Unknown;
        }
        constants.extend(b_constants);
        let mut points: Vec<i64> = POINTS.to_vec();
        for constant in constants.into_iter().filter(|c| (2..1 << 20).contains(c)).take(6) {
            points.extend([2 * constant + 1, 2 * constant, constant + 1].into_iter().filter(|p| *p >= 65));
        }
        let atoms: Vec<Atom> = a_bases.into_iter().collect();
        let second: &[i64] = if atoms.len() == 2 { &points } else { &[0] };
        for first in &points {
            for other in second {
                let at: BTreeMap<u32, i64> = atoms.iter().map(Atom::id).zip([*first, *other]).collect();
                if !conditions.iter().all(|condition| condition.admits(&at)) {
                    continue;
                }
                let (Some(left), Some(right)) = (a.evaluate(&at), b.evaluate(&at)) else { continue };
                if left > right && right >= 0 {
                    let assignment =
                        atoms.iter().zip([*first, *other]).map(|(atom, v)| (atom.name().to_owned(), v)).collect();
                    return Comparison::ForSome { assignment };
                }
            }
        }
        Comparison::Unknown
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(value) => write!(f, "{value}"),
            Self::Symbolic(poly) => poly.fmt(f),
            Self::Unknown => f.write_str("unknown"),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic)]
    use super::*;
    use crate::polynomial::ClosedOp;

    fn input(id: u32, name: &str) -> Quantity {
        Quantity::from_poly(Poly::atom(Atom::new(id, name.to_owned(), AtomKind::Input)))
    }

    fn quotient(id: u32, a: &Quantity, b: i64) -> Quantity {
        let kind = AtomKind::Closed(ClosedOp::Div, a.poly().unwrap_or_default(), Poly::constant(b));
        Quantity::from_poly(Poly::atom(Atom::new(id, String::new(), kind)))
    }

    #[test]
    fn a_larger_factor_always_exceeds() {
        let n = input(0, "n");
        let (four, eight) = (n.times(&Quantity::Known(4)), n.times(&Quantity::Known(8)));
        assert_eq!(eight.exceeds(&four), Comparison::Always);
        assert_eq!(four.exceeds(&eight), Comparison::Never);
        assert_eq!(eight.to_string(), "8 * n");
    }

    #[test]
    fn a_product_outweighs_its_parts() {
        let (n, r) = (input(0, "n"), input(1, "r"));
        let volume = n.plus(&r).times(&r);
        let held = volume.minus(&r).plus(&Quantity::Known(32));
        let copied = volume.minus(&r).times(&Quantity::Known(4)).plus(&Quantity::Known(128));
        assert_eq!(copied.exceeds(&held), Comparison::Always);
        // `n * r > n` needs more than one of both.
        assert_ne!(n.times(&r).times(&r).exceeds(&n.times(&r)), Comparison::Always);
    }

    #[test]
    fn unrelated_inputs_are_not_compared() {
        let (n, m) = (input(0, "n"), input(1, "m"));
        assert_eq!(n.exceeds(&m), Comparison::Unknown);
        assert_eq!(n.exceeds(&Quantity::Known(4096)), Comparison::Unknown);
        assert_eq!(Quantity::Known(-1).exceeds(&n), Comparison::Never);
    }

    #[test]
    fn a_rounded_down_size_is_exceeded_for_some_n() {
        let n = input(0, "n");
        let covered = quotient(1, &n, 256).times(&Quantity::Known(256));
        let Comparison::ForSome { assignment } = n.exceeds(&covered) else { panic!("no assignment") };
        assert!(n.evaluate(&assignment) > covered.evaluate(&assignment));
        assert_eq!(covered.to_string(), "256 * (n / 256)");
        let up = quotient(2, &n.plus(&Quantity::Known(255)), 256).times(&Quantity::Known(256));
        assert_eq!(n.exceeds(&up), Comparison::Unknown);
    }

    #[test]
    fn differences_cancel() {
        let n = input(0, "n");
        let a = n.plus(&Quantity::Known(3)).times(&n);
        let b = n.times(&n).plus(&n.times(&Quantity::Known(3)));
        assert_eq!(a.constant_difference(&b), Some(0));
        assert!(a.surely_equals(&b));
        assert!(!a.surely_equals(&Quantity::Unknown));
    }
}
