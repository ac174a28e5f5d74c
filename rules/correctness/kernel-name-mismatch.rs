//! A kernel of a program that is compiled at run time is looked up by a name that it does not have.

use crate::parts::{assumptions, event_finding};
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::claim::Call;
use cudalint_findings::{Finding, Shows};
use cudalint_replay::facts::{Event, EventKind, NameFact, NameFault};

/// The rule.
pub static RULE: Rule = rule!("kernel-name-mismatch", Correctness, ApiError)
    .summary("A name of a kernel is added after its program was compiled, or looked up by another spelling than it was added with.")
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
    let claim = Shows::FailedCall { call: Call::of(fact.api.as_str()) };
    let assumed = assumptions([&event.assumptions]);
    let mut finding = event_finding(&RULE, context, event, event.site.span, assumed, claim, message)?;
    finding.label = "no name of the compiled program".to_owned();
    finding.help = Some(help);
    Some(finding)
}
