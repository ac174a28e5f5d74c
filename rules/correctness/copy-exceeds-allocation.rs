//! A copy or set that moves more bytes than its source or destination holds.

use crate::counts::{miscount, short_allocation};
use crate::directions::is_wrong_way;
use crate::parts::{allocated_beside, allocation_label, assumptions, event_finding, fault_finding, function_of};
use crate::runs::parts::only_possible;
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::claim::Call;
use cudalint_findings::{Finding, Label, Method, Shows};
use cudalint_replay::facts::{
    Amount, Buffer, CopyProblem, CountShape, Event, EventKind, MemorySpace, Origin, Pointer, PointerArgument,
    PythonFault, PythonFaultKind, Rows,
};
use cudalint_replay::quantity::{Comparison, Quantity, union};

/// The rule.
pub static RULE: Rule = rule!("copy-exceeds-allocation", Correctness, ApiError)
    .summary("A copy or memset moves more bytes than its source or destination holds.")
    .cwe(787)
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for event in &context.facts.events {
        match &event.kind {
            EventKind::Copy { rows: Some(rows), .. } | EventKind::Set { rows: Some(rows), .. } => {
                sink.report_some(refused_pitch(context, event, rows).or_else(|| overrun_of_rows(context, event, rows)));
            }
            // A copy that is told the wrong sides moves nothing.
            EventKind::Copy { .. } if is_wrong_way(event) => {}
            EventKind::Copy { api, destination, source, bytes, count, .. } => {
                // `element-count-as-bytes` says it better.
                let both = [(destination, source), (source, destination)];
                if both.into_iter().any(|(side, other)| {
                    miscount(side, &bytes.quantity, count).is_some()
                        || short_allocation(context, side, other, bytes).is_some()
                }) {
                    continue;
                }
                let found = overrun(context, event, api, Access::linear("writes", destination, bytes, (count, 1)))
                    .or_else(|| overrun(context, event, api, Access::linear("reads", source, bytes, (count, 1))));
                sink.report_some(found);
            }
            EventKind::Set { api, destination, bytes, count, unit, .. }
                if miscount(destination, &bytes.quantity, count).is_none() =>
            {
                let access = Access::linear("writes", destination, bytes, (count, *unit));
                sink.report_some(overrun(context, event, api, access));
            }
            _ => {}
        }
    }
    for fault in &context.facts.python {
        sink.report_some(refused(context, fault));
    }
}

/// A copy between arrays of different size, which the package refuses.
fn refused(context: &ModuleContext<'_>, fault: &PythonFault) -> Option<Finding> {
    let PythonFaultKind::CopyRefused { api, destination, source, sizes, made, problem, exception, .. } = &fault.kind
    else {
        return None;
    };
    if *problem != CopyProblem::Size {
        return None;
    }
    let message = format!(
        "`{api}` raises `{exception}`: `{source}` has {} elements, but `{destination}` has {}",
        sizes.1, sizes.0
    );
    let claim = Shows::exception(&[exception], &[]);
    let mut finding = fault_finding(&RULE, context, fault, None, claim, message)?;
    finding.label = "arrays of different size".to_owned();
    finding.method = Some(Method::Exception);
    for (site, amount) in [(made.0, &sizes.0), (made.1, &sizes.1)] {
        let message = format!("made here: {amount} elements");
        finding.related.push(Label { place: context.place_of(site), message });
    }
    finding.help = Some(format!("make both as large as each other, or copy into a slice of `{destination}`"));
    Some(finding)
}

/// What a copy or set does on one side.
struct Access<'a> {
    does: &'a str,
    side: &'a PointerArgument,
    bytes: &'a Amount,
    /// How the count is written, and the bytes of what it counts.
    count: Option<(&'a CountShape, i64)>,
    /// The rows, for the message.
    rows: String,
}

impl<'a> Access<'a> {
    fn linear(does: &'a str, side: &'a PointerArgument, bytes: &'a Amount, count: (&'a CountShape, i64)) -> Self {
        Self { does, side, bytes, count: Some(count), rows: String::new() }
    }
}

/// The pointers of a copy or set with what is done to them: 0 is the destination, 1 the source.
fn sides(event: &Event) -> Vec<(usize, &str, &PointerArgument)> {
    match &event.kind {
        EventKind::Copy { destination, source, .. } => vec![(0, "writes", destination), (1, "reads", source)],
        EventKind::Set { destination, .. } => vec![(0, "writes", destination)],
        _ => Vec::new(),
    }
}

fn name_of(event: &Event) -> &str {
    match &event.kind {
        EventKind::Copy { api, .. } | EventKind::Set { api, .. } => api,
        _ => "",
    }
}

/// A copy of rows that are longer than the way from one to the next: the call returns an error and moves nothing.
fn refused_pitch(context: &ModuleContext<'_>, event: &Event, rows: &Rows) -> Option<Finding> {
    let longer = |pitch: &Amount| event.exceeds(&rows.width.quantity, &pitch.quantity) == Comparison::Always;
    let (side, _, argument) = sides(event).into_iter().find(|(side, ..)| longer(&rows.pitches[*side]))?;
    // A single row has no next one: its pitch is not looked at for sure.
    let several = event.exceeds(&rows.counts[side].quantity, &Quantity::Known(1)) == Comparison::Always;
    let (pitch, text) = (&rows.pitches[side], &rows.pitch_texts[side]);
    let message = format!(
        "`{}` is given rows of {} bytes, but those of `{}` lie {pitch} apart: it copies nothing and returns an error",
        name_of(event),
        rows.width,
        argument.text
    );
    let assumed = assumptions([&event.assumptions, &rows.width.assumptions, &pitch.assumptions]);
    let claim = Shows::FailedCall { call: Call { argument: Some(argument.text.clone()), ..Call::of(name_of(event)) } };
    let mut finding =
        event_finding(&RULE, context, event, rows.width_span, assumed, claim, message).filter(|_| several)?;
    finding.label = format!("more than the pitch `{text}`");
    finding.help = Some("give the pitch in bytes, and copy no more of a row than it holds".to_owned());
    if let Some(witness) = &mut finding.witness {
        for (name, amount) in [("bytes of a row", &rows.width), ("pitch", pitch)] {
            witness.bindings.extend(amount.quantity.known().map(|value| (name.to_owned(), value)));
        }
    }
    Some(finding)
}

/// Rows of which the last ends behind the allocation.
fn overrun_of_rows(context: &ModuleContext<'_>, event: &Event, rows: &Rows) -> Option<Finding> {
    sides(event).into_iter().find_map(|(side, does, argument)| {
        let pitch = &rows.pitches[side];
        let assumed = [&rows.width.assumptions, &rows.counts[side].assumptions, &pitch.assumptions];
        let rests_on = assumed.into_iter().fold(None, |all, some| union(&all, some));
        let bytes = Amount { quantity: rows.extent(side), assumptions: rests_on };
        let words = format!("{} rows of {} bytes, {pitch} apart", rows.counts[side], rows.width);
        overrun(
            context,
            event,
            name_of(event),
            Access { does, side: argument, bytes: &bytes, count: None, rows: words },
        )
    })
}

fn overrun(context: &ModuleContext<'_>, event: &Event, api: &str, access: Access<'_>) -> Option<Finding> {
    let Access { does, side, bytes, count, rows } = access;
    let Pointer::Into { buffer, offset } = &side.pointer else { return None };
    let end = offset.quantity.plus(&bytes.quantity);
    let extent = &buffer.bytes.quantity;
    let mut assumed =
        assumptions([&event.assumptions, &bytes.assumptions, &offset.assumptions, &buffer.bytes.assumptions]);
    let mut bindings = Vec::new();
    match event.exceeds(&end, extent) {
        Comparison::Always => {
            // What a function was given may be what decides a condition in it that nobody could follow.
            let numbers = end.known().is_some() && extent.known().is_some();
            if numbers && event.perhaps_not_reached && !allocated_beside(context, event, &side.pointer) {
                assumed.push(format!("`{}` reaches this call with these sizes", function_of(context, event)));
            }
            let inputs = end.minus(extent).inputs();
            if !inputs.is_empty() {
                let names: Vec<_> = inputs.iter().map(|atom| format!("`{}`", atom.name())).collect();
                let verb = if names.len() == 1 { "is" } else { "are" };
                assumed.push(format!("{} {verb} at least 1", names.join(" and ")));
            }
        }
        Comparison::ForSome { assignment } => {
            let stated: Vec<_> = assignment.iter().map(|(name, value)| format!("`{name}` is {value}")).collect();
            assumed.push(stated.join(" and "));
            bindings = assignment;
        }
        Comparison::Never | Comparison::Unknown => return None,
    }
    if is_negative(extent, &bindings) {
        return None;
    }
    let message = match (end.known(), extent.known()) {
        (Some(end), Some(extent)) if !rows.is_empty() => format!(
            "`{api}` {does} {rows}, {} `{}`: they end behind byte {end} of its {extent}",
            if does == "writes" { "to" } else { "from" },
            side.text
        ),
        (Some(end), Some(extent))
            if end - extent < bytes.quantity.known().unwrap_or(0) && offset.quantity.known() > Some(0) =>
        {
            format!(
                "`{api}` {does} {bytes} bytes {} `{}`, behind which {} of {extent} are left: {} too many",
                if does == "writes" { "to" } else { "from" },
                side.text,
                extent - offset.quantity.known().unwrap_or(0),
                end - extent
            )
        }
        (Some(end), Some(extent)) => format!(
            "`{api}` {does} {} bytes {} `{}`, which holds {extent}: {} too many",
            bytes,
            if does == "writes" { "to" } else { "from" },
            side.text,
            end - extent
        ),
        _ => format!(
            "`{api}` {does} {} {} `{}`, which holds {}",
            if rows.is_empty() { format!("{bytes} bytes") } else { rows },
            if does == "writes" { "to" } else { "from" },
            side.text,
            buffer.bytes
        ),
    };
    let claim = Shows::FailedCall { call: Call { argument: Some(side.text.clone()), ..Call::of(api) } };
    let mut finding = event_finding(&RULE, context, event, event.site.span, assumed, claim, message)?;
    finding.claim.inputs.clone_from(&bindings);
    finding.label = format!("{bytes} bytes{}", at_offset(&offset.quantity));
    finding.related.push(allocation_label(context, buffer));
    finding.help = Some(match count {
        Some((count, unit)) => help(api, buffer, &count.text, unit),
        None => "rows times pitch, not rows times width, is what both sides need".to_owned(),
    });
    if let Some(witness) = &mut finding.witness {
        for (name, quantity) in
            [("bytes copied", &bytes.quantity), ("offset", &offset.quantity), ("bytes held", extent)]
        {
            let value = if bindings.is_empty() { quantity.known() } else { quantity.evaluate(&bindings) };
            if let Some(value) = value.filter(|value| name != "offset" || *value != 0) {
                witness.bindings.push((name.to_owned(), value));
            }
        }
        witness.bindings.splice(0..0, bindings);
    }
    if does == "reads" && is_next_word(side, buffer, &end, extent) {
        only_possible(&mut finding);
        let assumption = format!("the bytes behind `{}` come to where somebody reads them", buffer.name);
        finding.witness.get_or_insert_default().assumptions.push(assumption);
    }
    Some(finding)
}

/// Whether what is read behind a variable of the host is no more than the rest of the word that it stands in: `sizeof(int *)` bytes of an
/// `int`. Nothing refuses that, and what is meant is copied.
fn is_next_word(side: &PointerArgument, buffer: &Buffer, end: &Quantity, extent: &Quantity) -> bool {
    const WORD: i64 = 8;
    buffer.space == MemorySpace::Host
        && matches!(buffer.origin, Origin::Local | Origin::Global)
        && extent.known() == side.element
        && extent.known().zip(end.known()).is_some_and(|(held, read)| held < WORD && read <= WORD)
}

/// A value of inputs above which nothing changes its sign: of `n - 2` the smallest values say nothing.
const LARGE: i64 = 1 << 20;

/// Whether an allocation would have less than no bytes, whatever the inputs are: as a number without a sign that is more than any copy has.
fn is_negative(extent: &Quantity, bindings: &[(String, i64)]) -> bool {
    let large: Vec<(String, i64)> = extent.inputs().iter().map(|atom| (atom.name().to_owned(), LARGE)).collect();
    let at = if bindings.is_empty() { &large } else { bindings };
    extent.known().or_else(|| extent.evaluate(at)).is_some_and(|bytes| bytes < 0)
}

fn at_offset(offset: &Quantity) -> String {
    if *offset == Quantity::Known(0) { String::new() } else { format!(" at offset {offset}") }
}

fn help(api: &str, buffer: &Buffer, count: &str, unit: i64) -> String {
    if unit > 1 {
        return format!("`{api}` counts elements of {unit} bytes, not bytes");
    }
    if buffer.name.is_empty() || count.is_empty() {
        return "give the allocation and the copy the same size".to_owned();
    }
    // What is written may be a part of a macro, or many lines.
    let whole = count.matches('(').count() == count.matches(')').count() && count.len() <= 60;
    if whole && !count.contains('\n') {
        format!("give `{}` and this copy the same size, or copy less than `{count}` bytes", buffer.name)
    } else {
        format!("give `{}` and this copy the same size, or copy less", buffer.name)
    }
}
