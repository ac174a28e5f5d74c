//! A variable that a kernel has made a constant of.

use crate::parts::{fault_finding, places, report_faults};
use cudalint_engine::{ModuleContext, Rule, rule};
use cudalint_findings::claim::Difference;
use cudalint_findings::{Confidence, Finding, Label, Shows};
use cudalint_replay::facts::{PythonFault, PythonFaultKind, Site};

/// The rule.
pub static RULE: Rule = rule!("captured-global-mutated", Suspicious, Output)
    .summary("A variable changes after a kernel that reads it has been compiled: the kernel keeps the old value.")
    .cwe(471)
    .confidence(&[Confidence::Likely])
    .facts(|context, sink| report_faults(context, sink, finding));

fn finding(context: &ModuleContext<'_>, fault: &PythonFault) -> Option<Finding> {
    let PythonFaultKind::CapturedChanged { kernel, function, name, before, after, compiled, launch } = &fault.kind
    else {
        return None;
    };
    let message = format!(
        "`{kernel}` still uses {before} for `{name}`, which is {after} here: it was compiled with the old value"
    );
    let assumption = format!("the new value of `{name}` is meant for `{kernel}`");
    let claim = Shows::Memory { difference: Difference::Captured { name: name.clone() } };
    let mut finding = fault_finding(&RULE, context, fault, Some(assumption), claim, message)?;
    finding.label = format!("no compiled kernel sees {after}");
    finding.related = vec![
        Label { place: context.place_of(*compiled), message: format!("`{kernel}` is compiled here, with {before}") },
        Label { place: context.place_of(*launch), message: format!("and launched again here, with {before}") },
    ];
    let (module, function) = *function;
    if let Some(function) = context.project.module(module).functions.get(function) {
        let site = Site { module, span: function.name_span };
        finding.related.push(Label { place: context.place_of(site), message: "the kernel".to_owned() });
    }
    finding.claim.kernel = Some(kernel.clone());
    finding.claim.sites = places(&finding.related);
    finding.help = Some(format!("pass `{name}` as an argument"));
    Some(finding)
}
