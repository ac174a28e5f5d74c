//! A variable that a kernel has made a constant of.

use crate::words::{fault_finding, places};
use cudalint_engine::{Check, ModuleContext, Rule, Sink};
use cudalint_findings::claim::Difference;
use cudalint_findings::{Confidence, Finding, Group, Label, Method, RuleInfo, Shows};
use cudalint_replay::facts::{PythonFault, PythonFaultKind, Site};

/// The rule.
pub static RULE: Rule = Rule {
    info: RuleInfo {
        name: "captured-global-mutated",
        group: Group::Suspicious,
        summary: "A variable changes after a kernel that reads it has been compiled: the kernel keeps the old value.",
        page: include_str!("captured-global-mutated.md"),
        method: Method::Output,
        guideline: None,
        cwe: None,
    },
    confidence: &[Confidence::Likely],
    fix: None,
    check: Check::Facts(check),
};

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for fault in &context.facts.python {
        sink.report_some(finding(context, fault));
    }
}

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
