//! A launch in numbers: amounts of the host walk evaluated under a choice of what nothing fixes.

use super::RunBuffer;
use crate::facts::{Amount, Event, LaunchFact, MemorySpace, Origin};
use crate::given::{Given, Held, HeldContents};
use crate::quantity::{Assumptions, Condition, Quantity, union};
use crate::quantity::{AtomKind, ClosedOp};
use cudalint_kernel::{Argument, Buffer, Contents, LaunchInput};
use cudalint_program::Name;
use cudalint_program::api::ApiId;
use cudalint_program::ir::{Dialect, Function};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

/// Most threads of a block (CUDA C++ Programming Guide, table of technical specifications).
const MAX_THREADS: u32 = 1024;
/// Alignment of what the runtime allocates (CUDA C++ Programming Guide, "Size and Alignment Requirement").
const ALLOCATED: u32 = 256;

/// What is chosen where the source fixes nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct Choice {
    /// Values of atoms by their ids.
    pub at: BTreeMap<u32, i64>,
    /// Assumptions that amounts may rest on.
    pub admitted: Vec<String>,
    /// Whether a grid that is not known is left open: its first block is there whatever it is.
    pub open_grid: bool,
}

/// Why a launch has no numbers.
pub(super) type Cause = &'static str;

/// A launch in numbers.
#[derive(Clone, Debug)]
pub(super) struct Numbers {
    pub launch: LaunchInput,
    pub buffers: Vec<RunBuffer>,
    /// Parameters with an integer.
    pub bindings: Vec<(String, i64)>,
    /// Whether every number of the launch that anything can tell is told: no other choice would say more.
    pub complete: bool,
    /// The assumptions of [`Choice::admitted`] that were needed.
    pub used: Assumptions,
}

impl Choice {
    /// The value of an amount, where the choice gives one.
    pub fn value(&self, amount: &Amount, used: &mut Assumptions) -> Option<i64> {
        let value = self.quantity(&amount.quantity)?;
        self.admits(&amount.assumptions, used).then_some(value)
    }

    pub fn quantity(&self, quantity: &Quantity) -> Option<i64> {
        match quantity {
            Quantity::Known(value) => Some(*value),
            Quantity::Symbolic(poly) => poly.evaluate(&self.at),
            Quantity::Unknown => None,
        }
    }

    fn admits(&self, assumptions: &Assumptions, used: &mut Assumptions) -> bool {
        let Some(list) = assumptions else { return true };
        let all = list.iter().all(|text| self.admitted.contains(text));
        if all {
            *used = union(used, assumptions);
        }
        all
    }

    /// Three extents; `Err` where one is not known or out of range.
    fn extents(&self, axes: &[Amount; 3], used: &mut Assumptions, what: [Cause; 2]) -> Result<[u32; 3], Cause> {
        let mut extents = [1_u32; 3];
        for (extent, axis) in extents.iter_mut().zip(axes) {
            let value = self.value(axis, used).ok_or(what[0])?;
            *extent = u32::try_from(value).ok().filter(|value| *value > 0).ok_or(what[1])?;
        }
        Ok(extents)
    }
}

/// The numbers of a launch under a choice.
pub(super) fn numbers(fact: &LaunchFact, kernel: &Function, choice: &Choice) -> Result<Numbers, Cause> {
    let mut used: Assumptions = None;
    let block = choice.extents(&fact.block.axes, &mut used, ["block not known", "block out of range"])?;
    let threads = block.iter().try_fold(1_u32, |all, axis| all.checked_mul(*axis));
    if threads.is_none_or(|threads| threads > MAX_THREADS) {
        return Err("block out of range");
    }
    let causes = ["grid not known", "grid out of range"];
    let (grid, grid_known) = match choice.extents(&fact.grid.axes, &mut used, causes) {
        Ok(grid) => (grid, true),
        Err(cause) if choice.open_grid && cause == causes[0] => {
            let axis = |axis: &Amount| choice.value(axis, &mut None).and_then(|value| u32::try_from(value).ok());
            (fact.grid.axes.each_ref().map(|amount| axis(amount).unwrap_or(0)), false)
        }
        Err(cause) => return Err(cause),
    };
    let dynamic_shared = choice.value(&fact.shared, &mut used).and_then(|bytes| u64::try_from(bytes).ok());
    let mut maker = Maker {
        choice,
        used,
        buffers: Vec::new(),
        known: Vec::new(),
        run: Vec::new(),
        field: String::new(),
        complete: grid_known,
    };
    maker.complete &= dynamic_shared.is_some() || fact.shared.quantity.is_unknown();
    let mut bindings = Vec::new();
    let mut arguments = Vec::new();
    for (index, (parameter, of)) in parameters(fact, kernel).into_iter().enumerate() {
        let text = fact.args.get(of).map_or("", |argument| argument.text.as_str());
        let given = fact.given.get(index).unwrap_or(&Given::Unknown);
        let argument = maker.argument(given, &parameter, text);
        if let Argument::Int(value) = &argument
            && !parameter.is_empty()
        {
            bindings.push((parameter.to_string(), *value));
        }
        arguments.push(argument);
    }
    let sure = fact.constants.iter().filter(|(_, held)| held.assumptions.is_none());
    let constants = sure.map(|(site, held)| ((site.module, site.span), maker.contents(held)));
    let constants = constants.filter(|(_, contents)| *contents != Contents::Unknown).collect();
    let Maker { used, buffers, run, complete, .. } = maker;
    let launch = LaunchInput {
        grid,
        block,
        dynamic_shared,
        cooperative: fact.cooperative,
        arguments,
        buffers,
        constants,
        reads: Vec::new(),
    };
    Ok(Numbers { launch, buffers: run, bindings, complete, used })
}

/// Integer parameters that are inputs, or computed from inputs, and those of them on which no size and no part of the
/// configuration depends.
pub(super) fn chosen(fact: &LaunchFact, kernel: &Function) -> (Vec<String>, Vec<String>) {
    let inputs = |amount: &Amount| match &amount.quantity {
        Quantity::Symbolic(poly) => poly.bases().0,
        _ => BTreeSet::new(),
    };
    let integer = |given: &Given| matches!(given, Given::Int { .. });
    let mut sizes: Vec<Amount> = fact.grid.axes.iter().chain(&fact.block.axes).cloned().collect();
    sizes.push(fact.shared.clone());
    fact.given.iter().filter(|given| !integer(given)).for_each(|given| collect(given, &mut sizes));
    let sized: BTreeSet<_> = sizes.iter().flat_map(inputs).collect();
    let names = parameters(fact, kernel).into_iter().zip(&fact.given);
    let (mut all, mut free) = (Vec::new(), Vec::new());
    for ((name, _), given) in names {
        let Given::Int { amount, .. } = given else { continue };
        let own = inputs(amount);
        if !own.is_empty() {
            all.push(name.to_string());
            free.extend(own.is_disjoint(&sized).then(|| name.to_string()));
        }
    }
    (all, free)
}

/// The parameters of a kernel's code by name, each with the number of the argument that it belongs to.
fn parameters(fact: &LaunchFact, kernel: &Function) -> Vec<(Name, usize)> {
    let mut names: Vec<Name> = kernel.params().iter().map(|parameter| parameter.name.clone()).collect();
    if fact.python.as_ref().is_some_and(|made| made.dialect == Dialect::Vectorize) {
        names.push(Name::from("out"));
    }
    match &fact.python {
        Some(specialization) => cudalint_kernel::python::parameters(&names, &specialization.arguments)
            .into_iter()
            .map(|parameter| (Name::from(parameter.name.as_str()), parameter.of))
            .collect(),
        None => names.into_iter().enumerate().map(|(index, name)| (name, index)).collect(),
    }
}

/// Atoms that the conditions on the way to an event fix: behind `case 256:` the value is 256.
pub(super) fn fixed(event: &Event) -> BTreeMap<u32, i64> {
    let mut at = BTreeMap::new();
    for condition in &event.conditions {
        if let Some((id, value)) = equality(condition) {
            at.insert(id, value);
        }
    }
    at
}

/// The atom and its value where a condition is an equation in one atom.
fn equality(condition: &Condition) -> Option<(u32, i64)> {
    let mut terms = condition.poly.terms.iter();
    let (Some((product, 1)), None) = (terms.next(), terms.next()) else { return None };
    let [atom] = product.as_slice() else { return None };
    let ((AtomKind::Closed(ClosedOp::Eq, a, b), true) | (AtomKind::Closed(ClosedOp::Ne, a, b), false)) =
        (atom.kind(), condition.holds)
    else {
        return None;
    };
    let difference = a.plus_times(b, -1)?;
    let constant = difference.terms.get(&[]).copied().unwrap_or(0);
    let mut rest = difference.terms.iter().filter(|(product, _)| !product.is_empty());
    let (Some((product, coefficient)), None) = (rest.next(), rest.next()) else { return None };
    let [unknown] = product.as_slice() else { return None };
    let plain = !matches!(unknown.kind(), AtomKind::Closed(..));
    let exact = constant.checked_rem(*coefficient)? == 0;
    (plain && exact).then(|| Some((unknown.id(), constant.checked_div(*coefficient)?.checked_neg()?)))?
}

/// Every amount that a launch's numbers are made of.
pub(super) fn amounts(event: &Event, fact: &LaunchFact) -> Vec<Amount> {
    let _ = event;
    let mut all: Vec<Amount> = fact.grid.axes.iter().chain(&fact.block.axes).cloned().collect();
    all.push(fact.shared.clone());
    for given in &fact.given {
        collect(given, &mut all);
    }
    all
}

fn collect(given: &Given, into: &mut Vec<Amount>) {
    match given {
        Given::Int { amount, .. } => into.push(amount.clone()),
        Given::Pointer { buffer, offset, .. } => into.extend([buffer.bytes.clone(), offset.clone()]),
        Given::Record(fields) => fields.iter().for_each(|field| collect(&field.given, into)),
        _ => {}
    }
}

struct Maker<'a> {
    choice: &'a Choice,
    used: Assumptions,
    buffers: Vec<Buffer>,
    /// Identities of the buffers; `None` for those that stand for something out of sight.
    known: Vec<Option<crate::facts::BufferId>>,
    run: Vec<RunBuffer>,
    /// The way to the part of a record that is looked at.
    field: String,
    complete: bool,
}

impl Maker<'_> {
    fn argument(&mut self, given: &Given, parameter: &Name, text: &str) -> Argument {
        match given {
            Given::Unknown => Argument::Unknown,
            Given::Int { amount, bytes, signed } => {
                let value = self.choice.value(amount, &mut self.used);
                let held = value.map(|value| cudalint_numbers::Integer::new(*bytes, *signed).wrap(value));
                // Nobody means inputs with which the host's own product does not fit, and what a signed one becomes is not defined.
                let is_beside = *signed && held != value && matches!(amount.quantity, Quantity::Symbolic(_));
                held.filter(|_| !is_beside).map_or_else(
                    || {
                        self.complete = false;
                        Argument::Unknown
                    },
                    Argument::Int,
                )
            }
            Given::Float { value, assumptions } => {
                if self.choice.admits(assumptions, &mut self.used) {
                    Argument::Float(*value)
                } else {
                    self.complete = false;
                    Argument::Unknown
                }
            }
            Given::Null { assumptions } => {
                if self.choice.admits(assumptions, &mut self.used) {
                    Argument::Null
                } else {
                    Argument::Unknown
                }
            }
            Given::Somewhere => self.somewhere(parameter, text, None),
            Given::Pointer { buffer, offset, held } => {
                let written = &offset.quantity;
                let Some(offset) = self.choice.value(offset, &mut self.used) else {
                    self.complete &= written.is_unknown();
                    return self.somewhere(parameter, text, Some(buffer));
                };
                // Numbers that put a pointer in front of its memory are no sizes that the host means.
                if offset < 0 && written.known().is_none() {
                    self.complete = false;
                    return self.somewhere(parameter, text, Some(buffer));
                }
                let position = self.known.iter().position(|id| *id == Some(buffer.id));
                let number = position.unwrap_or_else(|| self.buffer(buffer, held.as_deref(), parameter, text));
                Argument::Pointer { buffer: number, offset }
            }
            Given::Record(fields) => {
                let mut known = Vec::new();
                for field in fields {
                    self.field.clone_from(&field.way);
                    match self.argument(&field.given, parameter, text) {
                        Argument::Unknown => {}
                        argument => known.push((field.offset, argument)),
                    }
                }
                self.field.clear();
                Argument::Record(known)
            }
        }
    }

    /// Memory of its own for a pointer to who knows where: of no known size, contents or alignment. Where two such
    /// pointers lead to one allocation, what goes on between them is not seen.
    fn somewhere(&mut self, parameter: &Name, text: &str, origin: Option<&crate::facts::Buffer>) -> Argument {
        self.buffers.push(Buffer { bytes: None, contents: Contents::Unknown, align: 1, field: self.field.clone() });
        self.known.push(None);
        self.run.push(RunBuffer {
            parameter: parameter.to_string(),
            argument: text.to_owned(),
            allocation: origin.filter(|buffer| buffer.origin != Origin::Parameter).cloned(),
            from_start: false,
            bytes: None,
        });
        Argument::Pointer { buffer: self.buffers.len() - 1, offset: 0 }
    }

    fn buffer(&mut self, buffer: &crate::facts::Buffer, held: Option<&Held>, parameter: &Name, text: &str) -> usize {
        // What the device cannot reach, or what is gone, is another rule's matter.
        let sized = buffer.space != MemorySpace::Host && !buffer.freed;
        let value = if sized { self.choice.value(&buffer.bytes, &mut self.used) } else { None };
        self.complete &= value.is_some() || !sized || buffer.bytes.quantity.is_unknown();
        // Nobody allocates nothing on purpose: such a size is one that was not understood.
        let bytes = value.and_then(|bytes| u64::try_from(bytes).ok()).filter(|bytes| *bytes > 0);
        let contents = match held {
            Some(held) if sized => self.contents(held),
            _ => Contents::Unknown,
        };
        let begins_apart = |api: ApiId| api.allocates_for_device() || api.is_of_python();
        let allocated = buffer.origin == Origin::Vector || buffer.origin.api().is_some_and(begins_apart);
        let align = if allocated { ALLOCATED } else { 1 };
        self.buffers.push(Buffer { bytes, contents, align, field: self.field.clone() });
        self.known.push(Some(buffer.id));
        self.run.push(RunBuffer {
            parameter: parameter.to_string(),
            argument: text.to_owned(),
            // What whoever calls hands over has no place of its own.
            allocation: Some(buffer.clone()).filter(|buffer| buffer.origin != Origin::Parameter),
            from_start: true,
            bytes,
        });
        self.buffers.len() - 1
    }

    fn contents(&mut self, held: &Held) -> Contents {
        // Assumptions that only contents rest on are not worth making.
        if held.assumptions.as_ref().is_some_and(|list| !list.iter().all(|text| self.choice.admitted.contains(text))) {
            return Contents::Unknown;
        }
        let contents = match &held.contents {
            HeldContents::WrittenOnly(ranges) => self.written(ranges),
            // What the kernels have written, only their executions tell.
            HeldContents::WrittenBy(..) => None,
            HeldContents::Filled(byte) => Some(Contents::Filled(*byte)),
            HeldContents::Integers { bytes, values } => {
                let values: Option<Vec<i64>> = values.iter().map(|value| self.choice.quantity(value)).collect();
                values.map(|values| Contents::Integers { bytes: *bytes, values: Arc::from(values) })
            }
        };
        match contents {
            Some(contents) => {
                self.choice.admits(&held.assumptions, &mut self.used);
                contents
            }
            None => Contents::Unknown,
        }
    }

    fn written(&self, ranges: &[(Quantity, Quantity)]) -> Option<Contents> {
        let mut numbers: Vec<Range<u64>> = Vec::new();
        for (start, length) in ranges {
            let start = u64::try_from(self.choice.quantity(start)?).ok()?;
            let length = u64::try_from(self.choice.quantity(length)?).ok()?;
            numbers.push(start..start.checked_add(length)?);
        }
        numbers.retain(|range| !range.is_empty());
        numbers.sort_by_key(|range| range.start);
        let mut apart: Vec<Range<u64>> = Vec::new();
        for range in numbers {
            match apart.last_mut() {
                Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
                _ => apart.push(range),
            }
        }
        Some(Contents::WrittenOnly(apart))
    }
}
