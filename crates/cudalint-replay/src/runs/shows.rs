//! What shows with a block that is guessed: only what shows with others as well, and with numbers that are chosen.

use super::execute::{Module, OPERATIONS_OF_LATER_ONES};
use super::guess::{Guess, Rest, with_values};
use super::numbers::{Choice, numbers};
use super::repetitions::{Key, key};
use super::report;
use crate::facts::LaunchFact;
use cudalint_kernel::readings::deciding::Given;
use cudalint_kernel::{Budget, Code, Contents, LaunchInput};
use cudalint_program::ir::Function;
use rustc_hash::FxHashSet;

/// Lane-operations for a kernel of which only the block is guessed and whose threads do not work together: what is
/// believed of such an execution is about shared memory and barriers, and next to nothing else.
pub(super) const OPERATIONS_OF_LONE_THREADS: u64 = 30_000;
/// A number that is chosen: more than all threads of the blocks that are tried.
const SIZE: i64 = 2048;
/// Lane-operations for the least numbers with which something shows.
const OPERATIONS_FOR_WORDS: u64 = 1_000_000;
/// How many blocks are executed, where several are tried.
const SEEN_BLOCKS: u32 = 3;

impl Module<'_> {
    /// The events that mean something and show with the other blocks that the kernel may be meant for, too.
    pub(super) fn confirmed(
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
        let others = guess.other.iter().chain(&guess.others).map(|other| (*other, false)).chain([(guess.small, true)]);
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

    /// Keeps of what a launch shows under a choice what it shows under each of these as well.
    pub(super) fn in_others(
        &mut self,
        code: &Code,
        kernel: &Function,
        fact: &LaunchFact,
        others: &[Choice],
        events: &mut Vec<report::Event>,
    ) {
        for other in others {
            let Ok(other) = numbers(fact, kernel, other) else { continue };
            if events.is_empty() {
                break;
            }
            let seen = keys(&self.spend(code, &other.launch, OPERATIONS_OF_LATER_ONES).events);
            events.retain(|event| seen.contains(&shown(event)));
        }
    }

    /// One more execution of a kernel that something was found in.
    pub(super) fn tried(&mut self, code: &Code, launch: &LaunchInput, rest: Rest) -> Option<report::ExecutionReport> {
        self.once_more(|module, budget| {
            let blocks = if rest == Rest::Blocks { SEEN_BLOCKS } else { 1 };
            let most = if code.is_cooperative() { u64::MAX } else { OPERATIONS_OF_LONE_THREADS };
            let lane_operations = budget.lane_operations.min(most);
            module.executed(code, launch, &Budget { blocks, lane_operations, ..*budget }, &[])
        })
    }

    /// What shows where numbers that decide what threads do are chosen.
    pub(super) fn with_numbers(&mut self, subject: &Subject<'_>, launch: &LaunchInput, rest: Rest) -> Option<Found> {
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
        if rest == Rest::Numbers && !guess.is_launched() && repeats_rows(&events) {
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
    pub(super) fn with_zeros_and_numbers(
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
}

/// A kernel that nobody launches, while blocks and numbers are tried.
#[derive(Clone, Copy)]
pub(super) struct Subject<'a> {
    pub code: &'a Code,
    pub guess: &'a Guess,
    /// Those that decide what threads do.
    pub numbers: &'a [(Given, String)],
}

/// What shows with chosen numbers.
pub(super) struct Found {
    /// The assumption: the block, and the least numbers.
    pub text: String,
    pub events: Vec<report::Event>,
    /// The numbers that the events show with.
    pub bindings: Vec<(String, i64)>,
    pub launch: LaunchInput,
}

/// Whether one statement stores the same element in each row of the block: the kernel makes no difference between them, and is
/// most likely meant for blocks of one row.
pub(super) fn repeats_rows(events: &[report::Event]) -> bool {
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

/// Whether a kernel may be made for a block: it stays within its shared arrays there.
pub(super) fn fits(guess: &Guess, events: &[report::Event]) -> bool {
    guess.is_given() || !events.iter().any(leaves_shared)
}

/// Whether an event is an access beyond an array in shared memory.
pub(super) const fn leaves_shared(event: &report::Event) -> bool {
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

pub(super) fn shown(event: &report::Event) -> Shown {
    (key(event), event.doubt.is_some())
}

pub(super) fn keys(events: &[report::Event]) -> FxHashSet<Shown> {
    events.iter().map(shown).collect()
}
