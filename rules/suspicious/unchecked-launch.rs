//! Launches after which nobody asks whether they were accepted.

use crate::parts::{places, stays_unseen};
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::{Applicability, Confidence, Edit, Fault, Finding, Fix, Label, Severity, Shows, Witness};
use cudalint_program::Name;
use cudalint_replay::facts::{FunctionStatus, LaunchStatus, SeenLater};
use cudalint_syntax::Span;

/// The rule.
pub static RULE: Rule = rule!("unchecked-launch", Suspicious, FaultInjection)
    .summary("Nobody asks whether a kernel launch was accepted.")
    .guidelines(&["CUDA-1.4", "CUDASecurity-ERR01"])
    .cwe(391)
    .confidence(&[Confidence::Definite, Confidence::Likely, Confidence::Possible])
    .fix(Applicability::Safe)
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for function in &context.facts.status {
        let never = |launch: &&LaunchStatus| !launch.checked && !launch.checked_on_some_path && launch.later.is_none();
        let later: Vec<_> = function.launches.iter().filter(|l| !l.checked && l.later.is_some()).collect();
        let unchecked: Vec<_> = function.launches.iter().filter(never).filter(|launch| !launch.only_by_sync).collect();
        let by_sync: Vec<_> = function.launches.iter().filter(never).filter(|launch| launch.only_by_sync).collect();
        let partly: Vec<_> = function
            .launches
            .iter()
            .filter(|launch| launch.checked_on_some_path && launch.later != Some(SeenLater::Results))
            .collect();
        if !unchecked.is_empty() {
            sink.report_some(finding(context, function, &unchecked, Kind::Never));
        } else if !by_sync.is_empty() {
            sink.report_some(finding(context, function, &by_sync, Kind::OnlySync));
        } else if !partly.is_empty() {
            sink.report_some(finding(context, function, &partly, Kind::Partly));
        } else if !later.is_empty() {
            sink.report_some(finding(context, function, &later, Kind::Later));
        } else {
            let by_nobody_in_sight: Vec<_> = function.launches.iter().filter(|l| !l.unseen.is_empty()).collect();
            sink.report_some(finding(context, function, &by_nobody_in_sight, Kind::OutOfSight));
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Never,
    OnlySync,
    Partly,
    OutOfSight,
    Later,
}

fn finding(
    context: &ModuleContext<'_>,
    function: &FunctionStatus,
    launches: &[&LaunchStatus],
    kind: Kind,
) -> Option<Finding> {
    let (first, others) = launches.split_first()?;
    let name = context.function_name(function.function);
    let within = if name.is_empty() { "a lambda".to_owned() } else { format!("`{name}`") };
    let subject = if others.is_empty() {
        format!("the launch of `{}`", first.kernel)
    } else {
        format!("{} launches, first of `{}`,", launches.len(), first.kernel)
    };
    let message = match kind {
        Kind::Never | Kind::OutOfSight | Kind::Later => {
            format!("{within} does not check {subject} with `cudaGetLastError`").replace(", with", " with")
        }
        Kind::OnlySync => format!("{within} relies on a later synchronizing call alone to report {subject}"),
        Kind::Partly => format!("{within} checks {subject} on some paths only"),
    };
    let confidence = match kind {
        // Each function out of sight is an assumption.
        Kind::OutOfSight if first.unseen.len() > 1 => Confidence::Possible,
        Kind::Later => Confidence::Possible,
        Kind::Partly | Kind::OutOfSight => Confidence::Likely,
        Kind::Never | Kind::OnlySync => Confidence::Definite,
    };
    let claim = Shows::UnreadStatus { fault: Fault::Launch };
    let message = message.trim_end_matches(',').to_owned();
    let mut finding = RULE.finding(confidence, context.place(first.span), claim, message);
    if matches!(kind, Kind::OnlySync | Kind::Later) {
        finding.severity = Severity::Info;
    }
    finding.label = "launched here".to_owned();
    finding.function = name;
    finding.done_elsewhere = function.launches.iter().any(|launch| launch.checked && launch.unseen.is_empty());
    finding.related = others
        .iter()
        .map(|launch| Label {
            place: context.place(launch.span),
            message: format!("`{}` is launched here", launch.kernel),
        })
        .collect();
    finding.claim.kernel = Some(first.kernel.clone());
    finding.claim.sites = places(&finding.related);
    let assumptions = match kind {
        Kind::Partly => vec!["the path around the check is taken".to_owned()],
        Kind::OutOfSight => vec![unseen_assumption(&first.unseen)],
        Kind::Later => first.later.map(stays_unseen).map(str::to_owned).into_iter().collect(),
        Kind::Never | Kind::OnlySync => Vec::new(),
    };
    let path = vec![Label {
        place: context.place(first.span),
        message: "the launch leaves its error in the last error".to_owned(),
    }];
    finding.witness = Some(Witness { assumptions, path, ..Witness::default() });
    finding.help = Some("read and test `cudaGetLastError()` right after the launch".to_owned());
    if confidence == Confidence::Definite {
        finding.fix = fix(context, function, launches);
    }
    Some(finding)
}

/// The assumption that functions out of sight are no checks.
fn unseen_assumption(names: &[Name]) -> String {
    let shown: Vec<_> = names.iter().take(3).map(|name| format!("`{name}`")).collect();
    match names.len() {
        1 => format!("{}, which is not in sight, does not check the last error", shown.join("")),
        2..=3 => format!("{}, which are not in sight, do not check the last error", shown.join(", ")),
        more => {
            format!(
                "{} and {} other functions that are not in sight do not check the last error",
                shown.join(", "),
                more - 3
            )
        }
    }
}

/// Puts a checked `cudaGetLastError()` behind each launch that is a statement of a block.
fn fix(context: &ModuleContext<'_>, function: &FunctionStatus, launches: &[&LaunchStatus]) -> Option<Fix> {
    let wrapper = function.wrapper.as_ref()?;
    let checkers = context.facts.checkers.iter().filter(|checker| checker.name == *wrapper);
    let known_from = checkers.map(|checker| checker.site.span.start).min();
    let mut edits = Vec::new();
    for launch in launches {
        let before = context.text(Span { start: 0, end: launch.span.start });
        let (earlier, line) = before.rsplit_once('\n').unwrap_or(("", before));
        let previous = earlier.trim_end();
        // Behind an `if (…)` without braces a second statement would always run.
        let alone = line.trim().is_empty() && previous.ends_with([';', '{', '}']);
        let at = Span { start: launch.span.end, end: launch.span.end + 1 };
        if !alone || context.text(at) != ";" || known_from.is_some_and(|start| start > launch.span.start) {
            continue;
        }
        edits.push(Edit { place: context.place(at), text: format!(";\n{line}{wrapper}(cudaGetLastError());") });
    }
    let message = format!("Check the last error with `{wrapper}` after each launch");
    (!edits.is_empty()).then_some(Fix { applicability: Applicability::Safe, message, edits })
}
