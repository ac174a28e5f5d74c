//! A process that has used CUDA is forked, and the child uses CUDA.

use crate::parts::is_python;
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::claim::Call;
use cudalint_findings::{Confidence, Finding, Label, Method, Shows, Witness};
use cudalint_replay::facts::{ForkFact, Forker};

/// The status of a call that finds the driver's state of another process: `cudaErrorInitializationError`.
const NOT_HERE: i64 = 3;

/// The rule.
pub static RULE: Rule = rule!("fork-after-cuda-init", Preview, ApiError)
    .summary("A process forks after it has used CUDA, and its child uses CUDA, which fails there.")
    .cwe(664)
    .guidelines(&["CUDA-1.6"])
    .confidence(&[Confidence::Definite, Confidence::Likely])
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for fact in &context.facts.forks {
        sink.report(finding(context, fact));
    }
}

fn finding(context: &ModuleContext<'_>, fact: &ForkFact) -> Finding {
    let ForkFact { before, child, by, .. } = fact;
    let (whose, where_forked) = match by {
        Forker::Call => ("the child of this `fork`".to_owned(), ""),
        Forker::Started { what, .. } => (format!("a process that this `{what}` starts"), " where it is forked"),
    };
    let message = format!(
        "{whose} calls `{}`, which fails{where_forked}: its parent has called `{}` before",
        child.api, before.api
    );
    let sure = !matches!(by, Forker::Started { sure: false, .. });
    let confidence = if sure { Confidence::Definite } else { Confidence::Likely };
    let place = context.place_of(fact.fork);
    let call =
        Call { site: Some(context.place_of(child.site)), status: Some(NOT_HERE), ..Call::of(child.api.as_str()) };
    let is_python = is_python(context, fact.fork);
    let claim = if is_python { Shows::Nothing } else { Shows::FailedCall { call } };
    let mut finding = RULE.finding(confidence, place, claim, message);
    if is_python {
        finding.method = Some(Method::None);
    }
    if !sure {
        let assumptions = vec!["processes are forked: Python before 3.14, on Linux".to_owned()];
        finding.witness = Some(Witness { assumptions, ..Witness::default() });
    }
    finding.function = context.function_name(fact.function);
    finding.label = "CUDA's state does not survive in the child".to_owned();
    finding.related = vec![
        Label { place: context.place_of(before.site), message: "CUDA is used here, before".to_owned() },
        Label { place: context.place_of(child.site), message: "the child uses CUDA here".to_owned() },
    ];
    finding.help = Some(match by {
        Forker::Call => "fork before the first call of CUDA, or let the child go on with `exec`".to_owned(),
        Forker::Started { .. } => {
            "start processes before CUDA is used, or by `spawn` or `forkserver` (`multiprocessing.get_context`)"
                .to_owned()
        }
    });
    finding
}
