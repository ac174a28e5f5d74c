//! An access beyond a shared array.

use crate::runs::bounds::{self, Overrun};
use crate::runs::words::{does, element, extent, named, thread};
use crate::runs::{Defect, Shown, shown};
use cudalint_engine::{Check, ModuleContext, Rule, Sink};
use cudalint_findings::{Confidence, Finding, Group, Method, RuleInfo};

/// The rule.
pub static RULE: Rule = Rule {
    info: RuleInfo {
        name: "shared-index-out-of-range",
        group: Group::Correctness,
        summary: "A thread reads or writes beyond a shared array.",
        page: include_str!("shared-index-out-of-range.md"),
        method: Method::Memcheck,
        guideline: None,
        cwe: Some(787),
    },
    confidence: &[Confidence::Definite, Confidence::Likely],
    fix: None,
    check: Check::Facts(check),
};

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for shown in shown(context, Defect::SharedIndex) {
        sink.report_some(finding(context, &shown));
    }
}

fn finding(context: &ModuleContext<'_>, shown: &Shown<'_>) -> Option<Finding> {
    let Overrun { run, object, access, .. } = Overrun::of(shown)?;
    let message = format!(
        "{} {} element {} of the shared array {}, which has {}",
        thread(run, access.thread),
        does(access.kind),
        element(access, object),
        named(object),
        extent(access, object)?
    );
    let mut finding = bounds::finding(&RULE, context, shown, message)?;
    finding.help =
        Some("index shared memory by the thread within its block, and give it room for all of them".to_owned());
    Some(finding)
}
