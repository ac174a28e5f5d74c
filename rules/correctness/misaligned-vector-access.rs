//! A vector access at an address that is no multiple of its size.

use crate::runs::words::{self, add_access, add_object, does, named, thread};
use crate::runs::{Defect, Shown, shown};
use cudalint_engine::{Check, ModuleContext, Rule, Sink};
use cudalint_findings::claim::AccessFault;
use cudalint_findings::{Confidence, Finding, Group, Method, RuleInfo, Shows};
use cudalint_replay::runs::report::EventKind;

/// The rule.
pub static RULE: Rule = Rule {
    info: RuleInfo {
        name: "misaligned-vector-access",
        group: Group::Correctness,
        summary: "An access goes to an address that is not a multiple of what its type needs.",
        page: include_str!("misaligned-vector-access.md"),
        method: Method::Memcheck,
        guideline: None,
        cwe: Some(704),
    },
    confidence: &[Confidence::Definite, Confidence::Likely],
    fix: None,
    check: Check::Facts(check),
};

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for shown in shown(context, Defect::Misaligned) {
        sink.report_some(finding(context, &shown));
    }
}

fn finding(context: &ModuleContext<'_>, shown: &Shown<'_>) -> Option<Finding> {
    let EventKind::Misaligned { object, access, align } = &shown.event.kind else { return None };
    let message = format!(
        "{} {} {} bytes at byte {} of {}, which is no multiple of {align}",
        thread(shown.run, access.thread),
        does(access.kind),
        access.size,
        access.offset,
        named(object)
    );
    let claim = Shows::Access { fault: AccessFault::Misaligned, object: words::object(object), accesses: Vec::new() };
    let mut finding = words::finding(&RULE, context, shown, access.site, claim, message)?;
    finding.label = format!("needs an address that is a multiple of {align}");
    add_object(context, &mut finding, shown.run, object, access);
    add_access(context, &mut finding, access, object);
    finding.help = Some("read single elements, or begin at a multiple of the vector's size".to_owned());
    Some(finding)
}
