//! Kernels that nothing else could be executed for: with a block that is guessed, and where that shows nothing, with an
//! answer to what an argument would decide.

use super::binding::Binding;
use super::collect::Seen;
use super::execute::{Module, Outcome, functions_of, name_of};
use super::guess::{Guess, bare_launch, guess};
use super::repetitions::places;
use super::uniform::{MAX_ANSWERS, is_race_in_shared_memory};
use super::{Basis, KernelRun, RunBuffer, report};
use crate::facts::LaunchSpelling;
use crate::quantity::assume;
use cudalint_kernel::LaunchInput;
use cudalint_kernel::python::Specialization;
use cudalint_program::Scope;
use cudalint_program::ir::{Dialect, Function, FunctionId};
use cudalint_program::types::{Argument, TypeEnv};
use std::sync::Arc;

/// Lane-operations for a kernel of which only the block is guessed and whose threads do not work together: what is
/// believed of such an execution is about shared memory and barriers, and next to nothing else.
const OPERATIONS_OF_LONE_THREADS: u64 = 30_000;

impl Module<'_> {
    /// A kernel that nothing else could be executed for.
    pub(super) fn with_guess(&mut self, kernel: FunctionId, seen: &[Seen<'_>]) {
        self.counts.unlaunched += u64::from(seen.is_empty());
        if self.runs.contains_key(&kernel) || self.operations_left == 0 {
            return;
        }
        let Some(function) = self.project.function_at(self.id, kernel) else { return };
        let first = seen.first();
        let env = first.map_or_else(|| self.instance(kernel, function), |seen| Binding::of(seen.fact));
        if env.python.is_none() && function.python.is_some() {
            return;
        }
        let Some(mut guess) = self.code(kernel, &env).and_then(|code| guess(&code)) else { return };
        let Some((mut report, mut launch, mut buffers)) = self.guessed(kernel, &env, guess.block) else { return };
        if repeats_rows(&report.events) {
            guess = guess.in_one_row();
            let Some(again) = self.guessed(kernel, &env, guess.block) else { return };
            (report, launch, buffers) = again;
        }
        report.events.retain(|event| guess.admits(event));
        if let (Some(other), false) = (guess.other, report.events.is_empty()) {
            let seen = self.guessed(kernel, &env, other).map(|(report, ..)| report.events).unwrap_or_default();
            keep_shown_by_both(&mut report, &seen);
        }
        let mut text = guess.text();
        // What is not known of types is not known of what they make of shared memory.
        let settled = function.template_params.iter().all(|param| env.env.get(&param.name).is_some_and(is_bound));
        if report.events.is_empty()
            && settled
            && let Some((said, shown)) = self.guessed_with_answer(kernel, &env, &guess, &launch, &report.coverage.open)
        {
            text = format!("{text} so that {said}");
            report.events = shown;
        }
        self.counts.unlaunched_executed += u64::from(seen.is_empty());
        for one in seen {
            self.note(one.event.site, Outcome::Guessed);
        }
        let run = KernelRun {
            kernel: (self.id, kernel),
            name: name_of(function, &env.env),
            launch: first.map(|seen| seen.event.site),
            basis: Basis::GuessedBlock,
            functions: self.code(kernel, &env).map_or_else(|| Arc::from([]), |code| functions_of(&code)),
            spelling: first.map_or_else(|| spelling(env.python.as_deref()), |seen| seen.fact.spelling),
            grid: [1, 1, 1],
            grid_known: false,
            block: launch.block,
            dynamic_shared: None,
            bindings: Vec::new(),
            free: Vec::new(),
            chosen: Vec::new(),
            decided: 0,
            buffers,
            assumptions: assume(text),
            path: first.map(|seen| seen.event.path.clone()).unwrap_or_default(),
            input: launch,
            report,
            unguarded: Vec::new(),
        };
        self.runs.entry(kernel).or_default().push((env, run));
    }

    /// What the template parameters of a kernel stand for that nobody launches: those of its first explicit
    /// instantiation.
    pub(super) fn instance(&self, kernel: FunctionId, function: &Function) -> Binding {
        if function.python.is_some() {
            let python = self.python.iter().find(|(id, _)| *id == kernel).map(|(_, made)| Arc::clone(made));
            return Binding { env: TypeEnv::default(), python };
        }
        let written = &self.project.module(self.id).instantiations;
        let env = match written.iter().find(|it| !it.is_class && it.path.last() == Some(&function.name)) {
            Some(first) => {
                Scope::new(self.project, self.id, None, &TypeEnv::default()).bind((self.id, kernel), &first.targs, &[])
            }
            None => TypeEnv::unbound(&function.template_params),
        };
        Binding { env, python: None }
    }

    /// Executes a kernel of which only the block is guessed.
    fn guessed(
        &mut self,
        kernel: FunctionId,
        env: &Binding,
        block: [u32; 3],
    ) -> Option<(report::ExecutionReport, LaunchInput, Vec<RunBuffer>)> {
        let code = self.code(kernel, env)?;
        let (launch, buffers) = bare_launch(&code, block)?;
        let most = if code.is_cooperative() { u64::MAX } else { OPERATIONS_OF_LONE_THREADS };
        let report = self.spend(&code, &launch, most);
        Some((report, launch, buffers))
    }

    /// As the same execution with an answer to a condition that is uniform over the block, which is what an argument would
    /// be: the first answer that shows something, and what it shows.
    fn guessed_with_answer(
        &mut self,
        kernel: FunctionId,
        env: &Binding,
        guess: &Guess,
        launch: &LaunchInput,
        open: &[report::OpenCondition],
    ) -> Option<(String, Vec<report::Event>)> {
        let code = self.code(kernel, env).filter(|code| code.has_shared_memory())?;
        for condition in open.iter().filter(|open| open.kind != report::OpenKind::OfThreads).take(MAX_ANSWERS) {
            let admits = |event: &report::Event| guess.admits(event) && is_race_in_shared_memory(event);
            let found = self.behind(&code, launch, *condition, open, admits);
            let Some((conditions, text, mut report)) = found else { continue };
            if repeats_rows(&report.events) {
                continue;
            }
            if conditions.iter().any(|condition| condition.kind == report::OpenKind::OfThreads) {
                continue;
            }
            if let (Some(block), false) = (guess.other, report.events.is_empty()) {
                let launch = LaunchInput { block, ..launch.clone() };
                let other = self.once_more_assuming(&code, &launch, &conditions)?;
                keep_shown_by_both(&mut report, &other.events);
            }
            if !report.events.is_empty() {
                return Some((text, report.events));
            }
        }
        None
    }
}

/// How a kernel of this make is launched.
fn spelling(made: Option<&Specialization>) -> LaunchSpelling {
    match made.map(|made| made.dialect) {
        None => LaunchSpelling::Chevron,
        Some(Dialect::CupyJit) => LaunchSpelling::CupyJit,
        Some(_) => LaunchSpelling::Numba,
    }
}

/// Whether one statement stores the same element of shared memory in each row of the block: the kernel makes no difference
/// between them, and is most likely meant for blocks of one row.
fn repeats_rows(events: &[report::Event]) -> bool {
    events.iter().any(|event| {
        let report::EventKind::Race { first, second, .. } = &event.kind else { return false };
        let (a, b) = (first.thread.thread, second.thread.thread);
        let both_store = first.kind.writes() && second.kind.writes();
        is_race_in_shared_memory(event) && both_store && first.site == second.site && a[0] == b[0] && a[1] != b[1]
    })
}

/// Keeps what another execution shows at the same places.
fn keep_shown_by_both(report: &mut report::ExecutionReport, other: &[report::Event]) {
    let key = |event: &report::Event| (std::mem::discriminant(&event.kind), places(&event.kind));
    report.events.retain(|event| other.iter().any(|other| key(other) == key(event)));
}

/// Whether a template argument is known.
const fn is_bound(argument: &Argument) -> bool {
    !matches!(argument, Argument::Unknown)
}
