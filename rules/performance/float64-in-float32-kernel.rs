//! A value is computed in `double` between two of `float`.

use crate::figures::doubled;
use crate::parts::assumptions;
use crate::runs::parts::{MAX_PLACES, add_place, is_python, label, run_finding, text};
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::claim::Cost;
use cudalint_findings::{Confidence, Finding, Shows};
use cudalint_replay::runs::{Doubled, KernelRun};

/// The rule.
pub static RULE: Rule = rule!("float64-in-float32-kernel", Performance, Counters)
    .summary("A kernel computes in `double` what is made of `float` and becomes `float` again.")
    .figures()
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for (run, all) in doubled(context) {
        sink.report_some(finding(context, run, &all));
    }
}

fn finding(context: &ModuleContext<'_>, run: &KernelRun, all: &[Doubled]) -> Option<Finding> {
    let first = all.first()?;
    let operations: u32 = all.iter().map(|it| it.operations).sum();
    let (double, float) = if is_python(run) { ("float64", "float32") } else { ("double", "float") };
    let what = if operations == 1 { "1 operation".to_owned() } else { format!("{operations} operations") };
    let message = format!(
        "`{}` computes {what} in `{double}` between values of `{float}`: many GPUs do these at 1/32 or 1/64 of the rate",
        run.name
    );
    // What the code says holds for every launch.
    let assumed = assumptions([&run.assumptions]);
    let mut finding =
        run_finding(&RULE, context, (run, assumed), first.site, Shows::Cost { of: Cost::Double }, message)?;
    finding.confidence = Confidence::Definite;
    if let Some(witness) = &mut finding.witness {
        witness.assumptions.clear();
        witness.bindings = vec![("operations".to_owned(), i64::from(operations))];
    }
    finding.label = format!("computed in `{double}`");
    for other in all.iter().skip(1).take(MAX_PLACES) {
        add_place(&mut finding, label(context, other.site, "likewise"));
    }
    finding.help = Some(match first.constant.map(|site| text(context, site)) {
        Some(constant) if is_python(run) => {
            format!("write `np.float32({constant})`, or keep it in a `float32` variable")
        }
        Some(constant) => format!("write `{constant}f`, and functions for `float`"),
        None => format!("use functions and variables for `{float}`"),
    });
    Some(finding)
}
