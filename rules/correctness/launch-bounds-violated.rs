//! A block larger than the kernel's `__launch_bounds__`.

use crate::parts::{assumptions, event_finding, known, launch_witness};
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::claim::Resource;
use cudalint_findings::{Finding, Label, Shows};
use cudalint_replay::facts::{Event, EventKind, Site};

/// The rule.
pub static RULE: Rule = rule!("launch-bounds-violated", Correctness, ApiError)
    .summary("A kernel is launched with more threads a block than its `__launch_bounds__` allow.")
    .cwe(628)
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for event in &context.facts.events {
        if let Some(finding) = check_event(context, event) {
            sink.report(finding);
        }
    }
}

fn check_event(context: &ModuleContext<'_>, event: &Event) -> Option<Finding> {
    let EventKind::Launch(launch) = &event.kind else { return None };
    let bound = launch.launch_bounds.as_ref()?;
    let limit = known(bound)?;
    let mut threads: i64 = 1;
    for axis in &launch.block.axes {
        threads = threads.checked_mul(known(axis)?)?;
    }
    // Above 1024 no kernel can be launched at all, and `launch-exceeds-device-limit` says so.
    if threads <= limit || threads > 1024 || limit <= 0 {
        return None;
    }
    let message = format!(
        "`{}` is launched with {threads} threads a block, but its `__launch_bounds__` promise at most {limit}",
        launch.kernel_name
    );
    let parts = launch.block.axes.iter().map(|axis| &axis.assumptions);
    let assumed = assumptions(parts.chain([&event.assumptions, &bound.assumptions]));
    let claim = Shows::RefusedLaunch { of: Resource::Threads };
    let mut finding = event_finding(&RULE, context, event, launch.block.span, assumed, claim, message)?;
    finding.claim.launch = launch_witness(context, event, launch);
    finding.label = format!("{threads} threads a block");
    if let Some((module, function)) = launch.kernel
        && let Some(kernel) = context.project.module(module).functions.get(function)
    {
        let place = context.place_of(Site { module, span: kernel.name_span });
        finding.related.push(Label { place, message: format!("compiled for at most {limit} threads a block") });
    }
    if let Some(witness) = &mut finding.witness {
        witness.bindings = vec![("threads a block".to_owned(), threads), ("launch bound".to_owned(), limit)];
    }
    Some(finding)
}
