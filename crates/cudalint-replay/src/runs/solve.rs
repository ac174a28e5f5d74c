//! Values for open inputs that could show a defect, asked of the kernel's code: see [`cudalint_kernel::solve`].

use super::alike::{are_alike, row_steps};
use super::choose::{Assignment, Use, fields_are_sizes, sizing_inputs, stands_apart, uses_of};
use super::numbers::Choice;
use crate::facts::{Amount, BufferId, Event, LaunchFact};
use crate::given::Given;
use crate::quantity::Quantity;
use crate::quantity::{Atom, AtomKind, ClosedOp, Poly};
use cudalint_kernel::Code;
use cudalint_kernel::solve::{Constraint, Operation, Problem, Relation, TermArgument, TermId, Terms, Variable};
use std::collections::BTreeMap;

/// Most inputs that are looked for at once.
const MAX_INPUTS: usize = 4;
/// Inputs are at least this: a size that fails only for a handful of elements is usually excluded by what the program is
/// for.
const LEAST: i64 = 65;
/// Inputs are at most this: small numbers are tried first, since they make better examples and do not wrap around.
const MOST: [i64; 4] = [160, 1025, 4097, 1 << 20];
/// How deep amounts are followed.
const MAX_DEPTH: u32 = 12;

struct Maker<'a> {
    terms: Terms,
    inputs: Vec<(Atom, Variable)>,
    known: BTreeMap<u32, TermId>,
    uses: &'a BTreeMap<u32, Use>,
    too_many: bool,
    /// Whether members of objects are sizes as good as inputs.
    fields: bool,
}

/// Assignments under which the kernel probably leaves a buffer, at most `limit` of them. Inputs of which the program takes
/// multiples only are given multiples.
pub(super) fn proposals(event: &Event, fact: &LaunchFact, code: &Code, limit: usize) -> Vec<Assignment> {
    let Some((mut problem, atoms)) = problem(event, fact) else { return Vec::new() };
    MOST.into_iter()
        .map(|most| {
            for input in &problem.inputs {
                problem.terms.set_bounds(*input, LEAST, most);
            }
            let found = cudalint_kernel::solve::out_of_bounds(code, &problem, limit).into_iter();
            found
                .map(|numbers| {
                    let at: BTreeMap<u32, i64> = atoms.iter().map(Atom::id).zip(numbers).collect();
                    let value = |atom: &Atom| at.get(&atom.id()).map(|value| (atom.name().to_owned(), *value));
                    let values = atoms.iter().filter_map(value).collect();
                    let choice = Choice { at, ..Choice::default() };
                    Assignment { choice, values, others: Vec::new(), ragged: false, replaceable: false }
                })
                .filter(|assignment| event.admits(&assignment.choice.at))
                .collect::<Vec<_>>()
        })
        .find(|found| !found.is_empty())
        .unwrap_or_default()
}

/// A launch with terms in place of what is open, and the inputs that the terms stand for.
fn problem(event: &Event, fact: &LaunchFact) -> Option<(Problem, Vec<Atom>)> {
    let inputs = sizing_inputs(fact).filter(|inputs| !inputs.is_empty())?;
    let uses = uses_of(fact, &inputs);
    let mut maker = Maker {
        terms: Terms::default(),
        inputs: Vec::new(),
        known: BTreeMap::new(),
        uses: &uses,
        too_many: false,
        fields: fields_are_sizes(fact),
    };
    let grid = maker.extents(&fact.grid.axes)?;
    let block = maker.extents(&fact.block.axes)?;
    let mut buffers: Vec<Option<TermId>> = Vec::new();
    let mut ids: Vec<BufferId> = Vec::new();
    let mut arguments = Vec::new();
    for given in &fact.given {
        let argument = match given {
            Given::Int { amount, .. } => maker.amount(amount).map_or(TermArgument::Unknown, TermArgument::Int),
            Given::Pointer { buffer, offset, .. } => match maker.amount(offset) {
                Some(offset) => {
                    let known = ids.iter().position(|id| *id == buffer.id);
                    if known.is_none() {
                        ids.push(buffer.id);
                        let apart = stands_apart(fact, &buffer.bytes);
                        buffers.push(if apart { None } else { maker.amount(&buffer.bytes) });
                    }
                    TermArgument::Pointer { buffer: known.unwrap_or(ids.len() - 1), offset }
                }
                None => TermArgument::Unknown,
            },
            _ => TermArgument::Unknown,
        };
        arguments.push(argument);
    }
    let dynamic_shared = maker.amount(&fact.shared);
    let mut conditions = maker.multiples();
    let zero = maker.terms.constant(0);
    for condition in &event.conditions {
        // A condition about other things says nothing of these inputs.
        if condition.poly.bases().0.iter().all(|atom| maker.known.contains_key(&atom.id())) {
            conditions.extend(maker.condition(&condition.poly, condition.holds, zero));
        }
    }
    if maker.inputs.is_empty() || maker.too_many {
        return None;
    }
    for (at, (one, _)) in maker.inputs.iter().enumerate() {
        for (other, _) in maker.inputs.iter().take(at).filter(|(other, _)| are_alike(one.name(), other.name())) {
            if let (Some(left), Some(right)) = (maker.known.get(&one.id()), maker.known.get(&other.id())) {
                conditions.push(Constraint { left: *left, relation: Relation::Equal, right: *right });
            }
        }
    }
    for (step, width) in row_steps(fact, &inputs) {
        if let (Some(step), Some(width)) = (maker.known.get(&step.id()), maker.known.get(&width.id())) {
            conditions.push(Constraint { left: *width, relation: Relation::AtMost, right: *step });
        }
    }
    // Numbers that put a pointer in front of its memory are no sizes that the host means.
    for argument in &arguments {
        if let TermArgument::Pointer { offset, .. } = argument {
            conditions.push(Constraint { left: zero, relation: Relation::AtMost, right: *offset });
        }
    }
    let one = maker.terms.constant(1);
    for extent in grid.into_iter().chain(block) {
        conditions.push(Constraint { left: one, relation: Relation::AtMost, right: extent });
    }
    let threads = block.into_iter().fold(one, |all, axis| maker.terms.of(Operation::Mul, all, axis));
    let limit_of_block = maker.terms.constant(1024);
    conditions.push(Constraint { left: threads, relation: Relation::AtMost, right: limit_of_block });
    let (atoms, inputs) = maker.inputs.into_iter().unzip();
    let problem = Problem { terms: maker.terms, inputs, grid, block, arguments, buffers, dynamic_shared, conditions };
    Some((problem, atoms))
}

impl Maker<'_> {
    fn extents(&mut self, axes: &[Amount; 3]) -> Option<[TermId; 3]> {
        Some([self.amount(&axes[0])?, self.amount(&axes[1])?, self.amount(&axes[2])?])
    }

    fn amount(&mut self, amount: &Amount) -> Option<TermId> {
        match &amount.quantity {
            _ if amount.assumptions.is_some() => None,
            Quantity::Known(value) => Some(self.terms.constant(*value)),
            Quantity::Symbolic(poly) => self.poly(poly, 0),
            Quantity::Unknown => None,
        }
    }

    fn poly(&mut self, poly: &Poly, depth: u32) -> Option<TermId> {
        if depth > MAX_DEPTH {
            return None;
        }
        let mut sum = self.terms.constant(0);
        for (product, factor) in poly.terms.iter() {
            let mut term = self.terms.constant(*factor);
            for atom in product {
                let value = self.atom(atom, depth)?;
                term = self.terms.of(Operation::Mul, term, value);
            }
            sum = self.terms.of(Operation::Add, sum, term);
        }
        Some(sum)
    }

    /// That a polynomial is other than 0 (or 0); comparisons are polynomials of 0 and 1.
    fn condition(&mut self, poly: &Poly, holds: bool, zero: TermId) -> Option<Constraint> {
        let constraint = match poly.terms.iter().next() {
            Some((product, 1)) if poly.terms.len() == 1 && product.len() == 1 => match product[0].kind() {
                AtomKind::Closed(op, a, b) => {
                    let relation = match op {
                        ClosedOp::Lt => Some(Relation::Less),
                        ClosedOp::Le => Some(Relation::AtMost),
                        ClosedOp::Eq => Some(Relation::Equal),
                        ClosedOp::Ne => Some(Relation::Differ),
                        _ => None,
                    };
                    match relation {
                        Some(relation) => {
                            Some(Constraint { left: self.poly(a, 0)?, relation, right: self.poly(b, 0)? })
                        }
                        None => None,
                    }
                }
                _ => None,
            },
            _ => None,
        };
        let constraint = match constraint {
            Some(constraint) => constraint,
            None => Constraint { left: self.poly(poly, 0)?, relation: Relation::Differ, right: zero },
        };
        Some(if holds { constraint } else { constraint.negated() })
    }

    fn atom(&mut self, atom: &Atom, depth: u32) -> Option<TermId> {
        match atom.kind() {
            AtomKind::Closed(op, a, b) => {
                let operation = match op {
                    ClosedOp::Div => Operation::Div,
                    ClosedOp::Rem => Operation::Rem,
                    ClosedOp::Min => Operation::Min,
                    ClosedOp::Max => Operation::Max,
                    ClosedOp::Shl => Operation::Shl,
                    ClosedOp::Shr => Operation::Shr,
                    ClosedOp::And => Operation::And,
                    _ => return None,
                };
                let (a, b) = (self.poly(a, depth + 1)?, self.poly(b, depth + 1)?);
                Some(self.terms.of(operation, a, b))
            }
            AtomKind::Input | AtomKind::Field
                if !atom.name().is_empty() && (self.fields || matches!(atom.kind(), AtomKind::Input)) =>
            {
                if let Some(term) = self.known.get(&atom.id()) {
                    return Some(*term);
                }
                if self.inputs.len() >= MAX_INPUTS || self.inputs.iter().any(|(known, _)| known.name() == atom.name()) {
                    // Two inputs of one name cannot be told apart in a sentence.
                    self.too_many = true;
                    return None;
                }
                let (variable, term) = self.terms.variable(LEAST, LEAST);
                self.inputs.push((atom.clone(), variable));
                self.known.insert(atom.id(), term);
                Some(term)
            }
            _ => None,
        }
    }

    /// Where a grid is an input divided without rounding up, the program means multiples: of every input then, since
    /// what is tiled along one side is tiled along the others.
    fn multiples(&mut self) -> Vec<Constraint> {
        let down = self.uses.values().flat_map(|usage| &usage.divisors).filter(|(_, up)| !up).map(|(by, _)| *by).max();
        let Some(by) = down else { return Vec::new() };
        let (by, zero) = (self.terms.constant(by), self.terms.constant(0));
        let inputs: Vec<TermId> = self.known.values().copied().collect();
        inputs
            .into_iter()
            .map(|input| {
                let rest = self.terms.of(Operation::Rem, input, by);
                Constraint { left: rest, relation: Relation::Equal, right: zero }
            })
            .collect()
    }
}
