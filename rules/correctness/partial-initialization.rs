//! A buffer that is filled in part, and read beyond that part.

use crate::counts::miscount;
use crate::read_back::{self, Extent};
use crate::runs::{Defect, Shown, shown, unwritten};
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::Label;
use cudalint_replay::facts::{self, Buffer, Pointer};
use cudalint_replay::runs::report::{EventKind, ObjectKind};

/// Most copies and sets that are named beside a read.
const MAX_FILLINGS: usize = 3;

/// The rule.
pub static RULE: Rule = rule!("partial-initialization", Correctness, Initcheck)
    .summary("Only a part of a device buffer is filled, and a kernel or a copy to the host reads more of it.")
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
        let Some(mut finding) = unwritten::finding(&RULE, context, &shown, state, help) else { continue };
        finding.related.extend(fillings(context, &shown));
        sink.report(finding);
    }
    for finding in read_back::findings(&RULE, context, Extent::End) {
        sink.report(finding);
    }
}

/// The copies and sets that fill the part.
fn fillings(context: &ModuleContext<'_>, shown: &Shown<'_>) -> Vec<Label> {
    let Some(allocation) = allocation(shown) else { return Vec::new() };
    let mut labels: Vec<Label> = Vec::new();
    for event in &context.facts.events {
        let (facts::EventKind::Copy { destination, bytes, .. } | facts::EventKind::Set { destination, bytes, .. }) =
            &event.kind
        else {
            continue;
        };
        let into = matches!(&destination.pointer, Pointer::Into { buffer, .. } if buffer.site == allocation.site);
        let place = context.place_of(event.site);
        if into && labels.len() < MAX_FILLINGS && !labels.iter().any(|label| label.place == place) {
            labels.push(Label { place, message: format!("fills {bytes} bytes") });
        }
    }
    labels
}

/// What is read, as the host allocated it.
fn allocation<'a>(shown: &Shown<'a>) -> Option<&'a Buffer> {
    let EventKind::UninitializedRead { object, .. } = &shown.event.kind else { return None };
    let ObjectKind::Buffer(index) = object.kind else { return None };
    shown.run.buffers.get(index)?.allocation.as_ref()
}

/// Whether the host fills the buffer by a count that is no number of bytes.
fn is_filled_by_miscount(context: &ModuleContext<'_>, shown: &Shown<'_>) -> bool {
    let Some(allocation) = allocation(shown) else { return false };
    context.facts.events.iter().any(|event| match &event.kind {
        facts::EventKind::Copy { destination, bytes, count, rows: None, .. }
        | facts::EventKind::Set { destination, bytes, count, rows: None, .. } => {
            matches!(&destination.pointer, Pointer::Into { buffer, .. } if buffer.site == allocation.site)
                && miscount(destination, &bytes.quantity, count).is_some()
        }
        _ => false,
    })
}
