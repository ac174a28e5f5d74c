//! A program that is compiled at run time fails, and what the compiler says of it nobody reads.

use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::{Confidence, Fault, Finding, Severity, Shows};
use cudalint_replay::facts::UnreadLog;

/// The rule.
pub static RULE: Rule = rule!("nvrtc-log-ignored", Preview, FaultInjection)
    .summary("The failure to compile a program at run time is looked at, and the compiler's messages are not.")
    .cwe(391)
    .confidence(&[Confidence::Definite])
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    // The first shows where the messages would be read.
    if let Some(call) = context.facts.unread_logs.first() {
        sink.report(finding(context, call));
    }
}

fn finding(context: &ModuleContext<'_>, call: &UnreadLog) -> Finding {
    let message = format!("where `{}` fails, nobody reads what the compiler says", call.api);
    let claim = Shows::UnreadStatus { fault: Fault::Log };
    let mut finding = RULE.finding(Confidence::Definite, context.place(call.span), claim, message);
    finding.severity = Severity::Info;
    finding.function = context.function_name(call.function);
    finding.label = "its status says that something is wrong, and not what".to_owned();
    finding.help = Some("ask `nvrtcGetProgramLog` for the messages before the program gives up".to_owned());
    finding
}
