//! Several threads update one element, and some updates are lost.

use crate::runs::parts::{self, add_object, add_place, assume, element_of, label, named, other_thread, text, thread};
use crate::runs::races::{self, race};
use crate::runs::{Defect, Shown, report};
use cudalint_engine::{ModuleContext, Rule, rule};
use cudalint_findings::{Confidence, Finding, Shows};
use cudalint_replay::runs::report::EventKind;

/// The rule.
pub static RULE: Rule = rule!("non-atomic-read-modify-write", Correctness, Watchpoint)
    .summary("Several threads add to, or otherwise update, one element without an atomic operation.")
    .guidelines(&["CUDASecurity: data races"])
    .cwe(362)
    .confidence(&[Confidence::Definite, Confidence::Likely, Confidence::Possible])
    .facts(|context, sink| report(context, sink, Defect::ReadModifyWrite, finding));

fn finding(context: &ModuleContext<'_>, shown: &Shown<'_>) -> Option<Finding> {
    let mut finding = match &shown.event.kind {
        EventKind::CrowdedUpdate { .. } => crowd(context, shown)?,
        _ => pair(context, shown)?,
    };
    finding.help = Some(help(shown));
    Some(finding)
}

/// Two threads that are known.
fn pair(context: &ModuleContext<'_>, shown: &Shown<'_>) -> Option<Finding> {
    let race = race(shown.event)?;
    let (first, second) = (race.first, race.second);
    let message = format!(
        "{} and {} both read and write back {}: one of the updates is lost",
        thread(shown.run, first.thread),
        other_thread(shown.run, first.thread, second.thread),
        element_of(first, race.object)
    );
    races::finding_with(&RULE, context, shown, message)
}

/// More threads than elements: which of them meet is up to the data.
fn crowd(context: &ModuleContext<'_>, shown: &Shown<'_>) -> Option<Finding> {
    let EventKind::CrowdedUpdate { object, access, threads, elements, condition, .. } = &shown.event.kind else {
        return None;
    };
    let coverage = &shown.run.report.coverage;
    let all = shown.run.grid_known && coverage.blocks == coverage.of_blocks;
    let least = if all || parts::is_shared(object) { "" } else { "at least " };
    let of_block = if parts::is_shared(object) { " of a block" } else { "" };
    let updates = if condition.is_some() { "would read and write back" } else { "read and write back" };
    let message = format!(
        "{least}{threads} threads{of_block} {updates} elements of {}, which has {elements}: some of them meet, and updates are lost",
        named(object)
    );
    let claim = Shows::Race { object: parts::object(object), accesses: Vec::new() };
    let mut finding = parts::finding(&RULE, context, shown, access.site, claim, message)?;
    finding.label = format!("{threads} threads, {elements} elements");
    add_object(context, &mut finding, shown.run, object, access);
    for call in access.calls.iter().take(parts::MAX_PLACES) {
        add_place(&mut finding, label(context, *call, "called from here"));
    }
    let numbers = [("updating threads", *threads), ("their elements", *elements)];
    let bindings =
        numbers.into_iter().filter_map(|(name, number)| Some((name.to_owned(), i64::try_from(number).ok()?)));
    finding.witness.get_or_insert_default().bindings.extend(bindings);
    if let Some(condition) = condition {
        let check = text(context, *condition).split_whitespace().collect::<Vec<_>>().join(" ");
        add_place(&mut finding, label(context, *condition, "checks the range of the index"));
        assume(&mut finding, &format!("more than {elements} of {threads} threads get past `{check}`"))?;
    }
    Some(finding)
}

/// What to do, in the kernel's language.
fn help(shown: &Shown<'_>) -> String {
    let atomic = parts::atomic_add(shown.run);
    format!("use an atomic operation such as `{atomic}`, or give each thread an element of its own")
}
