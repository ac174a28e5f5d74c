//! Memory or a handle of CUDA is not given back by the function that is the last to know it.

use crate::parts::{allocation_label, event_finding};
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::{Confidence, Finding, Label, Method, Shows};
use cudalint_program::Name;
use cudalint_program::api::effects::Handle;
use cudalint_replay::facts::{Event, EventKind, LostAt, LostFact, Pointer, Site};

/// The rule.
pub static RULE: Rule = rule!("device-resource-leak", Preview, Leakcheck)
    .summary("Memory or a handle of CUDA is never given back, though no pointer leads to it any more.")
    .guidelines(&["CUDADirective-1: owners"])
    .cwe(401)
    .confidence(&[Confidence::Definite, Confidence::Likely, Confidence::Possible])
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    // Events are in the order of their sites: of what is lost in several ways the surest is told.
    let mut events = context.facts.events.iter().filter_map(|event| Some((event, lost(event)?))).peekable();
    while let Some((event, fact)) = events.next() {
        let mut best = finding(context, event, fact);
        while let Some((other, fact)) = events.next_if(|(other, _)| other.site == event.site) {
            let next = finding(context, other, fact);
            if next.as_ref().map(|it| it.confidence) > best.as_ref().map(|it| it.confidence) {
                best = next;
            }
        }
        sink.report_some(best);
    }
}

fn lost(event: &Event) -> Option<&LostFact> {
    match &event.kind {
        // A context mostly lives as long as its program.
        EventKind::Lost(fact) if fact.handle() != Some(Handle::Context) => Some(fact),
        _ => None,
    }
}

/// How sure it is that something gets lost that should not, and what that rests on.
fn judged(context: &ModuleContext<'_>, event: &Event, fact: &LostFact) -> Option<(Confidence, Vec<String>)> {
    let possible = Some((Confidence::Possible, Vec::new()));
    let likely = |why: String| Some((Confidence::Likely, vec![why]));
    match fact.at {
        // The program ends early, because something has gone wrong mostly.
        LostAt::Return { .. } if fact.in_main => None,
        // Where a call has failed, what it was to allocate is not there.
        _ if event.failed => possible,
        LostAt::Round => Some((Confidence::Definite, Vec::new())),
        _ if fact.in_main => possible,
        LostAt::End if !fact.freed.is_empty() => Some((Confidence::Definite, Vec::new())),
        LostAt::End if fact.once => possible,
        LostAt::End => likely("the function runs more than once".to_owned()),
        LostAt::Return { .. } if !is_freed_elsewhere(context, fact) => None,
        LostAt::Return { fails: true } => possible,
        LostAt::Return { fails: false } => likely("the function is left by this `return`".to_owned()),
    }
}

/// Whether another path gives it back.
fn is_freed_elsewhere(context: &ModuleContext<'_>, fact: &LostFact) -> bool {
    context.facts.events.iter().any(|event| match &event.kind {
        EventKind::Free { argument, .. } => {
            matches!(&argument.pointer, Pointer::Into { buffer, .. } if buffer.site == fact.buffer.site)
        }
        _ => false,
    })
}

fn finding(context: &ModuleContext<'_>, event: &Event, fact: &LostFact) -> Option<Finding> {
    let (confidence, assumed) = judged(context, event, fact)?;
    let (buffer, handle) = (&fact.buffer, fact.handle());
    let through = event.site != buffer.site;
    let what = match (handle, through) {
        (None, false) => format!("`{}`", buffer.name),
        (None, true) => format!("the memory that `{}` allocates here", buffer.origin),
        (Some(kind), false) => format!("the {} `{}`", word(kind), buffer.name),
        (Some(kind), true) => format!("the {} that `{}` makes here", word(kind), buffer.origin),
    };
    let done = if handle.is_some() { "destroyed" } else { "freed" };
    let message = match fact.at {
        LostAt::Round => format!("{what} is never {done}, and the next round of the loop makes another"),
        LostAt::End if fact.freed.is_empty() => format!("{what} is never {done}, and nothing leads to it any more"),
        LostAt::End => format!("{what} is never {done}, unlike {}", listed(&fact.freed)),
        LostAt::Return { .. } => format!("{what} is not {done} where the function returns early"),
    };
    let claim = match handle {
        None => Shows::Leak { name: buffer.name.to_string() },
        Some(_) => Shows::Nothing,
    };
    let Site { span, .. } = event.site;
    let mut finding = event_finding(&RULE, context, event, span, assumed, claim, message)?;
    finding.confidence = confidence;
    finding.label = if handle.is_some() { "made here".to_owned() } else { "allocated here".to_owned() };
    if handle.is_some() {
        finding.method = Some(Method::None);
    }
    if through {
        finding.related.push(allocation_label(context, buffer));
    }
    let end = match fact.at {
        LostAt::Round => "the round ends here",
        LostAt::End => "the function ends here",
        LostAt::Return { .. } => "the function is left here",
    };
    finding.related.push(Label { place: context.place_of(fact.end), message: end.to_owned() });
    finding.help = Some(if fact.in_main {
        "the system takes it back when the program ends; give it back where tools look for leaks".to_owned()
    } else {
        format!("have it {done} on each way out, or let an object with a destructor hold it")
    });
    Some(finding)
}

/// "`a`", "`a` and `b`", "`a`, `b` and 3 others".
fn listed(names: &[Name]) -> String {
    let named: Vec<String> = names.iter().filter(|name| !name.is_empty()).map(|name| format!("`{name}`")).collect();
    match named.as_slice() {
        [] => "others of the function".to_owned(),
        [one] => one.clone(),
        [one, two] => format!("{one} and {two}"),
        [one, two, rest @ ..] => {
            format!("{one}, {two} and {} of the same function", crate::parts::counted(rest.len(), "other"))
        }
    }
}

const fn word(kind: Handle) -> &'static str {
    match kind {
        Handle::Stream => "stream",
        Handle::Event => "event",
        Handle::Graph => "graph",
        Handle::Executable => "executable graph",
        Handle::Module => "module",
        Handle::Context => "context",
        Handle::Texture => "texture object",
        Handle::Array => "array",
        Handle::Pool => "memory pool",
        Handle::Library => "library",
        Handle::Program => "program",
    }
}
