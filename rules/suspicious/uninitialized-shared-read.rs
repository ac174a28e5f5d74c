//! Shared memory that no thread has written is read.

use crate::runs::words::{self, add_access, add_object, does, element_of, label, thread};
use crate::runs::{Defect, Shown, shown};
use cudalint_engine::{Check, ModuleContext, Rule, Sink};
use cudalint_findings::{Confidence, Finding, Group, Method, RuleInfo};
use cudalint_replay::runs::report::EventKind;

/// The rule.
pub static RULE: Rule = Rule {
    info: RuleInfo {
        name: "uninitialized-shared-read",
        group: Group::Suspicious,
        summary: "A thread reads an element of shared memory that no thread of its block has written.",
        page: include_str!("uninitialized-shared-read.md"),
        method: Method::None,
        guideline: None,
        cwe: Some(908),
    },
    confidence: &[Confidence::Definite, Confidence::Likely],
    fix: None,
    check: Check::Facts(check),
};

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for shown in shown(context, Defect::UninitializedShared) {
        sink.report_some(finding(context, &shown));
    }
}

fn finding(context: &ModuleContext<'_>, shown: &Shown<'_>) -> Option<Finding> {
    let EventKind::UninitializedRead { object, access, .. } = &shown.event.kind else { return None };
    let message = format!(
        "{} {} {}, which no thread of the block has written",
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
    finding.help = Some("write every element that is read, with a neutral value where there is no data".to_owned());
    Some(finding)
}
