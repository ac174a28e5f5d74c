//! A clock of the host is read around a launch that nothing has waited for.

use crate::parts::event_finding;
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::claim::Then;
use cudalint_findings::{Confidence, Finding, Label, Shows};
use cudalint_replay::facts::{Event, EventKind, TimedFact};

/// The rule.
pub static RULE: Rule = rule!("timing-without-sync", Preview, Delay)
    .summary("The time of a kernel is taken by a clock of the host before anything has waited for the kernel.")
    .cwe(1025)
    .confidence(&[Confidence::Likely])
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for event in &context.facts.events {
        if let EventKind::Timed(fact) = &event.kind
            && !event.failed
        {
            sink.report_some(finding(context, event, fact));
        }
    }
}

fn finding(context: &ModuleContext<'_>, event: &Event, fact: &TimedFact) -> Option<Finding> {
    let message = format!("the clock is read before anything has waited for the kernel `{}`", fact.kernel);
    let assumed = vec![format!("the time that `{}` takes is meant, and not that of its launch", fact.kernel)];
    let claim = Shows::TooEarly { work: context.place_of(fact.launch), then: Then::Clock, memory: None };
    let mut finding = event_finding(&RULE, context, event, event.site.span, assumed, claim, message)?;
    finding.claim.kernel = Some(fact.kernel.clone());
    finding.label = "the kernel may not even have begun".to_owned();
    let first = Label { place: context.place_of(fact.first), message: "the clock is read here first".to_owned() };
    let launch =
        Label { place: context.place_of(fact.launch), message: "launched here; the host goes on at once".to_owned() };
    finding.related = vec![first, launch];
    finding.help = Some("call `cudaDeviceSynchronize` before the clock is read, or measure with events".to_owned());
    Some(finding)
}
