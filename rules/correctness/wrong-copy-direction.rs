//! A copy whose `cudaMemcpyKind` contradicts where its pointers point.

use crate::directions::{Side, side, told};
use crate::parts::{allocation_label, event_finding};
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::claim::Call;
use cudalint_findings::{Applicability, Edit, Finding, Fix, Method, Shows};
use cudalint_program::api::ApiId;
use cudalint_replay::facts::{CopyKind, Event, EventKind, Pointer, PointerArgument, Site};

/// The rule.
pub static RULE: Rule = rule!("wrong-copy-direction", Correctness, ApiError)
    .summary("The direction given to a copy contradicts where its pointers point.")
    .cwe(628)
    .fix(Applicability::Unsafe)
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for event in &context.facts.events {
        if let Some(finding) = check_event(context, event) {
            sink.report(finding);
        }
    }
}

/// Whether the same function, or macro, has the same copy in another direction, too: the program chooses between them by where the memory
/// is.
fn is_one_of_several(context: &ModuleContext<'_>, event: &Event) -> bool {
    let sides = |event: &Event| match &event.kind {
        EventKind::Copy { destination, source, kind, .. } => {
            Some((destination.text.clone(), source.text.clone(), *kind))
        }
        _ => None,
    };
    let Some((destination, source, kind)) = sides(event) else { return false };
    context.facts.events.iter().filter(|other| other.function == event.function).filter_map(sides).any(|other| {
        let chosen = !matches!(other.2, CopyKind::Default | CopyKind::Unknown);
        chosen && other.2 != kind && (&other.0, &other.1) == (&destination, &source)
    })
}

fn check_event(context: &ModuleContext<'_>, event: &Event) -> Option<Finding> {
    let EventKind::Copy { api, destination, source, kind, kind_span, .. } = &event.kind else { return None };
    let kind_span = (*kind_span)?;
    let (to, from) = told(*kind)?;
    let wrong_to = side(destination).filter(|actual| *actual != to);
    let wrong_from = side(source).filter(|actual| *actual != from);
    let (argument, role, actual, said) = match (wrong_to, wrong_from) {
        (Some(actual), _) => (destination, "destination", actual, to),
        (None, Some(actual)) => (source, "source", actual, from),
        (None, None) => return None,
    };
    let undecided = crate::parts::side_may_be_asked(context, event, &argument.pointer);
    if undecided || crate::parts::may_be_shared(context, event) {
        return None;
    }
    if event.conditional && is_one_of_several(context, event) {
        return None;
    }
    let refused = is_refused(context, event, argument);
    let message = format!(
        "`{api}` is told that its {role} `{}` is {} memory, but it is {} memory{}",
        argument.text,
        said.word(),
        actual.word(),
        if refused { ": PyCUDA raises `TypeError`" } else { "" }
    );
    let assumed = crate::parts::assumptions([&event.assumptions]);
    let claim = if refused {
        Shows::exception(&["TypeError"], &[])
    } else {
        Shows::FailedCall { call: Call { argument: Some(argument.text.clone()), ..Call::of(api.as_str()) } }
    };
    let mut finding = event_finding(&RULE, context, event, kind_span, assumed, claim, message)?;
    finding.label = format!("says that `{}` is {} memory", argument.text, said.word());
    if refused {
        finding.method = Some(Method::Exception);
    }
    for argument in [destination, source] {
        if let Pointer::Into { buffer, .. } = &argument.pointer
            && side(argument).is_some()
        {
            finding.related.push(allocation_label(context, buffer));
        }
    }
    // A structure that holds pointers and direction is not rewritten.
    let apart = kind_span != destination.span;
    if let (Some(to), Some(from), true) = (side(destination), side(source), apart) {
        finding.help = Some("swap the pointers instead if the copy was meant to go the other way".to_owned());
        let written = context.project.text(event.site.module, kind_span);
        if let Some(right) = spelled(written, to, from) {
            finding.fix = Some(Fix {
                applicability: Applicability::Unsafe,
                message: format!("write `{right}`"),
                edits: vec![Edit {
                    place: context.place_of(Site { module: event.site.module, span: kind_span }),
                    text: right,
                }],
            });
        }
    }
    Some(finding)
}

/// Whether `PyCUDA` looks at what it is given before it copies: an array where it wants an address, an allocation where it wants
/// an array. An address itself is a number, of which nothing is known to it.
fn is_refused(context: &ModuleContext<'_>, event: &Event, argument: &PointerArgument) -> bool {
    let EventKind::Copy { api, .. } = &event.kind else { return false };
    let of_pycuda =
        ["memcpy_htod", "memcpy_dtoh"].iter().any(|name| api.rsplit('.').next().unwrap_or(api).starts_with(name));
    let is_object =
        matches!(&argument.pointer, Pointer::Into { buffer, .. } if buffer.name.as_str() == argument.text.trim());
    crate::parts::is_python(context, event.site) && of_pycuda && is_object
}

/// The right direction in the spelling of the wrong one: `CuPy`'s constants, `PyCUDA`'s functions, the runtime's constants.
fn spelled(written: &str, to: Side, from: Side) -> Option<String> {
    let runtime = match (to, from) {
        (Side::Host, Side::Host) => "cudaMemcpyHostToHost",
        (Side::Device, Side::Host) => "cudaMemcpyHostToDevice",
        (Side::Host, Side::Device) => "cudaMemcpyDeviceToHost",
        (Side::Device, Side::Device) => "cudaMemcpyDeviceToDevice",
    };
    if let Some(rest) = written.strip_prefix("memcpy_") {
        let suffix = rest.strip_prefix("htod").or_else(|| rest.strip_prefix("dtoh"))?;
        // Between two places on the device a size is missing.
        return match (to, from) {
            (Side::Device, Side::Host) => Some(format!("memcpy_htod{suffix}")),
            (Side::Host, Side::Device) => Some(format!("memcpy_dtoh{suffix}")),
            _ => None,
        };
    }
    // A function of the driver says it by its name, and takes its arguments as it says.
    if ApiId::named(written).is_some() {
        return None;
    }
    if written.starts_with("memcpy") {
        return Some(format!("memcpy{}", runtime.strip_prefix("cudaMemcpy")?));
    }
    // A method that says it by its name belongs to one of the two.
    (!written.starts_with("copy_")).then(|| runtime.to_owned())
}
