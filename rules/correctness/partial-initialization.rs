//! A buffer that is filled in part, and read beyond that part.

use crate::counts::miscount;
use crate::runs::words::{self, add_access, add_object, does, element_of, label, thread};
use crate::runs::{Defect, Shown, shown};
use cudalint_engine::{Check, ModuleContext, Rule, Sink};
use cudalint_findings::{Confidence, Finding, Group, Method, RuleInfo};
use cudalint_replay::facts::{self, Pointer};
use cudalint_replay::runs::report::{EventKind, ObjectKind};

/// The rule.
pub static RULE: Rule = Rule {
    info: RuleInfo {
        name: "partial-initialization",
        group: Group::Correctness,
        summary: "Only a part of a device buffer is filled, and a kernel reads more of it.",
        page: include_str!("partial-initialization.md"),
        method: Method::Initcheck,
        guideline: None,
        cwe: Some(908),
    },
    confidence: &[Confidence::Definite, Confidence::Likely],
    fix: None,
    check: Check::Facts(check),
};

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for shown in shown(context, Defect::PartialInitialization) {
        // `element-count-as-bytes` says it better.
        if is_filled_by_miscount(context, &shown) {
            continue;
        }
        sink.report_some(finding(context, &shown));
    }
}

fn finding(context: &ModuleContext<'_>, shown: &Shown<'_>) -> Option<Finding> {
    let EventKind::UninitializedRead { object, access, .. } = &shown.event.kind else { return None };
    let message = format!(
        "{} {} {}, a part of the buffer that nothing has filled",
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
    finding.help = Some("fill the whole buffer, or read only what is filled".to_owned());
    Some(finding)
}

/// Whether the host fills the buffer by a count that is no number of bytes.
fn is_filled_by_miscount(context: &ModuleContext<'_>, shown: &Shown<'_>) -> bool {
    let EventKind::UninitializedRead { object, .. } = &shown.event.kind else { return false };
    let ObjectKind::Buffer(index) = object.kind else { return false };
    let Some(allocation) = shown.run.buffers.get(index).and_then(|buffer| buffer.allocation.as_ref()) else {
        return false;
    };
    context.facts.events.iter().any(|event| match &event.kind {
        facts::EventKind::Copy { destination, bytes, count, .. }
        | facts::EventKind::Set { destination, bytes, count, .. } => {
            matches!(&destination.pointer, Pointer::Into { buffer, .. } if buffer.site == allocation.site)
                && miscount(destination, &bytes.quantity, count).is_some()
        }
        _ => false,
    })
}
