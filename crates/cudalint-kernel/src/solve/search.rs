//! Finds values of variables under which all constraints hold: intervals are narrowed by every constraint in turn (HC4),
//! their corners are tried, and what is left is cut in two. It gives up after a number of steps; it never says that there
//! are no such values.

use super::term::{Constraint, Interval, Operation, Relation, Term, TermId, Terms, at, backward, forward};

/// How many boxes one search looks at. What is found is found among the first few, on real code and in the tests: small
/// numbers are tried first, and corners of boxes.
const BOXES: u32 = 64;
/// How often one box is narrowed.
const ROUNDS: u32 = 6;

/// A term among those that one search needs, its operands by their places among them.
#[derive(Clone, Copy)]
enum Step {
    Constant(i64),
    Variable(usize),
    Of(Operation, usize, usize),
}

struct Search {
    /// Operands first.
    steps: Vec<Step>,
    constraints: Vec<(usize, Relation, usize)>,
    intervals: Vec<Interval>,
    values: Vec<Option<i128>>,
    /// Variables that occur.
    used: Vec<usize>,
}

impl Search {
    fn new(terms: &Terms, constraints: &[Constraint]) -> Self {
        let order = terms.below(constraints.iter().flat_map(|constraint| [constraint.left, constraint.right]));
        let mut places = vec![0; terms.nodes.len()];
        for (place, id) in order.iter().enumerate() {
            places[id.index()] = place;
        }
        let place = |id: TermId| places[id.index()];
        let step = |id: &TermId| match terms.nodes[*id] {
            Term::Constant(value) => Step::Constant(value),
            Term::Variable(variable) => Step::Variable(variable.index()),
            Term::Of(operation, a, b) => Step::Of(operation, place(a), place(b)),
        };
        let steps: Vec<Step> = order.iter().map(step).collect();
        let used = steps.iter().filter_map(|step| if let Step::Variable(index) = step { Some(*index) } else { None });
        Self {
            used: used.collect(),
            constraints: constraints.iter().map(|it| (place(it.left), it.relation, place(it.right))).collect(),
            intervals: vec![Interval::ALL; steps.len()],
            values: vec![None; steps.len()],
            steps,
        }
    }
}

/// Values of all variables, in their order, such that every constraint holds.
pub fn search(terms: &Terms, constraints: &[Constraint]) -> Option<Vec<i64>> {
    let mut search = Search::new(terms, constraints);
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

impl Search {
    fn holds(&mut self, point: &[i64]) -> bool {
        for (place, step) in self.steps.iter().enumerate() {
            self.values[place] = match *step {
                Step::Constant(value) => Some(i128::from(value)),
                Step::Variable(index) => point.get(index).map(|value| i128::from(*value)),
                Step::Of(operation, a, b) => self.values[a].zip(self.values[b]).and_then(|(a, b)| at(operation, a, b)),
            };
        }
        self.constraints.iter().all(|&(left, relation, right)| {
            let sides = self.values[left].zip(self.values[right]);
            sides.is_some_and(|(left, right)| match relation {
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
            for (place, step) in self.steps.iter().enumerate() {
                self.intervals[place] = match *step {
                    Step::Constant(value) => Interval::new(value.into(), value.into()),
                    Step::Variable(index) => {
                        let (low, high) = bounds[index];
                        Interval::new(low.into(), high.into())
                    }
                    Step::Of(operation, a, b) => forward(operation, self.intervals[a], self.intervals[b]),
                };
            }
            for &(left, relation, right) in &self.constraints {
                let (a, b) = (self.intervals[left], self.intervals[right]);
                let (a, b) = match relation {
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
            for (place, step) in self.steps.iter().enumerate().rev() {
                if let Step::Of(operation, a, b) = *step {
                    let (left, right) =
                        backward(operation, self.intervals[place], self.intervals[a], self.intervals[b]);
                    if left.is_empty() || right.is_empty() {
                        return false;
                    }
                    self.intervals[a] = left;
                    // Of one and the same operand both bounds hold.
                    self.intervals[b] = if a == b { right.meet(left) } else { right };
                    if self.intervals[b].is_empty() {
                        return false;
                    }
                }
            }
            let mut changed = false;
            for (place, step) in self.steps.iter().enumerate() {
                if let Step::Variable(index) = *step {
                    let interval = self.intervals[place];
                    let bound = &mut bounds[index];
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
