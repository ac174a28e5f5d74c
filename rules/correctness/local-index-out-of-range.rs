//! An access beyond a thread's own array.

use crate::runs::bounds::{self, Overrun};
use crate::runs::parts::{does, element, extent, named, thread};
use crate::runs::{Defect, Shown, report};
use cudalint_engine::{ModuleContext, Rule, rule};
use cudalint_findings::{Confidence, Finding};

/// The rule.
pub static RULE: Rule = rule!("local-index-out-of-range", Correctness, Watchpoint)
    .summary("A thread reads or writes beyond an array of its own.")
    .guidelines(&["CUDASecurity-ARR01"])
    .cwe(787)
    .confidence(&[Confidence::Definite, Confidence::Likely, Confidence::Possible])
    .facts(|context, sink| report(context, sink, Defect::LocalIndex, finding));

fn finding(context: &ModuleContext<'_>, shown: &Shown<'_>) -> Option<Finding> {
    let Overrun { run, object, access, .. } = Overrun::of(shown)?;
    let message = format!(
        "{} {} element {} of its own array {}, which has {}",
        thread(run, access.thread),
        does(access.kind),
        element(access, object),
        named(object),
        extent(access, object)?
    );
    let mut finding = bounds::finding(&RULE, context, shown, message)?;
    finding.help = Some("make the array longer, or the loop shorter".to_owned());
    Some(finding)
}
