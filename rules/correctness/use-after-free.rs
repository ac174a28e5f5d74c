//! Memory is used after it has been given back.

use crate::parts::{allocated_beside, allocation_label, assumptions, event_finding};
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::claim::{Call, User};
use cudalint_findings::{Finding, Label, Method, Place, Shows};
use cudalint_program::ir::LocalId;
use cudalint_replay::facts::{Amount, Buffer, Event, EventKind, LaunchFact, MemorySpace, Pointer, PointerArgument};
use cudalint_replay::quantity::Quantity;
use cudalint_syntax::Span;

/// The rule.
pub static RULE: Rule = rule!("use-after-free", Correctness, Memcheck)
    .summary("Memory is copied, set or handed to a kernel after it has been freed.")
    .cwe(416)
    .facts(check);

/// A use of memory.
struct Use<'e> {
    buffer: &'e Buffer,
    text: &'e str,
    span: Span,
    user: User<Place>,
}

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for event in &context.facts.events {
        if event.failed {
            continue;
        }
        for used in uses(context, event) {
            let pointer_is_settled = !event.conditional || {
                let offset = Amount::default();
                allocated_beside(context, event, &Pointer::Into { buffer: used.buffer.clone(), offset })
            };
            if used.buffer.freed && pointer_is_settled {
                sink.report_some(finding(context, event, used));
            }
        }
    }
}

fn uses<'e>(context: &ModuleContext<'_>, event: &'e Event) -> Vec<Use<'e>> {
    let into = |argument: &'e PointerArgument, user: User<Place>| match &argument.pointer {
        Pointer::Into { buffer, .. } => Some(Use { buffer, text: &argument.text, span: argument.span, user }),
        _ => None,
    };
    let call = |api: &str| User::Call { call: Call::of(api) };
    let some = |bytes: &Amount| bytes.quantity != Quantity::Known(0);
    match &event.kind {
        EventKind::Copy { api, destination, source, bytes, .. } if some(bytes) => {
            [destination, source].into_iter().filter_map(|side| into(side, call(api))).collect()
        }
        EventKind::Set { api, destination, bytes, .. } if some(bytes) => {
            into(destination, call(api)).into_iter().collect()
        }
        EventKind::Launch(launch) => launched(context, launch),
        // What is on the device the host cannot touch anyway.
        EventKind::HostAccess { argument, .. } => {
            into(argument, User::Host).into_iter().filter(|used| used.buffer.space != MemorySpace::Device).collect()
        }
        _ => Vec::new(),
    }
}

/// The arguments of a launch that the kernel surely looks behind.
fn launched<'e>(context: &ModuleContext<'_>, launch: &'e LaunchFact) -> Vec<Use<'e>> {
    let (Some(summary), Some((module, kernel))) = (&launch.kernel_summary, launch.kernel) else { return Vec::new() };
    let Some(kernel) = context.project.function_at(module, kernel) else { return Vec::new() };
    let arguments = launch.args.iter().enumerate().filter(|(index, _)| summary.dereferenced.contains(&(*index as u32)));
    let used = arguments.filter_map(|(index, argument)| {
        let Some(Pointer::Into { buffer, .. }) = &argument.pointer else { return None };
        let parameter = kernel.locals.get(LocalId::from(index)).map(|parameter| parameter.name.to_string());
        Some(Use { buffer, text: &argument.text, span: argument.span, user: User::Kernel { parameter } })
    });
    used.collect()
}

fn finding(context: &ModuleContext<'_>, event: &Event, used: Use<'_>) -> Option<Finding> {
    let Use { buffer, text, span, user } = used;
    let message = match (&user, &event.kind) {
        (User::Call { call }, _) => format!("`{}` is given `{text}`, which has been freed", call.function),
        (_, EventKind::Launch(launch)) => {
            format!("the kernel `{}` is given `{text}`, which has been freed", launch.kernel_name)
        }
        _ => format!("`{text}` is used, but its memory has been freed"),
    };
    // The runtime knows the memory of the device, and refuses what is none; what the host has it does not know.
    let refused = matches!(user, User::Call { .. }) && buffer.space != MemorySpace::Host;
    let claim = match &user {
        User::Call { call } if refused => Shows::FailedCall { call: call.clone() },
        _ => Shows::BadAddress { name: text.to_owned(), user: user.clone() },
    };
    let assumed = assumptions([&event.assumptions]);
    let mut finding = event_finding(&RULE, context, event, span, assumed, claim, message)?;
    if refused {
        finding.method = Some(Method::ApiError);
    }
    finding.label = "freed before".to_owned();
    finding.related.push(allocation_label(context, buffer));
    finding.related.extend(freed_before(context, buffer));
    finding.help = Some("free it behind its last use".to_owned());
    Some(finding)
}

/// Where it was freed.
fn freed_before(context: &ModuleContext<'_>, buffer: &Buffer) -> Option<Label> {
    let first = context.facts.events.iter().find(|other| {
        let EventKind::Free { argument, .. } = &other.kind else { return false };
        matches!(&argument.pointer, Pointer::Into { buffer: freed, .. } if freed.site == buffer.site && !freed.freed)
    })?;
    Some(Label { place: context.place_of(first.site), message: "freed here".to_owned() })
}
