//! A buffer that nothing has filled is read.

use crate::runs::{Defect, shown, unwritten};
use cudalint_engine::{Check, ModuleContext, Rule, Sink};
use cudalint_findings::{Confidence, Group, Method, RuleInfo};

/// The rule.
pub static RULE: Rule = Rule {
    info: RuleInfo {
        name: "uninitialized-device-memory",
        group: Group::Suspicious,
        summary: "A kernel reads or adds to fresh device memory that nothing has filled.",
        page: include_str!("uninitialized-device-memory.md"),
        method: Method::Initcheck,
        guideline: None,
        cwe: Some(908),
    },
    confidence: &[Confidence::Definite, Confidence::Likely],
    fix: None,
    check: Check::Facts(check),
};

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for shown in shown(context, Defect::UninitializedMemory) {
        let state = "which nothing has written since its allocation";
        let help = "set it first, for example with `cudaMemset`";
        sink.report_some(unwritten::finding(&RULE, context, &shown, state, help));
    }
}
