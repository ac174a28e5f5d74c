//! An index that wraps around its type on the way to an address.

use crate::runs::bounds::{self, Overrun};
use crate::runs::{Defect, Shown, report};
use cudalint_engine::{ModuleContext, Rule, rule};
use cudalint_findings::{Confidence, Finding};

/// The rule.
pub static RULE: Rule = rule!("index-overflow", Correctness, Memcheck)
    .summary("An index wraps around the range of its type, and the access lands outside of the array.")
    .guidelines(&["CUDASecurity-ARR01"])
    .cwe(190)
    .confidence(&[Confidence::Definite, Confidence::Likely, Confidence::Possible])
    .facts(|context, sink| report(context, sink, Defect::IndexOverflow, finding));

fn finding(context: &ModuleContext<'_>, shown: &Shown<'_>) -> Option<Finding> {
    let overrun = Overrun::of(shown)?;
    let message = format!("{}: the index has wrapped around its type", overrun.sentence());
    let mut finding = bounds::finding(&RULE, context, shown, message)?;
    finding.help =
        Some("compute the index in 64 bits from the first factor on: `(size_t)blockIdx.x * blockDim.x`".to_owned());
    Some(finding)
}
