//! An access beyond a thread's own array.

use crate::runs::bounds::{self, Overrun};
use crate::runs::words::{does, element, extent, named, thread};
use crate::runs::{Defect, Shown, shown};
use cudalint_engine::{Check, ModuleContext, Rule, Sink};
use cudalint_findings::{Confidence, Finding, Group, Method, RuleInfo};

/// The rule.
pub static RULE: Rule = Rule {
    info: RuleInfo {
        name: "local-index-out-of-range",
        group: Group::Correctness,
        summary: "A thread reads or writes beyond an array of its own.",
        page: include_str!("local-index-out-of-range.md"),
        method: Method::Watchpoint,
        guideline: None,
        cwe: Some(787),
    },
    confidence: &[Confidence::Definite, Confidence::Likely, Confidence::Possible],
    fix: None,
    check: Check::Facts(check),
};

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for shown in shown(context, Defect::LocalIndex) {
        sink.report_some(finding(context, &shown));
    }
}

fn finding(context: &ModuleContext<'_>, shown: &Shown<'_>) -> Option<Finding> {
    let Overrun { run, object, access, .. } = Overrun::of(shown)?;
    let message = format!(
        "{} {} element {} of its own array {}, which has {}",
        thread(run, access.thread),
        does(access.kind),
        element(access, object),
        named(object),
        extent(access, object)?
    );
    let mut finding = bounds::finding(&RULE, context, shown, message)?;
    finding.help = Some("make the array longer, or the loop shorter".to_owned());
    Some(finding)
}
