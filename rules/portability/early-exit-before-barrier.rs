//! Threads that leave a kernel before a barrier which others wait at.

use crate::runs::parts::{self, label, other_thread, text, thread};
use crate::runs::{Defect, Shown, report};
use cudalint_engine::{ModuleContext, Rule, rule};
use cudalint_findings::{Confidence, Finding, Shows};
use cudalint_replay::runs::report::EventKind;

/// From this compute capability on a barrier waits for threads that have not left the kernel only.
const BARRIERS_COUNT_LIVE_THREADS: u32 = 70;

/// The rule.
pub static RULE: Rule = rule!("early-exit-before-barrier", Portability, None)
    .summary("Some threads leave the kernel before a barrier that others wait at, which is undefined before `sm_70`.")
    .guidelines(&["CUDA-1.14"])
    .cwe(833)
    .confidence(&[Confidence::Definite, Confidence::Likely, Confidence::Possible])
    .facts(|context, sink| report(context, sink, Defect::EarlyExit, finding));

fn finding(context: &ModuleContext<'_>, shown: &Shown<'_>) -> Option<Finding> {
    let EventKind::ExitBeforeBarrier { exit, barrier, leaves, waits, .. } = &shown.event.kind else { return None };
    let run = shown.run;
    let barrier_text = text(context, *barrier).trim();
    let message = format!(
        "{} leaves the kernel, and {} waits at `{barrier_text}` later",
        thread(run, *leaves),
        other_thread(run, *leaves, *waits)
    );
    let mut finding = parts::finding(&RULE, context, shown, *exit, Shows::Barrier, message)?;
    finding.claim.sites.push(parts::place(context, *barrier));
    finding.related.push(label(context, *barrier, "the others wait here"));
    finding.help = Some("let all threads reach the barrier, and put the work under the condition instead".to_owned());
    if context.architectures.iter().all(|architecture| *architecture >= BARRIERS_COUNT_LIVE_THREADS) {
        parts::only_possible(&mut finding);
    }
    Some(finding)
}
