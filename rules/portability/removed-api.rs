//! A call of a function that the toolkit, or the devices that the code is compiled for, no longer have.

use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::{Confidence, Finding, Label, Shows, Witness};
use cudalint_program::api::End;
use cudalint_replay::facts::EndedCall;

/// The rule.
pub static RULE: Rule = rule!("removed-api", Portability, Compile)
    .summary("A function is called that the toolkit or the architecture that the code is compiled for no longer has.")
    .cwe(477)
    .confidence(&[Confidence::Definite, Confidence::Likely])
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for call in &context.facts.ended_calls {
        sink.report_some(finding(context, call));
    }
}

fn finding(context: &ModuleContext<'_>, call: &EndedCall) -> Option<Finding> {
    let until = call.api.until?;
    let (message, label, compiled, named) = match until.end {
        End::Toolkit(major, minor) => {
            let toolkit = context.target.toolkit?;
            let (own_major, own_minor) = toolkit.value;
            if toolkit.value < (major.into(), minor.into()) {
                return None;
            }
            let message = format!("`{}` is no longer there from CUDA {major}.{minor} on", call.api.name());
            let own = format!("CUDA {own_major}.{own_minor}");
            (message, format!("not declared by {own}"), own, toolkit.named)
        }
        End::Architecture(first) => {
            let architecture = context.target.architecture?;
            if architecture.value < first.into() {
                return None;
            }
            let message = format!("`{}` is not there for `sm_{first}` and newer", call.api.name());
            let own = format!("`sm_{}`", architecture.value);
            (message, format!("not there for {own}"), own, architecture.named)
        }
    };
    // Code for several toolkits asks which one it is, and is not read here as with the one that a build file names.
    if named && call.conditional {
        return None;
    }
    let function = context.function_name(call.caller);
    let mut assumptions = Vec::new();
    if named {
        assumptions.push(format!("this is compiled with or for {compiled}, which a build file names"));
    }
    if call.in_template {
        assumptions.push(format!("`{function}` is instantiated"));
    }
    let confidence = match assumptions.len() {
        0 => Confidence::Definite,
        1 => Confidence::Likely,
        _ => return None,
    };
    let mut finding = RULE.finding(confidence, context.place(call.span), Shows::CompileError, message);
    finding.label = label;
    finding.help = Some(match until.instead {
        "" => "nothing takes its place".to_owned(),
        instead => format!("use `{instead}`"),
    });
    let caller = context.module.functions.get(call.caller)?;
    let by = Label {
        place: context.place(caller.name_span),
        message: format!("`{function}` is compiled with or for {compiled}"),
    };
    finding.function = function;
    finding.witness = Some(Witness { path: vec![by], assumptions, ..Witness::default() });
    Some(finding)
}
