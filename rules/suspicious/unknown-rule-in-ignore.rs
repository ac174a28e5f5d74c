//! A suppression comment that names no rule, or one that does not exist.

use cudalint_engine::{IgnoreContext, Rule, Sink, rule};
use cudalint_findings::{Applicability, Confidence, Edit, Fix, Shows};

/// The rule.
pub static RULE: Rule = rule!("unknown-rule-in-ignore", Suspicious, None)
    .summary("A suppression comment names a rule that does not exist, or none at all, so it suppresses nothing.")
    .confidence(&[Confidence::Definite])
    .fix(Applicability::Unsafe)
    .ignores(check);

fn check(context: &IgnoreContext<'_>, sink: &mut Sink<'_>) {
    for comment in context.comments {
        if comment.names.is_empty() {
            let form = if comment.whole_file { "file-ignore" } else { "ignore" };
            let message = format!("this comment names no rule: write `cudalint: {form}[rule] reason`");
            sink.report(RULE.finding(
                Confidence::Definite,
                context.place(comment.range.clone()),
                Shows::Nothing,
                message,
            ));
        }
        for name in comment.names.iter().filter(|name| name.rule.is_none()) {
            let place = context.place(name.range.clone());
            let message = match &name.nearest {
                Some(near) => format!("there is no rule `{}`; did you mean `{near}`?", name.name),
                None => format!("there is no rule `{}`", name.name),
            };
            let mut finding = RULE.finding(Confidence::Definite, place.clone(), Shows::Nothing, message);
            finding.help =
                Some("`cudalint rules` lists the names; groups cannot be suppressed by a comment".to_owned());
            finding.fix = name.nearest.as_ref().map(|near| Fix {
                applicability: Applicability::Unsafe,
                message: format!("name `{near}`"),
                edits: vec![Edit { place, text: near.clone() }],
            });
            sink.report(finding);
        }
    }
}
