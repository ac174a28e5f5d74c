//! The host reads what an asynchronous copy brings, or writes what it takes, before anything has waited for it.

use crate::parts::{allocation_label, event_finding};
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::{Confidence, Finding, Label, Shows};
use cudalint_replay::facts::{Early, EarlyFact, Event, EventKind, MemorySpace, Pointer, Started};

/// The rule.
pub static RULE: Rule = rule!("host-touches-async-buffer", Preview, None)
    .summary("The host reads or writes a buffer while an asynchronous copy may still use it.")
    .cwe(362)
    .confidence(&[Confidence::Likely, Confidence::Possible])
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
    let (Started::Copy { api }, Pointer::Into { buffer, .. }) = (&fact.what, &fact.argument.pointer) else {
        return None;
    };
    let text = &fact.argument.text;
    // A copy from or to memory that is not locked mostly blocks: the manual only says that it may not.
    let confidence = match buffer.space {
        MemorySpace::Pinned | MemorySpace::Managed => Confidence::Likely,
        MemorySpace::Host => Confidence::Possible,
        MemorySpace::Device => return None,
    };
    let message = match fact.early {
        Early::Read => format!("`{text}` is read before anything has waited for `{api}`, which writes it"),
        Early::Write => format!("`{text}` is written before anything has waited for `{api}`, which uses it"),
        Early::Free => return None,
    };
    let assumed = vec![format!("`{api}` is not done by then")];
    let mut finding = event_finding(&RULE, context, event, event.site.span, assumed, Shows::Nothing, message)?;
    finding.confidence = confidence;
    finding.label = "too early".to_owned();
    let started = "the copy is started here, and the call returns before it is done";
    finding.related.push(Label { place: context.place_of(fact.started), message: started.to_owned() });
    finding.related.push(allocation_label(context, buffer));
    finding.help = Some("call `cudaStreamSynchronize` with the copy's stream before".to_owned());
    Some(finding)
}
