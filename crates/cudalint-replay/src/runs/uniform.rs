//! Once more with an answer to what nobody knows: a condition (a value in memory, a vote), or what is in the memory that the
//! kernel is given. What the threads of a block then do to each other's shared memory rests on that one answer.

use super::binding::Binding;
use super::execute::Module;
use super::report::{Event, EventKind, ExecutionReport, ObjectKind, OpenCondition, OpenKind, RaceScope, Site};
use super::{Basis, KernelRun};
use crate::quantity::{Assumptions, assume};
use cudalint_kernel::{ASSUMED_ROUNDS, Budget, Code, Contents, LaunchInput};
use cudalint_program::ir::FunctionId;
use cudalint_syntax::Span;

/// Most conditions of a kernel that an answer is assumed for, each by itself.
pub(super) const MAX_ANSWERS: usize = 2;
/// Most conditions, one inside another, that are answered together.
const MAX_NESTED: usize = 3;
/// Lane-operations for one of them: a block's own races show early.
const OPERATIONS: u64 = 150_000;
/// Longest condition that is quoted, in bytes.
const LONGEST: usize = 80;

impl Module<'_> {
    /// Executes the first run of a kernel that rests on facts once more for each of the first such conditions, and with
    /// zeros in its memory. A run that rests on an assumption already is left alone: a finding rests on one at most.
    pub(super) fn with_answers(&mut self, kernel: FunctionId) {
        let Some(runs) = self.runs.get(&kernel) else { return };
        let asks = |run: &KernelRun| {
            let coverage = &run.report.coverage;
            let open = !coverage.open.is_empty() || !coverage.unplaced.is_empty();
            run.launch.is_some() && run.assumptions.is_none() && open
        };
        let Some((binding, run)) = runs.iter().find(|(_, run)| asks(run)).cloned() else { return };
        // Only races in shared memory are believed.
        let Some(code) = self.code(kernel, &binding).filter(|code| code.has_shared_memory()) else { return };
        self.with_conditions(kernel, &binding, &run, &code);
        self.with_zeros(kernel, &binding, &run, &code);
    }

    fn with_conditions(&mut self, kernel: FunctionId, binding: &Binding, run: &KernelRun, code: &Code) {
        let open = &run.report.coverage.open;
        let of = |threads: bool| open.iter().filter(move |it| (it.kind == OpenKind::OfThreads) == threads);
        let of_block = of(false).take(MAX_ANSWERS);
        for condition in of_block.chain(of(true).take(MAX_ANSWERS)) {
            let admits = |event: &Event| is_race_in_shared_memory(event);
            let Some((_, text, report)) = self.behind(code, &run.input, *condition, open, admits) else { continue };
            self.add_assumed(kernel, binding, run, assume(text), report);
        }
    }

    /// With zeros in all memory of which nobody knows what is in it. Programs whose indices are all different know that of
    /// their data: of two accesses at places that hang on data nothing is said.
    fn with_zeros(&mut self, kernel: FunctionId, binding: &Binding, run: &KernelRun, code: &Code) {
        let mut input = run.input.clone();
        let mut names: Vec<&str> = Vec::new();
        for (buffer, of) in input.buffers.iter_mut().zip(&run.buffers) {
            if matches!(buffer.contents, Contents::Unknown | Contents::WrittenOnly(_)) {
                buffer.contents = Contents::Filled(0);
                names.push(&of.parameter);
            }
        }
        let text = match names.as_slice() {
            [] => return,
            [one] => format!("`{one}` holds zeros"),
            _ => "the memory that the kernel is given holds zeros".to_owned(),
        };
        let execute = |module: &Self, budget: &Budget| module.executed(code, &input, budget, &[]);
        let Some(mut report) = self.once_more(execute) else { return };
        let unplaced = &run.report.coverage.unplaced;
        report.events.retain(|event| {
            let places = race_in_shared_memory(event, true);
            places.is_some_and(|places| !places.iter().all(|place| unplaced.contains(place)))
        });
        self.add_assumed(kernel, binding, run, assume(text), report);
    }

    /// Executes one block with an answer to a condition and, as long as nothing shows, to one that this leads to: that the
    /// code behind both runs. The conditions, in words, and what shows.
    pub(super) fn behind(
        &mut self,
        code: &Code,
        launch: &LaunchInput,
        first: OpenCondition,
        known: &[OpenCondition],
        admits: impl Fn(&Event) -> bool,
    ) -> Option<(Vec<OpenCondition>, String, ExecutionReport)> {
        let mut conditions = vec![first];
        let mut text = self.answer(first)?;
        loop {
            let mut report = self.once_more_assuming(code, launch, &conditions)?;
            report.events.retain(&admits);
            if !report.events.is_empty() {
                return Some((conditions, text, report));
            }
            let new = |it: &&OpenCondition| !known.iter().chain(&conditions).any(|other| other.site == it.site);
            let next = *report.coverage.open.iter().find(new).filter(|_| conditions.len() < MAX_NESTED)?;
            text = format!("{text} and {}", self.answer(next)?);
            conditions.push(next);
        }
    }

    /// One block with answers; `None` where no operations are left.
    pub(super) fn once_more_assuming(
        &mut self,
        code: &Code,
        launch: &LaunchInput,
        conditions: &[OpenCondition],
    ) -> Option<ExecutionReport> {
        self.once_more(|module, budget| module.executed(code, launch, budget, conditions))
    }

    /// One block; `None` where no operations are left.
    pub(super) fn once_more(
        &mut self,
        execute: impl FnOnce(&Self, &Budget) -> ExecutionReport,
    ) -> Option<ExecutionReport> {
        let lane_operations = OPERATIONS.min(self.operations_left);
        if lane_operations == 0 {
            return None;
        }
        let report = execute(self, &Budget { lane_operations, blocks: 1, ..Budget::default() });
        self.count(&report);
        Some(report)
    }

    fn add_assumed(
        &mut self,
        kernel: FunctionId,
        binding: &Binding,
        run: &KernelRun,
        assumptions: Assumptions,
        report: ExecutionReport,
    ) {
        if !report.events.is_empty() {
            let assumed = KernelRun { assumptions, basis: Basis::Assumption, report, ..run.clone() };
            self.runs.entry(kernel).or_default().push((binding.clone(), assumed));
        }
    }

    /// The assumption in words.
    pub(super) fn answer(&self, condition: OpenCondition) -> Option<String> {
        let text = whole(self.project.source(condition.site.module), condition.site.span);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.is_empty() || text.len() > LONGEST {
            return None;
        }
        let holds = if condition.holds { "holds" } else { "does not hold" };
        Some(match condition.kind {
            OpenKind::Common => format!("`{text}` {holds}"),
            OpenKind::Rounds => format!("`{text}` holds {ASSUMED_ROUNDS} times"),
            OpenKind::OfThreads => format!("`{text}` {holds} in some threads"),
        })
    }
}

/// Whether an event is a race between threads of a block in its shared memory.
pub(super) fn is_race_in_shared_memory(event: &Event) -> bool {
    race_in_shared_memory(event, false).is_some()
}

/// The text of an expression with the parentheses that belong to its first and last parts.
#[must_use]
pub fn whole(source: &str, span: Span) -> &str {
    let mut range = span.range();
    let (mut depth, mut closed) = (0_i32, 0_i32);
    for letter in source.get(range.clone()).unwrap_or("").chars() {
        depth += i32::from(letter == '(') - i32::from(letter == ')');
        closed = closed.max(-depth);
    }
    for _ in 0..closed {
        match source.get(..range.start).map(str::trim_end).filter(|before| before.ends_with('(')) {
            Some(before) => range.start = before.len() - 1,
            None => break,
        }
    }
    for _ in 0..depth + closed {
        match source.get(range.end..).map(str::trim_start).filter(|after| after.starts_with(')')) {
            Some(after) => range.end = source.len() - after.len() + 1,
            None => break,
        }
    }
    source.get(range).unwrap_or("")
}

/// The places of a race between threads of a block in its shared memory; where asked for, of two warps.
fn race_in_shared_memory(event: &Event, of_warps: bool) -> Option<[Site; 2]> {
    if event.doubt.is_some() {
        return None;
    }
    match &event.kind {
        EventKind::Race { object, first, second, scope, .. }
            if matches!(object.kind, ObjectKind::Shared | ObjectKind::DynamicShared)
                && (*scope == RaceScope::Block || (!of_warps && *scope == RaceScope::Warp)) =>
        {
            Some([first.site, second.site])
        }
        _ => None,
    }
}
