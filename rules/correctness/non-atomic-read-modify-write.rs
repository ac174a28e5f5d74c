//! Several threads update one element, and some updates are lost.

use crate::runs::races::{self, race};
use crate::runs::words::{element_of, other_thread, thread};
use crate::runs::{Defect, Shown, shown};
use cudalint_engine::{Check, ModuleContext, Rule, Sink};
use cudalint_findings::{Confidence, Finding, Group, Method, RuleInfo};

/// The rule.
pub static RULE: Rule = Rule {
    info: RuleInfo {
        name: "non-atomic-read-modify-write",
        group: Group::Correctness,
        summary: "Several threads add to, or otherwise update, one element without an atomic operation.",
        page: include_str!("non-atomic-read-modify-write.md"),
        method: Method::Watchpoint,
        guideline: None,
        cwe: Some(362),
    },
    confidence: &[Confidence::Definite, Confidence::Likely, Confidence::Possible],
    fix: None,
    check: Check::Facts(check),
};

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for shown in shown(context, Defect::ReadModifyWrite) {
        sink.report_some(finding(context, &shown));
    }
}

fn finding(context: &ModuleContext<'_>, shown: &Shown<'_>) -> Option<Finding> {
    let race = race(shown.event)?;
    let (first, second) = (race.first, race.second);
    let message = format!(
        "{} and {} both read and write back {}: one of the updates is lost",
        thread(shown.run, first.thread),
        other_thread(shown.run, first.thread, second.thread),
        element_of(first, race.object)
    );
    let mut finding = races::finding_with(&RULE, context, shown, message)?;
    finding.help =
        Some("use an atomic operation such as `atomicAdd`, or give each thread an element of its own".to_owned());
    Some(finding)
}
