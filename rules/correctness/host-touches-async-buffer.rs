//! The host reads what an asynchronous copy brings, or writes what it takes, before anything has waited for it; or it hands memory of the
//! device to MPI while a kernel may still use it.

use crate::early::{self, TooEarly, report};
use cudalint_engine::{ModuleContext, Rule, rule};
use cudalint_findings::{Confidence, Finding};
use cudalint_replay::facts::{Early, MemorySpace, Started};

/// The rule.
pub static RULE: Rule = rule!("host-touches-async-buffer", Correctness, Delay)
    .summary("The host reads or writes a buffer, or hands it to MPI, while work that it has started may still use it.")
    .cwe(362)
    .confidence(&[Confidence::Likely, Confidence::Possible])
    .facts(|context, sink| report(context, sink, finding));

fn finding(context: &ModuleContext<'_>, early: &TooEarly<'_>) -> Option<Finding> {
    if early.fact.kernel.is_some() {
        return beside_kernel(context, early);
    }
    let text = &early.fact.argument.text;
    let Started::Copy { api } = &early.fact.what else { return None };
    // A copy from or to memory that is not locked mostly blocks: the manual only says that it may not.
    let confidence = match early.buffer.space {
        MemorySpace::Pinned | MemorySpace::Managed => Confidence::Likely,
        MemorySpace::Host => Confidence::Possible,
        MemorySpace::Device if early.fact.to.is_some() => Confidence::Likely,
        MemorySpace::Device => return None,
    };
    let message = match (early.fact.early, &early.fact.to) {
        (Early::Read, Some(to)) => {
            format!("`{text}` is handed to `{to}` before anything has waited for `{api}`, which writes it")
        }
        (Early::Write, Some(to)) => {
            format!("`{text}` is handed to `{to}` before anything has waited for `{api}`, which uses it")
        }
        (Early::Read, None) => format!("`{text}` is read before anything has waited for `{api}`, which writes it"),
        (Early::Write, None) => format!("`{text}` is written before anything has waited for `{api}`, which uses it"),
        (Early::Free | Early::Launch, _) => return None,
    };
    let started = "the copy is started here, and the call returns before it is done";
    let mut finding = early::finding(&RULE, context, early, format!("`{api}` is not done by then"), message, started)?;
    finding.confidence = confidence;
    finding.help = Some("call `cudaStreamSynchronize` with the copy's stream before".to_owned());
    Some(finding)
}

/// Memory of the device that MPI is handed while a kernel runs, or that a kernel is started on while MPI goes on with it.
fn beside_kernel(context: &ModuleContext<'_>, early: &TooEarly<'_>) -> Option<Finding> {
    let TooEarly { fact, .. } = early;
    let rests = fact.touched.as_ref()?;
    let kernel = fact.kernel.as_ref()?;
    let (Started::Kernel { name, .. }, text) = (&kernel.what, &fact.argument.text) else { return None };
    let (message, assumed, started, help) = match (&fact.to, &fact.what) {
        (Some(to), _) => {
            let may = if fact.early == Early::Read { "write" } else { "use" };
            (
                format!(
                    "`{text}` is handed to `{to}` before anything has waited for the kernel `{name}`, which may still {may} it"
                ),
                format!("`{name}` is still running then"),
                "launched here; the host goes on at once",
                "call `cudaDeviceSynchronize`, or wait for the launch's stream, before",
            )
        }
        (None, Started::Copy { api }) => {
            let may = if fact.writes { "write" } else { "read" };
            (
                format!(
                    "the kernel `{name}` uses `{text}` before anything has waited for `{api}`, which may still {may} it"
                ),
                format!("`{api}` is not done by then"),
                "the transfer is started here, and the call returns before it is done",
                "wait for the request before",
            )
        }
        _ => return None,
    };
    let assumed = rests.first().cloned().unwrap_or(assumed);
    let mut finding = early::finding(&RULE, context, early, assumed, message, started)?;
    finding.help = Some(help.to_owned());
    (rests.len() < 2).then_some(finding)
}
