//! Two threads, one element of global memory, and nothing that orders them.

use crate::runs::races::{self, race};
use crate::runs::{Defect, Shown, shown, words};
use cudalint_engine::{Check, ModuleContext, Rule, Sink};
use cudalint_findings::{Confidence, Finding, Group, Method, RuleInfo};
use cudalint_replay::runs::report::RaceScope;

/// The rule.
pub static RULE: Rule = Rule {
    info: RuleInfo {
        name: "global-memory-race",
        group: Group::Correctness,
        summary: "Two threads touch one element of global memory, nothing orders them, and one of them writes.",
        page: include_str!("global-memory-race.md"),
        method: Method::Watchpoint,
        guideline: None,
        cwe: Some(362),
    },
    confidence: &[Confidence::Definite, Confidence::Likely, Confidence::Possible],
    fix: None,
    check: Check::Facts(check),
};

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for shown in shown(context, Defect::GlobalRace) {
        sink.report_some(finding(context, &shown));
    }
}

fn finding(context: &ModuleContext<'_>, shown: &Shown<'_>) -> Option<Finding> {
    let race = race(shown.event)?;
    let one_block = race.first.thread.block == race.second.thread.block;
    let in_one_warp = race.scope == RaceScope::Warp;
    let why = if in_one_warp { "and nothing keeps the lanes of a warp in step" } else { "and nothing orders the two" };
    let mut finding = races::finding(&RULE, context, shown, why)?;
    finding.help = Some(if in_one_warp {
        words::warp_help(shown.run)
    } else if one_block {
        "give each thread its own element, read from one buffer and write to another, or put a barrier between"
            .to_owned()
    } else {
        "give each block its own elements, or use an atomic operation: no barrier orders two blocks".to_owned()
    });
    Some(finding)
}
