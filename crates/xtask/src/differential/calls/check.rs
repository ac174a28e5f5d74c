//! One event of the replay beside one call of a run.

use super::log::{Address, Argument, Call};
use super::run::Run;
use cudalint_replay::facts::{Amount, CopyKind, EventKind, MemorySpace, Origin, Pointer, Site};
use std::fmt;

/// One event beside one call.
pub struct Check<'a> {
    run: &'a Run<'a>,
    pub known: u64,
    pub unknown: u64,
    /// The first value that is another.
    pub differs: Option<String>,
}

impl<'a> Check<'a> {
    pub fn new(run: &'a Run<'a>, event: &EventKind, call: &Call) -> Self {
        let mut check = Self { run, known: 0, unknown: 0, differs: None };
        check.event(event, call);
        check
    }

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
                // Where nothing is copied it does not matter from where.
                if !matches!(call, Call::Copy { bytes: 0, .. }) {
                    self.pointer("destination", &destination.pointer, *to);
                    self.pointer("source", &source.pointer, *from);
                }
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
            (EventKind::Launch(launch), Call::Launch { grid, block, shared, arguments, .. }) => {
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
                        (Argument::Number(ran), None) => self.argument(&given.amount, *ran),
                        (Argument::Pointer(at), Some(pointer)) => self.pointer("argument", pointer, *at),
                        _ => {}
                    }
                }
            }
            _ => self.note("kind of call", true),
        }
    }

    pub fn amount(&mut self, what: &str, amount: &Amount, ran: i64) {
        match amount.quantity.known() {
            Some(value) if self.run.is_fact(&amount.assumptions) => {
                self.known += 1;
                if value != ran {
                    self.differs.get_or_insert_with(|| format!("{what} {value}, not {ran}"));
                }
            }
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

    fn pointer(&mut self, what: &str, pointer: &Pointer, ran: Address) {
        match (pointer, ran) {
            (Pointer::Into { buffer, offset }, Address::Into(number, at)) => {
                let home = self.run.log.allocations.get(number).map(|(place, _)| *place);
                let site = (self.run.place)(buffer.site);
                let elsewhere = home.zip(site).is_some_and(|(ran, held)| !self.run.is_near(ran, held));
                self.note(what, elsewhere);
                self.amount(what, offset, at);
            }
            (Pointer::Into { buffer, offset }, Address::Variable(at)) => {
                self.note(what, !matches!(buffer.origin, Origin::Global | Origin::Local));
                self.amount(what, offset, at);
            }
            (Pointer::Into { buffer, .. }, ran) => {
                // Of no bytes CUDA gives a null pointer.
                let is_empty = ran == Address::Null && self.made_nothing(buffer.site);
                self.note(what, !is_empty && (buffer.space != MemorySpace::Host || ran == Address::Null));
            }
            (Pointer::Null, ran) => self.note(what, ran != Address::Null),
            (Pointer::Uninitialized { .. }, ran) => self.note(what, matches!(ran, Address::Into(..))),
            (Pointer::Somewhere { .. } | Pointer::Unknown, _) => self.unknown += 1,
        }
    }

    /// Whether an allocation of no bytes ran at a place.
    fn made_nothing(&self, site: Site) -> bool {
        let held = (self.run.place)(site);
        let empty = self.run.log.allocations.iter().filter(|(_, bytes)| *bytes == 0);
        held.is_some_and(|held| empty.clone().any(|(ran, _)| self.run.is_near(*ran, held)))
    }

    pub fn note(&mut self, what: &str, differs: bool) {
        self.known += 1;
        if differs {
            self.differs.get_or_insert_with(|| what.to_owned());
        }
    }
}

/// Whether a number is one of so many bits, with or without a sign.
const fn fits(number: i64, bits: u32) -> bool {
    number >= -(1 << (bits - 1)) && number < (1 << bits)
}

/// An event in short.
pub struct Shown<'a>(pub &'a EventKind);

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
                let (grid, block) = (axes(&launch.grid.axes), axes(&launch.block.axes));
                if let Some(compiled) = &launch.python {
                    let types = &compiled.arguments;
                    return write!(f, "launch [{grid}, {block}, {}]({types:?}: {:?})", launch.shared, launch.given);
                }
                let arguments: Vec<String> = launch
                    .args
                    .iter()
                    .map(|given| given.pointer.as_ref().map_or_else(|| given.amount.to_string(), pointer))
                    .collect();
                write!(f, "launch <<<{grid}, {block}, {}>>>({})", launch.shared, arguments.join(", "))
            }
            _ => write!(f, "no call"),
        }
    }
}
