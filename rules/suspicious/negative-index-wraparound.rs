//! A computed index below 0, which Numba counts from the end.

use crate::parts::places;
use crate::runs::parts::{add_place, assume, finding as run_finding, label, text, thread};
use crate::runs::races::weighed;
use crate::runs::{Defect, Shown, report};
use cudalint_engine::{ModuleContext, Rule, rule};
use cudalint_findings::claim::{AccessFault, Object, Space};
use cudalint_findings::{Confidence, Finding, Shows};
use cudalint_replay::runs::report::EventKind;

/// The rule.
pub static RULE: Rule = rule!("negative-index-wraparound", Suspicious, Output)
    .summary("A computed index is negative, and Numba takes it from the end of the array.")
    .cwe(839)
    .confidence(&[Confidence::Likely, Confidence::Possible])
    .facts(|context, sink| report(context, sink, Defect::NegativeIndex, finding));

/// Words by which programs say that they mean it.
const MEANT: [&str; 6] = ["period", "wrap", "circular", "cyclic", "torus", "toroid"];

fn finding(context: &ModuleContext<'_>, shown: &Shown<'_>) -> Option<Finding> {
    let EventKind::NegativeIndex { site, computed, calls, array, axis, thread: who, index, extent, .. } =
        &shown.event.kind
    else {
        return None;
    };
    // What lies before the array is another rule's.
    let from_end = extent.map(|extent| index + extent);
    if from_end.is_none_or(|element| element < 0) || is_meant(context, shown) {
        return None;
    }
    let along = if *axis == 0 { String::new() } else { format!(" along axis {axis}") };
    let element = from_end.unwrap_or_default();
    let message = format!(
        "`{}` is {index} for {}: `{array}` is indexed from its end{along}, at element {element}",
        text(context, *computed),
        thread(shown.run, *who)
    );
    let object = Object { name: array.clone(), space: Space::Global, bytes: None };
    let claim = Shows::Access { fault: AccessFault::NegativeIndex, object, accesses: Vec::new() };
    let mut finding = run_finding(&RULE, context, shown, *site, claim, message)?;
    assume(&mut finding, &format!("`{array}` is not meant to wrap around"))?;
    finding.label = format!("element {element}");
    for call in calls {
        add_place(&mut finding, label(context, *call, "called from here"));
    }
    finding.claim.sites = places(&finding.related);
    finding.help = Some("let the condition keep out the threads whose neighbour does not exist".to_owned());
    weighed(finding, shown.harm)
}

/// Whether the kernel computes other indices with a remainder, or says in words that it wraps around.
fn is_meant(context: &ModuleContext<'_>, shown: &Shown<'_>) -> bool {
    let (module, function) = shown.run.kernel;
    let Some(function) = context.project.module(module).functions.get(function) else { return true };
    let code = context.project.text(module, function.span).to_lowercase();
    code.contains(" % ") || MEANT.iter().any(|word| code.contains(word))
}
