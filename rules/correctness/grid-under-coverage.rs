//! A grid that has fewer threads than there are elements.

use crate::parts::{assumptions, event_finding, launch_witness, places};
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::claim::Difference;
use cudalint_findings::{Finding, Label, Shows};
use cudalint_program::ir::{FunctionId, ModuleId};
use cudalint_replay::facts::{Amount, CoverageClaim, Event, EventKind, LaunchFact, Pointer, Site};
use cudalint_replay::given::{Given, HeldContents};
use cudalint_replay::quantity::{Comparison, Quantity};

/// The rule.
pub static RULE: Rule = rule!("grid-under-coverage", Correctness, Output)
    .summary("A launch has fewer threads than the kernel's own bound says there are elements.")
    .cwe(682)
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    // A launch that is given one part of an array after the other, by a loop or beside another one, need not cover the whole.
    let launches = || context.facts.events.iter().filter_map(|event| Some((event, launch_of(event)?)));
    let of_parts: Vec<(Site, Caller<'_>)> = launches()
        .filter(|(_, launch)| is_of_part(launch))
        .map(|(event, launch)| (event.site, (event.function, &*launch.kernel_name)))
        .collect();
    for (event, launch) in launches() {
        let by = (event.function, &*launch.kernel_name);
        if of_parts.iter().any(|(site, caller)| *site == event.site || *caller == by) {
            continue;
        }
        let Some(summary) = &launch.kernel_summary else { continue };
        let found = summary.covers.iter().find_map(|claim| under_coverage(context, event, launch, claim));
        sink.report_some(found);
    }
}

/// A function of the host, and the kernel that it launches.
type Caller<'a> = ((ModuleId, FunctionId), &'a str);

fn launch_of(event: &Event) -> Option<&LaunchFact> {
    match &event.kind {
        EventKind::Launch(launch) => Some(launch),
        _ => None,
    }
}

/// Whether a launch is given memory from somewhere behind its beginning, or from a place that is written as a sum.
fn is_of_part(launch: &LaunchFact) -> bool {
    let starts = |pointer: &Pointer, text: &str| match pointer {
        Pointer::Into { offset, .. } if !offset.quantity.is_unknown() => offset.quantity == Quantity::Known(0),
        _ => !text.contains('+'),
    };
    launch.args.iter().any(|arg| arg.pointer.as_ref().is_some_and(|pointer| !starts(pointer, &arg.text)))
}

/// Whether no array that the launch is given has more elements than there are threads: then the kernel's bound is too large, as a
/// number of bytes is, and nothing is left out.
fn reaches_all(launch: &LaunchFact, threads: i64, value_of: &dyn Fn(&Quantity) -> Option<i64>) -> bool {
    let elements = |pointer: &Pointer| match pointer {
        Pointer::Into { buffer, .. } => Some(value_of(&buffer.bytes.quantity)? / buffer.element.filter(|it| *it > 0)?),
        _ => None,
    };
    let mut arrays = launch.args.iter().filter_map(|arg| arg.pointer.as_ref()).peekable();
    arrays.peek().is_some() && arrays.all(|array| elements(array).is_some_and(|elements| elements <= threads))
}

/// The number that a claim's bound has at a launch.
fn bound_of<'a>(launch: &'a LaunchFact, claim: &CoverageClaim) -> Option<&'a Amount> {
    if launch.python.is_none() {
        return Some(&launch.args.get(claim.parameter as usize)?.amount);
    }
    if let Some(data) = claim.fills {
        // Elements that nobody has written so far, and that this launch leaves so.
        let Given::Pointer { held: Some(held), .. } = launch.given.get(data as usize)? else { return None };
        if !matches!(&held.contents, HeldContents::WrittenOnly(ranges) if ranges.is_empty()) {
            return None;
        }
    }
    match launch.given.get(claim.parameter as usize)? {
        Given::Int { amount, .. } => Some(amount),
        _ => None,
    }
}

/// Threads of a block for a launch whose block is missing, where no number of them changes what is said.
const USUAL_THREADS: i64 = 256;

fn under_coverage(
    context: &ModuleContext<'_>,
    event: &Event,
    launch: &LaunchFact,
    claim: &CoverageClaim,
) -> Option<Finding> {
    let axis = usize::from(claim.axis);
    let grid = launch.grid.axes.get(axis)?;
    let block = launch.block.axes.get(axis)?;
    let bound = bound_of(launch, claim)?;
    let elements = bound.quantity.plus(&Quantity::Known(claim.offset));
    let threads = grid.quantity.times(&block.quantity);
    let mut assumed = assumptions([&event.assumptions, &grid.assumptions, &block.assumptions, &bound.assumptions]);
    let mut bindings = Vec::new();
    let blockless = launch.spelling.is_python() && block.quantity.known().is_none() && elements.known().is_some();
    match event.exceeds(&elements, &threads) {
        Comparison::Unknown if blockless => {
            let [threads_per_block] = block.quantity.inputs().try_into().ok()?;
            let assignment = vec![(threads_per_block.name().to_owned(), USUAL_THREADS)];
            let covered = threads.evaluate(&assignment)?;
            if covered >= elements.known()? {
                return None;
            }
            assumed.push(format!("`{}` is {USUAL_THREADS}", threads_per_block.name()));
            bindings = assignment;
        }
        // An empty grid is `empty-grid`'s.
        Comparison::Always if grid.quantity != Quantity::Known(0) => {
            elements.known()?;
        }
        Comparison::ForSome { assignment } => {
            let stated: Vec<_> = assignment.iter().map(|(name, value)| format!("`{name}` is {value}")).collect();
            assumed.push(stated.join(" and "));
            bindings = assignment;
        }
        _ => return None,
    }
    let value_of =
        |quantity: &Quantity| if bindings.is_empty() { quantity.known() } else { quantity.evaluate(&bindings) };
    let (covered, wanted) = (value_of(&threads)?, value_of(&elements)?);
    // A grid that is exact but for what `i <= n` adds to `n` shows a test that is off by one, not a grid that is too small.
    if covered <= 0 || (claim.offset > 0 && wanted - covered <= claim.offset) {
        return None;
    }
    if reaches_all(launch, covered, &value_of) {
        return None;
    }
    let one = |amount: &Amount| amount.quantity == Quantity::Known(1);
    let mut axes = launch.grid.axes.iter().zip(&launch.block.axes).enumerate();
    let only = axes.all(|(other, (grid, block))| other == axis || (one(grid) && one(block)));
    let along = if only { "" } else { [" along x", " along y", " along z"].get(axis)? };
    let last = match wanted - covered {
        1 => "the last one is".to_owned(),
        left => format!("the last {left} are"),
    };
    let message = format!(
        "the grid of `{}` has {covered} threads{along} for {wanted} elements: {last} never processed",
        launch.kernel_name
    );
    let difference =
        Difference::Coverage { threads: u64::try_from(covered).ok()?, elements: u64::try_from(wanted).ok()? };
    let shows = Shows::Memory { difference };
    let mut finding = event_finding(&RULE, context, event, launch.config_span, assumed, shows, message)?;
    finding.claim.launch = launch_witness(context, event, launch);
    finding.claim.inputs.clone_from(&bindings);
    finding.label = format!("{} × {} threads", launch.grid.text, launch.block.text);
    if launch.kernel.is_some() {
        finding.related.push(Label {
            place: context.place_of(claim.site),
            message: if claim.fills.is_some() {
                "each thread fills one element, and no loop fills the rest"
            } else {
                "each thread takes one element below this bound, and no loop takes the rest"
            }
            .to_owned(),
        });
    }
    finding.claim.sites = places(&finding.related);
    let help = if launch.spelling.is_python() { "//" } else { "/" };
    finding.help = Some(format!("round up: `(n + block - 1) {help} block` blocks"));
    if let Some(witness) = &mut finding.witness {
        witness.bindings = bindings;
        witness.bindings.extend([("threads".to_owned(), covered), ("elements".to_owned(), wanted)]);
    }
    Some(finding)
}
