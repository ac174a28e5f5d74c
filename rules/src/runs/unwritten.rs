//! Reads of memory that nobody has written: one witness, whatever kind of memory it is.

use super::Shown;
use super::parts::{self, add_access, add_object, does, element_of, label, thread};
use super::races::weighed;
use cudalint_engine::{ModuleContext, Rule};
use cudalint_findings::claim::AccessFault;
use cudalint_findings::{Finding, Shows};
use cudalint_replay::facts::{self, Pointer};
use cudalint_replay::runs::report::{EventKind, Object, ObjectKind};

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
    let mut finding = weighed(finding, shown.harm)?;
    if is_made_again(context, shown, object) {
        parts::only_possible(&mut finding);
    }
    Some(finding)
}

/// Whether the same launch stands once more behind what fills the memory, as behind one that only warms up: what the first one made of it
/// is made anew.
fn is_made_again(context: &ModuleContext<'_>, shown: &Shown<'_>, object: &Object) -> bool {
    let ObjectKind::Buffer(index) = object.kind else { return false };
    let own = shown.run.buffers.get(index).and_then(|buffer| buffer.allocation.as_ref());
    let (Some(memory), Some(site)) = (own, shown.run.launch) else { return false };
    let events = &context.facts.events;
    let is_first = |event: &&facts::Event| event.site == site && matches!(event.kind, facts::EventKind::Launch(_));
    let Some(first) = events.iter().find(is_first) else { return false };
    let facts::EventKind::Launch(one) = &first.kind else { return false };
    let behind = events.iter().skip_while(|event| event.site != site).skip(1);
    let mut filled = false;
    for event in behind {
        match &event.kind {
            facts::EventKind::Copy { destination, .. } | facts::EventKind::Set { destination, .. } => {
                filled |= matches!(&destination.pointer, Pointer::Into { buffer, .. } if buffer.site == memory.site);
            }
            facts::EventKind::Launch(two) if event.site != site => {
                let texts =
                    |launch: &facts::LaunchFact| launch.args.iter().map(|arg| arg.text.clone()).collect::<Vec<_>>();
                let same =
                    two.kernel == one.kernel && two.grid.text == one.grid.text && two.block.text == one.block.text;
                if filled && same && texts(two) == texts(one) {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}
