//! A kernel writes to constant memory.

use crate::runs::words::{self, add_access, add_object, does, element_of, thread};
use crate::runs::{Defect, Shown, shown};
use cudalint_engine::{Check, ModuleContext, Rule, Sink};
use cudalint_findings::claim::AccessFault;
use cudalint_findings::{Confidence, Finding, Group, Method, RuleInfo, Shows};
use cudalint_replay::runs::report::EventKind;

/// The rule.
pub static RULE: Rule = Rule {
    info: RuleInfo {
        name: "constant-memory-written",
        group: Group::Correctness,
        summary: "A kernel writes to `__constant__` memory, which device code can only read.",
        page: include_str!("constant-memory-written.md"),
        method: Method::None,
        guideline: None,
        cwe: Some(471),
    },
    confidence: &[Confidence::Definite, Confidence::Likely],
    fix: None,
    check: Check::Facts(check),
};

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for shown in shown(context, Defect::ConstantWritten) {
        sink.report_some(finding(context, &shown));
    }
}

fn finding(context: &ModuleContext<'_>, shown: &Shown<'_>) -> Option<Finding> {
    let EventKind::ConstantWritten { object, access } = &shown.event.kind else { return None };
    let message = format!(
        "{} {} {}, which is constant memory",
        thread(shown.run, access.thread),
        does(access.kind),
        element_of(access, object)
    );
    let claim = Shows::Access { fault: AccessFault::ReadOnly, object: words::object(object), accesses: Vec::new() };
    let mut finding = words::finding(&RULE, context, shown, access.site, claim, message)?;
    add_object(context, &mut finding, shown.run, object, access);
    add_access(context, &mut finding, access, object);
    finding.help =
        Some("fill it from the host with `cudaMemcpyToSymbol`, or make it a `__device__` variable".to_owned());
    Some(finding)
}
