//! Sums of products of symbols: what an integer of a kernel is, whatever the launch.

use cudalint_numbers::Products as Terms;

/// A number that is not known: a parameter, a thread's number, the round of a loop.
pub(super) type Symbol = u32;

/// What marks the symbol of the second of two threads.
pub(super) const OTHER: Symbol = 1 << 31;
/// Most terms of a sum; beyond it a value is not followed.
const MAX_TERMS: usize = 24;
/// Highest degree of a term.
const MAX_DEGREE: usize = 4;

/// A polynomial with integer coefficients over symbols.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Sum(Terms<Symbol>);

/// Something that is known of symbols.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Fact {
    pub sum: Sum,
    /// The sum is 0; else it is 0 or more.
    pub zero: bool,
}

impl Fact {
    /// `a >= b`.
    pub fn at_least(a: &Sum, b: &Sum) -> Option<Self> {
        Some(Self { sum: a.plus_times(b, -1)?, zero: false })
    }

    /// `a > b`.
    pub fn above(a: &Sum, b: &Sum) -> Option<Self> {
        Some(Self { sum: a.plus_times(b, -1)?.plus(-1)?, zero: false })
    }

    /// `a == b`.
    pub fn equal(a: &Sum, b: &Sum) -> Option<Self> {
        Some(Self { sum: a.plus_times(b, -1)?, zero: true })
    }

    pub fn renamed(&self, rename: impl Fn(Symbol) -> Symbol) -> Self {
        Self { sum: self.sum.renamed(rename), zero: self.zero }
    }
}

impl Sum {
    pub fn number(value: i64) -> Self {
        Self(Terms::one(Vec::new(), value))
    }

    pub fn symbol(symbol: Symbol) -> Self {
        Self(Terms::one(vec![symbol], 1))
    }

    /// The number that it is.
    pub fn constant(&self) -> Option<i64> {
        match self.0.len() {
            0 => Some(0),
            1 => self.0.get(&[]).copied(),
            _ => None,
        }
    }

    /// The number in it.
    pub fn rest(&self) -> i64 {
        self.0.get(&[]).copied().unwrap_or(0)
    }

    /// The symbol that it is.
    pub fn as_symbol(&self) -> Option<Symbol> {
        let mut terms = self.0.iter();
        match (terms.next(), terms.next()) {
            (Some((product, 1)), None) => match product.as_slice() {
                [symbol] => Some(*symbol),
                _ => None,
            },
            _ => None,
        }
    }

    pub fn plus_times(&self, other: &Self, factor: i64) -> Option<Self> {
        Some(Self(self.0.plus_times(&other.0, factor)?)).filter(|sum| sum.0.len() <= MAX_TERMS)
    }

    pub fn plus(&self, value: i64) -> Option<Self> {
        self.plus_times(&Self::number(value), 1)
    }

    pub fn scaled(&self, factor: i64) -> Option<Self> {
        Self::default().plus_times(self, factor)
    }

    pub fn times(&self, other: &Self) -> Option<Self> {
        let mut products = Vec::with_capacity(self.0.len() * other.0.len());
        for (a, x) in self.0.iter() {
            for (b, y) in other.0.iter() {
                let mut product: Vec<Symbol> = a.iter().chain(b).copied().collect();
                product.sort_unstable();
                if product.len() > MAX_DEGREE {
                    return None;
                }
                products.push((product, x.checked_mul(*y)?));
            }
        }
        Some(Self(Terms::sum(products)?)).filter(|sum| sum.0.len() <= MAX_TERMS)
    }

    /// Its products with their coefficients; the empty one is the number in it.
    pub fn terms(&self) -> impl Iterator<Item = (&[Symbol], i64)> {
        self.0.iter().map(|(product, coefficient)| (product.as_slice(), *coefficient))
    }

    /// All symbols, some of them several times.
    pub fn symbols(&self) -> impl Iterator<Item = Symbol> + '_ {
        self.0.keys().flatten().copied()
    }

    pub fn renamed(&self, rename: impl Fn(Symbol) -> Symbol) -> Self {
        let products = self.0.iter().map(|(product, coefficient)| {
            let mut product: Vec<Symbol> = product.iter().map(|symbol| rename(*symbol)).collect();
            product.sort_unstable();
            (product, *coefficient)
        });
        // The same coefficients stand for other products: nothing can run over.
        Self(Terms::sum(products.collect()).unwrap_or_default())
    }
}
