//! A barrier that only a part of a block reaches, while the rest lives on.

use crate::runs::parts::{self, add_place, label, other_thread, text, thread};
use crate::runs::{Defect, Shown, report};
use cudalint_engine::{ModuleContext, Rule, rule};
use cudalint_findings::{Confidence, Finding, Shows};
use cudalint_replay::runs::report::{DoubtKind, EventKind};
use cudalint_replay::runs::{Basis, KernelRun};

/// The rule.
pub static RULE: Rule = rule!("barrier-in-divergent-branch", Correctness, Synccheck)
    .summary("Some threads of a block wait at a barrier that others, which go on elsewhere, do not reach.")
    .guidelines(&["CUDA-1.14"])
    .cwe(833)
    .confidence(&[Confidence::Definite, Confidence::Likely, Confidence::Possible])
    .facts(|context, sink| report(context, sink, Defect::DivergentBarrier, finding));

fn finding(context: &ModuleContext<'_>, shown: &Shown<'_>) -> Option<Finding> {
    let EventKind::DivergentBarrier { barrier, calls, waits, absent, goes_on, condition, missed, .. } =
        &shown.event.kind
    else {
        return None;
    };
    let run = shown.run;
    let message = format!(
        "{} waits at `{}`, which {} does not reach",
        thread(run, *waits),
        text(context, *barrier).trim(),
        other_thread(run, *waits, *absent)
    );
    let mut finding = parts::finding(&RULE, context, shown, *barrier, Shows::Barrier, message)?;
    finding.label = "not reached by the whole block".to_owned();
    finding.related.push(label(context, *condition, "the threads part here"));
    if let Some(goes_on) = goes_on {
        let message = format!("{} goes on to here", other_thread(run, *waits, *absent));
        finding.claim.sites.push(parts::place(context, *goes_on));
        finding.related.push(label(context, *goes_on, message));
    }
    // Since `sm_70` a barrier does not wait for threads that are done: where nobody misses what they would have done, all is well.
    // Nor is anything wrong where only an assumption parts a block, and the program has no launch that does so: a block that cudalint has
    // made up, or a launch that keeps its blocks together with the sizes which the program has by itself.
    let parted = shown.event.doubt.as_ref().is_some_and(|doubt| doubt.kind == DoubtKind::BlockParted);
    let made_up = parted && run.basis == Basis::GuessedBlock && has_main(context, run);
    let refuted = shown.event.doubt.is_some() && stays_together(context, run);
    if goes_on.is_none() && (!missed || made_up || refuted) {
        parts::only_possible(&mut finding);
    } else if goes_on.is_none() && shown.event.doubt.is_none() && run.assumptions.is_none() {
        let guide =
            "CUDA's programming guide is followed, which has a barrier in a branch only where the whole block takes it";
        parts::assume(&mut finding, guide)?;
    }
    for event in &shown.alike {
        if let EventKind::DivergentBarrier { barrier, .. } = &event.kind {
            finding.claim.sites.push(parts::place(context, *barrier));
            add_place(&mut finding, label(context, *barrier, "another barrier under the same condition"));
        }
    }
    finding.related.extend(calls.iter().map(|call| label(context, *call, "called from here")));
    finding.help = Some("move the barrier out of the condition, and keep only the work inside".to_owned());
    Some(finding)
}

/// Whether the same launch was also executed with the sizes that the program has by itself, all of it or but for later rounds of loops
/// followed, and parted no block.
fn stays_together(context: &ModuleContext<'_>, run: &KernelRun) -> bool {
    let parts = |other: &KernelRun| {
        other.report.events.iter().any(|event| matches!(event.kind, EventKind::DivergentBarrier { .. }))
    };
    let same = |other: &&KernelRun| {
        let seen = &other.report.coverage;
        let decided = seen.open.is_empty() && seen.known == seen.accesses;
        let only_long = seen.causes.iter().all(|(cause, _)| ["long loop", "budget spent"].contains(cause));
        other.kernel == run.kernel
            && other.launch == run.launch
            && other.chosen.is_empty()
            && (other.is_whole() || other.grid_known && decided && only_long)
    };
    run.launch.is_some() && context.facts.runs.iter().filter(same).any(|other| !parts(other))
}

/// Whether the kernel stands in a file with a program of its own.
fn has_main(context: &ModuleContext<'_>, run: &KernelRun) -> bool {
    context.project.module(run.kernel.0).functions.iter().any(|function| &*function.name == "main")
}
