//! Shared memory that no thread has written is read.

use crate::runs::{Defect, shown, unwritten};
use cudalint_engine::{Check, ModuleContext, Rule, Sink};
use cudalint_findings::{Confidence, Group, Method, RuleInfo};

/// The rule.
pub static RULE: Rule = Rule {
    info: RuleInfo {
        name: "uninitialized-shared-read",
        group: Group::Suspicious,
        summary: "A thread reads an element of shared memory that no thread of its block has written.",
        page: include_str!("uninitialized-shared-read.md"),
        method: Method::Watchpoint,
        guideline: None,
        cwe: Some(908),
    },
    confidence: &[Confidence::Definite, Confidence::Likely],
    fix: None,
    check: Check::Facts(check),
};

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for shown in shown(context, Defect::UninitializedShared) {
        let state = "which no thread of the block has written";
        let help = "write every element that is read, with a neutral value where there is no data";
        sink.report_some(unwritten::finding(&RULE, context, &shown, state, help));
    }
}
