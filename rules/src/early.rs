//! What the host does while work that it has started may still go on, as several rules tell it.

use crate::parts::{allocation_label, event_finding};
use cudalint_engine::{ModuleContext, Rule, Sink};
use cudalint_findings::claim::Then;
use cudalint_findings::{Finding, Label, Shows};
use cudalint_replay::facts::{Buffer, Early, EarlyFact, Event, EventKind, Pointer, Started};

/// A buffer that is touched or given back too early.
pub struct TooEarly<'f> {
    /// The event.
    pub event: &'f Event,
    /// What it says.
    pub fact: &'f EarlyFact,
    /// The buffer.
    pub buffer: &'f Buffer,
}

/// Reports what a rule makes of each.
pub fn report(
    context: &ModuleContext<'_>,
    sink: &mut Sink<'_>,
    finding: impl Fn(&ModuleContext<'_>, &TooEarly<'_>) -> Option<Finding>,
) {
    for event in &context.facts.events {
        if let EventKind::Early(fact) = &event.kind
            && let Pointer::Into { buffer, .. } = &fact.argument.pointer
            && !event.failed
        {
            sink.report_some(finding(context, &TooEarly { event, fact, buffer }));
        }
    }
}

/// A finding that rests on the work's not being done by then, with the places of the work's start (`started` says of it what is
/// to be said) and of the buffer.
pub fn finding(
    rule: &'static Rule,
    context: &ModuleContext<'_>,
    early: &TooEarly<'_>,
    assumed: String,
    message: String,
    started: &str,
) -> Option<Finding> {
    let TooEarly { event, fact, buffer } = early;
    let then = match fact.early {
        Early::Read => Then::Read,
        Early::Write => Then::Write,
        Early::Free => Then::Free,
        Early::Launch => Then::Work,
    };
    let claim =
        Shows::TooEarly { work: context.place_of(fact.started), then, memory: Some(fact.argument.text.clone()) };
    let mut finding = event_finding(rule, context, event, event.site.span, vec![assumed], claim, message)?;
    if let Started::Kernel { name, .. } = &fact.what {
        finding.claim.kernel = Some(name.clone());
    }
    finding.label = "too early".to_owned();
    finding.related.push(Label { place: context.place_of(fact.started), message: started.to_owned() });
    finding.related.push(allocation_label(context, buffer));
    Some(finding)
}
