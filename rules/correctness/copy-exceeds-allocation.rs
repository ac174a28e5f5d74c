//! A copy or set that moves more bytes than its source or destination holds.

use crate::counts::{miscount, short_allocation};
use crate::words::{allocation_label, assumptions, event_finding, fault_finding};
use cudalint_engine::{Check, ModuleContext, Rule, Sink};
use cudalint_findings::{Confidence, Finding, Group, Label, Method, RuleInfo};
use cudalint_replay::facts::{
    Amount, Buffer, CopyProblem, CountShape, Event, EventKind, Pointer, PointerArgument, PythonFault, PythonFaultKind,
};
use cudalint_replay::quantity::{Comparison, Quantity};

/// The rule.
pub static RULE: Rule = Rule {
    info: RuleInfo {
        name: "copy-exceeds-allocation",
        group: Group::Correctness,
        summary: "A copy or memset moves more bytes than its source or destination holds.",
        page: include_str!("copy-exceeds-allocation.md"),
        method: Method::ApiError,
        guideline: None,
        cwe: Some(787),
    },
    confidence: &[Confidence::Definite, Confidence::Likely],
    fix: None,
    check: Check::Facts(check),
};

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for event in &context.facts.events {
        match &event.kind {
            EventKind::Copy { api, destination, source, bytes, count, .. } => {
                // `element-count-as-bytes` says it better.
                let both = [(destination, source), (source, destination)];
                if both.into_iter().any(|(side, other)| {
                    miscount(side, &bytes.quantity, count).is_some()
                        || short_allocation(context, side, other, bytes).is_some()
                }) {
                    continue;
                }
                let found = overrun(context, event, api, "writes", destination, bytes, (count, 1))
                    .or_else(|| overrun(context, event, api, "reads", source, bytes, (count, 1)));
                sink.report_some(found);
            }
            EventKind::Set { api, destination, bytes, count, unit, .. }
                if miscount(destination, &bytes.quantity, count).is_none() =>
            {
                sink.report_some(overrun(context, event, api, "writes", destination, bytes, (count, *unit)));
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
    let mut finding = fault_finding(&RULE, context, fault, None, message)?;
    finding.label = "arrays of different size".to_owned();
    finding.method = Some(Method::Exception);
    for (site, amount) in [(made.0, &sizes.0), (made.1, &sizes.1)] {
        let message = format!("made here: {amount} elements");
        finding.related.push(Label { place: context.place_of(site), message });
    }
    finding.help = Some(format!("make both as large as each other, or copy into a slice of `{destination}`"));
    Some(finding)
}

fn overrun(
    context: &ModuleContext<'_>,
    event: &Event,
    api: &str,
    does: &str,
    side: &PointerArgument,
    bytes: &Amount,
    (count, unit): (&CountShape, i64),
) -> Option<Finding> {
    let Pointer::Into { buffer, offset } = &side.pointer else { return None };
    let end = offset.quantity.plus(&bytes.quantity);
    let extent = &buffer.bytes.quantity;
    let mut assumed =
        assumptions([&event.assumptions, &bytes.assumptions, &offset.assumptions, &buffer.bytes.assumptions]);
    let mut bindings = Vec::new();
    match event.exceeds(&end, extent) {
        Comparison::Always => {
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
    let message = match (end.known(), extent.known()) {
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
            "`{api}` {does} {} bytes {} `{}`, which holds {}",
            bytes,
            if does == "writes" { "to" } else { "from" },
            side.text,
            buffer.bytes
        ),
    };
    let mut finding = event_finding(&RULE, context, event, event.site.span, assumed, message)?;
    finding.label = format!("{bytes} bytes{}", at_offset(&offset.quantity));
    finding.related.push(allocation_label(context, buffer));
    finding.help = Some(help(api, buffer, &count.text, unit));
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
    Some(finding)
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
    format!("give `{}` and this copy the same size, or copy less than `{count}` bytes", buffer.name)
}
