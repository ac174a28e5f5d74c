//! Threads that leave a kernel before a barrier which others wait at.

use crate::runs::words::{self, label, other_thread, text, thread};
use crate::runs::{Defect, Shown, shown};
use cudalint_engine::{Check, ModuleContext, Rule, Sink};
use cudalint_findings::{Confidence, Finding, Group, Method, RuleInfo, Shows};
use cudalint_replay::runs::report::EventKind;

/// From this compute capability on a barrier waits for threads that have not left the kernel only.
const BARRIERS_COUNT_LIVE_THREADS: u32 = 70;

/// The rule.
pub static RULE: Rule = Rule {
    info: RuleInfo {
        name: "early-exit-before-barrier",
        group: Group::Portability,
        summary: "Some threads leave the kernel before a barrier that others wait at, which is undefined before `sm_70`.",
        page: include_str!("early-exit-before-barrier.md"),
        method: Method::None,
        guideline: None,
        cwe: Some(833),
    },
    confidence: &[Confidence::Definite, Confidence::Likely, Confidence::Possible],
    fix: None,
    check: Check::Facts(check),
};

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for shown in shown(context, Defect::EarlyExit) {
        sink.report_some(finding(context, &shown));
    }
}

fn finding(context: &ModuleContext<'_>, shown: &Shown<'_>) -> Option<Finding> {
    let EventKind::ExitBeforeBarrier { exit, barrier, leaves, waits, .. } = &shown.event.kind else { return None };
    let run = shown.run;
    let barrier_text = text(context, *barrier).trim();
    let message = format!(
        "{} leaves the kernel, and {} waits at `{barrier_text}` later",
        thread(run, *leaves),
        other_thread(run, *leaves, *waits)
    );
    let mut finding = words::finding(&RULE, context, shown, *exit, Shows::Barrier, message)?;
    finding.claim.sites.push(words::place(context, *barrier));
    finding.related.push(label(context, *barrier, "the others wait here"));
    finding.help = Some("let all threads reach the barrier, and put the work under the condition instead".to_owned());
    if context.architectures.iter().all(|architecture| *architecture >= BARRIERS_COUNT_LIVE_THREADS) {
        words::only_possible(&mut finding);
    }
    Some(finding)
}
