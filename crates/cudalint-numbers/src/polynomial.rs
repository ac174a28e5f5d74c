//! Polynomials over atoms: the arithmetic behind symbolic sizes, and evaluation at chosen points.

use crate::BinaryOp;
use crate::arith::exact;
use crate::terms;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fmt::Write as _;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The terms of a polynomial.
pub type Terms = terms::Terms<Atom>;

/// Most terms a polynomial may have; beyond it a result is unknown.
const MAX_TERMS: usize = 24;
/// Highest degree of a term.
const MAX_DEGREE: usize = 5;
/// How deep closed operations may nest before evaluation gives up.
const MAX_DEPTH: u32 = 8;

/// A symbol of the replay: an input nobody fixes (a parameter, a result read from outside), or an operation that
/// stays closed (`n / 256`). Equal ids mean equal values within one walk.
#[derive(Clone, Debug)]
pub struct Atom(Arc<AtomInfo>);

/// What an atom stands for.
#[derive(Debug)]
struct AtomInfo {
    id: u32,
    name: String,
    kind: AtomKind,
}

/// Kinds of atoms.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AtomKind {
    /// A number that whoever calls or runs the program chooses freely: a parameter of an entry function, a number
    /// read from the command line. Points may be chosen for it.
    Input,
    /// Computed out of sight: equal to itself, but no value may be chosen for it.
    Opaque,
    /// A member of an object that whoever calls hands over: as free as an input where it stands alone, but members may have to do with each
    /// other in ways that nobody sees.
    Field,
    /// `sizeof(T)` of a type that is not in sight: at least 1.
    SizeOf,
    /// An operation that no polynomial expresses.
    Closed(ClosedOp, Poly, Poly),
}

/// Operations that stay closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ClosedOp {
    Div,
    Rem,
    Shl,
    Shr,
    And,
    Or,
    Xor,
    Min,
    Max,
    /// Comparisons, as 0 or 1.
    Lt,
    Le,
    Eq,
    Ne,
}

impl ClosedOp {
    /// The C spelling; `None` for those that are function calls.
    const fn symbol(self) -> Option<&'static str> {
        Some(match self {
            Self::Div => "/",
            Self::Rem => "%",
            Self::Shl => "<<",
            Self::Shr => ">>",
            Self::And => "&",
            Self::Or => "|",
            Self::Xor => "^",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Eq => "==",
            Self::Ne => "!=",
            Self::Min | Self::Max => return None,
        })
    }

    fn is_comparison(self) -> bool {
        self.operator().is_some_and(BinaryOp::is_comparison)
    }

    /// The operator that it is; `None` for `min` and `max`.
    const fn operator(self) -> Option<BinaryOp> {
        Some(match self {
            Self::Div => BinaryOp::Div,
            Self::Rem => BinaryOp::Rem,
            Self::Shl => BinaryOp::Shl,
            Self::Shr => BinaryOp::Shr,
            Self::And => BinaryOp::And,
            Self::Or => BinaryOp::Or,
            Self::Xor => BinaryOp::Xor,
            Self::Lt => BinaryOp::Lt,
            Self::Le => BinaryOp::Le,
            Self::Eq => BinaryOp::Eq,
            Self::Ne => BinaryOp::Ne,
            Self::Min | Self::Max => return None,
        })
    }

    /// The result on two numbers; `None` when C leaves it undefined.
    pub fn apply(self, a: i64, b: i64) -> Option<i64> {
        match self.operator() {
            Some(op) => exact(op, a, b),
            None if self == Self::Min => Some(a.min(b)),
            None => Some(a.max(b)),
        }
    }
}

impl Atom {
    /// An atom; `id` must be new within the walk.
    pub fn new(id: u32, name: String, kind: AtomKind) -> Self {
        Self(Arc::new(AtomInfo { id, name, kind }))
    }

    /// Its number within the walk.
    pub fn id(&self) -> u32 {
        self.0.id
    }

    /// Its name in the source; empty for a closed operation.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// What it stands for.
    pub fn kind(&self) -> &AtomKind {
        &self.0.kind
    }

    /// Whether it is at least 0, given that inputs are counts.
    fn is_non_negative(&self, depth: u32) -> bool {
        match self.kind() {
            AtomKind::Input | AtomKind::Opaque | AtomKind::Field | AtomKind::SizeOf => true,
            AtomKind::Closed(op, a, b) => {
                depth < MAX_DEPTH
                    && match op {
                        ClosedOp::Lt | ClosedOp::Le | ClosedOp::Eq | ClosedOp::Ne => true,
                        ClosedOp::Min => a.is_non_negative(depth + 1) && b.is_non_negative(depth + 1),
                        ClosedOp::Max => a.is_non_negative(depth + 1) || b.is_non_negative(depth + 1),
                        ClosedOp::Rem => a.is_non_negative(depth + 1),
                        ClosedOp::And => a.is_non_negative(depth + 1) || b.is_non_negative(depth + 1),
                        _ => a.is_non_negative(depth + 1) && b.is_non_negative(depth + 1),
                    }
            }
        }
    }

    fn is_plain(&self) -> bool {
        !matches!(self.kind(), AtomKind::Closed(..))
    }

    fn evaluate(&self, at: &BTreeMap<u32, i64>, depth: u32) -> Option<i64> {
        match self.kind() {
            AtomKind::Closed(op, a, b) => {
                if depth > MAX_DEPTH {
                    return None;
                }
                let (a, b) = (a.evaluate_at(at, depth + 1)?, b.evaluate_at(at, depth + 1)?);
                // A negative operand would have wrapped had its type been unsigned, which is not known here.
                if (a < 0 || b < 0) && !op.is_comparison() {
                    return None;
                }
                op.apply(a, b)
            }
            _ => at.get(&self.id()).copied(),
        }
    }

    fn bases(&self, into: &mut Bases, depth: u32) {
        if let AtomKind::Closed(_, a, b) = self.kind() {
            if depth < MAX_DEPTH && into.enters(self.id(), depth) {
                a.collect_bases(into, depth + 1);
                b.collect_bases(into, depth + 1);
            }
        } else {
            into.atoms.insert(self.clone());
        }
    }
}

impl PartialEq for Atom {
    fn eq(&self, other: &Self) -> bool {
        self.id() == other.id()
    }
}

impl Eq for Atom {}

impl PartialOrd for Atom {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Atom {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.id().cmp(&other.id())
    }
}

impl Hash for Atom {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id().hash(state);
    }
}

/// A polynomial over atoms with integer coefficients.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Poly {
    /// Terms.
    pub terms: Arc<Terms>,
}

impl Poly {
    /// A number.
    pub fn constant(value: i64) -> Self {
        Self::of(Terms::one(Vec::new(), value))
    }

    /// One atom.
    pub fn atom(atom: Atom) -> Self {
        Self::of(Terms::one(vec![atom], 1))
    }

    /// From its terms.
    pub fn of(terms: Terms) -> Self {
        Self { terms: Arc::new(terms) }
    }

    /// The number, when no atom is left.
    pub fn as_constant(&self) -> Option<i64> {
        match self.terms.len() {
            0 => Some(0),
            1 => self.terms.get(&[]).copied(),
            _ => None,
        }
    }

    /// `self + factor * other`; `None` when a coefficient or the size runs over.
    pub fn plus_times(&self, other: &Self, factor: i64) -> Option<Self> {
        let terms = self.terms.plus_times(&other.terms, factor)?;
        (terms.len() <= MAX_TERMS).then(|| Self::of(terms))
    }

    /// The product; `None` when it grows too large.
    pub fn times(&self, other: &Self) -> Option<Self> {
        let mut products: Vec<(Vec<Atom>, i64)> = Vec::with_capacity(self.terms.len() * other.terms.len());
        for (left, a) in self.terms.iter() {
            for (right, b) in other.terms.iter() {
                if left.len() + right.len() > MAX_DEGREE {
                    return None;
                }
                let mut product: Vec<Atom> = left.iter().chain(right).cloned().collect();
                product.sort();
                products.push((product, a.checked_mul(*b)?));
            }
        }
        let terms = Terms::sum(products)?;
        (terms.len() <= MAX_TERMS).then(|| Self::of(terms))
    }

    /// `self / divisor` when every coefficient is a multiple of it.
    pub fn divided_exactly(&self, divisor: i64) -> Option<Self> {
        let mut terms = (*self.terms).clone();
        for (_, coefficient) in terms.iter_mut() {
            if divisor == 0 || coefficient.checked_rem(divisor)? != 0 {
                return None;
            }
            *coefficient = coefficient.checked_div(divisor)?;
        }
        Some(Self::of(terms))
    }

    /// The value where each plain atom has the number given by its id; `None` on overflow, division by zero, a
    /// negative operand of a closed operation, or a missing atom.
    pub fn evaluate(&self, at: &BTreeMap<u32, i64>) -> Option<i64> {
        self.evaluate_at(at, 0)
    }

    fn evaluate_at(&self, at: &BTreeMap<u32, i64>, depth: u32) -> Option<i64> {
        let mut sum = 0_i64;
        for (product, coefficient) in self.terms.iter() {
            let mut value = *coefficient;
            for atom in product {
                value = value.checked_mul(atom.evaluate(at, depth)?)?;
            }
            sum = sum.checked_add(value)?;
        }
        Some(sum)
    }

    /// Whether it is at least 0 wherever every plain atom is; `false` when that cannot be seen from the signs.
    pub fn is_non_negative(&self, depth: u32) -> bool {
        self.terms.iter().all(|(product, c)| *c >= 0 && product.iter().all(|atom| atom.is_non_negative(depth)))
    }

    /// Whether some positive part needs no closed operation: then it is positive once every atom is at least 1.
    fn has_plain_positive_term(&self) -> bool {
        self.terms.iter().any(|(product, c)| *c > 0 && product.iter().all(Atom::is_plain))
    }

    /// Whether it is positive wherever every plain atom is at least 1, as far as the signs of its terms show, and that a
    /// product is no smaller than a part of it: `24 * r * r - 3 * r`.
    pub fn is_positive_for_counts(&self) -> bool {
        let mut terms = (*self.terms).clone();
        for (product, coefficient) in self.terms.iter().filter(|(_, coefficient)| **coefficient < 0) {
            let mut owed = coefficient.saturating_neg();
            for (larger, room) in terms.iter_mut() {
                if *room > 0 && owed > 0 && larger.iter().all(Atom::is_plain) && contains(larger, product) {
                    let paid = owed.min(*room);
                    owed -= paid;
                    *room -= paid;
                }
            }
            if owed > 0 {
                return false;
            }
            terms.remove(product);
        }
        let left = Self::of(terms);
        left.is_non_negative(0) && left.has_plain_positive_term()
    }

    /// Whether some number that nobody fixes takes part, besides sizes of types.
    pub fn names_numbers(&self, depth: u32) -> bool {
        self.terms.keys().flatten().any(|atom| match atom.kind() {
            AtomKind::Input | AtomKind::Opaque | AtomKind::Field => true,
            AtomKind::SizeOf => false,
            AtomKind::Closed(_, a, b) => {
                depth < MAX_DEPTH && (a.names_numbers(depth + 1) || b.names_numbers(depth + 1))
            }
        })
    }

    fn collect_bases(&self, into: &mut Bases, depth: u32) {
        for (product, coefficient) in self.terms.iter() {
            if product.is_empty() && depth > 0 {
                into.constants.insert(*coefficient);
            }
            for atom in product {
                atom.bases(into, depth);
            }
        }
    }

    /// The plain atoms it is made of, those inside closed operations included, and the constants inside closed
    /// operations.
    pub fn bases(&self) -> (BTreeSet<Atom>, BTreeSet<i64>) {
        let mut bases = Bases::default();
        self.collect_bases(&mut bases, 0);
        (bases.atoms, bases.constants)
    }
}

/// What a polynomial is made of, while it is looked through.
#[derive(Default)]
struct Bases {
    atoms: BTreeSet<Atom>,
    constants: BTreeSet<i64>,
    /// Closed operations that have been entered, with the least depth: they share parts, and repeat them many times.
    entered: Vec<(u32, u32)>,
}

impl Bases {
    /// Whether a closed operation has to be looked into at a depth.
    fn enters(&mut self, id: u32, depth: u32) -> bool {
        match self.entered.iter_mut().find(|(known, _)| *known == id) {
            Some((_, least)) if *least <= depth => return false,
            Some((_, least)) => *least = depth,
            None => self.entered.push((id, depth)),
        }
        true
    }
}

/// Whether a sorted product has every factor of another, as often.
fn contains(larger: &[Atom], product: &[Atom]) -> bool {
    let mut rest = larger.iter();
    product.iter().all(|atom| rest.by_ref().any(|other| other == atom))
}

fn write_atom(f: &mut String, atom: &Atom, depth: u32) {
    match atom.kind() {
        AtomKind::Closed(..) if depth > MAX_DEPTH => f.push_str("..."),
        AtomKind::Closed(op, a, b) => {
            if let Some(symbol) = op.symbol() {
                write_operand(f, a, depth + 1);
                let _ = write!(f, " {symbol} ");
                write_operand(f, b, depth + 1);
            } else {
                f.push_str(if matches!(op, ClosedOp::Min) { "min(" } else { "max(" });
                write_poly(f, a, depth + 1);
                f.push_str(", ");
                write_poly(f, b, depth + 1);
                f.push(')');
            }
        }
        _ => f.push_str(atom.name()),
    }
}

/// A side of an operator, in parentheses where it has operators of its own.
fn write_operand(f: &mut String, side: &Poly, depth: u32) {
    let start = f.len();
    write_poly(f, side, depth);
    if f.get(start..).is_some_and(|text| text.contains(' ')) {
        f.insert(start, '(');
        f.push(')');
    }
}

fn write_poly(f: &mut String, poly: &Poly, depth: u32) {
    // Highest degree first, the constant last, as people write sizes.
    let mut terms: Vec<_> = poly.terms.iter().collect();
    terms.sort_by_key(|(product, _)| std::cmp::Reverse(product.len()));
    for (i, (product, coefficient)) in terms.iter().enumerate() {
        let negative = **coefficient < 0;
        let size = coefficient.unsigned_abs();
        if i > 0 {
            f.push_str(if negative { " - " } else { " + " });
        } else if negative {
            f.push('-');
        }
        let mut first = true;
        if size != 1 || product.is_empty() {
            let _ = write!(f, "{size}");
            first = false;
        }
        let alone = product.len() == 1 && first;
        // Sizes of types come last, as in `n * sizeof(T)`.
        let is_size = |atom: &&Atom| matches!(atom.kind(), AtomKind::SizeOf);
        for atom in product.iter().filter(|atom| !is_size(atom)).chain(product.iter().filter(is_size)) {
            if !first {
                f.push_str(" * ");
            }
            first = false;
            let closed = matches!(atom.kind(), AtomKind::Closed(op, ..) if op.symbol().is_some());
            let wrapped = closed && !(alone && terms.len() == 1);
            if wrapped {
                f.push('(');
            }
            write_atom(f, atom, depth);
            if wrapped {
                f.push(')');
            }
        }
    }
    if terms.is_empty() {
        f.push('0');
    }
}

impl fmt::Display for Poly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        write_poly(&mut text, self, 0);
        f.write_str(&text)
    }
}
