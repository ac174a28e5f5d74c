//! A number for a kernel parameter of another type.

use crate::parts::{fault_finding, places, report_faults};
use crate::runs::parts::only_possible;
use cudalint_engine::{ModuleContext, Rule, rule};
use cudalint_findings::claim::Difference;
use cudalint_findings::{Confidence, Finding, Label, Method, Shows};
use cudalint_replay::facts::{PythonFault, PythonFaultKind, TypeProblem, WrongArgument};

/// The rule.
pub static RULE: Rule = rule!("kernel-argument-type-mismatch", Correctness, Output)
    .summary("A number is handed to a CUDA C++ kernel as another type than its parameter has.")
    .cwe(843)
    .confidence(&[Confidence::Definite, Confidence::Likely, Confidence::Possible])
    .facts(|context, sink| report_faults(context, sink, finding));

fn finding(context: &ModuleContext<'_>, fault: &PythonFault) -> Option<Finding> {
    let PythonFaultKind::ArgumentType { kernel, argument, problem, others } = &fault.kind else { return None };
    let WrongArgument { text, given, wanted, parameter, .. } = argument;
    let what = match problem {
        TypeProblem::Misread | TypeProblem::Short => format!("`{kernel}` reads its bytes as `{wanted} {parameter}`"),
        TypeProblem::Refused => format!("PyCUDA does not know how `{kernel}` wants it and raises an exception"),
    };
    let also = match others.as_slice() {
        [] => String::new(),
        others => {
            let named: Vec<String> = others.iter().map(|other| format!("`{}`", other.text)).collect();
            format!("; the same holds for {}", listed(&named))
        }
    };
    let message = format!("`{text}` is a {given}, and {what}{also}");
    let claim = match problem {
        TypeProblem::Misread | TypeProblem::Short => {
            Shows::Memory { difference: Difference::Argument { parameter: parameter.clone() } }
        }
        TypeProblem::Refused => Shows::exception(&["TypeError"], &["invalid type on parameter"]),
    };
    let mut finding = fault_finding(&RULE, context, fault, None, claim, message)?;
    finding.label = match problem {
        TypeProblem::Misread | TypeProblem::Short => "arrives as another number".to_owned(),
        TypeProblem::Refused => {
            finding.method = Some(Method::Exception);
            "TypeError: invalid type on parameter".to_owned()
        }
    };
    let label = |argument: &WrongArgument| Label {
        place: context.place_of(argument.declared),
        message: format!("`{}` is a `{}`", argument.parameter, argument.wanted),
    };
    finding.related = std::iter::once(argument).chain(others).map(label).collect();
    finding.claim.kernel = Some(kernel.clone());
    finding.claim.sites = places(&finding.related);
    finding.help = numpy_scalar(wanted).map(|scalar| format!("wrap it: `np.{scalar}({text})`"));
    if *problem == TypeProblem::Short {
        only_possible(&mut finding);
        finding.witness.get_or_insert_default().assumptions.push(format!("`{text}` is negative"));
    }
    Some(finding)
}

/// `a`, `b` and `c`.
fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [only] => only.clone(),
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
    }
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
