//! Shared memory that no thread has written is read.

use crate::runs::{Defect, shown, unwritten};
use cudalint_engine::{ModuleContext, Rule, Sink, rule};

/// The rule.
pub static RULE: Rule = rule!("uninitialized-shared-read", Suspicious, Watchpoint)
    .summary("A thread reads an element of shared memory that no thread of its block has written.")
    .guidelines(&["CUDADirective-1: shared"])
    .cwe(908)
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for shown in shown(context, Defect::UninitializedShared) {
        let state = "which no thread of the block has written";
        let help = "write every element that is read, with a neutral value where there is no data";
        sink.report_some(unwritten::finding(&RULE, context, &shown, state, help));
    }
}
