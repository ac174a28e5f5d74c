//! The host reads what an asynchronous copy brings, or writes what it takes, before anything has waited for it.

use crate::early::{self, TooEarly, report};
use cudalint_engine::{ModuleContext, Rule, rule};
use cudalint_findings::{Confidence, Finding};
use cudalint_replay::facts::{Early, MemorySpace, Started};

/// The rule.
pub static RULE: Rule = rule!("host-touches-async-buffer", Preview, Delay)
    .summary("The host reads or writes a buffer while an asynchronous copy may still use it.")
    .cwe(362)
    .confidence(&[Confidence::Likely, Confidence::Possible])
    .facts(|context, sink| report(context, sink, finding));

fn finding(context: &ModuleContext<'_>, early: &TooEarly<'_>) -> Option<Finding> {
    let Started::Copy { api } = &early.fact.what else { return None };
    let text = &early.fact.argument.text;
    // A copy from or to memory that is not locked mostly blocks: the manual only says that it may not.
    let confidence = match early.buffer.space {
        MemorySpace::Pinned | MemorySpace::Managed => Confidence::Likely,
        MemorySpace::Host => Confidence::Possible,
        MemorySpace::Device => return None,
    };
    let message = match early.fact.early {
        Early::Read => format!("`{text}` is read before anything has waited for `{api}`, which writes it"),
        Early::Write => format!("`{text}` is written before anything has waited for `{api}`, which uses it"),
        Early::Free => return None,
    };
    let started = "the copy is started here, and the call returns before it is done";
    let mut finding = early::finding(&RULE, context, early, format!("`{api}` is not done by then"), message, started)?;
    finding.confidence = confidence;
    finding.help = Some("call `cudaStreamSynchronize` with the copy's stream before".to_owned());
    Some(finding)
}
