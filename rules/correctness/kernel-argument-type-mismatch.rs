//! A number for a kernel parameter of another type.

use crate::words::{fault_finding, places};
use cudalint_engine::{Check, ModuleContext, Rule, Sink};
use cudalint_findings::claim::Difference;
use cudalint_findings::{Confidence, Finding, Group, Label, Method, RuleInfo, Shows};
use cudalint_replay::facts::{PythonFault, PythonFaultKind, TypeProblem};

/// The rule.
pub static RULE: Rule = Rule {
    info: RuleInfo {
        name: "kernel-argument-type-mismatch",
        group: Group::Correctness,
        summary: "A number is handed to a CUDA C++ kernel as another type than its parameter has.",
        page: include_str!("kernel-argument-type-mismatch.md"),
        method: Method::Output,
        guideline: None,
        cwe: Some(843),
    },
    confidence: &[Confidence::Definite, Confidence::Likely],
    fix: None,
    check: Check::Facts(check),
};

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for fault in &context.facts.python {
        sink.report_some(finding(context, fault));
    }
}

fn finding(context: &ModuleContext<'_>, fault: &PythonFault) -> Option<Finding> {
    let PythonFaultKind::ArgumentType { kernel, parameter, declared, wanted, given, text, problem } = &fault.kind
    else {
        return None;
    };
    let what = match problem {
        TypeProblem::Misread => format!("`{kernel}` reads its bytes as `{wanted} {parameter}`"),
        TypeProblem::Refused => format!("PyCUDA does not know how `{kernel}` wants it and raises an exception"),
    };
    let message = format!("`{text}` is a {given}, and {what}");
    let claim = match problem {
        TypeProblem::Misread => Shows::Memory { difference: Difference::Argument { parameter: parameter.clone() } },
        TypeProblem::Refused => Shows::exception(&["TypeError"], &["invalid type on parameter"]),
    };
    let mut finding = fault_finding(&RULE, context, fault, None, claim, message)?;
    finding.label = match problem {
        TypeProblem::Misread => "arrives as another number".to_owned(),
        TypeProblem::Refused => {
            finding.method = Some(Method::Exception);
            "TypeError: invalid type on parameter".to_owned()
        }
    };
    finding.related =
        vec![Label { place: context.place_of(*declared), message: format!("`{parameter}` is a `{wanted}`") }];
    finding.claim.kernel = Some(kernel.clone());
    finding.claim.sites = places(&finding.related);
    finding.help = numpy_scalar(wanted).map(|scalar| format!("wrap it: `np.{scalar}({text})`"));
    Some(finding)
}

/// `NumPy`'s scalar for a type of C.
fn numpy_scalar(name: &str) -> Option<&'static str> {
    Some(match name {
        "float" => "float32",
        "double" => "float64",
        "int" => "int32",
        "unsigned" | "unsigned int" => "uint32",
        "long" | "long long" => "int64",
        "unsigned long" | "unsigned long long" => "uint64",
        "short" => "int16",
        _ => return None,
    })
}
