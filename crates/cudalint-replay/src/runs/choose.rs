//! Values for what nothing fixes: taken from how the program itself uses them, kept small, and only such that the
//! conditions on the way to the launch hold.

use super::alike::{are_alike, keep_rows_apart, mixes_sizes, row_steps};
use super::extents::Block;
use super::numbers::{Choice, amounts, fixed};
use crate::facts::{Amount, Event, LaunchFact, Origin};
use crate::given::Given;
use crate::quantity::Quantity;
use crate::quantity::{Atom, AtomKind, ClosedOp, Poly};
use std::collections::{BTreeMap, BTreeSet};

/// Most inputs that values are chosen for.
const MAX_INPUTS: usize = 5;
/// Most assignments that are worth executing, for one launch.
pub(super) const MAX_ASSIGNMENTS: usize = 2;

/// Most blocks of one launch that are told apart.
const MAX_BLOCKS: usize = 8;

/// A choice and what it is called.
#[derive(Clone, Debug)]
pub(super) struct Assignment {
    pub choice: Choice,
    /// Inputs by their names.
    pub values: Vec<(String, i64)>,
    /// Choices that go as well with what the source says of the block: what is found must show with them, too.
    pub others: Vec<Choice>,
    /// Whether its one input fills whole blocks and a part of another: what a multiple shows it shows too.
    pub ragged: bool,
    /// Whether its one input is no better than a ragged one.
    pub replaceable: bool,
}

impl Assignment {
    /// The one assumption that it means: "`n` is 513".
    pub fn text(&self) -> Option<String> {
        if self.values.is_empty() {
            return None;
        }
        // What code that is left out does, and the numbers that it gives, is one.
        if let [left_out] = self.choice.admitted.as_slice() {
            return Some(format!("{left_out}; {}", self.numbers()));
        }
        Some(self.numbers())
    }

    /// The values as words.
    fn numbers(&self) -> String {
        let parts: Vec<String> = self.values.iter().map(|(name, value)| format!("`{name}` is {value}")).collect();
        match parts.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, before)) => format!("{} and {last}", before.join(", ")),
            None => String::new(),
        }
    }
}

/// How an input is used in the extents of a launch.
#[derive(Clone, Debug, Default)]
pub(super) struct Use {
    /// Divisors with whether the quotient is rounded up.
    pub divisors: Vec<(i64, bool)>,
    /// Whether it counts blocks as it is.
    counts_blocks: bool,
    /// Whether it counts threads of a block as it is.
    counts_threads: bool,
}

/// Choices for a launch that facts alone leave open, the most promising first.
pub(super) fn assignments(event: &Event, fact: &LaunchFact) -> Vec<Assignment> {
    let mut found = Vec::new();
    let defaults = defaults(event, fact);
    let sure = fixed(event);
    let inputs = sizing_inputs(fact)
        .map(|inputs| inputs.into_iter().filter(|atom| !sure.contains_key(&atom.id())).collect::<Vec<Atom>>());
    if let Some(inputs) = inputs.filter(|inputs| !inputs.is_empty()) {
        found.extend(chosen(event, fact, &inputs));
    }
    if !defaults.is_empty() {
        let choice = Choice { at: sure, admitted: defaults, open_grid: false };
        found.insert(
            0,
            Assignment { choice, values: Vec::new(), others: Vec::new(), ragged: false, replaceable: false },
        );
    }
    found
}

/// The assumptions that amounts of the launch rest on already.
fn defaults(event: &Event, fact: &LaunchFact) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for amount in amounts(event, fact) {
        for text in amount.assumptions.iter().flat_map(|list| list.iter()) {
            if !texts.contains(text) {
                texts.push(text.clone());
            }
        }
    }
    texts
}

/// What pointers rest on whose memory is allocated by code that is left out, where that is one assumption.
fn left_out(fact: &LaunchFact) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for given in &fact.given {
        if let Given::Pointer { buffer, offset, .. } = given
            && buffer.origin == Origin::LeftOut
        {
            texts.extend(offset.assumptions.iter().flat_map(|list| list.iter().cloned()));
        }
    }
    texts.dedup();
    if texts.len() > 1 { Vec::new() } else { texts }
}

/// The inputs that decide how large things are; `None` where something among them can have no value.
pub(super) fn sizing_inputs(fact: &LaunchFact) -> Option<Vec<Atom>> {
    let mut atoms: BTreeSet<Atom> = BTreeSet::new();
    for amount in fact.grid.axes.iter().chain(&fact.block.axes) {
        atoms.extend(inputs_of(amount)?);
    }
    // A size that cannot be chosen only leaves its buffer without one; one that is computed out of sight has to do with
    // the others in a way that nobody knows.
    let fields = fields_are_sizes(fact);
    let mut add = |amount: &Amount| {
        if let Some(inputs) = inputs_of(amount).filter(|inputs| inputs.iter().all(|atom| is_free(atom, fields))) {
            atoms.extend(inputs);
        }
    };
    for given in &fact.given {
        if let Given::Pointer { buffer, offset, .. } = given {
            if !stands_apart(fact, &buffer.bytes) {
                add(&buffer.bytes);
            }
            add(offset);
        }
    }
    add(&fact.shared);
    let atoms: Vec<Atom> = atoms.into_iter().collect();
    (atoms.len() <= MAX_INPUTS && !mixes_sizes(&atoms)).then_some(atoms)
}

/// Whether a size that callers give has nothing to do with the launch that they give, as far as anybody sees: `length` beside
/// `width` and `height` is what they make it.
pub(super) fn stands_apart(fact: &LaunchFact, size: &Amount) -> bool {
    let extents = fact.grid.axes.iter().chain(&fact.block.axes).flat_map(|axis| axis.quantity.inputs());
    let launch: BTreeSet<Atom> = extents.collect();
    let own = size.quantity.inputs();
    fact.for_callers && !own.is_empty() && !launch.is_empty() && own.iter().all(|atom| !launch.contains(atom))
}

/// Whether whoever runs the program chooses it; members of objects where that is said of them.
fn is_free(atom: &Atom, fields: bool) -> bool {
    matches!(atom.kind(), AtomKind::Input) || fields && matches!(atom.kind(), AtomKind::Field)
}

/// Whether all sizes of a launch that are members of objects are those that its grid is divided from: then they are sizes of the work, and
/// no number of blocks, no padded size and no count of something else stands beside them.
pub(super) fn fields_are_sizes(fact: &LaunchFact) -> bool {
    let is_field = |atom: &Atom| matches!(atom.kind(), AtomKind::Field);
    let extents = fact.grid.axes.iter().chain(&fact.block.axes).flat_map(|axis| axis.quantity.inputs());
    let divided: BTreeSet<Atom> = extents.filter(is_field).collect();
    let fields: Vec<Atom> = divided.iter().cloned().collect();
    let counts = uses_of(fact, &fields).into_values().any(|usage| usage.counts_blocks || usage.counts_threads);
    let sizes = fact.given.iter().flat_map(|given| match given {
        Given::Pointer { buffer, offset, .. } => [buffer.bytes.quantity.inputs(), offset.quantity.inputs()].concat(),
        _ => Vec::new(),
    });
    let mut beside = sizes.chain(fact.shared.quantity.inputs()).filter(is_field);
    !counts && beside.all(|atom| divided.contains(&atom))
}

/// Whether a choice gives values to what code out of sight computes. How that is related to other values is not known,
/// so that only what does not hang on sizes is worth anything.
pub(super) fn is_loose(event: &Event, fact: &LaunchFact, choice: &Choice) -> bool {
    let (sure, fields) = (fixed(event), fields_are_sizes(fact));
    amounts(event, fact)
        .iter()
        .flat_map(|amount| amount.quantity.inputs())
        .any(|atom| !is_free(&atom, fields) && choice.at.contains_key(&atom.id()) && !sure.contains_key(&atom.id()))
}

/// Whether an extent hangs on what code out of sight computes, or branches that nothing decides.
pub(super) fn is_computed_out_of_sight(extent: &Quantity) -> bool {
    extent.inputs().iter().any(|atom| !is_free(atom, false))
}

/// An assignment with a block that the source says: of several the first, where the chosen one is none of them. The others come with it,
/// since conditions may tie one of them to the launch. None where the way to the launch rules all out.
pub(super) fn within(
    event: &Event,
    fact: &LaunchFact,
    written: &Block,
    mut assignment: Assignment,
) -> Option<Assignment> {
    let sure = fixed(event);
    let mut all = vec![assignment.choice.clone()];
    let mut open = Vec::new();
    for (axis, written) in fact.block.axes.iter().zip(written) {
        let Some(atom) =
            lone_atom(&axis.quantity).filter(|atom| !is_free(atom, false) && !sure.contains_key(&atom.id()))
        else {
            continue;
        };
        let chosen = assignment.choice.at.get(&atom.id()).copied();
        let Some(chosen) = chosen.filter(|_| !written.is_free()) else { continue };
        let mut values: Vec<i64> = written.values.iter().rev().map(|value| i64::from(*value)).collect();
        match values.iter().position(|value| *value == chosen) {
            Some(at) => values[..=at].rotate_right(1),
            None if written.open => values.insert(0, chosen),
            None => {}
        }
        let with = |choice: &Choice| {
            let (choice, id) = (choice.clone(), atom.id());
            values.clone().into_iter().map(move |value| {
                let mut choice = choice.clone();
                choice.at.insert(id, value);
                choice
            })
        };
        all = all.iter().flat_map(with).take(MAX_BLOCKS).collect();
        open.push(atom);
    }
    all.retain(|choice| event.admits(&choice.at));
    if open.is_empty() {
        return Some(assignment);
    }
    let mut all = all.into_iter();
    assignment.choice = all.next()?;
    assignment.others = all.collect();
    for atom in open {
        let value = assignment.choice.at.get(&atom.id());
        let named = assignment.values.iter_mut().find(|(name, _)| name == atom.name());
        if let (Some(value), Some((_, named))) = (value, named) {
            *named = *value;
        }
    }
    Some(assignment)
}

/// Whether what is known of the way to a launch lets a block through that was guessed.
pub(super) fn lets_through(event: &Event, fact: &LaunchFact, block: [u32; 3]) -> bool {
    let atoms = fact.block.axes.iter().map(|axis| lone_atom(&axis.quantity));
    let at = atoms.zip(block).filter_map(|(atom, extent)| Some((atom?.id(), i64::from(extent)))).collect();
    event.admits(&at)
}

/// The atom that an extent is by itself.
fn lone_atom(extent: &Quantity) -> Option<Atom> {
    let Quantity::Symbolic(poly) = extent else { return None };
    let mut terms = poly.terms.iter();
    match (terms.next(), terms.next()) {
        (Some((product, 1)), None) => match product.as_slice() {
            [atom] => Some(atom.clone()),
            _ => None,
        },
        _ => None,
    }
}

fn inputs_of(amount: &Amount) -> Option<Vec<Atom>> {
    let inputs = amount.quantity.inputs();
    inputs
        .iter()
        .all(|atom| {
            matches!(atom.kind(), AtomKind::Input | AtomKind::Opaque | AtomKind::Field) && !atom.name().is_empty()
        })
        .then_some(inputs)
}

/// How inputs are used in the extents of a launch, by their ids.
pub(super) fn uses_of(fact: &LaunchFact, inputs: &[Atom]) -> BTreeMap<u32, Use> {
    let mut uses: BTreeMap<u32, Use> = inputs.iter().map(|atom| (atom.id(), Use::default())).collect();
    for axis in &fact.grid.axes {
        note(&axis.quantity, &mut uses, false);
    }
    for axis in &fact.block.axes {
        note(&axis.quantity, &mut uses, true);
    }
    uses
}

fn chosen(event: &Event, fact: &LaunchFact, inputs: &[Atom]) -> Vec<Assignment> {
    let uses = uses_of(fact, inputs);
    let blocks: Vec<i64> = fact.block.axes.iter().filter_map(|axis| axis.quantity.known()).collect();
    let fallback = match blocks.as_slice() {
        [x, ..] if *x > 1 => *x,
        _ => 256,
    };
    // Sizes that code that is left out gives are as little known as what it allocates.
    let (left_out, fields) = (left_out(fact), fields_are_sizes(fact));
    let steps = row_steps(fact, inputs);
    let mut found: Vec<Assignment> = Vec::new();
    for round in 0..ROUNDS {
        let mut values: Vec<(String, i64)> = Vec::new();
        let mut at = fixed(event);
        for (place, atom) in inputs.iter().enumerate() {
            let usage = uses.get(&atom.id()).cloned().unwrap_or_default();
            let free = is_free(atom, fields);
            let same = |name: &str| name == atom.name() || are_alike(name, atom.name());
            let value = match values.iter().find(|(name, _)| same(name)) {
                Some((_, value)) => *value,
                None => candidate(&usage, fallback, place, inputs.len(), round, free),
            };
            if !values.iter().any(|(name, _)| name == atom.name()) {
                values.push((atom.name().to_owned(), value));
            }
            at.insert(atom.id(), value);
        }
        let admitted = event.admits(&at) && keep_rows_apart(&steps, &at);
        let choice = Choice { at, admitted: left_out.clone(), ..Choice::default() };
        if admitted && !found.iter().any(|other| other.choice.at == choice.at) {
            let sole = match inputs {
                [only] => uses
                    .get(&only.id())
                    .filter(|usage| is_free(only, fields) && !usage.counts_blocks && !usage.counts_threads),
                _ => None,
            };
            let rounded = sole.is_some_and(|usage| usage.divisors.iter().all(|(_, up)| *up));
            let (ragged, replaceable) = (rounded && round < 2, rounded && round >= 2);
            found.push(Assignment { choice, values, others: Vec::new(), ragged, replaceable });
        }
        if found.len() >= MAX_ASSIGNMENTS {
            break;
        }
    }
    found
}

/// How many candidates are looked at.
const ROUNDS: usize = 6;

/// A value for an input: for a grid rounded up from it, one that leaves the last block partly filled; for a grid
/// rounded down, a multiple, since that is what such a program means; unequal ones for several inputs, in both orders.
fn candidate(usage: &Use, fallback: i64, place: usize, of: usize, round: usize, free: bool) -> i64 {
    let divisor = usage.divisors.iter().map(|(divisor, _)| *divisor).filter(|divisor| *divisor > 0).max();
    let divisor = divisor.unwrap_or(fallback).clamp(1, 1 << 20);
    let exact = !free || usage.divisors.iter().any(|(_, up)| !up);
    if usage.counts_threads && usage.divisors.is_empty() {
        return [128, 64, 100, 256, 32, 96][round.min(5)];
    }
    if usage.counts_blocks && usage.divisors.is_empty() {
        return [3, 5, 4, 2, 8, 16][round.min(5)];
    }
    // Several sizes: the first is the larger in one order, the smaller in the other.
    let larger = of == 1 || place.is_multiple_of(2) == round.is_multiple_of(2);
    match (round / 2, exact) {
        (0, false) if larger => 2 * divisor + 1,
        (0, false) => divisor + 1,
        (0, true) | (1, false) if larger => 2 * divisor,
        (0, true) | (1, false) => divisor,
        (1, true) if larger => 4 * divisor,
        (1, true) => 2 * divisor,
        _ => 1024,
    }
}

/// Notes how the inputs in an extent are used.
fn note(quantity: &Quantity, uses: &mut BTreeMap<u32, Use>, threads: bool) {
    if let Quantity::Symbolic(poly) = quantity {
        // `n / b + (n % b != 0)` rounds up as well.
        let rounded = has_remainder(poly, 0);
        note_poly(poly, uses, threads, rounded, 0);
    }
}

fn has_remainder(poly: &Poly, depth: u32) -> bool {
    depth < 8
        && poly.terms.iter().any(|(product, _)| {
            product.iter().any(|atom| match atom.kind() {
                AtomKind::Closed(ClosedOp::Rem, ..) => true,
                AtomKind::Closed(ClosedOp::Div, ..) => false,
                AtomKind::Closed(_, a, b) => has_remainder(a, depth + 1) || has_remainder(b, depth + 1),
                _ => false,
            })
        })
}

fn note_poly(poly: &Poly, uses: &mut BTreeMap<u32, Use>, threads: bool, rounded: bool, depth: u32) {
    if depth > 8 {
        return;
    }
    for (product, _) in poly.terms.iter() {
        for atom in product {
            match atom.kind() {
                AtomKind::Closed(ClosedOp::Div, dividend, divisor) => {
                    let divisor = match divisor.as_constant() {
                        Some(divisor) if divisor > 0 => Some(divisor),
                        Some(_) => None,
                        // The size of a block that is chosen too.
                        None => Some(0),
                    };
                    if let Some(divisor) = divisor {
                        let rest = dividend.terms.get(&[]).copied().unwrap_or(0);
                        for base in dividend.bases().0 {
                            if let Some(usage) = uses.get_mut(&base.id()) {
                                usage.divisors.push((divisor, rounded || rest != 0 || divisor == 0));
                            }
                        }
                    } else {
                        note_poly(dividend, uses, threads, rounded, depth + 1);
                    }
                }
                AtomKind::Closed(_, a, b) => {
                    note_poly(a, uses, threads, rounded, depth + 1);
                    note_poly(b, uses, threads, rounded, depth + 1);
                }
                _ => {
                    if let Some(usage) = uses.get_mut(&atom.id()) {
                        usage.counts_blocks |= !threads;
                        usage.counts_threads |= threads;
                    }
                }
            }
        }
    }
}
