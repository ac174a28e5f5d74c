//! More threads than elements, and no condition that keeps the rest out.

use crate::runs::bounds::{self, Overrun};
use crate::runs::words::is_python;
use crate::runs::{Defect, Shown, shown};
use cudalint_engine::{Check, ModuleContext, Rule, Sink};
use cudalint_findings::{Confidence, Finding, Group, Method, RuleInfo};

/// The rule.
pub static RULE: Rule = Rule {
    info: RuleInfo {
        name: "missing-bounds-guard",
        group: Group::Correctness,
        summary: "A launch has more threads than an array has elements, and no condition keeps the others out.",
        page: include_str!("missing-bounds-guard.md"),
        method: Method::Memcheck,
        guideline: None,
        cwe: Some(787),
    },
    confidence: &[Confidence::Definite, Confidence::Likely, Confidence::Possible],
    fix: None,
    check: Check::Facts(check),
};

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for shown in shown(context, Defect::MissingGuard) {
        sink.report_some(finding(context, &shown));
    }
}

fn finding(context: &ModuleContext<'_>, shown: &Shown<'_>) -> Option<Finding> {
    let overrun = Overrun::of(shown)?;
    let message = format!("{}: no condition keeps it out", overrun.sentence());
    let mut finding = bounds::finding(&RULE, context, shown, message)?;
    let guard = if is_python(shown.run) { "if i < a.size:" } else { "if (i < n)" };
    finding.help = Some(format!("compare the index with the number of elements first: `{guard}`"));
    Some(finding)
}
