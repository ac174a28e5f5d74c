//! Executes the launches of one module's kernels, those that rest on facts first, within a budget that grows with the
//! file.

use super::accounts::KernelAccount;
use super::binding::{Binding, Summaries};
use super::choose::{Assignment, assignments, is_loose, within};
use super::collect::{ModuleLaunches, Seen};
use super::counts::Counts;
use super::crossings::given_to;
use super::defects::{DefectFact, defects};
use super::extents;
use super::numbers::{Cause, Choice, Numbers, fixed, numbers};
use super::record::{functions_of, make_run};
use super::repetitions::{drop_combinations, drop_repetitions};
use super::solve::proposals;
use super::{KernelRun, report};
use crate::facts::{LaunchFact, Site};
use crate::kept::KeptFacts;
use crate::quantity::Quantity;
use crate::reliance::Reliance;
use crate::ways::add_ways;
use cudalint_kernel::python::Specialization;
use cudalint_kernel::readings::vacuous;
use cudalint_kernel::{Budget, Code, LaunchInput};
use cudalint_program::Project;
use cudalint_program::ir::{FunctionId, ModuleId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Most distinct configurations that a kernel is executed with, for one binding of its template parameters.
const MAX_CONFIGURATIONS: usize = 3;
/// Most executions of one kernel with all its template arguments.
const MAX_EXECUTIONS: usize = 96;
/// Most assignments that are taken from a search over the kernel's code, for one launch.
const MAX_PROPOSALS: usize = 1;
/// Lane-operations that a byte of the kernel's file pays for. A byte is parsed in about 150 ns and a lane-operation takes
/// about 10 ns, so that a file whose kernels use up all of it costs about 25 times its parse.
pub(super) const OPERATIONS_PER_BYTE: u64 = 375;
/// What a launch may spend on each thread of a block, at least: a few blocks of many threads are followed as far as those of few.
const OPERATIONS_PER_THREAD: u64 = 700;
/// Lane-operations for a launch after the first with the same template arguments, of those that rest on facts and of
/// those that do not: what the kernel does was seen, it is about other numbers.
pub(super) const OPERATIONS_OF_LATER_ONES: u64 = 75_000;
/// What the smallest file may spend: two launches of the largest blocks with all of their own budget.
pub(super) const LEAST_OPERATIONS: u64 = 2_000_000;

/// What came of one module's kernels.
#[derive(Clone, Debug, Default)]
pub struct ModuleRuns {
    /// Executions in the order of the kernels; of each kernel those that rest on nothing but facts first.
    pub runs: Vec<KernelRun>,
    /// What is wrong in them.
    pub defects: Vec<DefectFact>,
    /// How many launches that were, and why not more.
    pub counts: Counts,
    /// What each kernel was checked for; empty unless asked for.
    pub accounts: Vec<KernelAccount>,
    /// What kernels say of themselves.
    pub(super) summaries: Summaries,
}

/// What became of a launch in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
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

pub(super) struct Module<'p> {
    pub(super) project: &'p Project,
    pub(super) id: ModuleId,
    pub(super) operations_left: u64,
    codes: Vec<(FunctionId, Binding, Option<Arc<Code>>)>,
    outcomes: FxHashMap<Site, Outcomes>,
    /// The runs of each kernel with what it was lowered for.
    pub(super) runs: FxHashMap<FunctionId, Vec<(Binding, KernelRun)>>,
    /// Kernels in Python with the types that they are made for.
    pub(super) python: Vec<(FunctionId, Arc<Specialization>)>,
    pub(super) counts: Counts,
    /// What was executed before.
    kept: Option<Kept<'p>>,
    /// See [`ModuleLaunches::read_back`].
    read_back: FxHashSet<Site>,
}

/// What was found out before, and what it hangs on.
pub type Kept<'k> = (&'k KeptFacts, &'k Reliance);

/// Executes what there is to execute for the kernels of a module.
pub fn execute(project: &Project, id: ModuleId, launches: &ModuleLaunches<'_>) -> ModuleRuns {
    run(project, id, launches, None).finish(launches, Asked::default())
}

/// What somebody asks of a module's kernels beyond what goes wrong in them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asked<'k> {
    /// What each was checked for and how.
    pub accounts: bool,
    /// What their requests and barriers cost: each run is executed once more for that.
    pub figures: bool,
    /// Where what is found out is kept, for who asks the same again and again.
    pub kept: Option<Kept<'k>>,
}

/// As [`execute`], with what is asked beyond that.
pub fn execute_asked(project: &Project, id: ModuleId, launches: &ModuleLaunches<'_>, asked: Asked<'_>) -> ModuleRuns {
    run(project, id, launches, asked.kept).finish(launches, asked)
}

fn run<'p>(project: &'p Project, id: ModuleId, launches: &ModuleLaunches<'_>, kept: Option<Kept<'p>>) -> Module<'p> {
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
        kept,
        read_back: launches.read_back.clone(),
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
            module.behind_others(*kernel, one);
        }
    }
    for (kernel, seen) in &launches.kernels {
        for one in seen {
            module.with_assumptions(*kernel, one);
        }
    }
    for (kernel, seen) in &launches.kernels {
        let written = launches.written.iter().find(|(id, _)| id == kernel).map(|(_, block)| block.clone());
        module.with_guess(*kernel, seen, written);
    }
    for (kernel, seen) in &launches.kernels {
        module.with_open_numbers(*kernel, seen);
        module.with_answers(*kernel);
    }
    for event in &launches.unseen {
        module.note(event.site, Outcome::Not("kernel out of sight"));
    }
    module
}

impl Module<'_> {
    /// Executes a launch with facts alone, if its grid is known or not, as asked for.
    fn with_facts(&mut self, kernel: FunctionId, seen: &Seen<'_>, whole: bool) {
        let Some(function) = self.project.function_at(self.id, kernel) else { return };
        if self.is_ruled_out(seen) {
            self.note(seen.event.site, Outcome::Not("block that nobody gives"));
            return;
        }
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
        // Callers that are not followed have shapes of their own.
        if seen.fact.block_by_caller && block_knowledge(seen.fact) != BlockKnowledge::Known {
            return;
        }
        if block_knowledge(seen.fact) == BlockKnowledge::Free && self.is_checked(seen) {
            return;
        }
        let facts = numbers(seen.fact, function, &facts_of(seen));
        if facts.as_ref().is_ok_and(|numbers| numbers.complete) {
            return;
        }
        let proposed = self
            .code(kernel, &Binding::of(seen.fact))
            .map(|code| proposals(seen.event, seen.fact, &code, MAX_PROPOSALS))
            .unwrap_or_default();
        let mut settled = false;
        let written = self.written_block(seen);
        for assignment in proposed.into_iter().chain(assignments(seen.event, seen.fact)) {
            if settled && assignment.replaceable {
                continue;
            }
            let assignment = match &written {
                Some(written) => within(seen.event, seen.fact, written, assignment),
                None => Some(assignment),
            };
            let Some(assignment) = assignment else { continue };
            let Ok(chosen) = numbers(seen.fact, function, &assignment.choice) else { continue };
            let can_be = |written: &extents::Block| {
                written.iter().zip(chosen.launch.block).all(|(axis, extent)| axis.admits(extent))
            };
            if !written.as_ref().is_none_or(can_be) {
                continue;
            }
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

    /// Executes within what is left, and with at most so many operations.
    pub(super) fn spend(&mut self, code: &Code, launch: &LaunchInput, most: u64) -> report::ExecutionReport {
        let budget = Budget::default();
        let threads: u64 = launch.block.iter().map(|size| u64::from(*size)).product();
        let own = budget.lane_operations.max(threads.saturating_mul(OPERATIONS_PER_THREAD));
        let budget = Budget { lane_operations: own.min(self.operations_left).min(most), ..budget };
        let report = self.executed(code, launch, &budget, &[]);
        self.count(&report);
        report
    }

    /// What an execution gives, with answers to some conditions; done, or known.
    pub(super) fn executed(
        &self,
        code: &Code,
        launch: &LaunchInput,
        budget: &Budget,
        conditions: &[report::OpenCondition],
    ) -> report::ExecutionReport {
        match self.kept {
            Some((kept, _)) => kept.runs.execute(code, launch, budget, conditions),
            None => cudalint_kernel::execute_assuming(code, launch, budget, conditions),
        }
    }

    /// Counts what an execution cost.
    pub(super) fn count(&mut self, report: &report::ExecutionReport) {
        self.operations_left = self.operations_left.saturating_sub(report.coverage.operations);
        self.counts.operations += report.coverage.operations;
        for (cause, count) in &report.coverage.causes {
            *self.counts.causes.entry(cause).or_default() += u64::from(*count);
        }
    }

    pub(super) fn note(&mut self, site: Site, outcome: Outcome) {
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
        let lower = || match &env.python {
            Some(made) => cudalint_kernel::lower_python(self.project, self.id, kernel, made).map(Arc::new),
            None => cudalint_kernel::lower(self.project, self.id, kernel, &env.env).map(Arc::new),
        };
        let code = match self.kept {
            Some((kept, reliance)) => {
                kept.code(reliance.of(self.id), &format!("{} {} {env:?}", self.id.0, kernel.0), lower)
            }
            None => lower(),
        };
        self.codes.push((kernel, env.clone(), code.clone()));
        code
    }

    /// Executes a launch unless that was done before; says whether it came to its end.
    pub(super) fn run(
        &mut self,
        kernel: FunctionId,
        seen: &Seen<'_>,
        mut numbers: Numbers,
        assignment: Option<&Assignment>,
    ) -> Result<bool, Cause> {
        let env = &Binding::of(seen.fact);
        // What other kernels read makes no other launch of it.
        if !numbers.launch.constants.is_empty() {
            let code = self.code(kernel, env);
            let objects =
                || code.iter().flat_map(|code| &code.objects).map(|object| (object.site.module, object.site.span));
            numbers.launch.constants.retain(|(at, _)| objects().any(|object| object == *at));
        }
        let before = self.runs.get_mut(&kernel).into_iter().flatten();
        if let Some((_, run)) = before.into_iter().find(|(known, run)| known == env && run.input == numbers.launch) {
            let own = given_to(seen);
            if run.assumptions.is_some() == assignment.is_some() && !run.launched.contains(&own) {
                run.launched.push(own);
                add_ways(&run.path, &mut run.ways, seen.event.path.clone(), seen.event.ways.clone());
                run.perhaps_not_reached &= seen.event.perhaps_not_reached;
            }
            return Ok(run.report.coverage.complete);
        }
        let runs = self.runs.get(&kernel).map_or(&[][..], Vec::as_slice);
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
        if assignment.is_none() && to_the_end && self.read_back.contains(&seen.event.site) {
            self.follow_all_blocks(&code, &numbers.launch, &mut report);
        }
        if assignment.is_some() {
            // That would be a second assumption.
            report.events.retain(|event| event.doubt.is_none());
        }
        if assignment.is_some_and(|assignment| is_loose(seen.event, seen.fact, &assignment.choice)) {
            let block = block_knowledge(seen.fact);
            report.events.retain(|event| holds_for_any_size(event, block));
        }
        if let Some(assignment) = assignment {
            self.in_others(&code, function, seen.fact, &assignment.others, &mut report.events);
        }
        let mut run = make_run((self.id, kernel), function, functions_of(&code), seen, numbers, assignment, report);
        if run.assumptions.is_none() {
            run.unguarded = vacuous::unguarded(&code, &run.bindings);
        }
        self.runs.entry(kernel).or_default().push((env.clone(), run));
        Ok(to_the_end)
    }

    /// What became of a launch: the best of all ways that lead to it.
    pub(super) fn outcome(&self, site: Site) -> Outcome {
        match self.outcomes.get(&site).copied().unwrap_or_default() {
            Outcomes { facts: true, .. } => Outcome::Facts,
            Outcomes { first_block: true, .. } => Outcome::FirstBlock,
            Outcomes { assumed: true, .. } => Outcome::Assumed,
            Outcomes { guessed: true, .. } => Outcome::Guessed,
            Outcomes { not, .. } => Outcome::Not(not.unwrap_or("not reached")),
        }
    }

    fn finish(mut self, launches: &ModuleLaunches<'_>, asked: Asked<'_>) -> ModuleRuns {
        let accounts = if asked.accounts { self.accounts(launches) } else { Vec::new() };
        let summaries = self.summaries(launches);
        let mut all = Vec::new();
        let mut codes = Vec::new();
        for (kernel, _) in &launches.kernels {
            let Some(mut runs) = self.runs.remove(kernel) else { continue };
            let best = runs.iter().map(|(_, run)| &run.report.coverage).max_by_key(|seen| (seen.known, seen.accesses));
            if let Some(best) = best {
                self.counts.accesses += u64::from(best.accesses);
                self.counts.known_accesses += u64::from(best.known);
            }
            drop_combinations(&mut runs);
            drop_repetitions(&mut runs);
            for (binding, run) in runs {
                codes.push(self.code(*kernel, &binding));
                all.push(run);
            }
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
        let defects = defects(self.project, &all, &codes);
        // Nobody asks any more.
        for event in all.iter_mut().flat_map(|run| &mut run.report.events) {
            event.again = None;
        }
        if asked.figures {
            add_figures(self.project.source(self.id).len(), &mut all, &codes);
        }
        ModuleRuns { runs: all, defects, counts: self.counts, accounts, summaries }
    }
}

/// Executes each run once more for what its requests and barriers cost, within a budget of its own.
fn add_figures(bytes: usize, runs: &mut [KernelRun], codes: &[Option<Arc<Code>>]) {
    let mut left = LEAST_OPERATIONS.max((bytes as u64).saturating_mul(OPERATIONS_PER_BYTE));
    for (run, code) in runs.iter_mut().zip(codes) {
        let Some(code) = code.as_deref().filter(|_| left > 0) else { continue };
        let budget = Budget::default();
        let budget = Budget { lane_operations: budget.lane_operations.min(left), ..budget };
        left = left.saturating_sub(run.report.coverage.operations.min(budget.lane_operations).max(1));
        run.figures = Some(cudalint_kernel::figures(code, &run.input, &budget));
    }
}

/// What is known of the block of a launch some of whose numbers are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockKnowledge {
    /// Its extents follow from the source.
    Known,
    /// Its size is one number that is chosen: it is as good as any other.
    Free,
    /// It is computed from several: they may not go together.
    Computed,
}

pub(super) fn block_knowledge(fact: &LaunchFact) -> BlockKnowledge {
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

/// The choice that chooses nothing.
pub(super) fn facts_of(seen: &Seen<'_>) -> Choice {
    Choice { at: fixed(seen.event), open_grid: true, ..Choice::default() }
}
