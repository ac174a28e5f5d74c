//! Holds the events of the replay to the calls of a run.

use super::log::{Address, Argument, Array, Call, Log, integer};
use cudalint_kernel::code::Ty;
use cudalint_kernel::python::{ArgumentType, Order};
use cudalint_replay::facts::{Amount, CopyKind, Event, EventKind, MemorySpace, Pointer, Site};
use cudalint_replay::given::{Given, Held, HeldContents};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Lines of a program's second file are counted from here.
pub const FILE: u32 = 100_000;

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

/// Compares; `line` gives the line of a place, from 1, and 100,000 more for each file behind the first. What is known for a fact has
/// happened at its place, and there in this order.
pub fn compare(events: &[Event], log: &Log, line: &dyn Fn(Site) -> u32) -> Tally {
    let mut tally = Tally::default();
    let mut places = BTreeSet::new();
    // The number of the last call of each line that an event was found to be: events of different places have no order.
    let mut reached: BTreeMap<u32, usize> = BTreeMap::new();
    for event in events {
        let at = line(event.site);
        places.insert(at);
        if matches!(event.kind, EventKind::HostAccess { .. }) || event.assumptions.is_some() {
            continue;
        }
        let calls = log.calls.get(&at).map_or(&[][..], Vec::as_slice);
        // What stands under a condition that nothing decides may have happened otherwise, or not at all.
        let sure = !event.conditional && event.conditions.is_empty();
        if calls.is_empty() {
            if sure {
                tally.wrong.push(format!("line {at}: never ran: {}", Shown(&event.kind)));
            }
            continue;
        }
        let reached = reached.entry(at).or_default();
        let mut best: Option<(usize, Check<'_>)> = None;
        for (number, call) in calls {
            let mut check = Check { log, line, known: 0, unknown: 0, differs: None };
            check.event(&event.kind, call);
            if check.differs.is_none() && number < reached {
                check.differs = Some("order".into());
            }
            if best.as_ref().is_none_or(|(_, best)| best.differs.is_some() && check.differs.is_none()) {
                best = Some((*number, check));
            }
        }
        if let Some((number, best)) = best {
            tally.known += best.known;
            tally.unknown += best.unknown;
            match best.differs {
                Some(what) if sure => {
                    tally.wrong.push(format!("line {at}: {what}: {}, but ran {:?}", Shown(&event.kind), calls));
                }
                None if sure => *reached = number,
                _ => {}
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
    line: &'a dyn Fn(Site) -> u32,
    known: u64,
    unknown: u64,
    /// The first value that is another.
    differs: Option<String>,
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
                if let Some(compiled) = &launch.python {
                    return self.python(&compiled.arguments, &launch.given, arguments);
                }
                for (given, ran) in launch.args.iter().zip(arguments) {
                    match (ran, &given.pointer) {
                        (Argument::Typed(_, value), None) => {
                            value.parse().map_or_else(|_| (), |ran| self.amount("argument", &given.amount, ran));
                        }
                        (Argument::Array(array), Some(Pointer::Into { buffer, offset })) => {
                            self.amount("bytes of an argument", &buffer.bytes, array.bytes);
                            if !array.shape.contains(&0) {
                                self.amount("offset of an argument", offset, array.offset);
                            }
                        }
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
            Some(value) if amount.assumptions.is_none() => {
                self.known += 1;
                if value != ran && self.differs.is_none() {
                    self.differs = Some(format!("{what} {value}, not {ran}"));
                }
            }
            _ => self.unknown += 1,
        }
    }

    fn pointer(&mut self, what: &'static str, pointer: &Pointer, ran: Address) {
        match (pointer, ran) {
            (Pointer::Into { buffer, offset }, Address::Into(number, at)) => {
                let home = self.log.allocations.get(number);
                let elsewhere = home.is_some_and(|(line, _)| *line != (self.line)(buffer.site));
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

    /// The arguments of a launch in Python: their types, and what the parameters of the kernel's code are given.
    fn python(&mut self, types: &[ArgumentType], given: &[Given], ran: &[Argument]) {
        self.note("number of arguments", types.len() != ran.len());
        let mut given = given.iter();
        let mut open: Vec<(&ArgumentType, &Argument)> = types.iter().zip(ran).rev().collect();
        while let Some((ty, ran)) = open.pop() {
            match (ty, ran) {
                (ArgumentType::Tuple(types), Argument::Tuple(items)) => {
                    self.note("number of elements", types.len() != items.len());
                    open.extend(types.iter().zip(items).rev());
                }
                (ArgumentType::None, ran) => self.note("type of an argument", *ran != Argument::Nothing),
                (ArgumentType::Unknown, _) => {
                    given.next();
                    self.unknown += 1;
                }
                (ArgumentType::Scalar(ty), Argument::Typed(name, value)) => {
                    self.element(ty, name);
                    match given.next() {
                        Some(Given::Int { amount, .. }) => {
                            self.amount("argument", amount, integer(value).unwrap_or(i64::MIN));
                        }
                        Some(Given::Float { value: float, assumptions: None }) => {
                            self.note("argument", value.parse() != Ok(*float));
                        }
                        _ => self.unknown += 1,
                    }
                }
                (ArgumentType::Array { element, rank, order }, Argument::Array(array)) => {
                    // The type of an array rests on what its extents rest on.
                    let rests =
                        |given: &Given| matches!(given, Given::Int { amount, .. } if amount.assumptions.is_some());
                    if !given.as_slice().get(1..=array.shape.len()).is_some_and(|extents| extents.iter().any(rests)) {
                        self.element(element, &array.dtype);
                    }
                    self.note("number of axes", usize::from(*rank) != array.shape.len());
                    if usize::from(*rank) != array.shape.len() {
                        return;
                    }
                    self.array(array, !matches!(element, Ty::Opaque { .. }), *order, &mut given);
                }
                _ => return self.note("type of an argument", true),
            }
        }
    }

    fn array(&mut self, array: &Array, typed: bool, order: Order, given: &mut std::slice::Iter<'_, Given>) {
        match given.next() {
            // Where elements have no known type, a size is made up for them.
            Some(Given::Pointer { .. }) if !typed => self.unknown += 1,
            Some(Given::Pointer { buffer, offset, held }) => {
                self.amount("bytes of an array", &buffer.bytes, array.bytes);
                // Nothing has no place.
                if !array.shape.contains(&0) {
                    self.amount("offset of an array", offset, array.offset);
                }
                if let (Some(held), Some(bytes)) = (held, &array.contents) {
                    self.held(held, bytes);
                }
            }
            _ => self.unknown += 1,
        }
        // How an axis with one element goes on says nothing.
        let empty = array.shape.contains(&0);
        let matters = |axis: &usize| !empty && array.shape.get(*axis).is_some_and(|extent| *extent > 1);
        let mut extents = given.by_ref().take(array.shape.len());
        for ran in &array.shape {
            self.given("extent", extents.next(), *ran);
        }
        if order == Order::Strided {
            for (axis, ran) in array.strides.iter().enumerate() {
                let stride = given.next();
                if matters(&axis) && typed {
                    self.given("stride", stride, *ran);
                }
            }
            return;
        }
        let element = bytes_of(&array.dtype);
        let mut axes: Vec<usize> = (0..array.shape.len()).filter(matters).collect();
        if order == Order::C {
            axes.reverse();
        }
        let mut step = element;
        let dense = axes.iter().all(|axis| {
            let fits = array.strides.get(*axis) == Some(&step);
            step *= array.shape.get(*axis).copied().unwrap_or(1);
            fits
        });
        self.note("order of the elements", !dense);
    }

    fn given(&mut self, what: &'static str, given: Option<&Given>, ran: i64) {
        match given {
            Some(Given::Int { amount, .. }) => self.amount(what, amount, ran),
            _ => self.unknown += 1,
        }
    }

    fn held(&mut self, held: &Held, ran: &[u8]) {
        if held.assumptions.is_some() {
            return;
        }
        match &held.contents {
            HeldContents::Filled(byte) => self.note("contents", ran.iter().any(|ran| ran != byte)),
            HeldContents::Integers { bytes, values } => {
                let size = usize::from(*bytes);
                for (value, ran) in values.iter().zip(ran.chunks(size)) {
                    let Some(value) = value.known() else { continue };
                    self.note("contents", value.to_le_bytes().get(..size) != Some(ran));
                }
                self.note("contents", values.len() * size > ran.len());
            }
            // That nobody has written there, no byte shows.
            HeldContents::WrittenOnly(_) => {}
        }
    }

    /// A type of numbers beside what `NumPy` calls it.
    fn element(&mut self, ty: &Ty, name: &str) {
        let same = match ty {
            Ty::Bool => name == "bool",
            Ty::Int { bytes, signed } => {
                name == format!("{}int{}", if *signed { "" } else { "u" }, u32::from(*bytes) * 8)
            }
            Ty::Float { bytes } => name == format!("float{}", u32::from(*bytes) * 8),
            _ => {
                self.unknown += 1;
                return;
            }
        };
        self.note("type", !same);
    }

    fn note(&mut self, what: &'static str, differs: bool) {
        self.known += 1;
        if differs {
            self.differs.get_or_insert_with(|| what.into());
        }
    }
}

/// Bytes of an element, by what `NumPy` calls its type: `int32`.
fn bytes_of(dtype: &str) -> i64 {
    dtype.trim_start_matches(|c: char| !c.is_ascii_digit()).parse::<i64>().map_or(1, |bits| bits / 8)
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
                if launch.python.is_some() {
                    let (grid, block) = (axes(&launch.grid.axes), axes(&launch.block.axes));
                    let types = launch.python.as_ref().map(|compiled| &compiled.arguments);
                    return write!(f, "launch [{grid}, {block}, {}]({types:?}: {:?})", launch.shared, launch.given);
                }
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
