//! An access beyond a shared array.

use crate::runs::bounds::{self, Overrun};
use crate::runs::parts::{does, element, extent, named, thread};
use crate::runs::{Defect, Shown, report};
use cudalint_engine::{ModuleContext, Rule, rule};
use cudalint_findings::Finding;

/// The rule.
pub static RULE: Rule = rule!("shared-index-out-of-range", Correctness, Memcheck)
    .summary("A thread reads or writes beyond a shared array.")
    .guidelines(&["CUDASecurity-ARR01"])
    .cwe(787)
    .facts(|context, sink| report(context, sink, Defect::SharedIndex, finding));

fn finding(context: &ModuleContext<'_>, shown: &Shown<'_>) -> Option<Finding> {
    let Overrun { run, object, access, .. } = Overrun::of(shown)?;
    let message = format!(
        "{} {} element {} of the shared array {}, which has {}",
        thread(run, access.thread),
        does(access.kind),
        element(access, object),
        named(object),
        extent(access, object)?
    );
    let mut finding = bounds::finding(&RULE, context, shown, message)?;
    finding.help =
        Some("index shared memory by the thread within its block, and give it room for all of them".to_owned());
    Some(finding)
}
