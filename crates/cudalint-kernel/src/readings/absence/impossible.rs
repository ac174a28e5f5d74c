//! Whether facts contradict each other. Products of symbols count as numbers of their own, beside what follows from
//! multiplying a fact by a number that is not negative; the rest is elimination by Fourier and Motzkin, with bounds rounded to
//! integers. It never says so of facts that some integers fulfil; where it gives up it says nothing.

use super::sums::{Fact, Sum, Symbol};
use rustc_hash::FxHashMap;

/// Most facts that are made by multiplying others.
const MAX_PRODUCTS: usize = 160;
/// Most inequalities at one time.
const MAX_ROWS: usize = 240;
/// Numbers beyond which an inequality is dropped.
const MAX_NUMBER: i64 = 1 << 56;

/// An inequality (or equation) over products: coefficients, and the number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Row {
    factors: Vec<i64>,
    number: i64,
}

/// What a system has come to.
enum Step {
    Contradiction,
    Open(Vec<Row>),
}

/// Whether no integers fulfil all of the facts. `work` counts what it costs; at 0 it gives up.
pub(super) fn impossible(facts: &[Fact], work: &mut u64) -> bool {
    let mut all = facts.to_vec();
    multiply(&mut all);
    let mut columns: FxHashMap<&[Symbol], usize> = FxHashMap::default();
    for (product, _) in all.iter().flat_map(|fact| fact.sum.terms()) {
        if !product.is_empty() {
            let next = columns.len();
            columns.entry(product).or_insert(next);
        }
    }
    let row = |sum: &Sum| {
        let mut factors = vec![0; columns.len()];
        for (product, coefficient) in sum.terms() {
            if let Some(slot) = columns.get(product).and_then(|column| factors.get_mut(*column)) {
                *slot = coefficient;
            }
        }
        Row { factors, number: sum.rest() }
    };
    let equations = all.iter().filter(|fact| fact.zero).map(|fact| row(&fact.sum)).collect();
    let rows = all.iter().filter(|fact| !fact.zero).map(|fact| row(&fact.sum)).collect();
    match substituted(equations, rows, work) {
        Step::Contradiction => true,
        Step::Open(rows) => eliminated(rows, columns.len(), work),
    }
}

/// Adds what follows of products: where `u * v` occurs and `u` is not negative, facts on `v` times `u`.
fn multiply(facts: &mut Vec<Fact>) {
    let mut wanted: Vec<(Vec<Symbol>, Symbol)> = Vec::new();
    for (product, _) in facts.iter().flat_map(|fact| fact.sum.terms()) {
        for place in 0..if product.len() < 2 { 0 } else { product.len() } {
            let mut rest = product.to_vec();
            let one = (rest.remove(place), rest);
            if !wanted.iter().any(|(rest, symbol)| (symbol, rest) == (&one.0, &one.1)) {
                wanted.push((one.1, one.0));
            }
        }
    }
    if wanted.is_empty() {
        return;
    }
    let positive: Vec<Symbol> = facts
        .iter()
        .filter_map(|fact| {
            let least = -fact.sum.rest();
            let symbol = fact.sum.plus(least)?.as_symbol()?;
            (least >= 0).then_some(symbol)
        })
        .collect();
    let mut made = Vec::new();
    for fact in facts.iter() {
        let single = |symbol: Symbol| fact.sum.terms().any(|(product, _)| product == [symbol]);
        let mut by: Vec<&Vec<Symbol>> = wanted.iter().filter(|(_, v)| single(*v)).map(|(rest, _)| rest).collect();
        by.sort_unstable();
        by.dedup();
        for rest in by {
            if made.len() >= MAX_PRODUCTS {
                break;
            }
            if fact.zero || rest.iter().all(|symbol| positive.contains(symbol)) {
                let factor = rest.iter().try_fold(Sum::number(1), |all, symbol| all.times(&Sum::symbol(*symbol)));
                if let Some(sum) = factor.and_then(|factor| fact.sum.times(&factor)) {
                    made.push(Fact { sum, zero: fact.zero });
                }
            }
        }
    }
    facts.extend(made);
}

impl Row {
    /// Divided by what all factors have in common, the number rounded down: that holds for integers.
    fn tightened(mut self) -> Self {
        let common = self.factors.iter().fold(0, |all, factor| gcd(all, *factor));
        if common > 1 {
            self.factors.iter_mut().for_each(|factor| *factor /= common);
            self.number = self.number.div_euclid(common);
        }
        self
    }

    fn is_empty(&self) -> bool {
        self.factors.iter().all(|factor| *factor == 0)
    }

    /// `self * a + other * b`.
    fn combined(&self, a: i64, other: &Self, b: i64) -> Option<Self> {
        let sum = |x: i64, y: i64| {
            let sum = x.checked_mul(a)?.checked_add(y.checked_mul(b)?)?;
            (sum.abs() <= MAX_NUMBER).then_some(sum)
        };
        let factors = self.factors.iter().zip(&other.factors).map(|(x, y)| sum(*x, *y)).collect::<Option<Vec<_>>>()?;
        Some(Self { factors, number: sum(self.number, other.number)? })
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i64::try_from(a).unwrap_or(1)
}

/// Takes equations out: each gives the value of one product in terms of others, or becomes two inequalities.
fn substituted(mut equations: Vec<Row>, mut rows: Vec<Row>, work: &mut u64) -> Step {
    while let Some(equation) = equations.pop() {
        let common = equation.factors.iter().fold(0, |all, factor| gcd(all, *factor));
        if common == 0 {
            if equation.number != 0 {
                return Step::Contradiction;
            }
            continue;
        }
        if equation.number % common != 0 {
            return Step::Contradiction;
        }
        let equation = equation.tightened();
        let Some(column) = equation.factors.iter().position(|factor| factor.abs() == 1) else {
            let negative = Row { factors: vec![0; equation.factors.len()], number: 0 }.combined(1, &equation, -1);
            rows.extend(negative);
            rows.push(equation);
            continue;
        };
        let cost = (equations.len() + rows.len()) * equation.factors.len();
        *work = work.saturating_sub(cost as u64);
        let sign = equation.factors.get(column).copied().unwrap_or(1);
        let without = |row: Row| {
            let factor = row.factors.get(column).copied().unwrap_or(0);
            if factor == 0 { Some(row) } else { row.combined(1, &equation, factor.checked_mul(-sign)?) }
        };
        // What runs over is left out: less is known then.
        equations = equations.into_iter().filter_map(without).collect();
        rows = rows.into_iter().filter_map(without).collect();
    }
    Step::Open(rows)
}

fn eliminated(mut rows: Vec<Row>, columns: usize, work: &mut u64) -> bool {
    let mut left: Vec<usize> = (0..columns).collect();
    loop {
        rows = match strongest(rows) {
            Step::Contradiction => return true,
            Step::Open(rows) => rows,
        };
        let Some((column, above, below)) = next_column(&mut rows, &mut left) else { return false };
        let factor = |row: &Row| row.factors.get(column).copied().unwrap_or(0);
        let cost = (above * below + 1) as u64 * columns as u64;
        if *work < cost || rows.len() + above * below > MAX_ROWS {
            *work = work.saturating_sub(cost);
            return false;
        }
        *work -= cost;
        let (with, mut next): (Vec<Row>, Vec<Row>) = rows.into_iter().partition(|row| factor(row) != 0);
        let (above, below): (Vec<Row>, Vec<Row>) = with.into_iter().partition(|row| factor(row) > 0);
        for up in &above {
            for down in &below {
                next.extend(up.combined(-factor(down), down, factor(up)));
            }
        }
        rows = next;
    }
}

/// The column that makes the fewest rows, with how many rows bound it from below and from above. Rows with numbers that are bounded
/// on one side alone say nothing and are taken out.
fn next_column(rows: &mut Vec<Row>, left: &mut Vec<usize>) -> Option<(usize, usize, usize)> {
    loop {
        let mut counts: Vec<(usize, usize)> = vec![(0, 0); left.len()];
        for row in rows.iter() {
            for (column, (above, below)) in left.iter().zip(&mut counts) {
                match row.factors.get(*column) {
                    Some(1..) => *above += 1,
                    Some(..=-1) => *below += 1,
                    _ => {}
                }
            }
        }
        let (place, (above, below)) = counts.into_iter().enumerate().min_by_key(|(_, (a, b))| a * b)?;
        let column = left.swap_remove(place);
        if above * below > 0 {
            return Some((column, above, below));
        }
        if above + below > 0 {
            rows.retain(|row| row.factors.get(column) == Some(&0));
        }
    }
}

/// Inequalities rounded, of those with equal factors the strongest, without those that say nothing.
fn strongest(rows: Vec<Row>) -> Step {
    let mut known: FxHashMap<Vec<i64>, i64> = FxHashMap::default();
    let mut order = Vec::new();
    for row in rows {
        let row = row.tightened();
        if row.is_empty() {
            if row.number < 0 {
                return Step::Contradiction;
            }
            continue;
        }
        match known.get_mut(&row.factors) {
            Some(number) => *number = row.number.min(*number),
            None => {
                order.push(row.factors.clone());
                known.insert(row.factors, row.number);
            }
        }
    }
    let row = |factors: Vec<i64>| known.get(&factors).map(|number| Row { number: *number, factors });
    Step::Open(order.into_iter().filter_map(row).collect())
}
