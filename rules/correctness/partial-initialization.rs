//! A buffer that is filled in part, and read beyond that part.

use crate::counts::miscount;
use crate::runs::{Defect, Shown, shown, unwritten};
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_replay::facts::{self, Pointer};
use cudalint_replay::runs::report::{EventKind, ObjectKind};

/// The rule.
pub static RULE: Rule = rule!("partial-initialization", Correctness, Initcheck)
    .summary("Only a part of a device buffer is filled, and a kernel reads more of it.")
    .cwe(908)
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for shown in shown(context, Defect::PartialInitialization) {
        // `element-count-as-bytes` says it better.
        if is_filled_by_miscount(context, &shown) {
            continue;
        }
        let state = "a part of the buffer that nothing has filled";
        let help = "fill the whole buffer, or read only what is filled";
        sink.report_some(unwritten::finding(&RULE, context, &shown, state, help));
    }
}

/// Whether the host fills the buffer by a count that is no number of bytes.
fn is_filled_by_miscount(context: &ModuleContext<'_>, shown: &Shown<'_>) -> bool {
    let EventKind::UninitializedRead { object, .. } = &shown.event.kind else { return false };
    let ObjectKind::Buffer(index) = object.kind else { return false };
    let Some(allocation) = shown.run.buffers.get(index).and_then(|buffer| buffer.allocation.as_ref()) else {
        return false;
    };
    context.facts.events.iter().any(|event| match &event.kind {
        facts::EventKind::Copy { destination, bytes, count, rows: None, .. }
        | facts::EventKind::Set { destination, bytes, count, rows: None, .. } => {
            matches!(&destination.pointer, Pointer::Into { buffer, .. } if buffer.site == allocation.site)
                && miscount(destination, &bytes.quantity, count).is_some()
        }
        _ => false,
    })
}
