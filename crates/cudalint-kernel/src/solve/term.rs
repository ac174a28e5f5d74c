//! Integers over variables with bounds: built once, evaluated at points and over intervals.

use cudalint_program::ids;
use rustc_hash::FxHashMap;
use typed_index_collections::TiVec;

ids! {
    /// A term of [`Terms`].
    TermId;
    /// A variable of [`Terms`], counted in the order of their making.
    Variable;
}

/// Operations on two terms. Division truncates, as in C; a division by 0 and a shift by less than 0 or more than 62 have
/// no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Operation {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Min,
    Max,
    Shl,
    Shr,
    And,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Term {
    Constant(i64),
    Variable(Variable),
    Of(Operation, TermId, TermId),
}

/// What must hold between two terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Constraint {
    /// Left side.
    pub left: TermId,
    /// How they stand to each other.
    pub relation: Relation,
    /// Right side.
    pub right: TermId,
}

/// How two terms stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Relation {
    Less,
    AtMost,
    Equal,
    Differ,
}

impl Constraint {
    /// What holds where this does not.
    #[must_use]
    pub const fn negated(self) -> Self {
        let Self { left, relation, right } = self;
        match relation {
            Relation::Less => Self { left: right, relation: Relation::AtMost, right: left },
            Relation::AtMost => Self { left: right, relation: Relation::Less, right: left },
            Relation::Equal => Self { left, relation: Relation::Differ, right },
            Relation::Differ => Self { left, relation: Relation::Equal, right },
        }
    }
}

/// A range of integers, both ends included. Wide enough that sums and products of what programs compute fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    pub low: i128,
    pub high: i128,
}

/// Beyond this nothing is told apart.
const FAR: i128 = 1 << 100;

impl Interval {
    pub const ALL: Self = Self { low: -FAR, high: FAR };

    pub fn new(low: i128, high: i128) -> Self {
        Self { low: low.clamp(-FAR, FAR), high: high.clamp(-FAR, FAR) }
    }

    pub const fn is_empty(self) -> bool {
        self.low > self.high
    }

    pub fn meet(self, other: Self) -> Self {
        Self { low: self.low.max(other.low), high: self.high.min(other.high) }
    }

    fn hull(values: impl IntoIterator<Item = i128>) -> Self {
        let mut hull = Self { low: FAR, high: -FAR };
        for value in values {
            hull.low = hull.low.min(value);
            hull.high = hull.high.max(value);
        }
        Self::new(hull.low, hull.high)
    }

    fn corners(self, other: Self, of: impl Fn(i128, i128) -> i128) -> Self {
        if other.low == other.high {
            return Self::hull([of(self.low, other.low), of(self.high, other.low)]);
        }
        Self::hull([
            of(self.low, other.low),
            of(self.low, other.high),
            of(self.high, other.low),
            of(self.high, other.high),
        ])
    }
}

/// All terms of one question.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    pub(super) nodes: TiVec<TermId, Term>,
    known: FxHashMap<Term, TermId>,
    /// Bounds of the variables, both ends included.
    pub(super) bounds: Vec<(i64, i64)>,
}

impl Terms {
    /// A constant.
    pub fn constant(&mut self, value: i64) -> TermId {
        self.make(Term::Constant(value))
    }

    /// Other bounds for a variable, both included.
    pub fn set_bounds(&mut self, variable: Variable, low: i64, high: i64) {
        if let Some(bounds) = self.bounds.get_mut(variable.index()) {
            *bounds = (low, high);
        }
    }

    /// A new variable between two bounds, both included.
    pub fn variable(&mut self, low: i64, high: i64) -> (Variable, TermId) {
        let variable = Variable(self.bounds.len() as u32);
        self.bounds.push((low, high));
        (variable, self.make(Term::Variable(variable)))
    }

    /// The value of a constant.
    pub fn as_constant(&self, term: TermId) -> Option<i64> {
        match self.nodes.get(term) {
            Some(Term::Constant(value)) => Some(*value),
            _ => None,
        }
    }

    /// An operation; constants are computed at once.
    pub fn of(&mut self, operation: Operation, a: TermId, b: TermId) -> TermId {
        if let (Some(left), Some(right)) = (self.as_constant(a), self.as_constant(b))
            && let Some(value) = compute(operation, i128::from(left), i128::from(right))
            && let Ok(value) = i64::try_from(value)
        {
            return self.constant(value);
        }
        match (operation, self.as_constant(a), self.as_constant(b)) {
            (Operation::Add, Some(0), _) | (Operation::Mul, Some(1), _) => b,
            (Operation::Add | Operation::Sub | Operation::Shl | Operation::Shr, _, Some(0))
            | (Operation::Mul | Operation::Div, _, Some(1)) => a,
            _ => self.make(Term::Of(operation, a, b)),
        }
    }

    fn make(&mut self, term: Term) -> TermId {
        let next = self.nodes.next_key();
        let id = *self.known.entry(term).or_insert(next);
        if id == next {
            self.nodes.push(term);
        }
        id
    }

    /// The terms below some terms, operands first.
    pub(super) fn below(&self, roots: impl IntoIterator<Item = TermId>) -> Vec<TermId> {
        let mut wanted = vec![false; self.nodes.len()];
        let mut open: Vec<TermId> = roots.into_iter().collect();
        while let Some(id) = open.pop() {
            if std::mem::replace(&mut wanted[id.index()], true) {
                continue;
            }
            if let Term::Of(_, a, b) = self.nodes[id] {
                open.extend([a, b]);
            }
        }
        // Operands are made before what is made of them.
        (0..self.nodes.len() as u32).map(TermId).filter(|id| wanted[id.index()]).collect()
    }
}

/// The value of an operation; `None` where it has none, or one beyond all bounds.
pub(super) fn at(operation: Operation, a: i128, b: i128) -> Option<i128> {
    compute(operation, a, b).filter(|value| (-FAR..=FAR).contains(value))
}

/// The value of an operation; `None` where it has none.
fn compute(operation: Operation, a: i128, b: i128) -> Option<i128> {
    match operation {
        Operation::Add => a.checked_add(b),
        Operation::Sub => a.checked_sub(b),
        Operation::Mul => product(a, b),
        Operation::Div => (b != 0).then(|| divided(a, b)),
        Operation::Rem => (b != 0).then(|| a - divided(a, b) * b),
        Operation::Min => Some(a.min(b)),
        Operation::Max => Some(a.max(b)),
        Operation::Shl => (0..63).contains(&b).then(|| a.checked_mul(1 << b)).flatten(),
        Operation::Shr => (0..63).contains(&b).then(|| a >> b),
        Operation::And => Some(a & b),
    }
}

/// All values that an operation can have over two intervals.
pub(super) fn forward(operation: Operation, a: Interval, b: Interval) -> Interval {
    match operation {
        Operation::Add => Interval::new(a.low + b.low, a.high + b.high),
        Operation::Sub => Interval::new(a.low - b.high, a.high - b.low),
        Operation::Mul => a.corners(b, |x, y| product(x, y).unwrap_or(if (x < 0) == (y < 0) { FAR } else { -FAR })),
        Operation::Div if b.low > 0 => a.corners(b, divided),
        Operation::Rem if b.low > 0 => {
            let most = b.high - 1;
            if a.low >= 0 && a.high < b.low {
                a
            } else {
                Interval::new(if a.low < 0 { -most } else { 0 }, if a.high > 0 { most.min(a.high) } else { 0 })
            }
        }
        Operation::Min => Interval::new(a.low.min(b.low), a.high.min(b.high)),
        Operation::Max => Interval::new(a.low.max(b.low), a.high.max(b.high)),
        Operation::Shl if b.low >= 0 && b.high < 63 => {
            a.corners(b, |x, y| x.checked_mul(1 << y).unwrap_or(if x < 0 { -FAR } else { FAR }))
        }
        Operation::Shr if b.low >= 0 && b.high < 63 => a.corners(b, |x, y| x >> y),
        Operation::And if a.low >= 0 && b.low >= 0 => Interval::new(0, a.high.min(b.high)),
        Operation::And if a.low >= 0 => Interval::new(0, a.high),
        Operation::And if b.low >= 0 => Interval::new(0, b.high),
        _ => Interval::ALL,
    }
}

/// What the operands can be where the result is in `result`: an outer bound.
pub(super) fn backward(operation: Operation, result: Interval, a: Interval, b: Interval) -> (Interval, Interval) {
    match operation {
        Operation::Add => (
            a.meet(Interval::new(result.low - b.high, result.high - b.low)),
            b.meet(Interval::new(result.low - a.high, result.high - a.low)),
        ),
        Operation::Sub => (
            a.meet(Interval::new(result.low + b.low, result.high + b.high)),
            b.meet(Interval::new(a.low - result.high, a.high - result.low)),
        ),
        Operation::Mul => (quotient(result, a, b), quotient(result, b, a)),
        // a = q * b + r with 0 <= |r| < b.
        Operation::Div if b.low > 0 && a.low >= 0 => {
            let high = result.high.saturating_add(1).saturating_mul(b.high).saturating_sub(1);
            (a.meet(Interval::new(result.low.max(0).saturating_mul(b.low), high)), b)
        }
        Operation::Min => {
            let least = Interval::new(result.low, FAR);
            (a.meet(least), b.meet(least))
        }
        Operation::Max => {
            let most = Interval::new(-FAR, result.high);
            (a.meet(most), b.meet(most))
        }
        _ => (a, b),
    }
}

/// What `a` can be where `a * b` is in `result`, for `b` of one sign.
fn quotient(result: Interval, a: Interval, b: Interval) -> Interval {
    let (low, high, result) = if b.low > 0 {
        (b.low, b.high, result)
    } else if b.high < 0 {
        (-b.high, -b.low, Interval::new(-result.high, -result.low))
    } else {
        return a;
    };
    let down = if result.low >= 0 { ceiling(result.low, high) } else { ceiling(result.low, low) };
    let up = if result.high >= 0 { floor(result.high, low) } else { floor(result.high, high) };
    a.meet(Interval::new(down, up))
}

/// `a / b` rounded up, for `b` above 0.
fn ceiling(a: i128, b: i128) -> i128 {
    -floor(-a, b)
}

/// `a / b` rounded down, for `b` above 0.
fn floor(a: i128, b: i128) -> i128 {
    let towards_zero = divided(a, b);
    towards_zero - i128::from(towards_zero * b > a)
}

/// `a * b`, where it fits. Numbers of programs fit 64 bits, for which processors have an instruction.
fn product(a: i128, b: i128) -> Option<i128> {
    match (i64::try_from(a), i64::try_from(b)) {
        (Ok(a), Ok(b)) => Some(i128::from(a) * i128::from(b)),
        _ => a.checked_mul(b),
    }
}

/// `a / b` without the rest, for `b` other than 0.
fn divided(a: i128, b: i128) -> i128 {
    match (i64::try_from(a), i64::try_from(b)) {
        (Ok(short), Ok(by)) => short.checked_div(by).map_or_else(|| a / b, i128::from),
        _ => a / b,
    }
}
