//! Once more with an answer to a condition that the whole block has in common and nobody knows: a value in memory that all
//! threads read, a vote. What the threads of a block then do to each other's shared memory rests on that one answer.

use super::KernelRun;
use super::execute::{Binding, Module};
use super::report::{Event, EventKind, ObjectKind, OpenCondition, RaceScope};
use crate::value::assume;
use cudalint_kernel::{ASSUMED_ROUNDS, Budget};
use cudalint_program::ir::FunctionId;

/// Most conditions of a kernel that an answer is assumed for, each by itself.
const MAX_ANSWERS: usize = 2;
/// Lane-operations for one of them: a block's own races show early.
const OPERATIONS: u64 = 100_000;
/// Longest condition that is quoted, in bytes.
const LONGEST: usize = 80;

impl Module<'_> {
    /// Executes the first run of a kernel that rests on facts once more for each of the first such conditions.
    pub(super) fn with_answers(&mut self, kernel: FunctionId) {
        let Some(runs) = self.runs.get(&kernel) else { return };
        let open = |(_, run): &&(Binding, KernelRun)| {
            run.assumptions.is_none() && run.launch.is_some() && !run.report.coverage.open.is_empty()
        };
        let Some((binding, run)) = runs.iter().find(open).cloned() else { return };
        let Some(code) = self.code(kernel, &binding).filter(|code| code.is_cooperative()) else { return };
        for condition in run.report.coverage.open.iter().take(MAX_ANSWERS) {
            let Some(text) = self.answer(*condition) else { continue };
            let lane_operations = OPERATIONS.min(self.operations_left);
            if lane_operations == 0 {
                return;
            }
            let budget = Budget { lane_operations, blocks: 1, ..Budget::default() };
            let mut report = cudalint_kernel::execute_assuming(&code, &run.input, &budget, *condition);
            self.count(&report);
            report.events.retain(is_race_in_shared_memory);
            if !report.events.is_empty() {
                let assumed = KernelRun { assumptions: assume(text), report, ..run.clone() };
                self.runs.entry(kernel).or_default().push((binding.clone(), assumed));
            }
        }
    }

    /// The assumption in words.
    fn answer(&self, condition: OpenCondition) -> Option<String> {
        let text = self.project.text(condition.site.module, condition.site.span);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.is_empty() || text.len() > LONGEST {
            return None;
        }
        Some(match (condition.is_loop, condition.holds) {
            (true, _) => format!("`{text}` holds {ASSUMED_ROUNDS} times"),
            (false, true) => format!("`{text}` holds"),
            (false, false) => format!("`{text}` does not hold"),
        })
    }
}

fn is_race_in_shared_memory(event: &Event) -> bool {
    match &event.kind {
        EventKind::Race { object, scope, .. } => {
            *scope != RaceScope::Grid && matches!(object.kind, ObjectKind::Shared | ObjectKind::DynamicShared)
        }
        _ => false,
    }
}
