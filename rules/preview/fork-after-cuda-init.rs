//! A process that has used CUDA is forked, and the child uses CUDA.

use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::claim::Call;
use cudalint_findings::{Confidence, Finding, Label, Shows};
use cudalint_replay::facts::ForkFact;

/// The status of a call that finds the driver's state of another process: `cudaErrorInitializationError`.
const NOT_HERE: i64 = 3;

/// The rule.
pub static RULE: Rule = rule!("fork-after-cuda-init", Preview, ApiError)
    .summary("A process forks after it has used CUDA, and its child uses CUDA, which fails there.")
    .cwe(664)
    .guidelines(&["CUDA-1.6"])
    .confidence(&[Confidence::Definite])
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for fact in &context.facts.forks {
        sink.report(finding(context, fact));
    }
}

fn finding(context: &ModuleContext<'_>, fact: &ForkFact) -> Finding {
    let ForkFact { before, child, .. } = fact;
    let message = format!(
        "the child of this `fork` calls `{}`, which fails: its parent has called `{}` before",
        child.api, before.api
    );
    let place = context.place_of(fact.fork);
    let call =
        Call { site: Some(context.place_of(child.site)), status: Some(NOT_HERE), ..Call::of(child.api.as_str()) };
    let mut finding = RULE.finding(Confidence::Definite, place, Shows::FailedCall { call }, message);
    finding.function = context.function_name(fact.function);
    finding.label = "CUDA's state does not survive in the child".to_owned();
    finding.related = vec![
        Label { place: context.place_of(before.site), message: "CUDA is used here, before".to_owned() },
        Label { place: context.place_of(child.site), message: "the child uses CUDA here".to_owned() },
    ];
    finding.help = Some("fork before the first call of CUDA, or let the child go on with `exec`".to_owned());
    finding
}
