//! A kernel is launched, and nothing of what it writes is ever read.

use crate::parts::event_finding;
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::{Confidence, Fault, Finding, Shows};
use cudalint_replay::facts::{Event, EventKind, UnreadFact};

/// The rule.
pub static RULE: Rule = rule!("result-never-read-back", Preview, FaultInjection)
    .summary("All that a kernel writes is freed without anything having read it.")
    .cwe(563)
    .confidence(&[Confidence::Likely, Confidence::Possible])
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for event in &context.facts.events {
        if let EventKind::Unread(fact) = &event.kind {
            sink.report_some(finding(context, event, fact));
        }
    }
}

fn finding(context: &ModuleContext<'_>, event: &Event, fact: &UnreadFact) -> Option<Finding> {
    let written: Vec<String> = fact.written.iter().map(|name| format!("`{name}`")).collect();
    let message = match written.as_slice() {
        [one] => format!("the kernel `{}` writes {one}, which is freed without anything having read it", fact.kernel),
        all => format!(
            "the kernel `{}` writes {}, which are freed without anything having read them",
            fact.kernel,
            all.join(", ")
        ),
    };
    let assumed = vec!["the kernel is launched for its results".to_owned()];
    let claim = Shows::UnreadStatus { fault: Fault::Skipped };
    let mut finding = event_finding(&RULE, context, event, event.site.span, assumed, claim, message)?;
    finding.claim.kernel = Some(fact.kernel.clone());
    // Whoever takes times may want nothing else.
    if fact.timed {
        finding.confidence = Confidence::Possible;
    }
    finding.label = "computed for nobody".to_owned();
    finding.help = Some("copy the result to the host before it is freed".to_owned());
    Some(finding)
}
