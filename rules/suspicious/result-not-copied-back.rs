//! A result that stays on the device.

use crate::parts::{fault_finding, places, report_faults};
use cudalint_engine::{ModuleContext, Rule, rule};
use cudalint_findings::claim::Difference;
use cudalint_findings::{Confidence, Finding, Label, Shows};
use cudalint_replay::facts::{PythonFault, PythonFaultKind};

/// The rule.
pub static RULE: Rule = rule!("result-not-copied-back", Suspicious, Output)
    .summary("A kernel changes the device copy of an array, and the host goes on with its own.")
    .cwe(563)
    .confidence(&[Confidence::Likely])
    .facts(|context, sink| report_faults(context, sink, finding));

fn finding(context: &ModuleContext<'_>, fault: &PythonFault) -> Option<Finding> {
    let PythonFaultKind::NotCopiedBack { kernel, host, device, transfer, launch } = &fault.kind else { return None };
    let message = format!(
        "`{host}` is what it was before `{kernel}` ran: the kernel changes the copy `{device}`, which is never fetched"
    );
    let assumption = format!("the host means what `{kernel}` computes");
    let claim = Shows::Memory { difference: Difference::Stale { name: host.clone() } };
    let mut finding = fault_finding(&RULE, context, fault, Some(assumption), claim, message)?;
    finding.label = "the host's own array".to_owned();
    finding.related = vec![
        Label { place: context.place_of(*transfer), message: format!("`{device}` is a copy of `{host}`") },
        Label { place: context.place_of(*launch), message: format!("`{kernel}` changes `{device}`") },
    ];
    finding.claim.kernel = Some(kernel.clone());
    finding.claim.sites = places(&finding.related);
    finding.help = Some(format!("fetch the result first: `{host} = {device}.copy_to_host()`"));
    Some(finding)
}
