//! A kernel called like a function.

use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::{Confidence, Label, Shows, Witness};
use cudalint_replay::facts::SpaceFaultKind;

/// The rule.
pub static RULE: Rule = rule!("kernel-called-without-launch", Correctness, Compile)
    .summary("A kernel is called like a function, without a launch configuration.")
    .guidelines(&["CUDA-4.1"])
    .cwe(758)
    .confidence(&[Confidence::Definite])
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for fault in &context.facts.space_faults {
        if fault.kind != SpaceFaultKind::KernelCalled {
            continue;
        }
        let message = format!("`{}` is a kernel: it must be launched with `<<<grid, block>>>`", fault.callee);
        let mut finding = RULE.finding(Confidence::Definite, context.place(fault.span), Shows::CompileError, message);
        finding.function = context.function_name(fault.caller);
        finding.label = "no launch configuration".to_owned();
        finding.help = Some(format!("write `{}<<<grid, block>>>(…)`", fault.callee));
        let mut path = Vec::new();
        if let Some(site) = fault.declared {
            let label = Label { place: context.place_of(site), message: "declared `__global__` here".to_owned() };
            finding.related.push(label.clone());
            path.push(label);
        }
        finding.witness = Some(Witness { path, ..Witness::default() });
        sink.report(finding);
    }
}
