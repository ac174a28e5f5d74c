//! Shared memory that a loop uses again before all threads are done with it.

use crate::runs::parts::{self, barrier, label};
use crate::runs::races::{self, race};
use crate::runs::{Defect, Shown, report};
use cudalint_engine::{ModuleContext, Rule, rule};
use cudalint_findings::{Confidence, Finding};
use cudalint_replay::runs::report::RaceScope;

/// The rule.
pub static RULE: Rule = rule!("shared-memory-race-across-iterations", Correctness, Racecheck)
    .summary("A loop writes shared memory again while other threads still use it from the iteration before.")
    .guidelines(&["CUDASecurity: data races"])
    .cwe(362)
    .confidence(&[Confidence::Definite, Confidence::Likely, Confidence::Possible])
    .facts(|context, sink| report(context, sink, Defect::SharedRaceAcross, finding));

fn finding(context: &ModuleContext<'_>, shown: &Shown<'_>) -> Option<Finding> {
    let race = race(shown.event)?;
    let why = "one iteration later, and no barrier stands between";
    let mut finding = races::finding(&RULE, context, shown, why)?;
    if let Some(looped) = race.across {
        finding.related.push(label(context, looped, "this loop brings the two together"));
    }
    let all = shown.alike.iter().filter_map(|event| races::race(event)).chain([race]);
    if context.project.has_lanes_in_step(context.id) && all.into_iter().all(|race| race.scope == RaceScope::Warp) {
        parts::only_possible(&mut finding);
    }
    let barrier = barrier(shown.run);
    finding.help = Some(format!("put `{barrier}` at the end of the loop too, or use two buffers in turn"));
    Some(finding)
}
