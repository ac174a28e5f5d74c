//! Errors of running kernels that nobody can see.

use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::{Confidence, Fault, Label, Shows, Witness};

/// The rule.
pub static RULE: Rule = rule!("async-error-never-observed", Suspicious, FaultInjection)
    .summary("After the last launch, no call waits for the device and has its status checked.")
    .guidelines(&["CUDA-1.2", "CUDA-1.3", "CUDASecurity-ERR01"])
    .cwe(391)
    .confidence(&[Confidence::Likely])
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for function in &context.facts.status {
        let Some(unobserved) = &function.unobserved else { continue };
        let Some(span) = unobserved.launch.or(unobserved.dropped_sync.as_ref().map(|(_, span)| *span)) else {
            continue;
        };
        let name = context.function_name(function.function);
        let end = if name == "main" { "the program ends" } else { "the function reports success" };
        let message =
            format!("an error of the work launched here is never seen: {end} without a checked call that waits for it");
        let claim = Shows::UnreadStatus { fault: Fault::Asynchronous };
        let mut finding = RULE.finding(Confidence::Likely, context.place(span), claim, message);
        finding.label = "nothing waits for this".to_owned();
        let assumed = if name == "main" {
            "the kernel can fail while it runs"
        } else {
            "no caller waits for the kernel (none is in sight)"
        };
        finding.function = name;
        let path = vec![Label { place: context.place(span), message: "the last launch".to_owned() }];
        finding.witness = Some(Witness { assumptions: vec![assumed.to_owned()], path, ..Witness::default() });
        finding.help = Some("call `cudaDeviceSynchronize()` at the end and check what it returns".to_owned());
        sink.report(finding);
    }
}
