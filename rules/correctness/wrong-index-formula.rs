//! An index formula that mixes up blocks, threads and their numbers.

use crate::runs::parts::{self, add_access, add_object, beyond_label, both, element_of, label, text};
use crate::runs::races::{race, weighed};
use crate::runs::{Defect, Mistake, Shown, bounds, report};
use cudalint_engine::{ModuleContext, Rule, rule};
use cudalint_findings::{Confidence, Finding, Shows};

/// The rule.
pub static RULE: Rule = rule!("wrong-index-formula", Correctness, Watchpoint)
    .summary(
        "An index is computed from the wrong built-in variables, so that threads share elements or leave the array.",
    )
    .guidelines(&["CUDASecurity-ARR01"])
    .cwe(682)
    .confidence(&[Confidence::Definite, Confidence::Likely, Confidence::Possible])
    .facts(|context, sink| report(context, sink, Defect::IndexFormula, finding));

fn finding(context: &ModuleContext<'_>, shown: &Shown<'_>) -> Option<Finding> {
    let run = shown.run;
    let formula = shown.formula?;
    let written = text(context, formula.site).trim();
    let name = |axis: u8| ['x', 'y', 'z'].get(usize::from(axis)).copied().unwrap_or('?');
    let usual = |axis: u8| format!("blockIdx.{0} * blockDim.{0} + threadIdx.{0}", name(axis));
    let (wrong, right) = match formula.mistake {
        Mistake::GridForBlock(axis) => {
            (format!("`{written}` counts blocks by their number, not by their threads"), usual(axis))
        }
        Mistake::BlockAdded(axis) => {
            (format!("`{written}` is added as it is, so that the next block begins one element further"), usual(axis))
        }
        Mistake::OtherAxis(axis, other) => (
            format!("`{written}` counts blocks along {} by the threads along {}", name(axis), name(other)),
            usual(axis),
        ),
        Mistake::NoBlock(axis) => (format!("`{written}` is the same in every block"), usual(axis)),
    };
    let mut finding = if let Some(race) = race(shown.event) {
        let message = format!("{}: {wrong}", both(run, &race));
        let claim = Shows::Race { object: parts::object(race.object), accesses: Vec::new() };
        let mut finding = parts::finding(&RULE, context, shown, race.second.site, claim, message)?;
        finding.label = element_of(race.second, race.object);
        add_object(context, &mut finding, run, race.object, race.first);
        add_access(context, &mut finding, race.first, race.object);
        add_access(context, &mut finding, race.second, race.object);
        weighed(finding, shown.harm)?
    } else {
        let overrun = bounds::Overrun::of(shown)?;
        let mut finding = bounds::finding(&RULE, context, shown, format!("{}: {wrong}", overrun.sentence()))?;
        finding.label = beyond_label(overrun.access, overrun.object);
        finding
    };
    finding.related.push(label(context, formula.site, "this part of the index is wrong"));
    finding.help = Some(format!("the usual index is `{right}`"));
    Some(finding)
}
