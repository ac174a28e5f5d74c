//! Holds the events of the replay to the calls of a run.

mod check;
mod log;
mod python;
mod run;

use super::total::Total;
use check::{Check, Shown};
use cudalint_program::ir::ModuleId;
use cudalint_replay::facts::{Event, EventKind, NeverRun, Pointer, Site, StepKind};
use cudalint_syntax::Span;
use log::{Call, Logged};
pub use log::{Log, Place};
pub use run::{MACRO_LINES, Run};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What came of one program, or of many.
#[derive(Debug, Default)]
pub struct Tally {
    /// Calls that ran.
    pub calls: u64,
    /// Of these, those at a place where the replay has an event.
    pub seen: u64,
    /// Numbers and pointers of events that the replay knows for a fact, and those that it does not.
    pub known: u64,
    pub unknown: u64,
    /// Stretches that the replay holds never to run.
    pub never: u64,
    /// Of each kind of call, how many ran, and how many at a place where an event of that kind is a fact.
    pub kinds: BTreeMap<&'static str, (u64, u64)>,
    /// Events of which no call at their place is what the replay says: where, and what.
    pub wrong: Vec<(Place, String)>,
}

impl Total for Tally {
    fn add(&mut self, other: Self) {
        self.calls += other.calls;
        self.seen += other.seen;
        self.known += other.known;
        self.unknown += other.unknown;
        self.never += other.never;
        for (kind, (calls, known)) in other.kinds {
            let entry = self.kinds.entry(kind).or_default();
            *entry = (entry.0 + calls, entry.1 + known);
        }
        self.wrong.extend(other.wrong);
    }

    fn wrong(&self) -> usize {
        self.wrong.len()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |part: u64, of: u64| if of == 0 { 0.0 } else { 100.0 * part as f64 / of as f64 };
        write!(
            f,
            "{} calls, {:.1} % with an event; {} facts, {:.1} % of the values of events; {} stretches that never run; {} wrong",
            self.calls,
            share(self.seen, self.calls),
            self.known,
            share(self.known, self.known + self.unknown),
            self.never,
            self.wrong.len()
        )
    }
}

/// The calls that stand where an event does: at its line, or, of a macro whose arguments take several lines, where that begins. Of
/// these, those that were come to by the calls that lead to the event.
fn calls_at<'a>(run: &Run<'a>, events: &BTreeSet<Place>, at: Place, event: &Event) -> Vec<&'a Logged> {
    let log = run.log;
    let is_first = |line: u32| line == at.1 || !events.contains(&(at.0, line));
    // A configuration may stand on a line behind the kernel's name.
    let here: &[Logged] = (at.1.saturating_sub(run.lines)..=at.1)
        .rev()
        .chain(at.1 + 1..=at.1 + run.lines)
        .filter(|line| is_first(*line))
        .filter_map(|line| log.calls.get(&(at.0, line)))
        .find(|calls| calls.iter().any(|it| kind_of_call(&it.call) == kind_of_event(&event.kind)))
        .or_else(|| log.calls.get(&at))
        .map_or(&[], Vec::as_slice);
    let way: Vec<Place> = event
        .path
        .iter()
        .filter(|step| step.kind == StepKind::Call)
        .filter_map(|step| (run.place)(step.site))
        .collect();
    let here = here.iter().filter(|it| is_kernel_of(event, &it.call));
    let is_on = |it: &&Logged| way.iter().all(|step| it.from.iter().any(|ran| run.is_near(*ran, *step)));
    let calls: Vec<&Logged> = here.clone().filter(is_on).collect();
    // Some logs have the place of the call alone.
    let is_plain = here.clone().all(|it| it.from.len() <= 1);
    if calls.is_empty() && is_plain { here.collect() } else { calls }
}

/// Whether a call may launch an event's kernel, by the name that the compiler gave that: templates of headers launch others at the
/// lines that call them.
fn is_kernel_of(event: &Event, call: &Call) -> bool {
    let (EventKind::Launch(launch), Call::Launch { kernel, .. }) = (&event.kind, call) else { return true };
    let plain = launch.kernel_name.split('<').next().unwrap_or("").rsplit("::").next().unwrap_or("").trim();
    launch.kernel.is_none() || !kernel.starts_with("_Z") || kernel.contains(&format!("{}{plain}", plain.len()))
}

/// Compares.
pub fn compare<'e>(events: impl IntoIterator<Item = &'e Event>, run: &Run<'_>) -> Tally {
    let mut tally = Tally::default();
    let log = run.log;
    let events: Vec<(Place, &Event)> =
        events.into_iter().filter_map(|event| Some(((run.place)(event.site)?, event))).collect();
    let places: BTreeSet<Place> = events.iter().map(|(at, _)| *at).collect();
    let mut known: BTreeSet<(Place, &'static str)> = BTreeSet::new();
    // The number of the last call of each place that an event was found to be: events of different places have no order.
    let mut reached: BTreeMap<Place, usize> = BTreeMap::new();
    for (at, event) in &events {
        if kind_of_event(&event.kind).is_empty() || !run.is_fact(&event.assumptions) {
            continue;
        }
        let calls = calls_at(run, &places, *at, event);
        // What stands under a condition that nothing decides may have happened otherwise, or not at all.
        let sure = !event.undecided && !event.failed && event.conditions.is_empty();
        if calls.is_empty() {
            if sure && (run.surely_ran)(event) {
                tally.wrong.push((*at, format!("never ran: {}", Shown(&event.kind))));
            }
            continue;
        }
        let reached = reached.entry(*at).or_default();
        let mut best: Option<(usize, Check<'_>)> = None;
        for Logged { number, call, .. } in &calls {
            let mut check = Check::new(run, &event.kind, call);
            if run.in_order && number < reached {
                check.differs.get_or_insert_with(|| "order".into());
            }
            if best.as_ref().is_none_or(|(_, best)| best.differs.is_some() && check.differs.is_none()) {
                best = Some((*number, check));
            }
        }
        if let Some((number, best)) = best {
            tally.known += best.known;
            tally.unknown += best.unknown;
            if best.known > 0 {
                known.insert((*at, kind_of_event(&event.kind)));
            }
            match best.differs {
                Some(what) if sure && run.complete => {
                    let seen: Vec<String> = calls.iter().take(2).map(|it| format!("{:?}", it.call)).collect();
                    tally.wrong.push((*at, format!("{what}: {}, but ran {}", Shown(&event.kind), seen.join(", "))));
                }
                None if sure => *reached = number,
                _ => {}
            }
        }
    }
    unforeseen(&events, &places, run, &mut tally);
    for (at, calls) in &log.calls {
        tally.calls += calls.len() as u64;
        tally.seen += if places.contains(at) { calls.len() as u64 } else { 0 };
        for Logged { call, .. } in calls {
            let kind = kind_of_call(call);
            let entry = tally.kinds.entry(kind).or_default();
            entry.0 += 1;
            entry.1 += u64::from((0..=run.lines).any(|more| known.contains(&((at.0, at.1 + more), kind))));
        }
    }
    tally
}

/// Tells calls that ran where the replay holds that nothing runs. What stands on its condition's line cannot be told from what that calls.
pub fn ran_in(never: &[NeverRun], module: ModuleId, run: &Run<'_>, tally: &mut Tally) {
    let line = |at: u32| (run.place)(Site { module, span: Span::new(at as usize, at as usize) });
    for stretch in never {
        let places = [stretch.condition.end, stretch.span.start, stretch.span.end].map(line);
        let [Some(condition), Some(first), Some(last)] = places else { continue };
        let inside = |(at, _): &(&Place, &Vec<Logged>)| at.0 == first.0 && (first.1..=last.1).contains(&at.1);
        if condition.1 >= first.1 {
            continue;
        }
        tally.never += 1;
        if let Some((at, calls)) = run.log.calls.iter().find(inside) {
            let ran = calls.first().map(|it| format!("{:?}", it.call)).unwrap_or_default();
            tally.wrong.push((*at, format!("never runs, but ran {ran}")));
        }
    }
}

/// Tells places where calls ran and none is what any event there says, whatever that event stands under: one of them is the way
/// that was taken.
fn unforeseen(events: &[(Place, &Event)], places: &BTreeSet<Place>, run: &Run<'_>, tally: &mut Tally) {
    let told: BTreeSet<Place> = tally.wrong.iter().map(|(at, _)| *at).collect();
    let mut here: BTreeMap<(Place, &'static str), Vec<&Event>> = BTreeMap::new();
    for (at, event) in events.iter().filter(|(at, _)| !told.contains(at)) {
        here.entry((*at, kind_of_event(&event.kind))).or_default().push(event);
    }
    for ((at, kind), events) in here {
        let calls: BTreeSet<&Call> =
            events.iter().flat_map(|event| calls_at(run, places, at, event)).map(|it| &it.call).collect();
        let calls: Vec<&Call> = calls.into_iter().filter(|call| kind_of_call(call) == kind).collect();
        let says = |event: &Event, call: &Call| Check::new(run, &event.kind, call).differs;
        if !calls.is_empty()
            && run.complete
            && !calls.iter().any(|call| events.iter().any(|event| says(event, call).is_none()))
        {
            let held: Vec<String> = events.iter().take(3).map(|event| Shown(&event.kind).to_string()).collect();
            let what = says(events[0], calls[0]).unwrap_or_default();
            let text = format!("{what}: on no way what ran, {:?}, but {}", calls[0], held.join(", "));
            tally.wrong.push((at, text));
        }
    }
}

const fn kind_of_call(call: &Call) -> &'static str {
    match call {
        Call::Allocate { .. } => "allocation",
        Call::Free(_) => "free",
        Call::Copy { .. } | Call::Rows { .. } => "copy",
        Call::Set { .. } => "set",
        Call::Launch { .. } => "launch",
    }
}

fn is_of_handle(pointer: &Pointer) -> bool {
    matches!(pointer, Pointer::Into { buffer, .. } if buffer.origin.api().is_some_and(|api| api.makes_handle()))
}

fn kind_of_event(event: &EventKind) -> &'static str {
    match event {
        EventKind::Allocate { .. } => "allocation",
        // That a stream or an event is destroyed is not written down by what stands for the runtime.
        EventKind::Free { argument, .. } if is_of_handle(&argument.pointer) => "",
        EventKind::Free { .. } => "free",
        EventKind::Copy { .. } => "copy",
        EventKind::Set { .. } => "set",
        EventKind::Launch(_) => "launch",
        // None of these is a call.
        EventKind::HostAccess { .. }
        | EventKind::Lost(_)
        | EventKind::Early(_)
        | EventKind::Timed(_)
        | EventKind::Captured(_)
        | EventKind::Named(_)
        | EventKind::Packed(_)
        | EventKind::Unread(_)
        | EventKind::Crossed(_)
        | EventKind::ReadBack(_)
        | EventKind::WrongDevice(_) => "",
    }
}
