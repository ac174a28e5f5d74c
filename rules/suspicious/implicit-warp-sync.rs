//! Lanes of a warp that exchange data without a barrier, as if they ran in step.

use crate::runs::races;
use crate::runs::{Defect, Shown, parts, report};
use cudalint_engine::{ModuleContext, Rule, rule};
use cudalint_findings::{Confidence, Finding};

/// The rule.
pub static RULE: Rule = rule!("implicit-warp-sync", Suspicious, Racecheck)
    .summary("Lanes of one warp exchange data through memory as if they ran in step, with no `__syncwarp` between.")
    .guidelines(&["CUDASecurity: data races"])
    .cwe(362)
    .confidence(&[Confidence::Definite, Confidence::Likely, Confidence::Possible])
    .facts(|context, sink| report(context, sink, Defect::ImplicitWarpSync, finding));

fn finding(context: &ModuleContext<'_>, shown: &Shown<'_>) -> Option<Finding> {
    let why = "and nothing keeps the lanes of a warp in step";
    let mut finding = races::finding(&RULE, context, shown, why)?;
    finding.help = Some(parts::warp_help(shown.run));
    if context.project.has_lanes_in_step(context.id) {
        parts::only_possible(&mut finding);
    }
    Some(finding)
}
