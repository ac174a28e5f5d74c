//! A byte count that counts elements, or the size of something else.

use crate::counts::{Miscount, ShortAllocation, miscount, miscount_of_copy, short_allocation};
use crate::fixes::times_size;
use crate::parts::{allocation_label, assumptions, event_finding, is_python};
use crate::runs::parts::only_possible;
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::claim::Difference;
use cudalint_findings::{Applicability, Confidence, Finding, Place, Shows};
use cudalint_replay::facts::{Amount, CountShape, Event, EventKind, MemorySpace, Pointer, PointerArgument};
use cudalint_replay::fillings::{is_stored_over, only_measured};
use cudalint_replay::quantity::Quantity;

/// The rule.
pub static RULE: Rule = rule!("element-count-as-bytes", Correctness, Output)
    .summary("A byte count holds a number of elements, or the size of something else.")
    .cwe(131)
    .fix(Applicability::Unsafe)
    .confidence(&[Confidence::Definite, Confidence::Likely, Confidence::Possible])
    .facts(check);

/// The bytes that are not reached hold what they held before.
const EXTENT: Shows<Place> = Shows::Memory { difference: Difference::Extent };

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    let mut reported = Vec::new();
    for event in &context.facts.events {
        match &event.kind {
            EventKind::Copy { api, destination, source, bytes, count, rows: None, .. } => {
                let both = [(destination, source), (source, destination)];
                let found = both
                    .into_iter()
                    .find_map(|(side, other)| Some((side, miscount_of_copy(side, other, &bytes.quantity, count)?)));
                if let Some((side, why)) = found {
                    sink.report_some(finding(context, event, ("copies", api), side, bytes, count, &why));
                    continue;
                }
                let short = both
                    .into_iter()
                    .find_map(|(side, other)| Some((other, short_allocation(context, side, other, bytes)?)));
                // Several copies show the same.
                if let Some((other, short)) = short.filter(|(_, short)| !reported.contains(&short.event.site)) {
                    reported.push(short.event.site);
                    sink.report_some(allocation(context, event, other, &short));
                }
            }
            EventKind::Set { api, destination, bytes, count, rows: None, unit: 1, .. } => {
                // The address of a variable of the host (`&p` for `p`) is no memory that a set can write, whatever its count.
                let on_host =
                    matches!(&destination.pointer, Pointer::Into { buffer, .. } if buffer.space == MemorySpace::Host);
                if let Some(why) = miscount(destination, &bytes.quantity, count).filter(|_| !on_host) {
                    sink.report_some(finding(context, event, ("sets", api), destination, bytes, count, &why));
                }
            }
            EventKind::Allocate { buffer, count, element: Some(element), element_name, .. }
                if *element > 1 && *element != 8 && count.sizeofs.is_empty() =>
            {
                sink.report_some(pointer_sized(context, event, buffer, count, element_name));
            }
            _ => {}
        }
    }
}

/// An allocation of `sizeof p` bytes, p being the pointer it is for.
fn pointer_sized(
    context: &ModuleContext<'_>,
    event: &Event,
    buffer: &cudalint_replay::facts::Buffer,
    count: &CountShape,
    element_name: &str,
) -> Option<Finding> {
    let pointer = count.sizeof_pointer.as_ref().filter(|pointer| pointer.trim() == buffer.name.as_str())?;
    if buffer.bytes.quantity != Quantity::Known(8) {
        return None;
    }
    let message = format!(
        "`{}` allocates `sizeof({pointer})`, the 8 bytes of a pointer, not of `{element_name}` elements",
        buffer.origin
    );
    let mut finding =
        event_finding(&RULE, context, event, count.span, assumptions([&event.assumptions]), EXTENT, message)?;
    finding.label = "the size of an address".to_owned();
    finding.help = Some(format!("write `count * sizeof(*{pointer})`"));
    Some(finding)
}

/// An allocation of as many bytes as there are elements.
fn allocation(
    context: &ModuleContext<'_>,
    copy: &Event,
    other: &PointerArgument,
    short: &ShortAllocation<'_>,
) -> Option<Finding> {
    let ShortAllocation { event, buffer, count, element } = short;
    let api = buffer.origin.name().rsplit('.').next().unwrap_or_default();
    let (name, bytes) = (&other.element_name, &buffer.bytes);
    let of = if name.is_empty() { String::new() } else { format!(" `{name}`") };
    let message = format!("`{api}` allocates {bytes} bytes, but that many{of} elements of {element} bytes are copied");
    let rests_on = assumptions([&event.assumptions, &copy.assumptions, &bytes.assumptions]);
    let mut finding = event_finding(&RULE, context, event, count.span, rests_on, EXTENT, message)?;
    finding.label = "elements, not bytes".to_owned();
    finding.claim.sites.push(context.place_of(copy.site));
    finding.related.push(cudalint_findings::Label {
        place: context.place_of(copy.site),
        message: format!("copies {element} bytes an element"),
    });
    finding.help = Some(if is_python(context, event.site) {
        format!("allocate `{}.nbytes` bytes", other.text)
    } else {
        format!("write `{} * sizeof({name})`", count.text)
    });
    finding.fix = times_size(context, count.span, &count.text, name).filter(|_| event.site.module == context.id);
    if let (Some(witness), Quantity::Known(number)) = (&mut finding.witness, &bytes.quantity) {
        witness.bindings.push(("bytes".to_owned(), *number));
    }
    Some(finding)
}

fn finding(
    context: &ModuleContext<'_>,
    event: &Event,
    (does, api): (&str, &str),
    side: &PointerArgument,
    bytes: &Amount,
    count: &CountShape,
    why: &Miscount,
) -> Option<Finding> {
    let name = &side.element_name;
    let (message, label, help) = match why {
        Miscount::SizeOfPointer(pointer) => (
            format!("`{api}` {does} `sizeof({pointer})` bytes: the 8 bytes of the pointer, not what it points to"),
            "the size of an address".to_owned(),
            format!("write `count * sizeof(*{pointer})`"),
        ),
        Miscount::SizeOfTwice(text) => (
            format!("the count of `{api}` multiplies by `{text}` twice: {bytes} bytes"),
            format!("`{text}` is in it already"),
            format!("multiply by `{text}` once"),
        ),
        Miscount::Elements { element } => (
            format!(
                "`{api}` {does} {} bytes of `{}`, which holds that many `{name}` elements of {element} bytes: only 1 in {element} is reached",
                // What comes from out of sight has no other name.
                if count.opaque { format!("`{}`", count.text) } else { bytes.to_string() },
                side.text
            ),
            "elements, not bytes".to_owned(),
            if is_python(context, event.site) {
                format!("write `{} * {element}`, or take the `nbytes` of the array", count.text)
            } else {
                format!("write `{} * sizeof({name})`", count.text)
            },
        ),
        Miscount::OtherType { written, written_bytes, element } => (
            format!(
                "the count of `{api}` is in units of `{written}` ({written_bytes} bytes), but `{}` was allocated for `{name}` elements ({element} bytes)",
                side.text
            ),
            format!("{bytes} bytes"),
            format!("write `sizeof({name})`"),
        ),
    };
    let mut rests_on = vec![&event.assumptions, &bytes.assumptions];
    if let Pointer::Into { buffer, .. } = &side.pointer {
        rests_on.push(&buffer.bytes.assumptions);
    }
    let mut finding = event_finding(&RULE, context, event, count.span, assumptions(rests_on), EXTENT, message)?;
    finding.label = label;
    finding.help = Some(help);
    if matches!(why, Miscount::Elements { .. }) && event.site.module == context.id {
        finding.fix = times_size(context, count.span, &count.text, name);
    }
    if let Pointer::Into { buffer, .. } = &side.pointer {
        finding.related.push(allocation_label(context, buffer));
    }
    if let (Some(witness), Quantity::Known(number)) = (&mut finding.witness, &bytes.quantity) {
        witness.bindings.push(("bytes".to_owned(), *number));
    }
    if only_measured(context.project, event) || is_stored_over(context.project, event) {
        only_possible(&mut finding);
    }
    Some(finding)
}
