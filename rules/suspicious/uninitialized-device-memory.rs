//! A buffer that nothing has filled is read.

use crate::runs::words::{self, add_access, add_object, does, element_of, label, thread};
use crate::runs::{Defect, Shown, shown};
use cudalint_engine::{Check, ModuleContext, Rule, Sink};
use cudalint_findings::{Confidence, Finding, Group, Method, RuleInfo};
use cudalint_replay::runs::report::EventKind;

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
        sink.report_some(finding(context, &shown));
    }
}

fn finding(context: &ModuleContext<'_>, shown: &Shown<'_>) -> Option<Finding> {
    let EventKind::UninitializedRead { object, access, .. } = &shown.event.kind else { return None };
    let message = format!(
        "{} {} {}, which nothing has written since its allocation",
        thread(shown.run, access.thread),
        does(access.kind),
        element_of(access, object)
    );
    let mut finding = words::finding(&RULE, context, shown, access.site, message)?;
    finding.label = "holds whatever was there before".to_owned();
    add_object(context, &mut finding, shown.run, object, access);
    add_access(context, &mut finding, access, object);
    for event in &shown.alike {
        if let EventKind::UninitializedRead { access, .. } = &event.kind {
            finding.related.push(label(context, access.site, "also reads it"));
        }
    }
    finding.help = Some("set it first, for example with `cudaMemset`".to_owned());
    Some(finding)
}
