//! The host reads or writes managed memory while a kernel that uses it may still run.

use crate::early::{self, TooEarly, report};
use cudalint_engine::{ModuleContext, Rule, rule};
use cudalint_findings::{Confidence, Finding};
use cudalint_replay::facts::{Early, MemorySpace, Started};

/// The rule.
pub static RULE: Rule = rule!("managed-memory-without-sync", Correctness, Delay)
    .summary("The host touches managed memory before anything has waited for the kernel that uses it.")
    .cwe(362)
    .confidence(&[Confidence::Likely])
    .facts(|context, sink| report(context, sink, finding));

fn finding(context: &ModuleContext<'_>, early: &TooEarly<'_>) -> Option<Finding> {
    let Started::Kernel { name, kernel, parameter } = &early.fact.what else { return None };
    if !matches!(early.buffer.space, MemorySpace::Managed | MemorySpace::Pinned) {
        return None;
    }
    let (module, id) = (*kernel)?;
    let function = context.project.function_at(module, id)?;
    // What a kernel out of sight does with it nobody knows.
    function.body.as_ref()?;
    let parameter = function.locals.iter().nth(*parameter as usize)?.name.to_string();
    let text = &early.fact.argument.text;
    let message = match early.fact.early {
        Early::Read => {
            format!("`{text}` is read before anything has waited for the kernel `{name}`, which may still write it")
        }
        Early::Write => {
            format!("`{text}` is written before anything has waited for the kernel `{name}`, which may still use it")
        }
        Early::Free | Early::Launch => return None,
    };
    let assumed = format!("`{name}` is still running then, and uses `{parameter}`");
    let started = "launched here; the host goes on at once";
    let mut finding = early::finding(&RULE, context, early, assumed, message, started)?;
    finding.help = Some("call `cudaDeviceSynchronize`, or wait for the launch's stream, before".to_owned());
    Some(finding)
}
