//! A suppression comment that suppresses nothing.

use cudalint_engine::{IgnoreContext, Rule, Sink, rule};
use cudalint_findings::{Applicability, Confidence, Edit, Fix, Shows};

/// The rule.
pub static RULE: Rule = rule!("unused-ignore", Suspicious, None)
    .summary("A suppression comment names a rule that reports nothing there.")
    .confidence(&[Confidence::Definite])
    .fix(Applicability::Safe)
    .ignores(check);

fn check(context: &IgnoreContext<'_>, sink: &mut Sink<'_>) {
    for comment in context.comments {
        let (unused, kept): (Vec<_>, Vec<_>) = comment.names.iter().partition(|name| name.judged && !name.used);
        let Some(first) = unused.first() else { continue };
        let names = unused.iter().map(|name| format!("`{}`", name.name)).collect::<Vec<_>>().join(", ");
        let verb = if unused.len() == 1 { "reports" } else { "report" };
        let extent = if comment.whole_file { "in this file" } else { "here" };
        let place = context.place(first.range.start..unused.last().unwrap_or(first).range.end);
        let mut finding = RULE.finding(
            Confidence::Definite,
            place,
            Shows::Nothing,
            format!("{names} {verb} nothing {extent}: the comment is not needed"),
        );
        let (range, text) = match &comment.brackets {
            Some(inside) if !kept.is_empty() => {
                let names: Vec<&str> = kept.iter().map(|name| name.name.as_str()).collect();
                (inside.clone(), names.join(", "))
            }
            _ => (comment.removal.clone(), String::new()),
        };
        finding.fix = Some(Fix {
            applicability: Applicability::Safe,
            message: "remove what is not needed".to_owned(),
            edits: vec![Edit { place: context.place(range), text }],
        });
        sink.report(finding);
    }
}
