//! Words for races of one execution.

use super::Shown;
use super::parts::{self, add_access, add_object, both, does, label, other_thread, thread};
use cudalint_engine::{ModuleContext, Rule};
use cudalint_findings::{Finding, Shows};
use cudalint_replay::runs::report::RaceValues;

pub use cudalint_replay::runs::defects::{Harm, Race, race};

/// Other races with the same cause that are named, at most.
const MAX_ALIKE: usize = 8;

/// A finding about a race at its later access: who does what, then `why` nothing orders it.
pub fn finding(rule: &'static Rule, context: &ModuleContext<'_>, shown: &Shown<'_>, why: &str) -> Option<Finding> {
    let race = race(shown.event)?;
    let perhaps = match (race.values, shown.harm) {
        (RaceValues::Same, Harm::Perhaps) => ", although with the same value",
        (RaceValues::Differ, Harm::Perhaps) => ", so that one of them is chosen",
        (_, Harm::Perhaps) => ", perhaps with the same value",
        (_, Harm::Nowhere) => ", although nothing that anybody sees hangs on it",
        _ => "",
    };
    finding_with(rule, context, shown, format!("{}{perhaps}, {why}", both(shown.run, &race)))
}

/// The same with a message of its own.
pub fn finding_with(
    rule: &'static Rule,
    context: &ModuleContext<'_>,
    shown: &Shown<'_>,
    message: String,
) -> Option<Finding> {
    let run = shown.run;
    let race = race(shown.event)?;
    let Race { object, first, second, .. } = race;
    // Blocks run in any order: the access that needs the other one is the read.
    let (first, second) = if first.thread.block != second.thread.block && !first.kind.writes() {
        (second, first)
    } else {
        (first, second)
    };
    let shows = Shows::Race { object: parts::object(object), accesses: Vec::new() };
    let mut finding = parts::finding(rule, context, shown, second.site, shows, message)?;
    finding.label = format!("{} {}", other_thread(run, first.thread, second.thread), does(second.kind));
    if first.site != second.site {
        let said = format!("{} {}", thread(run, first.thread), does(first.kind));
        finding.claim.sites.push(parts::place(context, first.site));
        finding.related.push(label(context, first.site, said));
    }
    add_object(context, &mut finding, run, object, first);
    add_access(context, &mut finding, first, object);
    add_access(context, &mut finding, second, object);
    for other in shown.alike.iter().filter_map(|event| self::race(event)).take(MAX_ALIKE) {
        finding.related.push(label(context, other.second.site, format!("also: {}", both(run, &other))));
    }
    weighed(finding, shown.harm)
}

/// A finding with the confidence that the harm leaves it: where both perhaps write the same, memory ends up alike whoever
/// comes last; where what is read goes nowhere, nobody sees a difference.
pub fn weighed(mut finding: Finding, harm: Harm) -> Option<Finding> {
    match harm {
        Harm::Surely => {}
        Harm::WithOtherData => parts::assume(&mut finding, "the data is not the same everywhere")?,
        Harm::Perhaps | Harm::Nowhere => parts::only_possible(&mut finding),
    }
    Some(finding)
}
