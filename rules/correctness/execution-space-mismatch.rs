//! A call from device code to host code, or the reverse.

use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::{Confidence, Label, Shows, Witness};
use cudalint_replay::facts::SpaceFaultKind;

/// The rule.
pub static RULE: Rule = rule!("execution-space-mismatch", Correctness, Compile)
    .summary("Device code calls a host function, or host code calls a device function.")
    .guidelines(&["CUDA-3.1"])
    .cwe(758)
    .confidence(&[Confidence::Definite])
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for fault in &context.facts.space_faults {
        let Some(caller) = context.module.functions.get(fault.caller) else { continue };
        let (message, help) = match fault.kind {
            SpaceFaultKind::DeviceCallsHost => (
                format!(
                    "`{}` runs on the device, but calls `{}`, which exists on the host only",
                    caller.name, fault.callee
                ),
                "mark the function `__host__ __device__`, or use a device replacement",
            ),
            SpaceFaultKind::HostCallsDevice => (
                format!(
                    "`{}` runs on the host, but calls `{}`, which exists on the device only",
                    caller.name, fault.callee
                ),
                "mark the function `__host__ __device__`, or call it from a kernel",
            ),
            SpaceFaultKind::KernelCalled => continue,
        };
        let mut finding = RULE.finding(Confidence::Definite, context.place(fault.span), Shows::CompileError, message);
        finding.function = caller.name.to_string();
        finding.label = "not callable from here".to_owned();
        finding.help = Some(help.to_owned());
        let mut path = vec![Label {
            place: context.place(caller.name_span),
            message: format!("`{}` runs on the {}", caller.name, if caller.space.host { "host" } else { "device" }),
        }];
        if let Some(site) = fault.declared {
            let label = Label { place: context.place_of(site), message: format!("`{}` is defined here", fault.callee) };
            finding.related.push(label.clone());
            path.push(label);
        }
        finding.witness = Some(Witness { path, ..Witness::default() });
        sink.report(finding);
    }
}
