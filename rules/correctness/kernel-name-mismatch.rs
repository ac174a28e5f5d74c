//! A kernel of a program that is compiled at run time is looked up by a name that it does not have.

use crate::parts::{assumptions, event_finding, is_python};
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::claim::Call;
use cudalint_findings::{Finding, Method, Shows};
use cudalint_program::api::ApiId;
use cudalint_program::api::effects::Library;
use cudalint_replay::facts::{Event, EventKind, NameFact, NameFault};

/// The rule.
pub static RULE: Rule = rule!("kernel-name-mismatch", Correctness, ApiError)
    .summary("A kernel of a program compiled at run time is looked up by a name that it does not have, or that nobody has asked for in time.")
    .cwe(628)
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for event in &context.facts.events {
        if let EventKind::Named(fact) = &event.kind
            && !event.failed
            && !event.conditional
        {
            sink.report_some(finding(context, event, fact));
        }
    }
}

fn finding(context: &ModuleContext<'_>, event: &Event, fact: &NameFact) -> Option<Finding> {
    let (message, help) = match &fact.fault {
        NameFault::Late => (
            format!("`{}` is called after the program has been compiled, and fails", fact.api),
            "add all names before the program is compiled".to_owned(),
        ),
        NameFault::Mangled => (
            format!("`{}` is not `extern \"C\"` in its program, so that `{}` finds no such name", fact.text, fact.api),
            "declare the kernel as `extern \"C\"`, or look it up by what `nvrtcGetLoweredName` gives".to_owned(),
        ),
        NameFault::Ended => (
            format!("`{}` is given a name that belongs to a program which has been destroyed", fact.api),
            "destroy the program after its names have been used, or copy them".to_owned(),
        ),
        NameFault::Missing { added } => {
            let added: Vec<String> = added.iter().map(|name| format!("\"{name}\"")).collect();
            let message = format!("\"{}\" was never added to the program, so that `{}` fails", fact.text, fact.api);
            let help = if added.is_empty() {
                "add the name with `nvrtcAddNameExpression` before the program is compiled".to_owned()
            } else {
                format!("write it as it was added: {}", added.join(", "))
            };
            (message, help)
        }
    };
    // What stands in memory that has been given back may still be the name.
    if fact.fault == NameFault::Ended {
        let assumed = assumptions([&event.assumptions]);
        let mut finding = event_finding(&RULE, context, event, event.site.span, assumed, Shows::Nothing, message)?;
        finding.method = Some(Method::None);
        finding.label = "no text any more".to_owned();
        finding.help = Some(help);
        return Some(finding);
    }
    // CuPy raises what the driver returns.
    let raises =
        is_python(context, event.site) && ApiId::named(&fact.api).is_none_or(|api| api.library != Library::Driver);
    let claim = if raises || fact.api.starts_with("cupy.") {
        Shows::exception(&["CUDADriverError"], &["named symbol not found"])
    } else {
        Shows::FailedCall { call: Call::of(fact.api.as_str()) }
    };
    let by_exception = matches!(claim, Shows::Exception { .. });
    let assumed = assumptions([&event.assumptions]);
    let mut finding = event_finding(&RULE, context, event, event.site.span, assumed, claim, message)?;
    if by_exception {
        finding.method = Some(Method::Exception);
    }
    finding.label = "no name of the compiled program".to_owned();
    finding.help = Some(help);
    Some(finding)
}
