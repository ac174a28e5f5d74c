//! CUDA is called before `main` begins or after it has ended.

use crate::parts::confidence_for;
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::claim::Call;
use cudalint_findings::{Confidence, Finding, Label, Method, Shows, Witness};
use cudalint_replay::facts::StaticCall;

/// The status of a call that comes after the runtime has ended: `cudaErrorCudartUnloading`.
const ENDED: i64 = 4;

/// The rule.
pub static RULE: Rule = rule!("cuda-call-in-static-lifetime", Preview, ApiError)
    .summary("An object with static lifetime calls CUDA where it begins or ends, before `main` or after it.")
    .cwe(758)
    .guidelines(&["CUDA-1.1"])
    .confidence(&[Confidence::Definite, Confidence::Likely])
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for call in &context.facts.static_calls {
        sink.report_some(finding(context, call));
    }
}

fn finding(context: &ModuleContext<'_>, call: &StaticCall) -> Option<Finding> {
    let object = &call.object;
    let mut assumed = Vec::new();
    if let Some(function) = call.within {
        assumed.push(format!("`{}` is called", context.function_name(function)));
    }
    if let Some(condition) = call.condition {
        assumed.push(format!("`{}` lets the call happen then", context.project.text(condition.module, condition.span)));
    }
    if call.call.is_none() {
        assumed.push(format!("`{object}` has elements when `main` ends"));
    }
    let confidence = confidence_for(&assumed)?;
    let when = if call.after { "ends after" } else { "begins before" };
    let message = match &call.call {
        Some(made) => format!("`{object}` {when} `main`, and calls `{}` then", made.api),
        None => format!("`{object}` {when} `main`, and frees its elements on the device then"),
    };
    let claim = match &call.call {
        Some(made) if call.after => {
            let site = Some(context.place_of(made.site));
            Shows::FailedCall { call: Call { site, status: Some(ENDED), ..Call::of(made.api.as_str()) } }
        }
        // What comes before `main` mostly goes well.
        _ => Shows::Nothing,
    };
    let nothing = claim == Shows::Nothing;
    let mut finding = RULE.finding(confidence, context.place_of(call.declared), claim, message);
    if nothing {
        finding.method = Some(Method::None);
    }
    finding.label = "lives as long as the program".to_owned();
    if let Some(made) = &call.call {
        let by = if made.by.is_empty() { String::new() } else { format!(" by `{}`", made.by) };
        finding.related.push(Label { place: context.place_of(made.site), message: format!("called here{by}") });
    }
    finding.help = Some(
        if call.after {
            "give back what it holds before `main` ends, or let a local variable of `main` own it"
        } else {
            "make it when it is first used"
        }
        .to_owned(),
    );
    finding.witness = Some(Witness { assumptions: assumed, ..Witness::default() });
    Some(finding)
}
