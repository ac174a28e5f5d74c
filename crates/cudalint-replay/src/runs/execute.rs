//! Executes the launches of one module's kernels, those that rest on facts first, within a budget that grows with the
//! file.

use super::choose::{Assignment, assignments, is_loose};
use super::collect::{ModuleLaunches, Seen};
use super::counts::Counts;
use super::guess::{Guess, bare_launch, guess};
use super::numbers::{Cause, Choice, Numbers, fixed, numbers};
use super::repetitions::{drop_repetitions, places};
use super::solve::proposals;
use super::uniform::{MAX_ANSWERS, is_race_in_shared_memory};
use super::{Basis, KernelRun, RunBuffer, report};
use crate::facts::{LaunchFact, Site};
use crate::value::{Quantity, assume, union};
use cudalint_kernel::python::Specialization;
use cudalint_kernel::{Budget, Code, Launch};
use cudalint_program::ir::{Function, FunctionId, ModuleId};
use cudalint_program::types::{Argument, TypeEnv};
use cudalint_program::{Project, Scope};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Most distinct configurations that a kernel is executed with, for one binding of its template parameters.
const MAX_CONFIGURATIONS: usize = 3;
/// Most executions of one kernel with all its template arguments.
const MAX_EXECUTIONS: usize = 96;
/// Most assignments that are taken from a search over the kernel's code, for one launch.
const MAX_PROPOSALS: usize = 1;
/// Lane-operations that a byte of the kernel's file pays for. A byte is parsed in about 150 ns and a lane-operation takes
/// about 10 ns, so that a file whose kernels use up all of it costs about 25 times its parse.
const OPERATIONS_PER_BYTE: u64 = 375;
/// Lane-operations for a kernel of which only the block is guessed and whose threads do not work together: what is
/// believed of such an execution is about shared memory and barriers, and next to nothing else.
const OPERATIONS_OF_LONE_THREADS: u64 = 30_000;
/// Lane-operations for a launch after the first with the same template arguments, of those that rest on facts and of
/// those that do not: what the kernel does was seen, it is about other numbers.
const OPERATIONS_OF_LATER_ONES: u64 = 75_000;
/// What the smallest file may spend: two launches with all of their own budget.
const LEAST_OPERATIONS: u64 = 600_000;

/// What came of one module's kernels.
#[derive(Clone, Debug, Default)]
pub struct ModuleRuns {
    /// Executions in the order of the kernels; of each kernel those that rest on nothing but facts first.
    pub runs: Vec<KernelRun>,
    /// How many launches that were, and why not more.
    pub counts: Counts,
}

/// What became of a launch in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Not(Cause),
    Guessed,
    FirstBlock,
    Assumed,
    Facts,
}

/// All that became of one launch, over the ways that lead to it.
#[derive(Clone, Copy, Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // Each is so by itself.
struct Outcomes {
    not: Option<Cause>,
    guessed: bool,
    first_block: bool,
    assumed: bool,
    facts: bool,
}

/// What a kernel is compiled for: its template arguments, or the types of its arguments in Python.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Binding {
    pub env: TypeEnv,
    pub python: Option<Arc<Specialization>>,
}

impl Binding {
    fn of(fact: &LaunchFact) -> Self {
        Self { env: fact.env.clone(), python: fact.python.clone() }
    }
}

pub(super) struct Module<'p> {
    pub(super) project: &'p Project,
    id: ModuleId,
    pub(super) operations_left: u64,
    codes: Vec<(FunctionId, Binding, Option<Arc<Code>>)>,
    outcomes: FxHashMap<Site, Outcomes>,
    /// The runs of each kernel with what it was lowered for.
    pub(super) runs: FxHashMap<FunctionId, Vec<(Binding, KernelRun)>>,
    /// Kernels in Python with the types that they are made for.
    python: Vec<(FunctionId, Arc<Specialization>)>,
    counts: Counts,
}

/// Executes what there is to execute for the kernels of a module.
pub fn execute(project: &Project, id: ModuleId, launches: &ModuleLaunches<'_>) -> ModuleRuns {
    let bytes = project.source(id).len() as u64;
    let mut module = Module {
        project,
        id,
        operations_left: LEAST_OPERATIONS.max(bytes.saturating_mul(OPERATIONS_PER_BYTE)),
        codes: Vec::new(),
        outcomes: FxHashMap::default(),
        runs: FxHashMap::default(),
        python: launches.python.clone(),
        counts: Counts::default(),
    };
    // Of a grid that is not known only the first block is executed: whoever says more goes first.
    for whole in [true, false] {
        for (kernel, seen) in &launches.kernels {
            for one in seen {
                module.with_facts(*kernel, one, whole);
            }
        }
    }
    for (kernel, seen) in &launches.kernels {
        for one in seen {
            module.with_assumptions(*kernel, one);
        }
    }
    for (kernel, seen) in &launches.kernels {
        module.with_guess(*kernel, seen);
    }
    for (kernel, _) in &launches.kernels {
        module.with_answers(*kernel);
    }
    for event in &launches.unseen {
        module.note(event.site, Outcome::Not("kernel out of sight"));
    }
    module.finish(launches)
}

impl Module<'_> {
    /// Executes a launch with facts alone, if its grid is known or not, as asked for.
    fn with_facts(&mut self, kernel: FunctionId, seen: &Seen<'_>, whole: bool) {
        let Some(function) = self.project.function_at(self.id, kernel) else { return };
        match numbers(seen.fact, function, &facts_of(seen)) {
            Ok(numbers) if whole == numbers.launch.grid.contains(&0) => {}
            Ok(numbers) => {
                let outcome = match self.run(kernel, seen, numbers, None) {
                    Ok(_) if whole => Outcome::Facts,
                    Ok(_) => Outcome::FirstBlock,
                    Err(cause) => Outcome::Not(cause),
                };
                self.note(seen.event.site, outcome);
            }
            Err(cause) => self.note(seen.event.site, Outcome::Not(cause)),
        }
    }

    fn with_assumptions(&mut self, kernel: FunctionId, seen: &Seen<'_>) {
        let Some(function) = self.project.function_at(self.id, kernel) else { return };
        let facts = numbers(seen.fact, function, &facts_of(seen));
        if facts.as_ref().is_ok_and(|numbers| numbers.complete) {
            return;
        }
        let proposed = self
            .code(kernel, &Binding::of(seen.fact))
            .map(|code| proposals(seen.event, seen.fact, &code, MAX_PROPOSALS))
            .unwrap_or_default();
        let mut settled = false;
        for assignment in proposed.into_iter().chain(assignments(seen.event, seen.fact)) {
            if settled && assignment.replaceable {
                continue;
            }
            let Ok(chosen) = numbers(seen.fact, function, &assignment.choice) else { continue };
            let known = facts.as_ref().is_ok_and(|facts| facts.launch == chosen.launch);
            if known {
                continue;
            }
            if let Ok(to_the_end) = self.run(kernel, seen, chosen, Some(&assignment)) {
                settled |= to_the_end && assignment.ragged;
                self.note(seen.event.site, Outcome::Assumed);
            }
        }
    }

    /// A kernel that nothing else could be executed for.
    fn with_guess(&mut self, kernel: FunctionId, seen: &[Seen<'_>]) {
        self.counts.unlaunched += u64::from(seen.is_empty());
        if self.runs.contains_key(&kernel) || self.operations_left == 0 {
            return;
        }
        let Some(function) = self.project.function_at(self.id, kernel) else { return };
        let first = seen.first();
        let env = first.map_or_else(|| self.instance(kernel, function), |seen| Binding::of(seen.fact));
        let found = match &env.python {
            Some(_) => {
                let Some(code) = self.code(kernel, &env) else { return };
                super::python::guess(self.project, self.id, kernel, &code)
            }
            None if function.python.is_some() => None,
            None => guess(self.project, self.id, kernel, &env.env),
        };
        let Some(guess) = found else { return };
        let Some((mut report, launch, buffers)) = self.guessed(kernel, &env, guess.block) else { return };
        report.events.retain(|event| guess.admits(event));
        if let (Some(other), false) = (guess.other, report.events.is_empty()) {
            let seen = self.guessed(kernel, &env, other).map(|(report, ..)| report.events).unwrap_or_default();
            keep_shown_by_both(&mut report, &seen);
        }
        let mut text = guess.text();
        if report.events.is_empty()
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
            chosen: false,
            functions: self.code(kernel, &env).map_or_else(|| Arc::from([]), |code| functions_of(&code)),
            spelling: first.map_or_else(|| super::python::spelling(env.python.as_deref()), |seen| seen.fact.spelling),
            grid: [1, 1, 1],
            grid_known: false,
            block: launch.block,
            dynamic_shared: None,
            bindings: Vec::new(),
            buffers,
            assumptions: assume(text),
            path: first.map(|seen| seen.event.path.clone()).unwrap_or_default(),
            input: launch,
            report,
        };
        self.runs.entry(kernel).or_default().push((env, run));
    }

    /// What the template parameters of a kernel stand for that nobody launches: those of its first explicit
    /// instantiation.
    fn instance(&self, kernel: FunctionId, function: &Function) -> Binding {
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
    ) -> Option<(report::Report, Launch, Vec<RunBuffer>)> {
        let (launch, buffers) = match &env.python {
            Some(made) => super::python::bare_launch(self.project.function_at(self.id, kernel)?, made, block),
            None => bare_launch(self.project, self.id, kernel, &env.env, block)?,
        };
        let code = self.code(kernel, env)?;
        let most = if code.is_cooperative() { u64::MAX } else { OPERATIONS_OF_LONE_THREADS };
        let report = self.spend(&code, &launch, most);
        Some((report, launch, buffers))
    }

    /// As the same execution with an answer to a condition that the block has in common, which is what an argument would
    /// be: the first answer that shows something, and what it shows.
    fn guessed_with_answer(
        &mut self,
        kernel: FunctionId,
        env: &Binding,
        guess: &Guess,
        launch: &Launch,
        open: &[report::OpenCondition],
    ) -> Option<(String, Vec<report::Event>)> {
        let code = self.code(kernel, env).filter(|code| code.is_cooperative())?;
        for condition in open.iter().filter(|open| open.kind != report::OpenKind::OfThreads).take(MAX_ANSWERS) {
            let Some(text) = self.answer(*condition) else { continue };
            let mut report = self.once_more_assuming(&code, launch, *condition)?;
            report.events.retain(|event| guess.admits(event) && is_race_in_shared_memory(event));
            if let (Some(block), false) = (guess.other, report.events.is_empty()) {
                let launch = Launch { block, ..launch.clone() };
                let other = self.once_more_assuming(&code, &launch, *condition)?;
                keep_shown_by_both(&mut report, &other.events);
            }
            if !report.events.is_empty() {
                return Some((text, report.events));
            }
        }
        None
    }

    /// Executes within what is left, and with at most so many operations.
    fn spend(&mut self, code: &Code, launch: &Launch, most: u64) -> report::Report {
        let budget = Budget::default();
        let budget = Budget { lane_operations: budget.lane_operations.min(self.operations_left).min(most), ..budget };
        let report = cudalint_kernel::execute(code, launch, &budget);
        self.count(&report);
        report
    }

    /// Counts what an execution cost.
    pub(super) fn count(&mut self, report: &report::Report) {
        self.operations_left = self.operations_left.saturating_sub(report.coverage.operations);
        self.counts.operations += report.coverage.operations;
        for (cause, count) in &report.coverage.causes {
            *self.counts.causes.entry(cause).or_default() += u64::from(*count);
        }
    }

    fn note(&mut self, site: Site, outcome: Outcome) {
        let all = self.outcomes.entry(site).or_default();
        match outcome {
            Outcome::Not(cause) => all.not = all.not.or(Some(cause)),
            Outcome::Guessed => all.guessed = true,
            Outcome::FirstBlock => all.first_block = true,
            Outcome::Assumed => all.assumed = true,
            Outcome::Facts => all.facts = true,
        }
    }

    pub(super) fn code(&mut self, kernel: FunctionId, env: &Binding) -> Option<Arc<Code>> {
        if let Some((_, _, code)) = self.codes.iter().find(|(id, known, _)| *id == kernel && known == env) {
            return code.clone();
        }
        let code = match &env.python {
            Some(made) => cudalint_kernel::lower_python(self.project, self.id, kernel, made),
            None => cudalint_kernel::lower(self.project, self.id, kernel, &env.env),
        }
        .map(Arc::new);
        self.codes.push((kernel, env.clone(), code.clone()));
        code
    }

    /// Executes a launch unless that was done before; says whether it came to its end.
    fn run(
        &mut self,
        kernel: FunctionId,
        seen: &Seen<'_>,
        numbers: Numbers,
        assignment: Option<&Assignment>,
    ) -> Result<bool, Cause> {
        let env = &Binding::of(seen.fact);
        let runs = self.runs.get(&kernel).map_or(&[][..], Vec::as_slice);
        if let Some((_, run)) = runs.iter().find(|(known, run)| known == env && run.input == numbers.launch) {
            return Ok(run.report.coverage.complete);
        }
        let alike =
            |(known, run): &&(Binding, KernelRun)| known == env && run.assumptions.is_some() == assignment.is_some();
        let before = runs.iter().filter(alike).count();
        if before >= MAX_CONFIGURATIONS || runs.len() >= MAX_EXECUTIONS {
            return Err("more configurations of one kernel");
        }
        let Some(code) = self.code(kernel, env) else { return Err("kernel not understood") };
        if self.operations_left == 0 {
            return Err("operations of a file used up");
        }
        let Some(function) = self.project.function_at(self.id, kernel) else { return Err("kernel not understood") };
        let mut report =
            self.spend(&code, &numbers.launch, if before == 0 { u64::MAX } else { OPERATIONS_OF_LATER_ONES });
        let to_the_end = report.coverage.complete;
        if assignment.is_some_and(|assignment| is_loose(seen.event, seen.fact, &assignment.choice)) {
            let block = block_knowledge(seen.fact);
            report.events.retain(|event| holds_for_any_size(event, block));
        }
        let run = make_run((self.id, kernel), function, functions_of(&code), seen, numbers, assignment, report);
        self.runs.entry(kernel).or_default().push((env.clone(), run));
        Ok(to_the_end)
    }

    fn finish(mut self, launches: &ModuleLaunches<'_>) -> ModuleRuns {
        let mut all = Vec::new();
        for (kernel, _) in &launches.kernels {
            let Some(runs) = self.runs.remove(kernel) else { continue };
            let mut runs: Vec<KernelRun> = runs.into_iter().map(|(_, run)| run).collect();
            let best = runs.iter().map(|run| &run.report.coverage).max_by_key(|seen| (seen.known, seen.accesses));
            if let Some(best) = best {
                self.counts.accesses += u64::from(best.accesses);
                self.counts.known_accesses += u64::from(best.known);
            }
            drop_repetitions(&mut runs);
            all.append(&mut runs);
        }
        self.counts.launches = self.outcomes.len() as u64;
        for outcome in self.outcomes.values() {
            let counts = &mut self.counts;
            match outcome {
                Outcomes { facts: true, .. } => counts.with_facts += 1,
                Outcomes { first_block: false, assumed: false, guessed: true, .. } => counts.guessed += 1,
                Outcomes { first_block: false, assumed: false, not, .. } => {
                    *counts.not_executed.entry(not.unwrap_or("not reached")).or_default() += 1;
                }
                Outcomes { first_block, assumed, .. } => {
                    counts.first_block += u64::from(*first_block);
                    counts.assumed += u64::from(*assumed);
                }
            }
        }
        ModuleRuns { runs: all, counts: self.counts }
    }
}

/// Keeps what another execution shows at the same places.
fn keep_shown_by_both(report: &mut report::Report, other: &[report::Event]) {
    let key = |event: &report::Event| (std::mem::discriminant(&event.kind), places(&event.kind));
    report.events.retain(|event| other.iter().any(|other| key(other) == key(event)));
}

/// What is known of the block of a launch some of whose numbers are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BlockKnowledge {
    /// Its extents follow from the source.
    Known,
    /// Its size is one number that is chosen: it is as good as any other.
    Free,
    /// It is computed from several: they may not go together.
    Computed,
}

fn block_knowledge(fact: &LaunchFact) -> BlockKnowledge {
    let open: Vec<&Quantity> =
        fact.block.axes.iter().map(|axis| &axis.quantity).filter(|extent| extent.known().is_none()).collect();
    match open.as_slice() {
        [] => BlockKnowledge::Known,
        [Quantity::Symbolic(poly)] if poly.terms.len() == 1 && poly.terms.keys().all(|product| product.len() == 1) => {
            BlockKnowledge::Free
        }
        _ => BlockKnowledge::Computed,
    }
}

/// Whether an event inside a block means something although sizes are not what the program gives.
fn holds_for_any_size(event: &report::Event, block: BlockKnowledge) -> bool {
    use report::{EventKind, ObjectKind, RaceScope};
    if block == BlockKnowledge::Computed {
        return false;
    }
    match &event.kind {
        EventKind::Race { object, scope, .. } => {
            *scope != RaceScope::Grid && matches!(object.kind, ObjectKind::Shared | ObjectKind::DynamicShared)
        }
        EventKind::OutOfBounds { object, .. } => {
            block == BlockKnowledge::Known && matches!(object.kind, ObjectKind::Shared | ObjectKind::Local)
        }
        EventKind::UninitializedRead { .. } | EventKind::WarpMask { .. } | EventKind::ExitBeforeBarrier { .. } => false,
        _ => true,
    }
}

/// Where the functions of some code are named.
fn functions_of(code: &Code) -> Arc<[report::Site]> {
    code.functions.iter().map(|function| function.site).collect()
}

/// The choice that chooses nothing.
fn facts_of(seen: &Seen<'_>) -> Choice {
    Choice { at: fixed(seen.event), open_grid: true, ..Choice::default() }
}

fn make_run(
    kernel: (ModuleId, FunctionId),
    function: &Function,
    functions: Arc<[report::Site]>,
    seen: &Seen<'_>,
    numbers: Numbers,
    assignment: Option<&Assignment>,
    report: report::Report,
) -> KernelRun {
    let Numbers { launch, buffers, mut bindings, used, .. } = numbers;
    let mut assumptions = used;
    if let Some(assignment) = assignment {
        if let Some(text) = assignment.text() {
            assumptions = union(&assume(text), &assumptions);
        }
        for (name, value) in &assignment.values {
            if !bindings.iter().any(|(known, _)| known == name) {
                bindings.push((name.clone(), *value));
            }
        }
    }
    let loose = |it: &Assignment| is_loose(seen.event, seen.fact, &it.choice);
    let one = assumptions.as_ref().is_some_and(|list| list.len() == 1);
    let chosen = one && assignment.is_some_and(|assignment| !loose(assignment));
    KernelRun {
        kernel,
        name: name_of(function, &seen.fact.env),
        launch: Some(seen.event.site),
        basis: match assignment {
            Some(_) => Basis::Assumption,
            None if launch.grid.contains(&0) => Basis::FirstBlock,
            None => Basis::Facts,
        },
        chosen,
        functions,
        spelling: seen.fact.spelling,
        grid: launch.grid.map(|blocks| blocks.max(1)),
        grid_known: !launch.grid.contains(&0),
        block: launch.block,
        dynamic_shared: launch.dynamic_shared,
        bindings,
        buffers,
        assumptions,
        path: seen.event.path.clone(),
        input: launch,
        report,
    }
}

/// The kernel's name with its template arguments, as far as they can be written.
fn name_of(function: &Function, env: &TypeEnv) -> String {
    let arguments: Vec<String> = function
        .template_params
        .iter()
        .map_while(|param| match env.get(&param.name)? {
            Argument::Type(ty) => Some(ty.name()).filter(|name| !name.is_empty()),
            Argument::Value(value) => Some(value.to_string()),
            Argument::Unknown => None,
        })
        .collect();
    if arguments.is_empty() {
        function.name.to_string()
    } else {
        format!("{}<{}>", function.name, arguments.join(", "))
    }
}
