//! A copy or set that moves more bytes than its source or destination holds.

use crate::counts::miscount;
use crate::words::{allocation_label, assumptions, event_finding};
use cudalint_engine::{Check, ModuleContext, Rule, Sink};
use cudalint_findings::{Confidence, Finding, Group, Method, RuleInfo};
use cudalint_replay::facts::{Amount, Buffer, Event, EventKind, Pointer, PointerArgument};
use cudalint_replay::value::{Comparison, Quantity};

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
                if [destination, source].into_iter().any(|side| miscount(side, &bytes.quantity, count).is_some()) {
                    continue;
                }
                let found = overrun(context, event, api, "writes", destination, bytes, count.span)
                    .or_else(|| overrun(context, event, api, "reads", source, bytes, count.span));
                sink.report_some(found);
            }
            EventKind::Set { api, destination, bytes, count, .. }
                if miscount(destination, &bytes.quantity, count).is_none() =>
            {
                sink.report_some(overrun(context, event, api, "writes", destination, bytes, count.span));
            }
            _ => {}
        }
    }
}

fn overrun(
    context: &ModuleContext<'_>,
    event: &Event,
    api: &str,
    does: &str,
    side: &PointerArgument,
    bytes: &Amount,
    count_span: cudalint_syntax::Span,
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
    finding.help = Some(help(buffer, context.text(count_span)));
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

fn help(buffer: &Buffer, count: &str) -> String {
    if buffer.name.is_empty() || count.is_empty() {
        return "give the allocation and the copy the same size".to_owned();
    }
    format!("give `{}` and this copy the same size, or copy less than `{count}` bytes", buffer.name)
}
