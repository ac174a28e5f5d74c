//! Kernels that nothing else could be executed for: with a block that is guessed, and where that shows nothing, with numbers that
//! are chosen, an answer to what an argument would decide, or several blocks.

use super::binding::Binding;
use super::collect::Seen;
use super::execute::{Module, Outcome, functions_of, name_of};
use super::guess::{Guess, Rest, bare_launch, guess, with_values};
use super::repetitions::{Key, key};
use super::uniform::{MAX_ANSWERS, is_race_in_shared_memory};
use super::{Basis, KernelRun, report};
use crate::facts::LaunchSpelling;
use crate::quantity::assume;
use cudalint_kernel::code::{ObjectSpace, StaticObject, VariableId};
use cudalint_kernel::python::Specialization;
use cudalint_kernel::readings::block::block_axes;
use cudalint_kernel::readings::deciding::{self, Given};
use cudalint_kernel::readings::locks;
use cudalint_kernel::{Argument, Budget, Code, Contents, LaunchInput};
use cudalint_program::Scope;
use cudalint_program::ir::{Dialect, Function, FunctionId, Type, TypeId, Variable};
use cudalint_program::types::{self, Ty, TypeEnv};
use rustc_hash::FxHashSet;
use std::sync::Arc;
use typed_index_collections::TiVec;

/// Lane-operations for a kernel of which only the block is guessed and whose threads do not work together: what is
/// believed of such an execution is about shared memory and barriers, and next to nothing else.
const OPERATIONS_OF_LONE_THREADS: u64 = 30_000;
/// A number that is chosen: more than all threads of the blocks that are tried.
const SIZE: i64 = 2048;
/// Lane-operations for the least numbers with which something shows.
const OPERATIONS_FOR_WORDS: u64 = 1_000_000;
/// Blocks along an axis, where several are tried, and how many of all are executed.
const BLOCKS: u32 = 4;
const SEEN_BLOCKS: u32 = 3;

impl Module<'_> {
    /// A kernel that nothing else could be executed for.
    pub(super) fn with_guess(&mut self, kernel: FunctionId, seen: &[Seen<'_>]) {
        self.counts.unlaunched += u64::from(seen.is_empty());
        if self.runs.contains_key(&kernel) || self.operations_left == 0 {
            return;
        }
        let Some(function) = self.project.function_at(self.id, kernel) else { return };
        // Callers that are not followed have shapes of their own.
        if seen.iter().any(|seen| seen.fact.block_by_caller) {
            return;
        }
        let first = seen.first();
        let env = first.map_or_else(|| self.instance(kernel, function), |seen| Binding::of(seen.fact));
        if env.python.is_none() && function.python.is_some() {
            return;
        }
        let Some(mut run) = self.guessed(kernel, function, &env, first, None) else { return };
        self.counts.unlaunched_executed += u64::from(seen.is_empty());
        for one in seen {
            self.note(one.event.site, Outcome::Guessed);
        }
        let mut made_for = env;
        if run.report.events.is_empty()
            && let Some((typed, types)) = self.with_element_types(function, &made_for)
            && let Some(other) = self.guessed(kernel, function, &typed, first, Some(&types))
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
        first: Option<&Seen<'_>>,
        types: Option<&str>,
    ) -> Option<KernelRun> {
        let code = self.code(kernel, made_for)?;
        let sized = |object: &StaticObject| object.space != ObjectSpace::Shared || object.bytes.is_some();
        if types.is_some() && !code.objects.iter().all(sized) {
            return None;
        }
        let mut guess = guess(&code)?;
        let pointers = self.named(&code, deciding::pointers(&code));
        let (mut launch, buffers) = bare_launch(&code, guess.block, &pointers)?;
        let most = if code.is_cooperative() { u64::MAX } else { OPERATIONS_OF_LONE_THREADS };
        let mut report = self.spend(&code, &launch, most);
        if repeats_rows(&report.events) {
            guess = guess.in_one_row();
            launch.block = guess.block;
            report = self.spend(&code, &launch, most);
        }
        let events = std::mem::take(&mut report.events);
        let fits = fits(&guess, &events);
        let shown = self.confirmed(&code, &guess, &launch, Rest::Nothing, events);
        let (doubtful, sure): (Vec<_>, Vec<_>) = shown.into_iter().partition(|event| event.doubt.is_some());
        report.events = sure;
        let mut text = guess.text(launch.grid);
        let mut bindings = Vec::new();
        // What is not known of types is not known of what they make of shared memory.
        let settled = function.template_params.iter().all(|param| made_for.env.get(&param.name).is_some_and(is_bound));
        if report.events.is_empty() && settled && fits {
            let numbers = self.named(&code, deciding::deciding(&code));
            let subject = Subject { code: &code, guess: &guess, numbers: &numbers };
            if let Some(found) = self.with_numbers(&subject, &launch, Rest::Numbers) {
                (text, report.events, bindings, launch) = (found.text, found.events, found.bindings, found.launch);
            } else if let Some((said, shown)) = self.guessed_with_answer(&code, &guess, &launch, &report.coverage.open)
            {
                text = format!("{text} so that {said}");
                report.events = shown;
            } else {
                let mut axes = block_axes(&code);
                // Who takes a lock is not alone.
                axes[0] |= locks::are_taken(&code);
                let grid = axes.map(|read| if read { BLOCKS } else { 1 });
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
        if let Some(types) = types {
            text = format!("{text} and {types}");
        }
        Some(KernelRun {
            kernel: (self.id, kernel),
            name: name_of(function, &made_for.env),
            launch: first.map(|seen| seen.event.site),
            basis: Basis::GuessedBlock,
            functions: functions_of(&code),
            spelling: first.map_or_else(|| spelling(made_for.python.as_deref()), |seen| seen.fact.spelling),
            grid: launch.grid.map(|blocks| blocks.max(1)),
            grid_known: false,
            block: launch.block,
            dynamic_shared: None,
            bindings,
            free: Vec::new(),
            chosen: Vec::new(),
            decided: 0,
            buffers,
            assumptions: assume(text),
            path: first.map(|seen| seen.event.path.clone()).unwrap_or_default(),
            input: launch,
            report,
            unguarded: Vec::new(),
        })
    }

    /// Executes a kernel of which a launch is in sight, but not all the numbers that decide what its threads do, with numbers
    /// that are chosen.
    pub(super) fn with_open_numbers(&mut self, kernel: FunctionId) {
        let Some(runs) = self.runs.get(&kernel) else { return };
        let in_sight = |run: &KernelRun| run.launch.is_some() && run.basis != Basis::GuessedBlock;
        let Some((binding, run)) = runs.iter().find(|(_, run)| in_sight(run) && run.assumptions.is_none()).cloned()
        else {
            return;
        };
        let others: Vec<LaunchInput> = runs.iter().map(|(_, run)| run.input.clone()).collect();
        let Some(code) = self.code(kernel, &binding) else { return };
        let mut numbers = self.named(&code, deciding::deciding(&code));
        numbers.retain(|(given, _)| is_open(&run.input, given));
        // Where somebody chose all of them to suit the launch, that says more.
        let settled = |input: &LaunchInput| numbers.iter().all(|(given, _)| !is_open(input, given));
        if numbers.is_empty() || others.iter().any(settled) {
            return;
        }
        let guess = Guess::of_launch(&code, run.block);
        let subject = Subject { code: &code, guess: &guess, numbers: &numbers };
        if let Some(found) = self.with_numbers(&subject, &run.input, Rest::Numbers) {
            let (assumptions, input) = (assume(found.text), found.launch);
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
            let parameter = code.functions.first()?.variables.get(VariableId::from(given.parameter))?;
            let Some((_, site)) = given.member else { return Some(parameter.name.clone()) };
            let text: String = self.project.text(site.module, site.span).split_whitespace().collect();
            let member = text.strip_prefix(&parameter.name).is_some_and(|rest| rest.starts_with('.'));
            member.then_some(text)
        };
        given.into_iter().filter_map(|given| Some((given, name(&given).filter(|name| !name.is_empty())?))).collect()
    }

    /// The events that mean something and show with the other blocks that the kernel may be meant for, too.
    fn confirmed(
        &mut self,
        code: &Code,
        guess: &Guess,
        launch: &LaunchInput,
        rest: Rest,
        mut events: Vec<report::Event>,
    ) -> Vec<report::Event> {
        if !fits(guess, &events) {
            return Vec::new();
        }
        events.retain(|event| guess.admits(event, rest));
        let others = guess.other.map(|other| (other, false)).into_iter().chain([(guess.small, true)]);
        for (block, global_alone) in others {
            let concerned = |event: &report::Event| !global_alone || is_race_in_global_memory(event);
            if block != launch.block && events.iter().any(concerned) {
                let seen = self.tried(code, &LaunchInput { block, ..launch.clone() }, rest).map(|report| report.events);
                let seen = keys(&seen.unwrap_or_default());
                events.retain(|event| !concerned(event) || seen.contains(&shown(event)));
            }
        }
        events
    }

    /// One more execution of a kernel that something was found in.
    fn tried(&mut self, code: &Code, launch: &LaunchInput, rest: Rest) -> Option<report::ExecutionReport> {
        self.once_more(|budget| {
            let blocks = if rest == Rest::Blocks { SEEN_BLOCKS } else { 1 };
            let most = if code.is_cooperative() { u64::MAX } else { OPERATIONS_OF_LONE_THREADS };
            let lane_operations = budget.lane_operations.min(most);
            cudalint_kernel::execute(code, launch, &Budget { blocks, lane_operations, ..*budget })
        })
    }

    /// What shows where numbers that decide what threads do are chosen.
    fn with_numbers(&mut self, subject: &Subject<'_>, launch: &LaunchInput, rest: Rest) -> Option<Found> {
        let Subject { code, guess, numbers } = *subject;
        if numbers.is_empty() && rest == Rest::Numbers {
            return None;
        }
        // Of a size and of others that are all different: what shows with both does not hang on how they are related.
        let mut size = SIZE;
        let mut alike = vec![Some(size); numbers.len()];
        let mut apart: Vec<_> = (0..).zip(numbers).map(|(number, _)| Some(size + 63 + 101 * number)).collect();
        let given = |values: &[Option<i64>]| with_values(launch, numbers, values);
        let mut events = self.tried(code, &given(&alike), rest)?.events;
        if !numbers.is_empty() && events.iter().any(leaves_shared) {
            // As many as the block has threads fill shared arrays that are made for it.
            size = launch.block.iter().map(|threads| i64::from(*threads)).product();
            alike = vec![Some(size); numbers.len()];
            apart = (1..).zip(numbers).map(|(number, _)| Some((size - number).max(2))).collect();
            events = self.tried(code, &given(&alike), rest)?.events;
        }
        if rest == Rest::Numbers && repeats_rows(&events) {
            return None;
        }
        let mut events = self.confirmed(code, guess, &given(&alike), rest, events);
        if !events.is_empty() && !numbers.is_empty() {
            let seen = keys(&self.tried(code, &given(&apart), rest)?.events);
            events.retain(|event| seen.contains(&shown(event)));
        }
        if events.is_empty() {
            return None;
        }
        // What was found is worth its words, whatever is left for other kernels.
        let left = std::mem::replace(&mut self.operations_left, OPERATIONS_FOR_WORDS);
        let wanted = keys(&events);
        let least =
            self.least(&wanted, alike.clone(), |this, values| Some(this.tried(code, &given(values), rest)?.events));
        self.operations_left = left;
        if least.contains(&Some(size)) {
            // It is not known why smaller ones do not do: the words would say too much.
            return None;
        }
        let mut words = vec![guess.text(launch.grid)];
        let mut bindings = Vec::new();
        for ((_, name), value) in numbers.iter().zip(&least) {
            let Some(value) = value else { continue };
            if *value > 0 {
                words.push(format!("`{name}` is at least {value}"));
            }
            bindings.push((name.clone(), size));
        }
        words.retain(|word| !word.is_empty());
        if words.is_empty() {
            words.extend(bindings.first().map(|(name, _)| format!("`{name}` is not negative")));
        }
        let launch = given(&alike);
        (!words.is_empty()).then(|| Found { text: words.join(" and "), events, bindings, launch })
    }

    /// What shows with zeros in all memory of which nobody knows what is in it. Of two accesses at places that hang on data nothing is said.
    fn with_zeros_and_numbers(
        &mut self,
        subject: &Subject<'_>,
        launch: &LaunchInput,
        buffers: &[super::RunBuffer],
        seen: &report::Coverage,
    ) -> Option<Found> {
        if seen.unplaced.is_empty() || buffers.is_empty() || !subject.code.has_shared_memory() {
            return None;
        }
        let mut launch = launch.clone();
        launch.buffers.iter_mut().for_each(|buffer| buffer.contents = Contents::Filled(0));
        let mut found = self.with_numbers(subject, &launch, Rest::Zeros)?;
        found.events.retain(|event| match &event.kind {
            report::EventKind::Race { first, second, .. } => {
                ![first, second].iter().all(|access| seen.unplaced.contains(&access.site))
            }
            _ => false,
        });
        let holds = match buffers {
            [one] => format!("`{}` holds zeros", one.parameter),
            _ => "the memory that it is given holds zeros".to_owned(),
        };
        found.text = format!("{} and {holds}", found.text);
        (!found.events.is_empty()).then_some(found)
    }

    /// The least numbers with which all of these events show, found one after the other; of a number that makes no difference
    /// nothing.
    fn least(
        &mut self,
        wanted: &FxHashSet<Shown>,
        mut values: Vec<Option<i64>>,
        mut execute: impl FnMut(&mut Self, &[Option<i64>]) -> Option<Vec<report::Event>>,
    ) -> Vec<Option<i64>> {
        let mut shows = |this: &mut Self, values: &[Option<i64>]| {
            execute(this, values).is_some_and(|events| wanted.is_subset(&keys(&events)))
        };
        for number in 0..values.len() {
            let mut with = |this: &mut Self, value: Option<i64>| {
                let mut tried = values.clone();
                tried[number] = value;
                shows(this, &tried)
            };
            if with(self, None) {
                values[number] = None;
                continue;
            }
            // Small ones first: they cost the least, and long loops are not followed to their ends.
            let most = values[number].unwrap_or_default();
            let (mut low, mut high) = (0, 0);
            while high < most && !with(self, Some(high)) {
                low = high + 1;
                high = (2 * high + 1).min(most);
            }
            while low < high {
                let middle = i64::midpoint(low, high);
                if with(self, Some(middle)) {
                    high = middle;
                } else {
                    low = middle + 1;
                }
            }
            values[number] = Some(high);
        }
        values
    }

    /// As the same execution with an answer to a condition that is uniform over the block, which is what an argument would
    /// be: the first answer that shows something, and what it shows.
    fn guessed_with_answer(
        &mut self,
        code: &Arc<Code>,
        guess: &Guess,
        launch: &LaunchInput,
        open: &[report::OpenCondition],
    ) -> Option<(String, Vec<report::Event>)> {
        if !code.has_shared_memory() {
            return None;
        }
        let of_threads = |open: &&report::OpenCondition| open.kind == report::OpenKind::OfThreads;
        let of_block = open.iter().filter(|open| !of_threads(open)).take(MAX_ANSWERS);
        for condition in of_block.chain(open.iter().filter(of_threads).take(MAX_ANSWERS)) {
            let admits = |event: &report::Event| guess.admits(event, Rest::Nothing) && is_race_in_shared_memory(event);
            let found = self.behind(code, launch, *condition, open, admits);
            let Some((conditions, text, mut report)) = found else { continue };
            if repeats_rows(&report.events) {
                continue;
            }
            if conditions.iter().filter(of_threads).count() > 1 {
                continue;
            }
            if let (Some(block), false) = (guess.other, report.events.is_empty()) {
                let launch = LaunchInput { block, ..launch.clone() };
                let seen = keys(&self.once_more_assuming(code, &launch, &conditions)?.events);
                report.events.retain(|event| seen.contains(&shown(event)));
            }
            if !report.events.is_empty() {
                return Some((text, report.events));
            }
        }
        None
    }
}

/// A kernel that nobody launches, while blocks and numbers are tried.
#[derive(Clone, Copy)]
struct Subject<'a> {
    code: &'a Code,
    guess: &'a Guess,
    /// Those that decide what threads do.
    numbers: &'a [(Given, String)],
}

/// What shows with chosen numbers.
struct Found {
    /// The assumption: the block, and the least numbers.
    text: String,
    events: Vec<report::Event>,
    /// The numbers that the events show with.
    bindings: Vec<(String, i64)>,
    launch: LaunchInput,
}

/// How a kernel of this make is launched.
fn spelling(made: Option<&Specialization>) -> LaunchSpelling {
    match made.map(|made| made.dialect) {
        None => LaunchSpelling::Chevron,
        Some(Dialect::CupyJit) => LaunchSpelling::CupyJit,
        Some(_) => LaunchSpelling::Numba,
    }
}

/// Whether one statement stores the same element in each row of the block: the kernel makes no difference between them, and is
/// most likely meant for blocks of one row.
fn repeats_rows(events: &[report::Event]) -> bool {
    events.iter().any(|event| {
        let report::EventKind::Race { first, second, scope, .. } = &event.kind else { return false };
        let (a, b) = (first.thread.thread, second.thread.thread);
        let both_store = first.kind.writes() && second.kind.writes();
        *scope != report::RaceScope::Grid
            && both_store
            && first.site == second.site
            && a[0] == b[0]
            && (a[1] != b[1] || a[2] != b[2])
    })
}

/// Whether a launch leaves a number open.
fn is_open(input: &LaunchInput, given: &Given) -> bool {
    match (input.arguments.get(given.parameter), given.member) {
        (None | Some(Argument::Unknown), _) => true,
        (Some(Argument::Record(fields)), Some((offset, _))) => !fields.iter().any(|(at, _)| *at == u64::from(offset)),
        _ => false,
    }
}

/// Whether a kernel may be made for a block: it stays within its shared arrays there.
fn fits(guess: &Guess, events: &[report::Event]) -> bool {
    guess.is_given() || !events.iter().any(leaves_shared)
}

/// Whether an event is an access beyond an array in shared memory.
const fn leaves_shared(event: &report::Event) -> bool {
    matches!(&event.kind, report::EventKind::OutOfBounds { object, .. } if is_shared(object))
}

const fn is_shared(object: &report::Object) -> bool {
    matches!(object.kind, report::ObjectKind::Shared | report::ObjectKind::DynamicShared)
}

/// Whether an event is a race in memory that all blocks see.
const fn is_race_in_global_memory(event: &report::Event) -> bool {
    matches!(
        &event.kind,
        report::EventKind::Race { object, .. }
            if matches!(object.kind, report::ObjectKind::Buffer(_) | report::ObjectKind::Device)
    )
}

/// What makes two events alike here: what is sure is never the same as what is in doubt.
type Shown = (Key, bool);

fn shown(event: &report::Event) -> Shown {
    (key(event), event.doubt.is_some())
}

fn keys(events: &[report::Event]) -> FxHashSet<Shown> {
    events.iter().map(shown).collect()
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
