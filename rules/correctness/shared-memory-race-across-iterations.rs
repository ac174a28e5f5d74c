//! Shared memory that a loop uses again before all threads are done with it.

use crate::runs::races::{self, race};
use crate::runs::words::{barrier, label};
use crate::runs::{Defect, Shown, shown};
use cudalint_engine::{Check, ModuleContext, Rule, Sink};
use cudalint_findings::{Confidence, Finding, Group, Method, RuleInfo};

/// The rule.
pub static RULE: Rule = Rule {
    info: RuleInfo {
        name: "shared-memory-race-across-iterations",
        group: Group::Correctness,
        summary: "A loop writes shared memory again while other threads still use it from the iteration before.",
        page: include_str!("shared-memory-race-across-iterations.md"),
        method: Method::Racecheck,
        guideline: None,
        cwe: Some(362),
    },
    confidence: &[Confidence::Definite, Confidence::Likely, Confidence::Possible],
    fix: None,
    check: Check::Facts(check),
};

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for shown in shown(context, Defect::SharedRaceAcross) {
        sink.report_some(finding(context, &shown));
    }
}

fn finding(context: &ModuleContext<'_>, shown: &Shown<'_>) -> Option<Finding> {
    let race = race(shown.event)?;
    let why = "one iteration later, and no barrier stands between";
    let mut finding = races::finding(&RULE, context, shown, why)?;
    if let Some(looped) = race.across {
        finding.related.push(label(context, looped, "this loop brings the two together"));
    }
    let barrier = barrier(shown.run);
    finding.help = Some(format!("put `{barrier}` at the end of the loop too, or use two buffers in turn"));
    Some(finding)
}
