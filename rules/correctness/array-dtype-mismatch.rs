//! An array whose elements are of another type than the kernel reads.

use crate::parts::{fault_finding, places, report_faults};
use cudalint_engine::{ModuleContext, Rule, rule};
use cudalint_findings::claim::Difference;
use cudalint_findings::{Finding, Label, Method, Shows};
use cudalint_replay::facts::{CopyProblem, PythonFault, PythonFaultKind};

/// The rule.
pub static RULE: Rule = rule!("array-dtype-mismatch", Correctness, Output)
    .summary("An array is handed to a kernel, or copied into an array, that takes its elements for another type.")
    .cwe(843)
    .facts(|context, sink| {
        report_faults(context, sink, |context, fault| finding(context, fault).or_else(|| refused(context, fault)));
    });

fn finding(context: &ModuleContext<'_>, fault: &PythonFault) -> Option<Finding> {
    let PythonFaultKind::ElementType { kernel, parameter, declared, wanted, given, text, made } = &fault.kind else {
        return None;
    };
    let message = format!(
        "`{text}` holds {given}, but `{kernel}` takes `{parameter}` for a pointer to `{wanted}`: it reads other values"
    );
    let claim = Shows::Memory { difference: Difference::Argument { parameter: parameter.clone() } };
    let mut finding = fault_finding(&RULE, context, fault, None, claim, message)?;
    finding.label = format!("an array of {given}");
    finding.related = vec![
        Label { place: context.place_of(*declared), message: format!("elements of type `{wanted}`") },
        Label { place: context.place_of(*made), message: format!("made here with elements of type {given}") },
    ];
    finding.claim.kernel = Some(kernel.clone());
    finding.claim.sites = places(&finding.related);
    finding.help = Some(format!("make the array with the type that the kernel reads: {}", numpy_type(wanted)));
    Some(finding)
}

/// A copy between arrays of different types, which the package refuses.
fn refused(context: &ModuleContext<'_>, fault: &PythonFault) -> Option<Finding> {
    let PythonFaultKind::CopyRefused { api, destination, source, types, made, problem, exception, .. } = &fault.kind
    else {
        return None;
    };
    if *problem != CopyProblem::ElementType {
        return None;
    }
    let message =
        format!("`{api}` raises `{exception}`: `{source}` holds {}, but `{destination}` holds {}", types.1, types.0);
    let claim = Shows::exception(&[exception], &[]);
    let mut finding = fault_finding(&RULE, context, fault, None, claim, message)?;
    finding.label = "arrays of different types".to_owned();
    finding.method = Some(Method::Exception);
    for (site, dtype) in [(made.0, &types.0), (made.1, &types.1)] {
        let message = format!("made here with elements of type {dtype}");
        finding.related.push(Label { place: context.place_of(site), message });
    }
    finding.help = Some("make both with the same `dtype`, or convert one with `astype` first".to_owned());
    Some(finding)
}

/// `NumPy`'s name for a type of C.
fn numpy_type(name: &str) -> String {
    let known = match name {
        "float" => "`dtype=np.float32`",
        "double" => "`dtype=np.float64`",
        "int" => "`dtype=np.int32`",
        "unsigned" | "unsigned int" => "`dtype=np.uint32`",
        "long" | "long long" => "`dtype=np.int64`",
        _ => return format!("the one of `{name}`"),
    };
    known.to_owned()
}
