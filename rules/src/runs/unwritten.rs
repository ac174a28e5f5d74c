//! Reads of memory that nobody has written: one witness, whatever kind of memory it is.

use super::Shown;
use super::parts::{self, add_access, add_object, does, element_of, label, thread};
use super::races::weighed;
use cudalint_engine::{ModuleContext, Rule};
use cudalint_findings::claim::AccessFault;
use cudalint_findings::{Finding, Shows};
use cudalint_replay::runs::report::EventKind;

/// The finding of a read: what is read goes on with `state` ("which nothing has written"), and `help` says what to do.
pub fn finding(
    rule: &'static Rule,
    context: &ModuleContext<'_>,
    shown: &Shown<'_>,
    state: &str,
    help: &str,
) -> Option<Finding> {
    let EventKind::UninitializedRead { object, access, .. } = &shown.event.kind else { return None };
    let (who, what) = (thread(shown.run, access.thread), element_of(access, object));
    let message = format!("{who} {} {what}, {state}", does(access.kind));
    let shows = Shows::Access { fault: AccessFault::Unwritten, object: parts::object(object), accesses: Vec::new() };
    let mut finding = parts::finding(rule, context, shown, access.site, shows, message)?;
    finding.label = "holds whatever was there before".to_owned();
    add_object(context, &mut finding, shown.run, object, access);
    add_access(context, &mut finding, access, object);
    for event in &shown.alike {
        if let EventKind::UninitializedRead { access, .. } = &event.kind {
            finding.related.push(label(context, access.site, "also reads it"));
        }
    }
    finding.help = Some(help.to_owned());
    weighed(finding, shown.harm)
}
