//! An index that wraps around its type on the way to an address.

use crate::runs::bounds::{self, Overrun};
use crate::runs::{Defect, Shown, shown};
use cudalint_engine::{Check, ModuleContext, Rule, Sink};
use cudalint_findings::{Confidence, Finding, Group, Method, RuleInfo};

/// The rule.
pub static RULE: Rule = Rule {
    info: RuleInfo {
        name: "index-overflow",
        group: Group::Correctness,
        summary: "An index wraps around the range of its type, and the access lands outside of the array.",
        page: include_str!("index-overflow.md"),
        method: Method::Memcheck,
        guideline: None,
        cwe: Some(190),
    },
    confidence: &[Confidence::Definite, Confidence::Likely, Confidence::Possible],
    fix: None,
    check: Check::Facts(check),
};

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for shown in shown(context, Defect::IndexOverflow) {
        sink.report_some(finding(context, &shown));
    }
}

fn finding(context: &ModuleContext<'_>, shown: &Shown<'_>) -> Option<Finding> {
    let overrun = Overrun::of(shown)?;
    let message = format!("{}: the index has wrapped around its type", overrun.sentence());
    let mut finding = bounds::finding(&RULE, context, shown, message)?;
    finding.help =
        Some("compute the index in 64 bits from the first factor on: `(size_t)blockIdx.x * blockDim.x`".to_owned());
    Some(finding)
}
