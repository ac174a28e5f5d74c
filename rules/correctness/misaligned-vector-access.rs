//! A vector access at an address that is no multiple of its size.

use crate::runs::parts::{self, add_access, add_object, does, named, thread};
use crate::runs::{Defect, Shown, report};
use cudalint_engine::{ModuleContext, Rule, rule};
use cudalint_findings::claim::AccessFault;
use cudalint_findings::{Finding, Shows};
use cudalint_replay::runs::report::EventKind;

/// The rule.
pub static RULE: Rule = rule!("misaligned-vector-access", Correctness, Memcheck)
    .summary("An access goes to an address that is not a multiple of what its type needs.")
    .cwe(704)
    .facts(|context, sink| report(context, sink, Defect::Misaligned, finding));

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
    let claim = Shows::Access { fault: AccessFault::Misaligned, object: parts::object(object), accesses: Vec::new() };
    let mut finding = parts::finding(&RULE, context, shown, access.site, claim, message)?;
    finding.label = format!("needs an address that is a multiple of {align}");
    add_object(context, &mut finding, shown.run, object, access);
    add_access(context, &mut finding, access, object);
    finding.help = Some("read single elements, or begin at a multiple of the vector's size".to_owned());
    Some(finding)
}
