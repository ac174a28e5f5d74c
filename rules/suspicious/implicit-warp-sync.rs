//! Lanes of a warp that exchange data without a barrier, as if they ran in step.

use crate::runs::races;
use crate::runs::{Defect, Shown, shown, words};
use cudalint_engine::{Check, ModuleContext, Rule, Sink};
use cudalint_findings::{Confidence, Finding, Group, Method, RuleInfo};

/// The rule.
pub static RULE: Rule = Rule {
    info: RuleInfo {
        name: "implicit-warp-sync",
        group: Group::Suspicious,
        summary: "Lanes of one warp exchange data through memory as if they ran in step, with no `__syncwarp` between.",
        page: include_str!("implicit-warp-sync.md"),
        method: Method::Racecheck,
        guideline: None,
        cwe: Some(362),
    },
    confidence: &[Confidence::Definite, Confidence::Likely, Confidence::Possible],
    fix: None,
    check: Check::Facts(check),
};

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for shown in shown(context, Defect::ImplicitWarpSync) {
        sink.report_some(finding(context, &shown));
    }
}

fn finding(context: &ModuleContext<'_>, shown: &Shown<'_>) -> Option<Finding> {
    let why = "and nothing keeps the lanes of a warp in step";
    let mut finding = races::finding(&RULE, context, shown, why)?;
    finding.help = Some(words::warp_help(shown.run));
    Some(finding)
}
