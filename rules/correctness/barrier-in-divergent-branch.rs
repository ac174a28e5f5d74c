//! A barrier that only a part of a block reaches, while the rest lives on.

use crate::runs::words::{self, label, other_thread, text, thread};
use crate::runs::{Defect, Shown, shown};
use cudalint_engine::{Check, ModuleContext, Rule, Sink};
use cudalint_findings::{Confidence, Finding, Group, Method, RuleInfo, Shows};
use cudalint_replay::runs::report::EventKind;

/// The rule.
pub static RULE: Rule = Rule {
    info: RuleInfo {
        name: "barrier-in-divergent-branch",
        group: Group::Correctness,
        summary: "Some threads of a block wait at a barrier that others, which go on elsewhere, do not reach.",
        page: include_str!("barrier-in-divergent-branch.md"),
        method: Method::Synccheck,
        guideline: Some("1.14"),
        cwe: Some(833),
    },
    confidence: &[Confidence::Definite, Confidence::Likely],
    fix: None,
    check: Check::Facts(check),
};

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for shown in shown(context, Defect::DivergentBarrier) {
        sink.report_some(finding(context, &shown));
    }
}

fn finding(context: &ModuleContext<'_>, shown: &Shown<'_>) -> Option<Finding> {
    let EventKind::DivergentBarrier { barrier, calls, waits, absent, goes_on, condition, .. } = &shown.event.kind
    else {
        return None;
    };
    let run = shown.run;
    let message = format!(
        "{} waits at `{}`, which {} does not reach",
        thread(run, *waits),
        text(context, *barrier).trim(),
        other_thread(run, *waits, *absent)
    );
    let mut finding = words::finding(&RULE, context, shown, *barrier, Shows::Barrier, message)?;
    finding.label = "not reached by the whole block".to_owned();
    finding.related.push(label(context, *condition, "the threads part here"));
    if let Some(goes_on) = goes_on {
        let message = format!("{} goes on to here", other_thread(run, *waits, *absent));
        finding.claim.sites.push(words::place(context, *goes_on));
        finding.related.push(label(context, *goes_on, message));
    }
    finding.related.extend(calls.iter().map(|call| label(context, *call, "called from here")));
    finding.help = Some("move the barrier out of the condition, and keep only the work inside".to_owned());
    Some(finding)
}
