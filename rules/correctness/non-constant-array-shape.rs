//! A shared or local array of a Numba kernel whose shape is not constant.

use crate::{parts, python};
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::{Label, Shows, Witness};
use cudalint_program::python::compiled::{FaultKind, Reason, faults};

/// The rule.
pub static RULE: Rule = rule!("non-constant-array-shape", Correctness, Exception)
    .summary("A shared or local array in a Numba kernel has a shape that is not a constant.")
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for fault in faults(context.module) {
        let FaultKind::Shape { shared, culprit } = fault.kind else { continue };
        let written = context.text(culprit.span);
        let array = if shared { "cuda.shared.array" } else { "cuda.local.array" };
        let message = match culprit.reason {
            Reason::NotInteger => format!("the shape of `{array}` must be of integers, and `{written}` is none"),
            Reason::List => format!("the shape of `{array}` must be an integer or a tuple of them, not a list"),
            _ => format!("the shape of `{array}` must be constant, and `{written}` is not"),
        };
        let function = context.function_name(fault.function);
        let assumptions: Vec<String> =
            fault.assumes.iter().map(|assumed| python::compile_assumption(*assumed, &function)).collect();
        let Some(confidence) = parts::confidence_for(&assumptions) else { continue };
        let claim = Shows::exception(&python::REFUSALS, &[]);
        let mut finding = RULE.finding(confidence, context.place(fault.span), claim, message);
        finding.function = function;
        finding.label = match culprit.reason {
            Reason::Parameter => "TypingError: known only when the kernel runs",
            Reason::Launch => "TypingError: known only when a thread runs",
            Reason::Loop => "TypingError: the loop's variable changes",
            Reason::Arithmetic => "TypingError: Numba computes nothing of a shape beforehand, not even constants",
            Reason::Call => "TypingError: what a call gives is not constant",
            Reason::NotInteger => "TypingError: no integer",
            Reason::List => "TypingError: a list",
        }
        .to_owned();
        let mut path = vec![Label { place: context.place(culprit.span), message: "this part of the shape".to_owned() }];
        if let Some(origin) = culprit.origin {
            let message = match culprit.reason {
                Reason::Parameter => "comes from a parameter",
                Reason::Loop => "is set by a loop",
                _ => "gets its value here",
            };
            let label = Label { place: context.place(origin), message: message.to_owned() };
            finding.related.push(label.clone());
            path.push(label);
        }
        finding.help = Some(
            match (culprit.reason, shared) {
                (Reason::NotInteger, _) => "use `//`, or `int(…)`, outside the kernel",
                (Reason::List, _) => "write a tuple",
                (Reason::Arithmetic | Reason::Call, _) => "compute it outside the kernel, and use that variable",
                (_, true) => {
                    "use a constant from outside the kernel, or give the size at the launch: `cuda.shared.array(0, dtype)` \
                     is as large as the fourth number between the launch's brackets says, in bytes"
                }
                (_, false) => "use a constant from outside the kernel that is large enough",
            }
            .to_owned(),
        );
        finding.witness = Some(Witness { assumptions, path, ..Witness::default() });
        sink.report(finding);
    }
}
