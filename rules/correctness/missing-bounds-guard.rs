//! More threads than elements, and no condition that keeps the rest out.

use crate::runs::bounds::{self, Overrun};
use crate::runs::parts::is_python;
use crate::runs::{Defect, Shown, report};
use cudalint_engine::{ModuleContext, Rule, rule};
use cudalint_findings::{Confidence, Finding};

/// The rule.
pub static RULE: Rule = rule!("missing-bounds-guard", Correctness, Memcheck)
    .summary("A launch has more threads than an array has elements, and no condition keeps the others out.")
    .guidelines(&["CUDASecurity-ARR01"])
    .cwe(787)
    .confidence(&[Confidence::Definite, Confidence::Likely, Confidence::Possible])
    .facts(|context, sink| report(context, sink, Defect::MissingGuard, finding));

fn finding(context: &ModuleContext<'_>, shown: &Shown<'_>) -> Option<Finding> {
    let overrun = Overrun::of(shown)?;
    let message = format!("{}: no condition keeps it out", overrun.sentence());
    let mut finding = bounds::finding(&RULE, context, shown, message)?;
    let guard = if is_python(shown.run) { "if i < a.size:" } else { "if (i < n)" };
    finding.help = Some(format!("compare the index with the number of elements first: `{guard}`"));
    Some(finding)
}
