//! Macros that should check statuses and fail to.

use crate::parts::places;
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::{Confidence, Fault, Finding, Label, Shows, Witness};
use cudalint_replay::facts::{Checker, CheckerDefect};

/// The rule.
pub static RULE: Rule = rule!("defective-check-macro", Suspicious, FaultInjection)
    .summary("The macro that checks statuses drops the call, makes it twice, or reports the wrong error.")
    .guidelines(&["CUDA-1.3", "CUDASecurity-ERR01"])
    .cwe(617)
    .confidence(&[Confidence::Definite, Confidence::Likely, Confidence::Possible])
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for checker in &context.facts.checkers {
        if *checker.name == *"assert" {
            sink.report_some(written_out(context, checker));
            continue;
        }
        for defect in &checker.defects {
            let name = &checker.name;
            let (span, message, help) = match defect {
                CheckerDefect::CallInsideAssert { span } => (
                    *span,
                    format!("`{name}` makes the call inside `assert`: with `NDEBUG` the call itself disappears"),
                    "store the status first, then test the variable",
                ),
                CheckerDefect::EvaluatesTwice { span, .. } => (
                    *span,
                    format!("`{name}` evaluates its argument twice: on failure the call is made again"),
                    "store the status first, then test and print the variable",
                ),
                CheckerDefect::CompiledOut { condition, span } => (
                    *span,
                    format!("`{name}` expands to nothing under `{condition}`: the call disappears with the check"),
                    "expand to the call itself where nothing is to be checked",
                ),
                CheckerDefect::ReadsLastErrorTwice { second, .. } => (
                    *second,
                    format!(
                        "`{name}` reads the last error a second time: the first read has cleared it, so \"no error\" is reported"
                    ),
                    "store what `cudaGetLastError()` returns, or test with `cudaPeekAtLastError()`",
                ),
            };
            let fault = match defect {
                CheckerDefect::CallInsideAssert { .. } | CheckerDefect::CompiledOut { .. } => Fault::DroppedCall,
                CheckerDefect::EvaluatesTwice { .. } => Fault::RepeatedCall,
                CheckerDefect::ReadsLastErrorTwice { .. } => Fault::ClearedError,
            };
            let claim = Shows::UnreadStatus { fault };
            let assumption = asked_for(defect);
            let (confidence, assumption) = match defect {
                CheckerDefect::EvaluatesTwice { shown: true, .. } => {
                    let otherwise = "a call that has failed does not fail in the same way when it is made again";
                    (Confidence::Possible, Some(otherwise.to_owned()))
                }
                _ if assumption.is_some() => (Confidence::Likely, assumption),
                _ => (Confidence::Definite, None),
            };
            let mut finding = RULE.finding(confidence, context.place(span), claim, message);
            finding.help = Some(help.to_owned());
            let mut path = Vec::new();
            if let CheckerDefect::ReadsLastErrorTwice { first, .. } = defect {
                finding.claim.sites.push(context.place(*first));
                finding.related.push(Label { place: context.place(*first), message: "first read".to_owned() });
                path.push(Label {
                    place: context.place(*first),
                    message: "this read clears the last error".to_owned(),
                });
            }
            path.push(Label { place: context.place(span), message: format!("`{name}`") });
            let assumptions = assumption.into_iter().collect();
            finding.witness = Some(Witness { path, assumptions, ..Witness::default() });
            sink.report(finding);
        }
    }
}

/// The condition of an empty definition, where somebody has to ask for it: release builds define `NDEBUG`, and what a build
/// does not define is not defined.
fn asked_for(defect: &CheckerDefect) -> Option<String> {
    let CheckerDefect::CompiledOut { condition, .. } = defect else { return None };
    let by_itself = condition.contains("NDEBUG") || condition.starts_with('!');
    (!by_itself).then(|| format!("a build with `{condition}`"))
}

/// Calls written inside `assert(…)` without any macro of the project: one finding a function.
fn written_out(context: &ModuleContext<'_>, checker: &Checker) -> Option<Finding> {
    let mut spans = checker.defects.iter().filter_map(|defect| match defect {
        CheckerDefect::CallInsideAssert { span } => Some(*span),
        _ => None,
    });
    let first = spans.next()?;
    let called = |span| context.text(span).split('(').next().unwrap_or("").trim().to_owned();
    let name = called(first);
    let message = format!("the call of `{name}` stands inside `assert`: with `NDEBUG` it disappears");
    let claim = Shows::UnreadStatus { fault: Fault::DroppedCall };
    let mut finding = RULE.finding(Confidence::Definite, context.place(first), claim, message);
    finding.related = spans
        .map(|span| Label { place: context.place(span), message: format!("so does the call of `{}`", called(span)) })
        .collect();
    finding.claim.sites = places(&finding.related);
    finding.help = Some("store the status first, then assert on the variable".to_owned());
    let path =
        vec![Label { place: context.place(first), message: "`NDEBUG` removes the argument of `assert`".to_owned() }];
    finding.witness = Some(Witness { path, ..Witness::default() });
    Some(finding)
}
