//! A call that is not allowed while a stream's work is recorded for a graph.

use crate::parts::{assumptions, event_finding};
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::claim::Call;
use cudalint_findings::{Label, Shows};
use cudalint_replay::facts::EventKind;

/// The rule.
pub static RULE: Rule = rule!("capture-illegal-call", Correctness, ApiError)
    .summary("A call waits or allocates while a stream records its work for a graph, which CUDA refuses.")
    .cwe(667)
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for event in &context.facts.events {
        let EventKind::Captured(fact) = &event.kind else { continue };
        if event.failed || event.conditional {
            continue;
        }
        let message = format!("`{}` is called while a stream is recorded, and fails", fact.api);
        let claim = Shows::FailedCall { call: Call::of(fact.api.as_str()) };
        let assumed = assumptions([&event.assumptions]);
        let Some(mut finding) = event_finding(&RULE, context, event, event.site.span, assumed, claim, message) else {
            continue;
        };
        finding.label = "not allowed before the recording ends".to_owned();
        let begun = "the recording begins here";
        finding.related.push(Label { place: context.place_of(fact.begun), message: begun.to_owned() });
        finding.help = Some(
            "move it before the recording or behind `cudaStreamEndCapture`: it also makes the recording invalid"
                .to_owned(),
        );
        sink.report(finding);
    }
}
