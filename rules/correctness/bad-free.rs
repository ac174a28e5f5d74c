//! Memory is given back to whom it does not belong, from its middle, or twice.

use crate::ended::{ends_unread, needs_something_behind};
use crate::parts::{allocated_beside, allocation_label, assumptions, event_finding};
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::claim::{Call, User};
use cudalint_findings::{Applicability, Confidence, Edit, Finding, Fix, Label, Method, Shows, Witness};
use cudalint_program::api::ApiId;
use cudalint_program::api::effects::{Effect, Space};
use cudalint_replay::facts::{Buffer, Event, EventKind, FreedTwice, Owner, Pointer, PointerArgument, Site};
use cudalint_replay::quantity::Quantity;
use cudalint_syntax::Span;

/// The rule.
pub static RULE: Rule = rule!("bad-free", Correctness, ApiError)
    .summary("Memory is freed by the wrong function, from its middle, or twice.")
    .cwe(763)
    .fix(Applicability::Unsafe)
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for fact in &context.facts.freed_twice {
        // Where the walk has seen what the pointer is, it says more; where it has not come, nothing is known.
        let mut seen = context.facts.events.iter().filter(|event| event.site == fact.second).peekable();
        let is_open = |event: &Event| matches!(&event.kind, EventKind::Free { argument, .. } if argument.pointer == Pointer::Unknown);
        let ends = seen.peek().is_some_and(|event| ends_unread(context, event));
        if seen.peek().is_some() && seen.all(is_open) {
            let mut finding = freed_twice(context, fact);
            if ends {
                needs_something_behind(&mut finding);
            }
            sink.report(finding);
        }
    }
    for event in &context.facts.events {
        // A condition may find out whose memory it is, unless that was settled beside it; a check, that there is none.
        if let EventKind::Free { api, argument } = &event.kind
            && (!event.conditional || allocated_beside(context, event, &argument.pointer))
            && !event.failed
        {
            sink.report_some(finding(context, event, api, argument));
        }
    }
}

fn finding(context: &ModuleContext<'_>, event: &Event, api: &str, argument: &PointerArgument) -> Option<Finding> {
    let Pointer::Into { buffer, offset } = &argument.pointer else { return None };
    let (text, owner) = (&argument.text, Owner::of(&buffer.origin, buffer.space)?);
    let wrong = owner.is_freed_by(api) == Some(false);
    let inside = match offset.quantity {
        Quantity::Known(bytes) if bytes != 0 => Some(bytes),
        _ => None,
    };
    let mut assumed = assumptions([&event.assumptions]);
    let (message, label) = if wrong {
        let whose = match owner {
            Owner::Variable => "is not from a heap".to_owned(),
            _ => format!("was allocated by `{}`", buffer.origin),
        };
        (format!("`{api}` is given `{text}`, which {whose}"), format!("not memory that `{api}` can free"))
    } else if buffer.freed {
        let done = if matches!(owner, Owner::Maker(..)) { "destroyed" } else { "freed" };
        (format!("`{api}` is given `{text}`, which has been {done} already"), format!("{done} a second time"))
    } else {
        let bytes = inside?;
        assumed = assumptions([&event.assumptions, &offset.assumptions]);
        let where_to = if bytes < 0 { "in front of" } else { "into" };
        (
            format!("`{api}` is given `{text}`, which points {} bytes {where_to} its memory", bytes.unsigned_abs()),
            "not the address that the allocation gave".to_owned(),
        )
    };
    let call = Call::of(api);
    let claim = match ApiId::named(api).filter(|api| api.is_cuda_host()) {
        Some(_) => Shows::FailedCall { call },
        None => Shows::BadAddress { name: text.clone(), user: User::Host },
    };
    let by_host = matches!(claim, Shows::BadAddress { .. });
    let mut finding = event_finding(&RULE, context, event, argument.span, assumed, claim, message)?;
    finding.label = label;
    finding.related.push(allocation_label(context, buffer));
    if !by_host && ends_unread(context, event) {
        needs_something_behind(&mut finding);
    }
    if by_host {
        finding.method = Some(Method::Memcheck);
    }
    finding.help = Some(match right(owner) {
        Some(right) if wrong => {
            finding.fix = respelled(context, event, api, right).filter(|_| !is_freed_elsewhere(context, event, buffer));
            let or = if owner == Owner::New { " (`delete[]` an array)" } else { "" };
            format!("`{right}`{or} frees it")
        }
        None if wrong => "it is given back by itself, where its scope or its owner ends".to_owned(),
        _ if buffer.freed => {
            finding.related.extend(freed_before(context, event, buffer, owner));
            "free it once; where several paths free it, set the pointer to `nullptr` behind each".to_owned()
        }
        _ => "free the pointer that the allocation gave".to_owned(),
    });
    Some(finding)
}

/// Memory that somebody else has allocated, freed twice by one name.
fn freed_twice(context: &ModuleContext<'_>, fact: &FreedTwice) -> Finding {
    let FreedTwice { function, api, text, first, second } = fact;
    let message = format!("`{api}` is given `{text}`, which has been freed already");
    let place = context.place_of(*second);
    let call = Call { site: Some(place.clone()), ..Call::of(api.as_str()) };
    let mut finding = RULE.finding(Confidence::Likely, place, Shows::FailedCall { call }, message);
    finding.function = context.function_name(*function);
    finding.label = "freed a second time".to_owned();
    finding.related.push(Label { place: context.place_of(*first), message: "freed here".to_owned() });
    let assumptions = vec![format!("`{text}` is not a null pointer")];
    finding.witness = Some(Witness { assumptions, ..Witness::default() });
    finding.help = Some("one of the two may be meant for another pointer".to_owned());
    finding
}

/// What frees it: the function of the allocator's library that does nothing else.
fn right(owner: Owner) -> Option<&'static str> {
    let Owner::Allocator(of, space) = owner else { return (owner == Owner::New).then_some("delete") };
    let frees = |api: &ApiId| {
        api.library == of.library
            && matches!(api.effects.first(), Some(Effect::Frees(_)))
            && api.frees_pinned() == (space == Space::Pinned)
    };
    ApiId::all().find(frees).map(ApiId::name)
}

/// The call with another function in the place of its own.
fn respelled(context: &ModuleContext<'_>, event: &Event, api: &str, right: &str) -> Option<Fix> {
    let Site { module, span } = event.site;
    let rest = context.project.text(module, span).strip_prefix(api)?;
    // A macro's call stands in the macro; what is freed by an expression (`new`), by a handle where the other takes a pointer, or
    // with more arguments, is no call of the same form.
    let form = |name| ApiId::named(name).map(|api| (api.params.len(), api.params.first() == Some(&"dptr")));
    if form(api) != Some(form(right)?) || !rest.trim_start().starts_with('(') {
        return None;
    }
    let name = Span { end: span.start + api.len() as u32, ..span };
    let place = context.place_of(Site { module, span: name });
    Some(Fix {
        applicability: Applicability::Unsafe,
        message: format!("call `{right}`"),
        edits: vec![Edit { place, text: right.to_owned() }],
    })
}

/// Whether another call frees the same memory: the right function in the place of the wrong one would free it twice.
fn is_freed_elsewhere(context: &ModuleContext<'_>, event: &Event, buffer: &Buffer) -> bool {
    context.facts.events.iter().any(|other| {
        let EventKind::Free { argument, .. } = &other.kind else { return false };
        let same = |freed: &Buffer| freed.site == buffer.site && freed.id == buffer.id;
        other.site != event.site && matches!(&argument.pointer, Pointer::Into { buffer: freed, .. } if same(freed))
    })
}

/// Where the same memory is freed before.
fn freed_before(context: &ModuleContext<'_>, event: &Event, buffer: &Buffer, owner: Owner) -> Option<Label> {
    let first = context.facts.events.iter().find(|other| {
        let EventKind::Free { argument, api } = &other.kind else { return false };
        let Pointer::Into { buffer: freed, .. } = &argument.pointer else { return false };
        let same = freed.site == buffer.site && freed.id == buffer.id;
        same && other.site != event.site && owner.is_freed_by(api) == Some(true)
    })?;
    Some(Label { place: context.place_of(first.site), message: "freed here".to_owned() })
}
