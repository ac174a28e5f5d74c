//! A kernel with dynamic shared memory is launched without any, or with less than it uses.

use crate::parts::{assumptions, event_finding, known, launch_witness};
use crate::runs::bounds::{self, Overrun};
use crate::runs::parts::{does, element, label, named, thread};
use crate::runs::{Defect, Shown, shown};
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::claim::{AccessFault, Object, Space};
use cudalint_findings::{Finding, Label, Shows};
use cudalint_replay::facts::{Event, EventKind, LaunchFact, LaunchSpelling, Site};
use cudalint_replay::runs::KernelRun;
use cudalint_replay::runs::report::{EventKind as KernelEventKind, ObjectKind};

/// The rule.
pub static RULE: Rule = rule!("dynamic-shared-size-too-small", Correctness, Memcheck)
    .summary("A kernel uses more dynamic shared memory than the launch gives it.")
    .guidelines(&["CUDASecurity-ARR01"])
    .cwe(787)
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for event in &context.facts.events {
        sink.report_some(check_event(context, event));
    }
    for shown in shown(context, Defect::DynamicShared) {
        // Where nothing is given at all, the launch says so already.
        if shown.run.dynamic_shared != Some(0) {
            sink.report_some(finding(context, &shown));
        }
    }
}

/// A launch that gives some, and an access beyond that.
fn finding(context: &ModuleContext<'_>, shown: &Shown<'_>) -> Option<Finding> {
    let Overrun { run, object, access, .. } = Overrun::of(shown)?;
    let given = run.dynamic_shared?;
    let message = format!(
        "{} {} element {} of the dynamic shared array {}, but the launch gives {given} bytes, which is room for {}",
        thread(run, access.thread),
        does(access.kind),
        element(access, object),
        named(object),
        given / u64::from(access.element.max(1))
    );
    let mut finding = bounds::finding(&RULE, context, shown, message)?;
    if let Some(launch) = run.launch {
        finding.place = context.place_of(config_of(context, launch));
        finding.related.retain(|label| label.place != context.place_of(launch));
        finding.related.insert(0, label(context, access.site, finding.label.clone()));
        finding.label = format!("{given} bytes of dynamic shared memory");
    }
    finding.help = Some("pass as many bytes as the kernel uses, such as `threads * sizeof(float)`".to_owned());
    Some(finding)
}

/// The configuration of a launch, where it is one of this module.
fn config_of(context: &ModuleContext<'_>, launch: Site) -> Site {
    let configs = context.facts.events.iter().filter(|event| event.site == launch);
    let span = configs.into_iter().find_map(|event| match &event.kind {
        EventKind::Launch(fact) => Some(fact.config_span),
        _ => None,
    });
    span.map_or(launch, |span| Site { module: launch.module, span })
}

/// Whether a launch names its kernel, and does not take it from a variable.
fn is_named(context: &ModuleContext<'_>, launch: &LaunchFact) -> bool {
    let kernel = launch.kernel.and_then(|(module, function)| context.project.function_at(module, function));
    kernel.is_some_and(|kernel| launch.kernel_name.contains(kernel.name.as_str()))
}

fn check_event(context: &ModuleContext<'_>, event: &Event) -> Option<Finding> {
    let EventKind::Launch(launch) = &event.kind else { return None };
    // Of no blocks, no thread comes to the array.
    let is_empty = launch.grid.axes.iter().any(|axis| known(axis) == Some(0));
    // `if (bytes > 0) kernel<<<blocks, threads, bytes>>>(); else kernel<<<blocks, threads>>>();`: what a pointer leads to may be just
    // what the condition is about.
    let by_pointer_and_condition = event.conditional && !is_named(context, launch);
    if known(&launch.shared) != Some(0) || is_empty || by_pointer_and_condition {
        return None;
    }
    let summary = launch.kernel_summary.as_ref()?;
    let array = summary.dynamic_shared.iter().find(|array| array.used.is_some())?;
    let is_off = |parameter: &u32| launch.args.get(*parameter as usize).and_then(|arg| known(&arg.amount)) == Some(0);
    let touched = |seen: &KernelEventKind| {
        use KernelEventKind::{Misaligned, OutOfBounds};
        matches!(seen, OutOfBounds { object, .. } | Misaligned { object, .. } if object.kind == ObjectKind::DynamicShared)
    };
    // With the arguments of this launch all threads were followed, and none came to the array.
    let unused = |run: &KernelRun| {
        run.launch == Some(event.site) && run.is_whole() && !run.report.events.iter().any(|seen| touched(&seen.kind))
    };
    if array.asked.iter().any(is_off) || context.facts.runs.iter().any(unused) {
        return None;
    }
    let mut assumed = assumptions([&event.assumptions, &launch.shared.assumptions]);
    if !array.surely_used {
        assumed.push(format!("the branch of `{}` that uses `{}` is taken", launch.kernel_name, array.name));
    }
    let given = if launch.shared_written { "gives 0 bytes" } else { "has no third argument, so it gives 0 bytes" };
    let message =
        format!("`{}` uses the dynamic shared array `{}`, but its launch {given}", launch.kernel_name, array.name);
    let object = Object { name: array.name.clone(), space: Space::Shared, bytes: Some(0) };
    let claim = Shows::Access { fault: AccessFault::OutOfBounds, object, accesses: Vec::new() };
    let mut finding = event_finding(&RULE, context, event, launch.config_span, assumed, claim, message)?;
    finding.claim.launch = launch_witness(context, event, launch);
    finding.label = "0 bytes of dynamic shared memory".to_owned();
    finding.related.push(Label {
        place: context.place_of(array.site),
        message: format!("`{}` has the size that the launch gives", array.name),
    });
    let how = if launch.spelling == LaunchSpelling::Call { "with the launch" } else { "as the third launch argument" };
    finding.help = Some(format!("pass the size in bytes {how}, such as `threads * sizeof(float)`"));
    if let Some(witness) = &mut finding.witness {
        witness.bindings = vec![("bytes given".to_owned(), 0)];
        witness.bindings.extend(Some(("bytes of the first element".to_owned(), i64::from(array.element))));
    }
    Some(finding)
}
