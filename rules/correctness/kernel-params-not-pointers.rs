//! A kernel's parameters are handed over in an array that holds values in the place of their addresses.

use crate::parts::{assumptions, counted, event_finding};
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::claim::User;
use cudalint_findings::{Finding, Shows};
use cudalint_replay::facts::{Event, EventKind, PackedFact, PackedFault};

/// The rule.
pub static RULE: Rule = rule!("kernel-params-not-pointers", Correctness, Memcheck)
    .summary(
        "The array of a kernel's parameters holds values where it has to hold their addresses, or too few of them.",
    )
    .cwe(686)
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for event in &context.facts.events {
        if let EventKind::Packed(fact) = &event.kind
            && !event.failed
            && !event.conditional
        {
            sink.report_some(finding(context, event, fact));
        }
    }
}

fn finding(context: &ModuleContext<'_>, event: &Event, fact: &PackedFact) -> Option<Finding> {
    let (list, kernel) = (&fact.text, fact.kernel.trim_start_matches("(void *)").trim_start_matches("(void*)"));
    let message = match &fact.fault {
        PackedFault::Device { index, name } => {
            format!("`{list}[{index}]` is the device's address `{name}` itself, where its address belongs")
        }
        PackedFault::Number { index } => format!("`{list}[{index}]` is a number, where the address of one belongs"),
        PackedFault::TooFew { has, wants } => {
            format!(
                "`{list}` ends behind {}, but `{}` takes {wants} parameters",
                counted(*has as usize, "address"),
                kernel
            )
        }
    };
    let claim = Shows::BadAddress { name: list.clone(), user: User::Host };
    let assumed = assumptions([&event.assumptions]);
    let mut finding = event_finding(&RULE, context, event, event.site.span, assumed, claim, message)?;
    finding.label = "the launch reads the parameters behind these addresses".to_owned();
    finding.help = Some(
        "each entry is the address of a variable that holds the parameter: `void *args[] = {&pointer, &count};`"
            .to_owned(),
    );
    Some(finding)
}
