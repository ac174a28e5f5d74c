//! Two threads of a block, one element of shared memory, and no barrier between.

use crate::fixes::barrier_between;
use crate::runs::parts::barrier;
use crate::runs::races::{self, race};
use crate::runs::{Defect, Shown, report};
use cudalint_engine::{ModuleContext, Rule, rule};
use cudalint_findings::{Applicability, Confidence, Finding};

/// The rule.
pub static RULE: Rule = rule!("shared-memory-race", Correctness, Racecheck)
    .summary("Two threads of a block touch one element of shared memory with no barrier between, and one writes.")
    .guidelines(&["CUDASecurity: data races"])
    .cwe(362)
    .confidence(&[Confidence::Definite, Confidence::Likely, Confidence::Possible])
    .fix(Applicability::Unsafe)
    .facts(|context, sink| report(context, sink, Defect::SharedRace, finding));

fn finding(context: &ModuleContext<'_>, shown: &Shown<'_>) -> Option<Finding> {
    let race = race(shown.event)?;
    let one_instruction = race.is_one_instruction();
    let why = if one_instruction { "in one step" } else { "and no barrier stands between" };
    let mut finding = races::finding(&RULE, context, shown, why)?;
    if !one_instruction && race.first.site.module == context.id && race.second.site.module == context.id {
        finding.fix = barrier_between(context, race.first.site.span, race.second.site.span, barrier(shown.run));
    }
    finding.help = Some(if one_instruction {
        "let one thread write, give each thread its own element, or use an atomic operation".to_owned()
    } else {
        format!("put `{}` between the two, where every thread of the block reaches it", barrier(shown.run))
    });
    Some(finding)
}
