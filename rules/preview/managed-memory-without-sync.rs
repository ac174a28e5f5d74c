//! The host reads or writes managed memory while a kernel that uses it may still run.

use crate::parts::{allocation_label, event_finding};
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::{Confidence, Finding, Label, Shows};
use cudalint_replay::facts::{Early, EarlyFact, Event, EventKind, MemorySpace, Pointer, Started};

/// The rule.
pub static RULE: Rule = rule!("managed-memory-without-sync", Preview, None)
    .summary("The host touches managed memory before anything has waited for the kernel that uses it.")
    .cwe(362)
    .confidence(&[Confidence::Likely])
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for event in &context.facts.events {
        if let EventKind::Early(fact) = &event.kind
            && !event.failed
        {
            sink.report_some(finding(context, event, fact));
        }
    }
}

fn finding(context: &ModuleContext<'_>, event: &Event, fact: &EarlyFact) -> Option<Finding> {
    let (Started::Kernel { name, kernel, parameter }, Pointer::Into { buffer, .. }) =
        (&fact.what, &fact.argument.pointer)
    else {
        return None;
    };
    if !matches!(buffer.space, MemorySpace::Managed | MemorySpace::Pinned) || fact.early == Early::Free {
        return None;
    }
    let (module, id) = (*kernel)?;
    let function = context.project.function_at(module, id)?;
    // What a kernel out of sight does with it nobody knows.
    function.body.as_ref()?;
    let parameter = function.locals.iter().nth(*parameter as usize)?.name.to_string();
    let text = &fact.argument.text;
    let message = match fact.early {
        Early::Read => {
            format!("`{text}` is read before anything has waited for the kernel `{name}`, which may still write it")
        }
        _ => format!("`{text}` is written before anything has waited for the kernel `{name}`, which may still use it"),
    };
    let assumed = vec![format!("`{name}` is still running then, and uses `{parameter}`")];
    let mut finding = event_finding(&RULE, context, event, event.site.span, assumed, Shows::Nothing, message)?;
    finding.label = "too early".to_owned();
    let started = "launched here; the host goes on at once";
    finding.related.push(Label { place: context.place_of(fact.started), message: started.to_owned() });
    finding.related.push(allocation_label(context, buffer));
    finding.help = Some("call `cudaDeviceSynchronize`, or wait for the launch's stream, before".to_owned());
    Some(finding)
}
