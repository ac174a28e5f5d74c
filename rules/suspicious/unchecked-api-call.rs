//! Statuses of GPU library calls that nobody looks at.

use crate::parts::{places, stays_unseen};
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::{Applicability, Confidence, Edit, Fault, Finding, Fix, Label, Severity, Shows, Witness};
use cudalint_program::ir::FunctionRole;
use cudalint_replay::facts::{FunctionStatus, StatusCall, StatusUse, StatusWeight};

/// The rule.
pub static RULE: Rule = rule!("unchecked-api-call", Suspicious, FaultInjection)
    .summary("The status of a CUDA call is dropped, so that its failure goes unnoticed.")
    .guidelines(&["CUDA-1.3", "CUDASecurity-ERR01"])
    .cwe(252)
    .confidence(&[Confidence::Definite, Confidence::Likely, Confidence::Possible])
    .fix(Applicability::Unsafe)
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for function in &context.facts.status {
        let dropped = || function.calls.iter().filter(|call| call.usage == StatusUse::Dropped);
        let is_lost = |call: &&StatusCall| call.weight == StatusWeight::Matters && call.later.is_none();
        let matters: Vec<_> = dropped().filter(is_lost).collect();
        if matters.is_empty() {
            let voided = function.calls.iter().filter(|call| call.usage == StatusUse::Voided);
            let mut small: Vec<_> = dropped().chain(voided).collect();
            small.sort_by_key(|call| call.span);
            sink.report_some(finding(context, function, &small, Confidence::Possible));
        } else {
            let confidence = if function.damaged { Confidence::Likely } else { Confidence::Definite };
            sink.report_some(finding(context, function, &matters, confidence));
        }
    }
}

fn finding(
    context: &ModuleContext<'_>,
    function: &FunctionStatus,
    calls: &[&StatusCall],
    confidence: Confidence,
) -> Option<Finding> {
    let (first, others) = calls.split_first()?;
    let who = describe(context, function);
    let message = if others.is_empty() {
        format!("{who} drops the status of `{}`", first.api)
    } else {
        format!("{who} drops the status of {} {} calls, first `{}`", calls.len(), library(calls), first.api)
    };
    let claim = Shows::UnreadStatus { fault: Fault::Status };
    let mut finding = RULE.finding(confidence, context.place(first.span), claim, message);
    if confidence == Confidence::Possible {
        finding.severity = Severity::Info;
    }
    finding.label = how(first);
    finding.function = context.function_name(function.function);
    finding.done_elsewhere = function.calls.iter().any(|call| call.usage == StatusUse::Consumed);
    finding.related = others
        .iter()
        .map(|call| Label { place: context.place(call.span), message: format!("`{}`: {}", call.api, how(call)) })
        .collect();
    finding.claim.sites = places(&finding.related);
    let assumptions = match (confidence, first.later) {
        (Confidence::Likely, _) if function.damaged => {
            vec![
                "the part of the function that could not be read does not change what becomes of the status".to_owned(),
            ]
        }
        (Confidence::Possible, Some(later)) => vec![stays_unseen(later).to_owned()],
        _ => Vec::new(),
    };
    let path =
        vec![Label { place: context.place(first.span), message: format!("`{}` returns its status here", first.api) }];
    finding.witness = Some(Witness { assumptions, path, ..Witness::default() });
    finding.help = Some(match &function.wrapper {
        Some(wrapper) => format!("wrap each call in `{wrapper}`, as elsewhere in this file"),
        None => "compare each status with success, and report or return it otherwise".to_owned(),
    });
    if !function.damaged {
        finding.fix = fix(context, function, calls);
    }
    Some(finding)
}

/// "`run`", "the destructor of `Pool`", "a lambda".
fn describe(context: &ModuleContext<'_>, status: &FunctionStatus) -> String {
    let Some(function) = context.module.functions.get(status.function) else {
        return "this function".to_owned();
    };
    if function.python.as_ref().is_some_and(|python| python.is_module) {
        return "this script".to_owned();
    }
    match function.role {
        FunctionRole::Lambda => "a lambda".to_owned(),
        FunctionRole::Constructor => format!("the constructor `{}`", function.name),
        FunctionRole::Destructor => format!("the destructor `{}`", function.name),
        _ => match function.name.strip_prefix("operator") {
            Some(rest) if ["new", "delete"].iter().any(|word| rest.starts_with(word)) => format!("`operator {rest}`"),
            _ => format!("`{}`", function.name),
        },
    }
}

fn library(calls: &[&StatusCall]) -> &'static str {
    let short = |call: &&StatusCall| match call.library.split_once(' ') {
        Some((short @ ("CUDA" | "HIP"), _)) => short,
        _ => call.library,
    };
    let mut names = calls.iter().map(short);
    let first = names.next().unwrap_or("CUDA");
    match names.all(|name| name == first) {
        true if first == "this project" => "status-returning",
        true => first,
        false => "CUDA and library",
    }
}

fn how(call: &StatusCall) -> String {
    match (&call.stored, call.usage) {
        (Some(variable), _) => format!("kept in `{variable}`, which is not read before it is overwritten or gone"),
        (None, StatusUse::Voided) => "cast to `void`".to_owned(),
        _ => "status dropped".to_owned(),
    }
}

/// Wraps the calls that are statements in the macro that the file uses for it.
fn fix(context: &ModuleContext<'_>, function: &FunctionStatus, calls: &[&StatusCall]) -> Option<Fix> {
    let wrapper = function.wrapper.as_ref()?;
    let known_from = context
        .facts
        .checkers
        .iter()
        .filter(|checker| checker.name == *wrapper)
        .map(|checker| checker.site.span.start)
        .min();
    let mut edits = Vec::new();
    for call in calls {
        let early = known_from.is_some_and(|start| start > call.span.start);
        let plain = call.usage == StatusUse::Dropped && call.stored.is_none() && call.library.ends_with(" runtime");
        if early || !plain || !is_statement(context, call) {
            continue;
        }
        let place = context.place(call.span);
        let text = format!("{wrapper}({})", context.text(call.span));
        edits.push(Edit { place, text });
    }
    let message = format!("Wrap the calls in `{wrapper}`");
    (!edits.is_empty()).then_some(Fix { applicability: Applicability::Unsafe, message, edits })
}

/// Whether a call is a statement of its own, as far as the characters around it say.
fn is_statement(context: &ModuleContext<'_>, call: &StatusCall) -> bool {
    let before = context.text(cudalint_syntax::Span { start: 0, end: call.span.start });
    let line = before.rsplit('\n').next().unwrap_or("").trim_end();
    let begins = line.trim().is_empty() || line.ends_with([';', '{', '}', ')']) || line.ends_with("else");
    let after = context.text(cudalint_syntax::Span { start: call.span.end, end: call.span.end + 1 });
    begins && after == ";" && context.text(call.span).starts_with(call.api.as_str())
}
