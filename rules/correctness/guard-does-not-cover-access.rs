//! A condition on the index that lets an index beyond the array through.

use crate::runs::bounds::{self, Overrun};
use crate::runs::parts::text;
use crate::runs::{Defect, Shown, shown, vacuous};
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::{Applicability, Confidence, Finding};

/// The rule.
pub static RULE: Rule = rule!("guard-does-not-cover-access", Correctness, Memcheck)
    .summary("A condition tests the index, but lets one through that lies outside of the array.")
    .guidelines(&["CUDASecurity-ARR01"])
    .cwe(787)
    .confidence(&[Confidence::Definite, Confidence::Likely, Confidence::Possible])
    .fix(Applicability::Unsafe)
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for shown in shown(context, Defect::GuardTooWide) {
        sink.report_some(finding(context, &shown));
    }
    for finding in vacuous::findings(&RULE, context) {
        sink.report(finding);
    }
}

fn finding(context: &ModuleContext<'_>, shown: &Shown<'_>) -> Option<Finding> {
    let overrun = Overrun::of(shown)?;
    let guard = overrun.guards.last().map_or("", |guard| text(context, *guard).trim());
    let message = if guard.is_empty() || guard.len() > 60 {
        format!("{}: the conditions before it do not keep it out", overrun.sentence())
    } else {
        format!("{}: `{guard}` does not keep it out", overrun.sentence())
    };
    let mut finding = bounds::finding(&RULE, context, shown, message)?;
    finding.help = Some("make the condition hold for elements of the array only, or the array longer".to_owned());
    Some(finding)
}
