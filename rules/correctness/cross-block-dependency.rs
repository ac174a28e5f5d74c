//! A block that needs what another block of the same launch does.

use crate::runs::races::{self, race};
use crate::runs::words::{self, kernel, text};
use crate::runs::{Defect, Shown, shown};
use cudalint_engine::{Check, ModuleContext, Rule, Sink};
use cudalint_findings::{Confidence, Finding, Group, Method, RuleInfo, Shows};
use cudalint_replay::runs::report::EventKind;

/// The rule.
pub static RULE: Rule = Rule {
    info: RuleInfo {
        name: "cross-block-dependency",
        group: Group::Correctness,
        summary: "A block reads or overwrites what another block of the same launch works on, and nothing orders blocks.",
        page: include_str!("cross-block-dependency.md"),
        method: Method::Watchpoint,
        guideline: None,
        cwe: Some(362),
    },
    confidence: &[Confidence::Definite, Confidence::Likely, Confidence::Possible],
    fix: None,
    check: Check::Facts(check),
};

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for shown in shown(context, Defect::CrossBlock) {
        sink.report_some(finding(context, &shown));
    }
}

fn finding(context: &ModuleContext<'_>, shown: &Shown<'_>) -> Option<Finding> {
    if let EventKind::GridSyncWithoutCooperation { site } = &shown.event.kind {
        let message = format!(
            "`{}` waits for the whole grid, but `{}` is not launched as a cooperative kernel",
            text(context, *site).trim(),
            kernel(context, shown.run)
        );
        let mut finding = words::finding(&RULE, context, shown, *site, Shows::Barrier, message)?;
        finding.help = Some("launch it with `cudaLaunchCooperativeKernel`".to_owned());
        return Some(finding);
    }
    let race = race(shown.event)?;
    let why = if race.barrier_between {
        "and the barrier between them orders the threads of one block only"
    } else {
        "and nothing orders the two blocks"
    };
    let mut finding = races::finding(&RULE, context, shown, why)?;
    finding.help = Some(
        "end the kernel between the two and launch another, or read from one buffer and write to another".to_owned(),
    );
    Some(finding)
}
