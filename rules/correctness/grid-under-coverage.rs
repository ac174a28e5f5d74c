//! A grid that has fewer threads than there are elements.

use crate::words::{assumptions, event_finding, launch_witness};
use cudalint_engine::{Check, ModuleContext, Rule, Sink};
use cudalint_findings::{Confidence, Finding, Group, Label, Method, RuleInfo};
use cudalint_replay::facts::{CoverageClaim, Event, EventKind, LaunchFact, Site};
use cudalint_replay::value::{Comparison, Quantity};

/// The rule.
pub static RULE: Rule = Rule {
    info: RuleInfo {
        name: "grid-under-coverage",
        group: Group::Correctness,
        summary: "A launch has fewer threads than the kernel's own bound says there are elements.",
        page: include_str!("grid-under-coverage.md"),
        method: Method::Output,
        guideline: None,
        cwe: Some(682),
    },
    confidence: &[Confidence::Definite, Confidence::Likely],
    fix: None,
    check: Check::Facts(check),
};

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for event in &context.facts.events {
        let EventKind::Launch(launch) = &event.kind else { continue };
        let Some(summary) = &launch.kernel_summary else { continue };
        let found = summary.covers.iter().find_map(|claim| under_coverage(context, event, launch, claim));
        sink.report_some(found);
    }
}

fn under_coverage(
    context: &ModuleContext<'_>,
    event: &Event,
    launch: &LaunchFact,
    claim: &CoverageClaim,
) -> Option<Finding> {
    let axis = usize::from(claim.axis);
    let grid = launch.grid.axes.get(axis)?;
    let block = launch.block.axes.get(axis)?;
    let argument = launch.args.get(claim.parameter as usize)?;
    let elements = argument.amount.quantity.plus(&Quantity::Known(claim.offset));
    let threads = grid.quantity.times(&block.quantity);
    let mut assumed =
        assumptions([&event.assumptions, &grid.assumptions, &block.assumptions, &argument.amount.assumptions]);
    let mut bindings = Vec::new();
    match event.exceeds(&elements, &threads) {
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
    let message = format!(
        "the grid of `{}` has {covered} threads for {wanted} elements: the last {} are never processed",
        launch.kernel_name,
        wanted - covered
    );
    let mut finding = event_finding(&RULE, context, event, launch.config_span, assumed, message)?;
    finding.label = format!("{} × {} threads", launch.grid.text, launch.block.text);
    if let Some((module, _)) = launch.kernel {
        finding.related.push(Label {
            place: context.place_of(Site { module, span: claim.span }),
            message: "each thread takes one element below this bound, and no loop takes the rest".to_owned(),
        });
    }
    finding.help = Some("round up: `(n + block - 1) / block` blocks".to_owned());
    if let Some(witness) = &mut finding.witness {
        witness.launch = launch_witness(context, event, launch);
        witness.bindings = bindings;
        witness.bindings.extend([("threads".to_owned(), covered), ("elements".to_owned(), wanted)]);
    }
    Some(finding)
}
