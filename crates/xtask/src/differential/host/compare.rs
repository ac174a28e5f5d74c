//! Holds the events of the replay to the calls of a run.

use super::log::{Address, Argument, Call, Log};
use cudalint_replay::facts::{Amount, CopyKind, Event, EventKind, MemorySpace, Pointer};
use std::collections::BTreeSet;
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
    /// Events of which no call at their place is what the replay says.
    pub wrong: Vec<String>,
}

impl Tally {
    pub fn add(&mut self, other: Self) {
        self.calls += other.calls;
        self.seen += other.seen;
        self.known += other.known;
        self.unknown += other.unknown;
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

/// Compares; `line` gives the line of an offset, from 1.
pub fn compare(events: &[Event], log: &Log, line: &dyn Fn(u32) -> u32) -> Tally {
    let mut tally = Tally::default();
    let mut places = BTreeSet::new();
    for event in events {
        let at = line(event.site.span.start);
        if matches!(event.kind, EventKind::HostAccess { .. }) || event.assumptions.is_some() {
            places.insert(at);
            continue;
        }
        places.insert(at);
        let calls = log.calls.get(&at).map_or(&[][..], Vec::as_slice);
        // What stands under a condition that nothing decides may have happened otherwise, or not at all.
        let sure = !event.conditional && event.conditions.is_empty();
        if calls.is_empty() {
            if sure {
                tally.wrong.push(format!("line {at}: never ran: {}", Shown(&event.kind)));
            }
            continue;
        }
        let mut best: Option<Check<'_>> = None;
        for call in calls {
            let mut check = Check { log, line, known: 0, unknown: 0, differs: None };
            check.event(&event.kind, call);
            if best.as_ref().is_none_or(|best| best.differs.is_some() && check.differs.is_none()) {
                best = Some(check);
            }
        }
        if let Some(best) = best {
            tally.known += best.known;
            tally.unknown += best.unknown;
            if let Some(what) = best.differs
                && sure
            {
                tally.wrong.push(format!("line {at}: {what}: {}, but ran {:?}", Shown(&event.kind), calls));
            }
        }
    }
    for (at, calls) in &log.calls {
        tally.calls += calls.len() as u64;
        tally.seen += if places.contains(at) { calls.len() as u64 } else { 0 };
    }
    tally
}

/// One event beside one call.
struct Check<'a> {
    log: &'a Log,
    line: &'a dyn Fn(u32) -> u32,
    known: u64,
    unknown: u64,
    /// The first value that is another.
    differs: Option<&'static str>,
}

impl Check<'_> {
    fn event(&mut self, event: &EventKind, call: &Call) {
        match (event, call) {
            (EventKind::Allocate { buffer, .. }, Call::Allocate { bytes, space, .. }) => {
                self.amount("bytes", &buffer.bytes, *bytes);
                let spaces = match buffer.space {
                    MemorySpace::Device => "d",
                    MemorySpace::Managed => "m",
                    MemorySpace::Pinned | MemorySpace::Host => "h",
                };
                self.note("space", !spaces.contains(*space));
            }
            (EventKind::Free { argument, .. }, Call::Free(at)) => self.pointer("pointer", &argument.pointer, *at),
            (
                EventKind::Copy { destination, source, bytes, kind, .. },
                Call::Copy { to, from, bytes: ran, kind: way },
            ) => {
                self.amount("bytes", bytes, *ran);
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
                        (Argument::Number(ran), None) => self.amount("argument", &given.amount, *ran),
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
            Some(value) if amount.assumptions.is_none() => self.note(what, value != ran),
            _ => self.unknown += 1,
        }
    }

    fn pointer(&mut self, what: &'static str, pointer: &Pointer, ran: Address) {
        match (pointer, ran) {
            (Pointer::Into { buffer, offset }, Address::Into(number, at)) => {
                let home = self.log.allocations.get(number);
                let elsewhere = home.is_some_and(|(line, _)| *line != (self.line)(buffer.site.span.start));
                self.note(what, elsewhere);
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
