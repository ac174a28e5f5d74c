//! Two threads, one element of global memory, and nothing that orders them.

use crate::runs::races::{self, race};
use crate::runs::{Defect, Shown, parts, report};
use cudalint_engine::{ModuleContext, Rule, rule};
use cudalint_findings::{Confidence, Finding};
use cudalint_replay::runs::report::{AccessKind, RaceScope};

/// The rule.
pub static RULE: Rule = rule!("global-memory-race", Correctness, Watchpoint)
    .summary("Two threads touch one element of global memory, nothing orders them, and one of them writes.")
    .guidelines(&["CUDASecurity: data races"])
    .cwe(362)
    .confidence(&[Confidence::Definite, Confidence::Likely, Confidence::Possible])
    .facts(|context, sink| report(context, sink, Defect::GlobalRace, finding));

fn finding(context: &ModuleContext<'_>, shown: &Shown<'_>) -> Option<Finding> {
    let race = race(shown.event)?;
    let one_block = race.first.thread.block == race.second.thread.block;
    let in_one_warp = race.scope == RaceScope::Warp;
    // Two atomic operations only race where one of them is no such thing for the other block.
    let of_block = [race.first.kind, race.second.kind] == [AccessKind::Atomic; 2];
    let why = match (of_block, in_one_warp) {
        (true, _) => "but with the scope of a block, which orders the threads of one block only",
        (false, true) => "and nothing keeps the lanes of a warp in step",
        (false, false) => "and nothing orders the two",
    };
    let mut finding = races::finding(&RULE, context, shown, why)?;
    finding.help = Some(if of_block {
        "use the operation without `_block`, or `cuda::thread_scope_device`".to_owned()
    } else if in_one_warp {
        parts::warp_help(shown.run)
    } else if one_block {
        "give each thread its own element, read from one buffer and write to another, or put a barrier between"
            .to_owned()
    } else {
        "give each block its own elements, or use an atomic operation: no barrier orders two blocks".to_owned()
    });
    Some(finding)
}
