//! Kernels that nothing else could be executed for: with a block that is guessed, and where that shows nothing, with numbers that
//! are chosen, an answer to what an argument would decide, or several blocks.

use super::binding::Binding;
use super::choose::{is_computed_out_of_sight, lets_through};
use super::collect::Seen;
use super::computed::is_computed;
use super::execute::{BlockKnowledge, Module, Outcome, block_knowledge};
use super::extents::{self, Axis, Block, open_block, told};
use super::guess::{Guess, Rest, bare_launch, guess};
use super::record::{functions_of, name_of};
use super::shows::{OPERATIONS_OF_LONE_THREADS, Subject, fits, keys, leaves_shared, repeats_rows, shown};
use super::tied::{bind, ties};
use super::uniform::{MAX_ANSWERS, is_race_in_shared_memory};
use super::{Basis, KernelRun, report};
use crate::facts::{Amount, LaunchSpelling, Site};
use crate::quantity::assume;
use cudalint_kernel::code::{ObjectSpace, StaticObject, VariableId};
use cudalint_kernel::python::Specialization;
use cudalint_kernel::readings::block::block_axes;
use cudalint_kernel::readings::deciding::{self, Given};
use cudalint_kernel::readings::locks;
use cudalint_kernel::{Argument, Code, LaunchInput};
use cudalint_program::ir::{Dialect, Function, FunctionId, Type, TypeId, Variable};
use cudalint_program::types::{self, Ty, TypeEnv};
use cudalint_program::{Project, Scope};
use std::sync::Arc;
use typed_index_collections::TiVec;

/// Blocks along an axis, where several are tried.
const BLOCKS: u32 = 4;
/// How often a block is halved with which the kernel leaves its shared arrays.
const NARROWER: usize = 2;

impl Module<'_> {
    /// A kernel that nothing else could be executed for.
    pub(super) fn with_guess(&mut self, kernel: FunctionId, seen: &[Seen<'_>], written: Option<Block>) {
        self.counts.unlaunched += u64::from(seen.is_empty());
        if self.runs.contains_key(&kernel) || self.operations_left == 0 {
            return;
        }
        let Some(function) = self.project.function_at(self.id, kernel) else { return };
        // Callers that are not followed have shapes of their own.
        if seen.iter().any(|seen| seen.fact.block_by_caller) {
            return;
        }
        if seen.iter().any(|seen| self.is_checked(seen)) {
            return;
        }
        let first = seen.first();
        let env = first.map_or_else(|| self.instance(kernel, function), |seen| Binding::of(seen.fact));
        if env.python.is_none() && function.python.is_some() {
            return;
        }
        let written = written.or_else(|| seen.iter().map(|seen| said(self.project, seen)).max_by_key(told));
        let written = written.unwrap_or_else(open_block);
        let Some(mut run) = self.guessed(kernel, function, &env, (first, &written), None) else { return };
        self.counts.unlaunched_executed += u64::from(seen.is_empty());
        for one in seen {
            self.note(one.event.site, Outcome::Guessed);
        }
        let mut made_for = env;
        if run.report.events.is_empty()
            && let Some((typed, types)) = self.with_element_types(function, &made_for)
            && let Some(other) = self.guessed(kernel, function, &typed, (first, &written), Some(&types))
            && !other.report.events.is_empty()
        {
            (made_for, run) = (typed, other);
        }
        self.runs.entry(kernel).or_default().push((made_for, run));
    }

    /// Types that only the callers of a template know are taken to be of 4 bytes, where its parameters point to elements of them
    /// and nothing else is open: what it is made for then, and the assumption in words.
    fn with_element_types(&self, function: &Function, made_for: &Binding) -> Option<(Binding, String)> {
        let types = &self.project.module(self.id).types;
        let mut words = Vec::new();
        let mut bound = Vec::new();
        for param in &function.template_params {
            if made_for.env.get(&param.name).is_some_and(is_bound) {
                continue;
            }
            let is_it = |ty: TypeId| matches!(unqualified(types, ty), Some(Type::Named { path, .. }) if path.last() == Some(&param.name));
            let points =
                |local: &Variable| matches!(unqualified(types, local.ty), Some(Type::Pointer(to)) if is_it(*to));
            if param.pack || param.value_type.is_some() || !function.params().iter().any(points) {
                return None;
            }
            words.push(format!("`{}` is `float`", param.name));
            bound.push((param.name.clone(), types::Argument::Type(Ty::Float { bytes: 4 })));
        }
        let env = made_for.env.with(bound);
        (!words.is_empty()).then(|| (Binding { env, python: None }, words.join(" and ")))
    }

    /// A kernel executed with a block that is guessed: with nothing else first, then with numbers that are chosen, with answers,
    /// and in several blocks, as long as nothing shows.
    fn guessed(
        &mut self,
        kernel: FunctionId,
        function: &Function,
        made_for: &Binding,
        (first, written): (Option<&Seen<'_>>, &Block),
        types: Option<&str>,
    ) -> Option<KernelRun> {
        let code = self.code(kernel, made_for)?;
        let sized = |object: &StaticObject| object.space != ObjectSpace::Shared || object.bytes.is_some();
        if types.is_some() && !code.objects.iter().all(sized) {
            return None;
        }
        let mut guess = guess(&code, written.clone())?;
        if !first.is_none_or(|seen| lets_through(seen.event, seen.fact, guess.block)) {
            return None;
        }
        let subject = (kernel, function, made_for);
        let (mut run, mut stays) = self.with_block(subject, &code, &guess, first, types)?;
        // With a block of its own a kernel stays within its shared arrays.
        for _ in 0..NARROWER {
            if stays {
                break;
            }
            let Some(narrower) = guess.narrower() else { break };
            guess = narrower;
            let (other, fits) = self.with_block(subject, &code, &guess, first, types)?;
            if fits {
                (run, stays) = (other, fits);
            }
        }
        Some(run)
    }

    /// The same with one block, and whether the kernel stays within its shared arrays with it.
    fn with_block(
        &mut self,
        (kernel, function, made_for): (FunctionId, &Function, &Binding),
        code: &Arc<Code>,
        guess: &Guess,
        first: Option<&Seen<'_>>,
        types: Option<&str>,
    ) -> Option<(KernelRun, bool)> {
        let mut guess = guess.clone();
        let pointers = self.named(code, deciding::pointers(code));
        let (mut launch, buffers) = bare_launch(code, guess.block, &pointers)?;
        let ties = ties(first);
        bind(&mut launch, &ties);
        let most = if code.is_cooperative() { u64::MAX } else { OPERATIONS_OF_LONE_THREADS };
        let mut report = self.spend(code, &launch, most);
        if repeats_rows(&report.events) {
            guess = guess.in_one_row();
            launch.block = guess.block;
            bind(&mut launch, &ties);
            report = self.spend(code, &launch, most);
        }
        let events = std::mem::take(&mut report.events);
        let mut stays = fits(&guess, &events);
        let shown = self.confirmed(code, &guess, &launch, Rest::Nothing, events);
        let (doubtful, sure): (Vec<_>, Vec<_>) = shown.into_iter().partition(|event| event.doubt.is_some());
        report.events = sure;
        let mut text = guess.text(launch.grid);
        let mut bindings = Vec::new();
        // What is not known of types is not known of what they make of shared memory.
        let settled = function.template_params.iter().all(|param| made_for.env.get(&param.name).is_some_and(is_bound));
        if report.events.is_empty() && settled && stays {
            let mut numbers = self.named(code, deciding::deciding(code));
            let is_tied =
                |given: &Given| matches!(given, Given::Parameter(at) if ties.iter().any(|(tied, _)| tied == at));
            numbers.retain(|(given, _)| !is_tied(given));
            let subject = Subject { code, guess: &guess, numbers: &numbers };
            if let Some(found) = self.with_numbers(&subject, &launch, Rest::Numbers) {
                (text, report.events, bindings, launch) = (found.text, found.events, found.bindings, found.launch);
            } else if let Some((said, shown, fits)) =
                self.guessed_with_answer(code, &guess, &launch, &report.coverage.open)
            {
                stays = fits;
                text = format!("{text} so that {said}");
                report.events = shown;
            } else {
                let mut axes = block_axes(code);
                // Who takes a lock is not alone.
                axes[0] |= locks::are_taken(code);
                let mut grid = axes.map(|read| if read { BLOCKS } else { 1 });
                // A launch in sight says how many there are.
                for (blocks, known) in grid.iter_mut().zip(first.map(|seen| blocks(seen)).unwrap_or_default()) {
                    *blocks = known.map_or(*blocks, |known| known.min(*blocks));
                }
                let of_grid = LaunchInput { grid, ..launch.clone() };
                if grid != [1, 1, 1]
                    && let Some(found) = self.with_numbers(&subject, &of_grid, Rest::Blocks)
                {
                    (text, report.events, bindings, launch) = (found.text, found.events, found.bindings, found.launch);
                } else if let Some(found) = self.with_zeros_and_numbers(&subject, &launch, &buffers, &report.coverage) {
                    (text, report.events, bindings, launch) = (found.text, found.events, found.bindings, found.launch);
                }
            }
        }
        // Numbers say more than conditions that threads are taken to get past.
        if bindings.is_empty() && text == guess.text(launch.grid) {
            report.events.extend(doubtful);
        }
        bindings.extend(ties.iter().filter_map(|(parameter, axis)| {
            let name = function.params().iter().nth(*parameter)?.name.to_string();
            Some((name, i64::from(*launch.block.get(*axis)?)))
        }));
        if let Some(types) = types {
            text = format!("{text} and {types}");
        }
        let run = KernelRun {
            kernel: (self.id, kernel),
            name: name_of(function, &made_for.env),
            launch: first.map(|seen| seen.event.site),
            launched: Vec::new(),
            basis: Basis::GuessedBlock,
            functions: functions_of(code),
            spelling: first.map_or_else(|| spelling(made_for.python.as_deref()), |seen| seen.fact.spelling),
            grid: launch.grid.map(|blocks| blocks.max(1)),
            grid_known: false,
            block: launch.block,
            block_known: false,
            dynamic_shared: None,
            bindings,
            free: Vec::new(),
            chosen: Vec::new(),
            decided: 0,
            chosen_inputs: Vec::new(),
            perhaps_not_reached: false,
            buffers,
            assumptions: assume(text),
            path: first.map(|seen| seen.event.path.clone()).unwrap_or_default(),
            ways: first.map(|seen| seen.event.ways.clone()).unwrap_or_default(),
            input: launch,
            report,
            unguarded: Vec::new(),
            figures: None,
        };
        Some((run, stays))
    }

    /// Executes a kernel of which a launch is in sight, but not all the numbers that decide what its threads do, with numbers
    /// that are chosen. Where nothing of it is shown by facts alone, the numbers come to the inputs that the launch itself was
    /// given: all of them together are one assignment.
    pub(super) fn with_open_numbers(&mut self, kernel: FunctionId, seen: &[Seen<'_>]) {
        let Some(runs) = self.runs.get(&kernel) else { return };
        let in_sight = |run: &KernelRun| run.launch.is_some() && run.basis != Basis::GuessedBlock;
        let is_free =
            |run: &KernelRun| seen.iter().any(|seen| Some(seen.event.site) == run.launch && sizes_are_free(seen));
        let sure = runs.iter().filter(|(_, run)| in_sight(run) && run.assumptions.is_none()).take(1);
        let assumed = runs.iter().filter(|(_, run)| in_sight(run) && !run.chosen_inputs.is_empty() && is_free(run));
        let mut bases: Vec<(Binding, KernelRun)> = sure.cloned().collect();
        if bases.is_empty() {
            bases.extend(assumed.cloned());
        }
        let others: Vec<LaunchInput> = runs.iter().map(|(_, run)| run.input.clone()).collect();
        let open = |this: &mut Self, (binding, run): (Binding, KernelRun)| {
            let code = this.code(kernel, &binding)?;
            let mut numbers = this.named(&code, deciding::deciding(&code));
            numbers.retain(|(given, _)| is_open(&run.input, given));
            (!numbers.is_empty()).then_some((binding, run, code, numbers))
        };
        let Some((binding, run, code, numbers)) = bases.into_iter().find_map(|base| open(self, base)) else { return };
        let inputs = match run.assumptions.as_deref().map(Vec::as_slice) {
            None => None,
            Some([inputs]) => Some(inputs.clone()),
            Some(_) => return,
        };
        // Where somebody chose all of them to suit the launch, that says more.
        let settled = |input: &LaunchInput| numbers.iter().all(|(given, _)| !is_open(input, given));
        if inputs.is_none() && others.iter().any(settled) {
            return;
        }
        let guess = Guess::of_launch(&code, run.block);
        let subject = Subject { code: &code, guess: &guess, numbers: &numbers };
        if let Some(mut found) = self.with_numbers(&subject, &run.input, Rest::Numbers) {
            if inputs.is_some() {
                found.events.retain(is_race_in_shared_memory);
            }
            // Not every number can be one that the host computes: it may be such that all threads go as many rounds.
            let event = seen.iter().find(|seen| Some(seen.event.site) == run.launch).map(|seen| seen.event);
            let computed = |at: usize| event.is_some_and(|event| is_computed(self.project, event, at));
            if numbers.iter().any(|(given, _)| matches!(given, Given::Parameter(at) if computed(*at))) {
                found.events.retain(|event| !parts_a_block(event));
            }
            if found.events.is_empty() {
                return;
            }
            let text = inputs.map_or_else(|| found.text.clone(), |inputs| format!("{inputs} and {}", found.text));
            let (assumptions, input) = (assume(text), found.launch);
            let mut assumed = KernelRun { assumptions, basis: Basis::Assumption, input, ..run };
            assumed.report.events = found.events;
            assumed.bindings.extend(found.bindings);
            self.runs.entry(kernel).or_default().push((binding, assumed));
        }
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

    /// Numbers that a kernel is given, with their names as it has them; those that have none are left out.
    fn named(&self, code: &Code, given: Vec<Given>) -> Vec<(Given, String)> {
        let name = |given: &Given| {
            let parameter = |at: usize| Some(&code.functions.first()?.variables.get(VariableId::from(at))?.name);
            let written = |site: &Site, of: &str, signs: &[char]| {
                let text: String = self.project.text(site.module, site.span).split_whitespace().collect();
                let rest = text.strip_prefix(of)?;
                (rest.is_empty() || rest.starts_with(signs)).then_some(text)
            };
            match given {
                Given::Parameter(at) => parameter(*at).cloned(),
                Given::Member { parameter: at, read, .. } => written(read, parameter(*at)?, &['.']),
                Given::Memory { read, name, .. } => written(read, name, &['.', '[']),
            }
        };
        let named = |given: Given| name(&given).filter(|name| !name.is_empty()).map(|name| (given, name));
        given.into_iter().filter_map(named).collect()
    }

    /// As the same execution with an answer to a condition that is uniform over the block, which is what an argument would
    /// be: the first answer that shows something, and what it shows.
    fn guessed_with_answer(
        &mut self,
        code: &Arc<Code>,
        guess: &Guess,
        launch: &LaunchInput,
        open: &[report::OpenCondition],
    ) -> Option<(String, Vec<report::Event>, bool)> {
        if !code.has_shared_memory() {
            return None;
        }
        let of_threads = |open: &&report::OpenCondition| open.kind == report::OpenKind::OfThreads;
        let of_block = open.iter().filter(|open| !of_threads(open)).take(MAX_ANSWERS);
        for condition in of_block.chain(open.iter().filter(of_threads).take(MAX_ANSWERS)) {
            let told = |event: &report::Event| guess.admits(event, Rest::Nothing) && is_race_in_shared_memory(event);
            let admits = |event: &report::Event| told(event) || leaves_shared(event);
            let found = self.behind(code, launch, *condition, open, admits);
            let Some((conditions, text, mut report)) = found else { continue };
            if repeats_rows(&report.events) {
                continue;
            }
            if conditions.iter().filter(of_threads).count() > 1 {
                continue;
            }
            for block in guess.other.iter().chain(&guess.others).copied() {
                if report.events.is_empty() {
                    break;
                }
                let launch = LaunchInput { block, ..launch.clone() };
                let seen = keys(&self.once_more_assuming(code, &launch, &conditions)?.events);
                report.events.retain(|event| seen.contains(&shown(event)));
            }
            let stays = fits(guess, &report.events);
            report.events.retain(told);
            if !report.events.is_empty() {
                // Rounds of a loop lead anywhere, and say nothing of the block.
                if !stays && conditions.iter().all(|condition| condition.kind != report::OpenKind::Rounds) {
                    report.events.clear();
                }
                return Some((text, report.events, stays));
            }
        }
        None
    }
}

/// What a launch that was met says of its block without any assumption; of an extent that is not known what the source says.
fn said(project: &Project, seen: &Seen<'_>) -> Block {
    let known = seen.fact.block.axes.each_ref().map(|axis| {
        let known = axis.quantity.known().filter(|_| axis.assumptions.is_none());
        known.and_then(|extent| u32::try_from(extent).ok())
    });
    let source = || extents::of_launch(project, seen.event.site.module, seen.event.site.span);
    let source = if known.contains(&None) { source() } else { None };
    let mut block = source.unwrap_or_else(open_block);
    for (axis, known) in block.iter_mut().zip(known).filter(|(_, known)| known.is_some()) {
        *axis = Axis::from(known);
    }
    block
}

/// Whether all that a launch's sizes are made of is chosen by whoever runs the program, and the block is no result of several.
fn sizes_are_free(seen: &Seen<'_>) -> bool {
    let free = |amount: &Amount| !is_computed_out_of_sight(&amount.quantity) && !amount.quantity.is_unknown();
    let axes = seen.fact.grid.axes.iter().chain(&seen.fact.block.axes);
    axes.chain([&seen.fact.shared]).all(free) && block_knowledge(seen.fact) != BlockKnowledge::Computed
}

/// The blocks of a launch that was met, as far as they are known.
fn blocks(seen: &Seen<'_>) -> [Option<u32>; 3] {
    seen.fact.grid.axes.each_ref().map(|axis| axis.quantity.known().and_then(|blocks| u32::try_from(blocks).ok()))
}

/// How a kernel of this make is launched.
fn spelling(made: Option<&Specialization>) -> LaunchSpelling {
    match made.map(|made| made.dialect) {
        None => LaunchSpelling::Chevron,
        Some(Dialect::CupyJit) => LaunchSpelling::CupyJit,
        Some(_) => LaunchSpelling::Numba,
    }
}

/// Whether an event is about threads of a block that do not come to a barrier.
const fn parts_a_block(event: &report::Event) -> bool {
    matches!(event.kind, report::EventKind::DivergentBarrier { .. } | report::EventKind::ExitBeforeBarrier { .. })
}

/// Whether a launch leaves a number open.
fn is_open(input: &LaunchInput, given: &Given) -> bool {
    match given {
        Given::Parameter(at) => matches!(input.arguments.get(*at), None | Some(Argument::Unknown)),
        Given::Member { parameter, byte, .. } => match input.arguments.get(*parameter) {
            None | Some(Argument::Unknown) => true,
            Some(Argument::Record(fields)) => !fields.iter().any(|(at, _)| *at == u64::from(*byte)),
            _ => false,
        },
        Given::Memory { reads, declared, .. } => {
            let filled = input.constants.iter().any(|(at, _)| declared.is_some_and(|it| (it.module, it.span) == *at));
            !filled && !input.reads.iter().any(|(at, _)| reads.iter().any(|read| read.index() == *at))
        }
    }
}

/// A type as written, without `const` and the like.
fn unqualified(types: &TiVec<TypeId, Type>, ty: TypeId) -> Option<&Type> {
    match types.get(ty)? {
        Type::Qualified { ty, .. } => types.get(*ty),
        other => Some(other),
    }
}

/// Whether a template argument is known.
const fn is_bound(argument: &types::Argument) -> bool {
    !matches!(argument, types::Argument::Unknown)
}
