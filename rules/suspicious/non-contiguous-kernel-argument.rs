//! A view with gaps for a kernel that knows of none.

use crate::parts::{fault_finding, places, report_faults};
use cudalint_engine::{ModuleContext, Rule, rule};
use cudalint_findings::claim::Difference;
use cudalint_findings::{Confidence, Finding, Label, Shows};
use cudalint_replay::facts::{PythonFault, PythonFaultKind};

/// The rule.
pub static RULE: Rule = rule!("non-contiguous-kernel-argument", Suspicious, Output)
    .summary("A transposed or strided view is handed to a CUDA C++ kernel, which sees the memory below it.")
    .cwe(628)
    .confidence(&[Confidence::Likely])
    .facts(|context, sink| report_faults(context, sink, finding));

fn finding(context: &ModuleContext<'_>, fault: &PythonFault) -> Option<Finding> {
    let PythonFaultKind::NotContiguous { kernel, parameter, declared, text, view, transposed } = &fault.kind else {
        return None;
    };
    let message = if *transposed {
        format!(
            "`{text}` is a transposed view, and `{kernel}` reads its memory, where the elements lie in the old order"
        )
    } else {
        format!("`{text}` is a view with gaps, and `{kernel}` reads its memory, the elements between included")
    };
    let assumption = format!("`{kernel}` means the elements of `{text}` in their order");
    let claim = Shows::Memory { difference: Difference::Argument { parameter: parameter.clone() } };
    let mut finding = fault_finding(&RULE, context, fault, Some(assumption), claim, message)?;
    finding.label = "the kernel gets the address, and no strides".to_owned();
    finding.related = vec![
        Label { place: context.place_of(*view), message: "the view is made here; nothing is copied".to_owned() },
        Label {
            place: context.place_of(*declared),
            message: format!("`{parameter}` is indexed as if all lay in one piece"),
        },
    ];
    finding.claim.kernel = Some(kernel.clone());
    finding.claim.sites = places(&finding.related);
    finding.help = Some(format!("copy it into one piece first: `cp.ascontiguousarray({text})`"));
    Some(finding)
}
