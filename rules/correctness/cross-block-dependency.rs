//! A block that needs what another block of the same launch does.

use crate::runs::parts::{self, kernel, text};
use crate::runs::races::{self, race};
use crate::runs::{Defect, Shown, report};
use cudalint_engine::{ModuleContext, Rule, rule};
use cudalint_findings::{Confidence, Finding, Shows};
use cudalint_replay::runs::report::EventKind;

/// The rule.
pub static RULE: Rule = rule!("cross-block-dependency", Correctness, Watchpoint)
    .summary("A block reads or overwrites what another block of the same launch works on, and nothing orders blocks.")
    .guidelines(&["CUDASecurity: data races"])
    .cwe(362)
    .confidence(&[Confidence::Definite, Confidence::Likely, Confidence::Possible])
    .facts(|context, sink| report(context, sink, Defect::CrossBlock, finding));

fn finding(context: &ModuleContext<'_>, shown: &Shown<'_>) -> Option<Finding> {
    if let EventKind::GridSyncWithoutCooperation { site } = &shown.event.kind {
        let message = format!(
            "`{}` waits for the whole grid, but `{}` is not launched as a cooperative kernel",
            text(context, *site).trim(),
            kernel(context, shown.run)
        );
        let mut finding = parts::finding(&RULE, context, shown, *site, Shows::Barrier, message)?;
        finding.help = Some("launch it with `cudaLaunchCooperativeKernel`".to_owned());
        return Some(finding);
    }
    let race = race(shown.event)?;
    let why = if race.barrier_between {
        "and the barrier between them orders the threads of one block only"
    } else {
        "and nothing orders the two blocks"
    };
    let mut finding = races::finding(&RULE, context, shown, why)?;
    finding.help = Some(
        "end the kernel between the two and launch another, or read from one buffer and write to another".to_owned(),
    );
    Some(finding)
}
