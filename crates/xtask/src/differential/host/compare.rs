//! Holds the events of the replay to the calls of a run.

use super::log::{Address, Argument, Call, Log, Logged, Place};
use cudalint_replay::NO_ARGUMENTS;
use cudalint_replay::facts::{Amount, CopyKind, Event, EventKind, MemorySpace, Origin, Pointer, Site, StepKind};
use cudalint_replay::quantity::Assumptions;
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
    /// Of each kind of call, how many ran, and how many at a place where an event of that kind is a fact.
    pub kinds: BTreeMap<&'static str, (u64, u64)>,
    /// Events of which no call at their place is what the replay says: where, and what.
    pub wrong: Vec<(Place, String)>,
}

/// What the comparison has to know of a program beside its events and its log.
pub struct Run<'a> {
    pub log: &'a Log,
    /// The place of what the replay names, where it is known.
    pub place: &'a dyn Fn(Site) -> Option<Place>,
    /// Whether what rests on a start without arguments is a fact.
    pub without_arguments: bool,
    /// Whether the log has all that ran.
    pub complete: bool,
    /// Whether an event that nothing decides surely ran.
    pub surely_ran: &'a dyn Fn(&Event) -> bool,
}

impl Run<'_> {
    fn is_fact(&self, assumptions: &Assumptions) -> bool {
        assumptions.as_ref().is_none_or(|list| self.without_arguments && list.iter().all(|why| why == NO_ARGUMENTS))
    }
}

impl Tally {
    pub fn add(&mut self, other: Self) {
        self.calls += other.calls;
        self.seen += other.seen;
        self.known += other.known;
        self.unknown += other.unknown;
        for (kind, (calls, known)) in other.kinds {
            let entry = self.kinds.entry(kind).or_default();
            *entry = (entry.0 + calls, entry.1 + known);
        }
        self.wrong.extend(other.wrong);
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |part: u64, of: u64| if of == 0 { 0.0 } else { 100.0 * part as f64 / of as f64 };
        write!(
            f,
            "{} calls, {:.1} % with an event; {} facts, {:.1} % of the values of events; {} wrong",
            self.calls,
            share(self.seen, self.calls),
            self.known,
            share(self.known, self.known + self.unknown),
            self.wrong.len()
        )
    }
}

/// The calls that stand where an event does: at its line, or, of a macro whose arguments take several lines, where that begins. Of
/// these, those that were come to by the calls that lead to the event.
fn calls_at<'a>(run: &Run<'a>, events: &BTreeSet<Place>, at: Place, event: &Event) -> Vec<&'a Call> {
    let log = run.log;
    let is_first = |line: u32| line == at.1 || !events.contains(&(at.0, line));
    // A configuration may stand on a line behind the kernel's name.
    let here: &[Logged] = (at.1.saturating_sub(MACRO_LINES)..=at.1)
        .rev()
        .chain(at.1 + 1..=at.1 + MACRO_LINES)
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
    let is_on = |it: &&Logged| way.iter().all(|step| it.from.iter().any(|ran| is_near(*ran, *step)));
    let mut calls: Vec<&Call> = here.iter().filter(is_on).map(|it| &it.call).collect();
    if calls.is_empty() {
        calls = here.iter().map(|it| &it.call).collect();
    }
    calls
}

/// Whether what ran at a place is what the replay holds at another: the same line, or the macro's around it.
fn is_near(ran: Place, held: Place) -> bool {
    ran.0 == held.0 && ran.1 <= held.1 && held.1 <= ran.1 + MACRO_LINES
}

/// Compares.
pub fn compare<'e>(events: impl IntoIterator<Item = &'e Event>, run: &Run<'_>) -> Tally {
    let mut tally = Tally::default();
    let log = run.log;
    let fact = |assumptions: &Assumptions| run.is_fact(assumptions);
    let events: Vec<(Place, &Event)> =
        events.into_iter().filter_map(|event| Some(((run.place)(event.site)?, event))).collect();
    let places: BTreeSet<Place> = events.iter().map(|(at, _)| *at).collect();
    let mut known: BTreeSet<(Place, &'static str)> = BTreeSet::new();
    for (at, event) in &events {
        if matches!(event.kind, EventKind::HostAccess { .. }) || !fact(&event.assumptions) {
            continue;
        }
        let calls = calls_at(run, &places, *at, event);
        // What stands under a condition that nothing decides may have happened otherwise, or not at all.
        let sure = !event.conditional && !event.failed && event.conditions.is_empty();
        if calls.is_empty() {
            if sure && (run.surely_ran)(event) {
                tally.wrong.push((*at, format!("never ran: {}", Shown(&event.kind))));
            }
            continue;
        }
        let mut best: Option<Check<'_>> = None;
        for call in &calls {
            let mut check = Check { run, fact: &fact, known: 0, unknown: 0, differs: None };
            check.event(&event.kind, call);
            if best.as_ref().is_none_or(|best| best.differs.is_some() && check.differs.is_none()) {
                best = Some(check);
            }
        }
        if let Some(best) = best {
            tally.known += best.known;
            tally.unknown += best.unknown;
            if best.known > 0 {
                known.insert((*at, kind_of_event(&event.kind)));
            }
            if let Some(what) = best.differs
                && sure
                && run.complete
            {
                let seen: Vec<String> = calls.iter().take(2).map(|call| format!("{call:?}")).collect();
                tally.wrong.push((*at, format!("{what}: {}, but ran {}", Shown(&event.kind), seen.join(", "))));
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
            entry.1 += u64::from((0..=MACRO_LINES).any(|more| known.contains(&((at.0, at.1 + more), kind))));
        }
    }
    tally
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
        let calls: BTreeSet<&Call> = events.iter().flat_map(|event| calls_at(run, places, at, event)).collect();
        let calls: Vec<&Call> = calls.into_iter().filter(|call| kind_of_call(call) == kind).collect();
        let says = |event: &Event, call: &Call| {
            let fact = |assumptions: &Assumptions| run.is_fact(assumptions);
            let mut check = Check { run, fact: &fact, known: 0, unknown: 0, differs: None };
            check.event(&event.kind, call);
            check.differs
        };
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

/// Lines that a call of a macro may take before an argument.
const MACRO_LINES: u32 = 4;

const fn kind_of_call(call: &Call) -> &'static str {
    match call {
        Call::Allocate { .. } => "allocation",
        Call::Free(_) => "free",
        Call::Copy { .. } | Call::Rows { .. } => "copy",
        Call::Set { .. } => "set",
        Call::Launch { .. } => "launch",
    }
}

const fn kind_of_event(event: &EventKind) -> &'static str {
    match event {
        EventKind::Allocate { .. } => "allocation",
        EventKind::Free { .. } => "free",
        EventKind::Copy { .. } => "copy",
        EventKind::Set { .. } => "set",
        EventKind::Launch(_) => "launch",
        EventKind::HostAccess { .. } => "access",
    }
}

/// One event beside one call.
struct Check<'a> {
    run: &'a Run<'a>,
    /// Whether what rests on this is a fact.
    fact: &'a dyn Fn(&Assumptions) -> bool,
    known: u64,
    unknown: u64,
    /// The first value that is another.
    differs: Option<&'static str>,
}

impl Check<'_> {
    fn event(&mut self, event: &EventKind, call: &Call) {
        match (event, call) {
            (EventKind::Allocate { buffer, .. }, Call::Allocate { bytes, space, .. }) => {
                if *space != 'p' {
                    self.amount("bytes", &buffer.bytes, *bytes);
                }
                let spaces = match buffer.space {
                    MemorySpace::Device => "dp",
                    MemorySpace::Managed => "m",
                    MemorySpace::Pinned | MemorySpace::Host => "h",
                };
                self.note("space", !spaces.contains(*space));
            }
            (EventKind::Free { argument, .. }, Call::Free(at)) => self.pointer("pointer", &argument.pointer, *at),
            (
                EventKind::Copy { destination, source, bytes, rows, kind, .. },
                Call::Copy { to, from, kind: way, .. } | Call::Rows { to, from, kind: way, .. },
            ) => {
                match (rows, call) {
                    (None, Call::Copy { bytes: ran, .. }) => self.amount("bytes", bytes, *ran),
                    (Some(rows), Call::Rows { width, height, pitches, .. }) => {
                        self.amount("width", &rows.width, *width);
                        rows.counts.iter().for_each(|count| self.amount("rows", count, *height));
                        rows.pitches.iter().zip(pitches).for_each(|(pitch, ran)| self.amount("pitch", pitch, *ran));
                    }
                    _ => self.note("kind of call", true),
                }
                self.pointer("destination", &destination.pointer, *to);
                self.pointer("source", &source.pointer, *from);
                let number = match kind {
                    CopyKind::HostToHost => Some(0),
                    CopyKind::HostToDevice => Some(1),
                    CopyKind::DeviceToHost => Some(2),
                    CopyKind::DeviceToDevice => Some(3),
                    CopyKind::Default => Some(4),
                    CopyKind::Unknown => None,
                };
                match number {
                    Some(number) => self.note("direction", number != *way),
                    None => self.unknown += 1,
                }
            }
            (EventKind::Set { destination, value, bytes, .. }, Call::Set { to, value: ran, bytes: many }) => {
                self.pointer("destination", &destination.pointer, *to);
                self.amount("value", value, *ran);
                self.amount("bytes", bytes, *many);
            }
            (EventKind::Launch(launch), Call::Launch { grid, block, shared, arguments }) => {
                for axis in 0..3 {
                    self.amount("grid", &launch.grid.axes[axis], grid[axis]);
                    self.amount("block", &launch.block.axes[axis], block[axis]);
                }
                self.amount("shared bytes", &launch.shared, *shared);
                for (given, ran) in launch.args.iter().zip(arguments) {
                    match (ran, &given.pointer) {
                        (Argument::Number(ran), None) => self.argument(&given.amount, *ran),
                        (Argument::Pointer(at), Some(pointer)) => self.pointer("argument", pointer, *at),
                        _ => {}
                    }
                }
            }
            _ => self.note("kind of call", true),
        }
    }

    fn amount(&mut self, what: &'static str, amount: &Amount, ran: i64) {
        match amount.quantity.known() {
            Some(value) if (self.fact)(&amount.assumptions) => self.note(what, value != ran),
            _ => self.unknown += 1,
        }
    }

    /// An argument as it is given; what ran is what the kernel's parameter made of it, which may be narrower or unsigned.
    fn argument(&mut self, amount: &Amount, ran: i64) {
        let given = amount.quantity.known();
        let is_converted = given
            .is_some_and(|given| [32, 16, 8].iter().any(|bits| (given ^ ran) << (64 - bits) == 0 && fits(ran, *bits)));
        self.amount("argument", amount, if is_converted { given.unwrap_or(ran) } else { ran });
    }

    fn pointer(&mut self, what: &'static str, pointer: &Pointer, ran: Address) {
        match (pointer, ran) {
            (Pointer::Into { buffer, offset }, Address::Into(number, at)) => {
                let home = self.run.log.allocations.get(number).map(|(place, _)| *place);
                let site = (self.run.place)(buffer.site);
                let elsewhere = home
                    .zip(site)
                    .is_some_and(|(ran, held)| ran.0 != held.0 || ran.1 > held.1 || ran.1 + MACRO_LINES < held.1);
                self.note(what, elsewhere);
                self.amount(what, offset, at);
            }
            (Pointer::Into { buffer, offset }, Address::Variable(at)) => {
                self.note(what, !matches!(buffer.origin, Origin::Global | Origin::Local));
                self.amount(what, offset, at);
            }
            (Pointer::Into { buffer, .. }, ran) => {
                self.note(what, buffer.space != MemorySpace::Host || ran == Address::Null);
            }
            (Pointer::Null, ran) => self.note(what, ran != Address::Null),
            (Pointer::Uninitialized { .. }, ran) => self.note(what, matches!(ran, Address::Into(..))),
            (Pointer::Somewhere { .. } | Pointer::Unknown, _) => self.unknown += 1,
        }
    }

    fn note(&mut self, what: &'static str, differs: bool) {
        self.known += 1;
        if differs {
            self.differs.get_or_insert(what);
        }
    }
}

/// Whether a number is one of so many bits, with or without a sign.
const fn fits(number: i64, bits: u32) -> bool {
    number >= -(1 << (bits - 1)) && number < (1 << bits)
}

/// An event in short.
struct Shown<'a>(&'a EventKind);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pointer = |pointer: &Pointer| match pointer {
            Pointer::Into { buffer, offset } => format!("{}+{offset} of {}", buffer.name, buffer.bytes),
            other => format!("{other:?}"),
        };
        match self.0 {
            EventKind::Allocate { buffer, .. } => write!(f, "allocate {} bytes, {:?}", buffer.bytes, buffer.space),
            EventKind::Free { argument, .. } => write!(f, "free {}", pointer(&argument.pointer)),
            EventKind::Copy { destination, source, bytes, kind, .. } => write!(
                f,
                "copy {bytes} bytes to {} from {}, {kind:?}",
                pointer(&destination.pointer),
                pointer(&source.pointer)
            ),
            EventKind::Set { destination, value, bytes, .. } => {
                write!(f, "set {bytes} bytes of {} to {value}", pointer(&destination.pointer))
            }
            EventKind::Launch(launch) => {
                let axes = |axes: &[Amount; 3]| axes.iter().map(Amount::to_string).collect::<Vec<_>>().join(" x ");
                let arguments: Vec<String> = launch
                    .args
                    .iter()
                    .map(|given| given.pointer.as_ref().map_or_else(|| given.amount.to_string(), pointer))
                    .collect();
                let (grid, block) = (axes(&launch.grid.axes), axes(&launch.block.axes));
                write!(f, "launch <<<{grid}, {block}, {}>>>({})", launch.shared, arguments.join(", "))
            }
            EventKind::HostAccess { .. } => write!(f, "access of the host"),
        }
    }
}
