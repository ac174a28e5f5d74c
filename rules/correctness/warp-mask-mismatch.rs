//! The mask of a warp-wide operation does not fit the lanes that take part.

use crate::runs::parts::{self, add_place, label, other_thread, thread};
use crate::runs::{Defect, Shown, report};
use cudalint_engine::{ModuleContext, Rule, rule};
use cudalint_findings::{Confidence, Finding, Shows};
use cudalint_replay::facts::Harm;
use cudalint_replay::runs::report::{EventKind, MaskFault};

/// The rule.
pub static RULE: Rule = rule!("warp-mask-mismatch", Correctness, Synccheck)
    .summary("The mask of a warp-wide operation names lanes that do not take part, or leaves out one that does.")
    .guidelines(&["CUDA-2.1", "CUDA-2.2", "CUDA-2.3", "CUDA-2.4"])
    .cwe(833)
    .confidence(&[Confidence::Definite, Confidence::Likely, Confidence::Possible])
    .facts(|context, sink| report(context, sink, Defect::WarpMask, finding));

fn finding(context: &ModuleContext<'_>, shown: &Shown<'_>) -> Option<Finding> {
    let EventKind::WarpMask { site, name, mask, by, fault, condition } = &shown.event.kind else { return None };
    let run = shown.run;
    let (message, help) = match fault {
        MaskFault::LaneAbsent(absent) => (
            format!(
                "{} calls `{name}` with the mask {mask:#x}, but {}, which is in the mask, does not take part",
                thread(run, *by),
                other_thread(run, *by, *absent)
            ),
            "call it where all lanes of the mask reach it, or take the mask from `__ballot_sync` before the condition",
        ),
        MaskFault::LaneGone(lane) => (
            format!(
                "{} calls `{name}` with the mask {mask:#x}, but its warp has no lane {lane} any more",
                thread(run, *by)
            ),
            "keep all lanes in the kernel until then, or leave those that are gone out of the mask",
        ),
        MaskFault::CallerMissing => (
            format!("{} calls `{name}` with the mask {mask:#x}, which leaves it out", thread(run, *by)),
            "a lane that takes part has its own bit in the mask",
        ),
        MaskFault::Width(width) => (
            format!("`{name}` is given the width {width}, which is no power of two from 1 to 32"),
            "the width is 1, 2, 4, 8, 16 or 32",
        ),
    };
    let mut finding = parts::finding(&RULE, context, shown, *site, Shows::Barrier, message)?;
    if let Some(condition) = condition {
        finding.related.push(label(context, *condition, "the lanes part here"));
    }
    for event in &shown.alike {
        if let EventKind::WarpMask { site, name, .. } = &event.kind {
            finding.claim.sites.push(parts::place(context, *site));
            add_place(&mut finding, label(context, *site, format!("`{name}` under the same condition")));
        }
    }
    finding.help = Some(help.to_owned());
    // Lanes that have left the kernel, or have nothing else to do in it, may be named; only what is read from them means nothing.
    if matches!(fault, MaskFault::LaneGone(_)) || shown.harm == Harm::Nowhere {
        parts::only_possible(&mut finding);
    }
    Some(finding)
}
