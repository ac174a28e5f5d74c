//! A kernel writes to constant memory.

use crate::runs::parts::{self, add_access, add_object, does, element_of, thread};
use crate::runs::{Defect, Shown, report};
use cudalint_engine::{ModuleContext, Rule, rule};
use cudalint_findings::claim::AccessFault;
use cudalint_findings::{Finding, Shows};
use cudalint_replay::runs::report::EventKind;

/// The rule.
pub static RULE: Rule = rule!("constant-memory-written", Correctness, None)
    .summary("A kernel writes to `__constant__` memory, which device code can only read.")
    .guidelines(&["CUDA-1.12"])
    .cwe(471)
    .facts(|context, sink| report(context, sink, Defect::ConstantWritten, finding));

fn finding(context: &ModuleContext<'_>, shown: &Shown<'_>) -> Option<Finding> {
    let EventKind::ConstantWritten { object, access } = &shown.event.kind else { return None };
    let message = format!(
        "{} {} {}, which is constant memory",
        thread(shown.run, access.thread),
        does(access.kind),
        element_of(access, object)
    );
    let claim = Shows::Access { fault: AccessFault::ReadOnly, object: parts::object(object), accesses: Vec::new() };
    let mut finding = parts::finding(&RULE, context, shown, access.site, claim, message)?;
    add_object(context, &mut finding, shown.run, object, access);
    add_access(context, &mut finding, access, object);
    finding.help =
        Some("fill it from the host with `cudaMemcpyToSymbol`, or make it a `__device__` variable".to_owned());
    Some(finding)
}
