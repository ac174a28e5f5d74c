//! A pointer is handed to the device before anything has given it a value.

use crate::ended::{ends_unread, needs_something_behind};
use crate::parts::{assumptions, event_finding};
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::claim::{Call, User};
use cudalint_findings::{Finding, Label, Place, Shows};
use cudalint_replay::facts::{Event, EventKind, Pointer};
use cudalint_syntax::Span;

/// The rule.
pub static RULE: Rule = rule!("uninitialized-device-pointer", Correctness, Memcheck)
    .summary("A pointer that nothing has given a value is used as device memory.")
    .cwe(824)
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    let mut reported = Vec::new();
    for event in &context.facts.events {
        for (pointer, text, span, user) in uses(event) {
            let Pointer::Uninitialized { name, declared } = pointer else { continue };
            // The first use of a variable is where it matters; later ones repeat it.
            if reported.contains(&(event.function, *declared)) {
                continue;
            }
            if let Some(finding) = finding(context, event, name, text, span, user, *declared) {
                reported.push((event.function, *declared));
                sink.report(finding);
            }
        }
    }
}

fn uses(event: &Event) -> Vec<(&Pointer, &str, Span, User<Place>)> {
    let call = |api: &str| User::Call { call: Call::of(api) };
    match &event.kind {
        EventKind::Copy { api, destination, source, .. } => {
            [destination, source].map(|p| (&p.pointer, p.text.as_str(), p.span, call(api))).to_vec()
        }
        EventKind::Set { api, destination, .. } => {
            vec![(&destination.pointer, destination.text.as_str(), destination.span, call(api))]
        }
        EventKind::Free { api, argument } => {
            vec![(&argument.pointer, argument.text.as_str(), argument.span, call(api))]
        }
        EventKind::Launch(launch) => {
            let summary = launch.kernel_summary.as_ref();
            // What a kernel gets and does not touch in this launch may be anything: nobody allocates what an option switches off.
            let touches = |index: usize| summary.is_some_and(|it| it.surely_dereferenced.contains(&(index as u32)));
            let touched = launch.args.iter().enumerate().filter(|(index, _)| touches(*index));
            touched
                .filter_map(|(_, argument)| {
                    let pointer = argument.pointer.as_ref()?;
                    Some((pointer, argument.text.as_str(), argument.span, User::Kernel { parameter: None }))
                })
                .collect()
        }
        _ => Vec::new(),
    }
}

fn finding(
    context: &ModuleContext<'_>,
    event: &Event,
    name: &str,
    text: &str,
    span: Span,
    user: User<Place>,
    declared: cudalint_replay::facts::Site,
) -> Option<Finding> {
    let to = match (&user, &event.kind) {
        (User::Call { call }, _) => format!("`{}`", call.function),
        (_, EventKind::Launch(launch)) => format!("the kernel `{}`", launch.kernel_name),
        _ => return None,
    };
    let claim = Shows::BadAddress { name: text.to_owned(), user };
    let message = format!("`{text}` is given to {to}, but nothing has assigned `{name}` before");
    let assumed = assumptions([&event.assumptions]);
    let mut finding = event_finding(&RULE, context, event, span, assumed, claim, message)?;
    finding.label = "has no value here".to_owned();
    if matches!(&event.kind, EventKind::Free { .. }) && ends_unread(context, event) {
        needs_something_behind(&mut finding);
    }
    finding.related.push(Label {
        place: context.place_of(declared),
        message: format!("`{name}` is declared here without a value"),
    });
    finding.help = Some(
        "allocate it first; an allocation inside a function must take the pointer's address or a reference".to_owned(),
    );
    Some(finding)
}
