//! Finds values of variables under which all constraints hold: intervals are narrowed by every constraint in turn (HC4),
//! their corners are tried, and what is left is cut in two. It gives up after a number of steps; it never says that there
//! are no such values.

use super::term::{Constraint, Interval, Relation, Term, TermId, Terms, backward, forward};

/// How many boxes one search looks at.
const BOXES: u32 = 400;
/// How often one box is narrowed.
const ROUNDS: u32 = 6;

struct Search<'t> {
    terms: &'t Terms,
    constraints: &'t [Constraint],
    /// Terms below the constraints, operands first.
    order: Vec<TermId>,
    intervals: Vec<Interval>,
    values: Vec<Option<i128>>,
    /// Variables that occur.
    used: Vec<usize>,
}

/// Values of all variables, in their order, such that every constraint holds.
pub fn search(terms: &Terms, constraints: &[Constraint]) -> Option<Vec<i64>> {
    let order = terms.below(constraints.iter().flat_map(|constraint| [constraint.left, constraint.right]));
    let used = order
        .iter()
        .filter_map(|id| match terms.nodes[id.index()] {
            Term::Variable(variable) => Some(variable.index()),
            _ => None,
        })
        .collect();
    let size = terms.nodes.len();
    let mut search =
        Search { terms, constraints, order, intervals: vec![Interval::ALL; size], values: vec![None; size], used };
    let mut open = vec![terms.bounds.clone()];
    let mut boxes = 0;
    while let Some(mut bounds) = open.pop() {
        boxes += 1;
        if boxes > BOXES {
            return None;
        }
        if !search.narrow(&mut bounds) {
            continue;
        }
        for corner in 0..4 {
            let point = corner_of(&bounds, corner, &search.used);
            if search.holds(&point) {
                return Some(point);
            }
        }
        let widest = search.used.iter().copied().max_by_key(|index| bounds[*index].1 - bounds[*index].0)?;
        let (low, high) = bounds[widest];
        if low >= high {
            continue;
        }
        let middle = low + (high - low) / 2;
        let mut upper = bounds.clone();
        upper[widest].0 = middle + 1;
        bounds[widest].1 = middle;
        // Small numbers make better examples: the lower half comes first.
        open.push(upper);
        open.push(bounds);
    }
    None
}

/// Points of a box: lowest, highest, middle, and variables in turn low and high.
fn corner_of(bounds: &[(i64, i64)], corner: u32, used: &[usize]) -> Vec<i64> {
    let mut point: Vec<i64> = bounds.iter().map(|(low, _)| *low).collect();
    for (position, index) in used.iter().enumerate() {
        let (low, high) = bounds[*index];
        point[*index] = match corner {
            0 => low,
            1 => high,
            2 => low + (high - low) / 2,
            _ if position % 2 == 0 => low,
            _ => high,
        };
    }
    point
}

impl Search<'_> {
    fn holds(&mut self, point: &[i64]) -> bool {
        self.terms.at(&self.order, point, &mut self.values);
        self.constraints.iter().all(|constraint| {
            let sides = self.values[constraint.left.index()].zip(self.values[constraint.right.index()]);
            sides.is_some_and(|(left, right)| match constraint.relation {
                Relation::Less => left < right,
                Relation::AtMost => left <= right,
                Relation::Equal => left == right,
                Relation::Differ => left != right,
            })
        })
    }

    /// Narrows a box; false when nothing is left of it.
    fn narrow(&mut self, bounds: &mut [(i64, i64)]) -> bool {
        for _ in 0..ROUNDS {
            for id in &self.order {
                self.intervals[id.index()] = match self.terms.nodes[id.index()] {
                    Term::Constant(value) => Interval::new(value.into(), value.into()),
                    Term::Variable(variable) => {
                        let (low, high) = bounds[variable.index()];
                        Interval::new(low.into(), high.into())
                    }
                    Term::Of(operation, a, b) => {
                        forward(operation, self.intervals[a.index()], self.intervals[b.index()])
                    }
                };
            }
            for constraint in self.constraints {
                let (left, right) = (constraint.left.index(), constraint.right.index());
                let (a, b) = (self.intervals[left], self.intervals[right]);
                let (a, b) = match constraint.relation {
                    Relation::Less => {
                        (a.meet(Interval::new(a.low, b.high - 1)), b.meet(Interval::new(a.low + 1, b.high)))
                    }
                    Relation::AtMost => (a.meet(Interval::new(a.low, b.high)), b.meet(Interval::new(a.low, b.high))),
                    Relation::Equal => (a.meet(b), b.meet(a)),
                    Relation::Differ => (a, b),
                };
                if a.is_empty() || b.is_empty() {
                    return false;
                }
                self.intervals[left] = a;
                self.intervals[right] = b;
            }
            for id in self.order.iter().rev() {
                if let Term::Of(operation, a, b) = self.terms.nodes[id.index()] {
                    let result = self.intervals[id.index()];
                    let (left, right) =
                        backward(operation, result, self.intervals[a.index()], self.intervals[b.index()]);
                    if left.is_empty() || right.is_empty() {
                        return false;
                    }
                    self.intervals[a.index()] = left;
                    // Of one and the same operand both bounds hold.
                    self.intervals[b.index()] = if a == b { right.meet(left) } else { right };
                    if self.intervals[b.index()].is_empty() {
                        return false;
                    }
                }
            }
            let mut changed = false;
            for id in &self.order {
                if let Term::Variable(variable) = self.terms.nodes[id.index()] {
                    let interval = self.intervals[id.index()];
                    let bound = &mut bounds[variable.index()];
                    let narrowed = (
                        i64::try_from(interval.low).unwrap_or(bound.0).max(bound.0),
                        i64::try_from(interval.high).unwrap_or(bound.1).min(bound.1),
                    );
                    if narrowed.0 > narrowed.1 {
                        return false;
                    }
                    changed |= narrowed != *bound;
                    *bound = narrowed;
                }
            }
            if !changed {
                break;
            }
        }
        true
    }
}
