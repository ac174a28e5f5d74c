//! Accesses behind range checks that hold for every number: `b >= 0 or b < n` where `and` is meant.

use super::parts::{self, place};
use crate::fixes::unsafe_fix;
use cudalint_engine::{ModuleContext, Rule};
use cudalint_findings::claim::{AccessFault, Object, Space};
use cudalint_findings::{Confidence, Finding, Fix, Label, LaunchWitness, Shows, Witness};
use cudalint_replay::facts::{Buffer, Site};
use cudalint_replay::runs::KernelRun;
use cudalint_replay::runs::Unguarded;
use cudalint_replay::runs::report::EventKind;
use cudalint_syntax::{Language, Span};

/// Accesses of a module's kernels behind conditions that hold for every index, each once.
pub fn findings(rule: &'static Rule, context: &ModuleContext<'_>) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    for (run, unguarded) in context.facts.runs.iter().flat_map(|run| run.unguarded.iter().map(move |it| (run, it))) {
        let finding = finding(rule, context, run, unguarded);
        found.extend(finding.filter(|finding| found.iter().all(|known| known.place != finding.place)));
    }
    found
}

/// Elements of an array of one axis.
fn elements<'a>(run: &'a KernelRun, array: &str) -> Option<(i64, &'a Buffer)> {
    let buffer = run.buffers.iter().find(|buffer| buffer.parameter == array)?;
    let allocation = buffer.allocation.as_ref()?;
    let count = match &allocation.array {
        Some(shape) => match shape.extents.as_slice() {
            [only] if only.assumptions.is_none() => only.quantity.known()?,
            _ => return None,
        },
        None => {
            let element = allocation.element.filter(|bytes| *bytes > 0)?;
            i64::try_from(buffer.bytes?).ok()? / element
        }
    };
    (count > 0).then_some((count, allocation))
}

fn finding(rule: &'static Rule, context: &ModuleContext<'_>, run: &KernelRun, found: &Unguarded) -> Option<Finding> {
    let Unguarded { array, index, access, condition } = found;
    let (count, allocation) = elements(run, array)?;
    // An execution that shows it says more.
    let shown = run
        .report
        .events
        .iter()
        .any(|event| matches!(&event.kind, EventKind::OutOfBounds { access: seen, .. } if seen.site == *access));
    if shown {
        return None;
    }
    let message = format!(
        "`{index}` may lie outside of `{array}`, which has {count} elements: `{}` holds for every number",
        parts::text(context, *condition).trim()
    );
    let shows = Shows::Access {
        fault: AccessFault::OutOfBounds,
        object: Object {
            name: array.clone(),
            space: Space::Global,
            bytes: allocation.bytes.quantity.known().and_then(|bytes| u64::try_from(bytes).ok()),
        },
        accesses: Vec::new(),
    };
    let mut finding = rule.finding(Confidence::Likely, place(context, *access), shows, message);
    finding.label = format!("element {count} of {count}, where `{index}` is {count}");
    finding.function = parts::kernel(context, run);
    finding.related.push(parts::label(context, *condition, "keeps nothing out"));
    finding.related.push(crate::parts::allocation_label(context, allocation));
    let launch = run.launch?;
    finding.related.push(Label { place: context.place_of(launch), message: "launched here".to_owned() });
    finding.claim.kernel = Some(finding.function.clone());
    finding.claim.inputs = vec![(index.clone(), count)];
    finding.claim.launch = run.dynamic_shared.filter(|_| run.grid_known).map(|shared_bytes| LaunchWitness {
        site: context.place_of(launch),
        grid: run.grid.map(u64::from),
        block: run.block.map(u64::from),
        shared_bytes,
    });
    finding.witness = Some(Witness {
        bindings: vec![(index.clone(), count)],
        assumptions: vec![format!("`{index}` is {count}")],
        path: context.steps(&run.path),
    });
    finding.fix = both(context, *condition);
    finding.help = Some(format!("both have to hold: write `{}`", if parts::is_python(run) { "and" } else { "&&" }));
    Some(finding)
}

/// The condition with `&&` for its only `||`, or `and` for its only `or`.
fn both(context: &ModuleContext<'_>, condition: Site) -> Option<Fix> {
    if condition.module != context.id {
        return None;
    }
    let text = context.text(condition.span);
    let python = context.module.language == Language::Python;
    let (either, both) = if python { (" or ", " and ") } else { ("||", "&&") };
    let mut found = text.match_indices(either);
    let (at, _) = found.next().filter(|_| found.next().is_none())?;
    let start = condition.span.start + at as u32;
    let place = context.place(Span { start, end: start + either.len() as u32 });
    Some(unsafe_fix(place, both.to_owned(), format!("write `{}` in its place", both.trim())))
}
