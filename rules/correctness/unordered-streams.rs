//! Work of two streams touches the same memory, and nothing orders one behind the other.

use crate::parts::{allocation_label, assumptions, event_finding};
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::claim::Then;
use cudalint_findings::{Confidence, Finding, Label, Shows};
use cudalint_replay::facts::{CrossedFact, CrossedStream, CrossedWork, Event, EventKind, Pointer, Started};

/// The rule.
pub static RULE: Rule = rule!("unordered-streams", Correctness, Delay)
    .summary(
        "Work of two streams uses the same memory, one of them writes it, and nothing orders one behind the other.",
    )
    .cwe(362)
    .confidence(&[Confidence::Definite, Confidence::Likely])
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    let mut told = Vec::new();
    for event in &context.facts.events {
        if let EventKind::Crossed(fact) = &event.kind
            && !event.failed
            && !event.conditional
            && !told.contains(&event.site)
            && let Some(finding) = finding(context, event, fact)
        {
            told.push(event.site);
            sink.report(finding);
        }
    }
}

fn finding(context: &ModuleContext<'_>, event: &Event, fact: &CrossedFact) -> Option<Finding> {
    let CrossedFact { argument, first, second, meeting } = fact;
    let meeting = meeting.as_ref()?;
    let Pointer::Into { buffer, .. } = &argument.pointer else { return None };
    let does = |work: &CrossedWork, writes: bool| match work.what {
        // Which of its pointers a library writes is not asked.
        Started::Algorithm { .. } => "uses",
        _ if writes => "writes",
        _ => "reads",
    };
    let message = format!(
        "{} {} `{}` {}, and {}, which {} it {}, may not be done by then: nothing orders the two",
        name(second),
        does(second, meeting.second_writes),
        buffer.name,
        stream(&second.stream),
        name(first),
        does(first, meeting.first_writes),
        stream(&first.stream),
    );
    let mut assumed = assumptions([&event.assumptions]);
    assumed.extend(meeting.assumptions.iter().filter(|text| !event_assumes(event, text)).cloned());
    if first.may_be_done {
        assumed.push(format!("{} has not reached the device when it returns", name(first)));
    }
    let claim =
        Shows::TooEarly { work: context.place_of(first.site), then: Then::Work, memory: Some(argument.text.clone()) };
    let mut finding = event_finding(&RULE, context, event, event.site.span, assumed, claim, message)?;
    finding.label = "waits for nothing of the other stream".to_owned();
    let place = context.place_of(first.site);
    finding.related.push(Label { place, message: format!("started here, {}", stream(&first.stream)) });
    finding.related.push(allocation_label(context, buffer));
    let help = "put both into one stream, or let the second stream wait for an event that is recorded behind the first";
    finding.help = Some(help.to_owned());
    Some(finding)
}

fn event_assumes(event: &Event, text: &String) -> bool {
    event.assumptions.iter().any(|list| list.contains(text))
}

fn name(work: &CrossedWork) -> String {
    match &work.what {
        Started::Copy { api } | Started::Algorithm { name: api } => format!("`{api}`"),
        Started::Kernel { name, .. } => format!("the kernel `{name}`"),
    }
}

fn stream(stream: &CrossedStream) -> String {
    match stream {
        CrossedStream::Default => "in the default stream".to_owned(),
        CrossedStream::Made(name) | CrossedStream::NonBlocking(name) => format!("in `{name}`"),
    }
}
