//! An access beyond a thread's own array.

use crate::runs::bounds::{self, Overrun};
use crate::runs::parts::{does, element, extent, named, thread};
use crate::runs::{Defect, Shown, report};
use cudalint_engine::{ModuleContext, Rule, rule};
use cudalint_findings::{Confidence, Finding};
use cudalint_replay::runs::report::Object;
use cudalint_syntax::Language;

/// The rule.
pub static RULE: Rule = rule!("local-index-out-of-range", Correctness, Watchpoint)
    .summary("A thread reads or writes beyond an array of its own.")
    .guidelines(&["CUDASecurity-ARR01"])
    .cwe(787)
    .confidence(&[Confidence::Definite, Confidence::Likely, Confidence::Possible])
    .facts(|context, sink| report(context, sink, Defect::LocalIndex, finding));

fn finding(context: &ModuleContext<'_>, shown: &Shown<'_>) -> Option<Finding> {
    let Overrun { run, object, access, .. } = Overrun::of(shown)?;
    if !is_array(context, object) {
        return None;
    }
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

/// Whether an object is declared as an array: of a record that is laid out here as nobody has written it down nothing is told.
fn is_array(context: &ModuleContext<'_>, object: &Object) -> bool {
    let Some(site) = object.declared else { return false };
    let text = context.project.source(site.module);
    let declared =
        text.get(site.span.start as usize..).unwrap_or("").split([';', ',', ')', '{', '=']).next().unwrap_or("");
    context.module.language == Language::Python || declared.contains('[') || declared.contains("array<")
}
