//! What CUDA orders of the work of several streams on a path.
//!
//! Work has numbers: what is started later has a higher one. For each stream it is known of which others how much is done before
//! what the stream is given next:
//!
//! ```text
//!  fill<<<…, a>>>();            // 3, in `a`.
//!  cudaEventRecord(e, a);       // `e` has happened: of `a` all below 4 is done.
//!  cudaStreamWaitEvent(b, e);   // Before what is started in `b` from now on, all below 4 of `a` is done.
//! ```
//!
//! Where it is not known what an event stands for, or which stream something is put into, all that was started is taken to be
//! done before what comes next: nothing is said of it.

use crate::host::ObjId;

/// Most pairs of streams of which an order is known.
const MAX_KNOWN: usize = 256;

/// A stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Queue {
    /// The one that every program has.
    Default,
    /// One that the program has created.
    Made(ObjId),
    Unknown,
}

/// Whose work comes before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    /// That of one stream.
    One(Queue),
    /// That of all streams that wait for the legacy default stream.
    Waiting,
}

/// How the legacy default stream and a stream stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// It is the default stream.
    Default,
    /// Each waits for the other, or may: it was made without `cudaStreamNonBlocking`, or with flags that nobody knows.
    Waiting,
    /// Neither waits for the other.
    Free,
    /// Somebody else has made it, so that it may be any.
    Foreign,
}

/// What comes before what.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    /// For a stream: of which others the work with lower numbers is done before what it is given next.
    before: Vec<(Queue, Of, u32)>,
    /// For an event: of which streams the work with lower numbers is done once it has happened.
    events: Vec<(ObjId, Of, u32)>,
    /// All with lower numbers is done before whatever is started now.
    joined: u32,
    /// Work of the default stream with lower numbers has been started.
    default: u32,
    /// There was more to know than is kept.
    lost: bool,
}

impl Order {
    /// All that was started is done before what comes next.
    pub fn join(&mut self, now: u32) {
        self.joined = now;
    }

    /// Something is put into a stream, as number `now`.
    pub fn put(&mut self, queue: Queue, class: Class, now: u32) {
        match class {
            Class::Default => {
                self.learn(queue, Of::Waiting, now);
                self.default = now + 1;
            }
            Class::Waiting if self.default > 0 => {
                let known: Vec<(Of, u32)> = self.of(Queue::Default);
                for (of, number) in known {
                    self.learn(queue, of, number);
                }
                self.learn(queue, Of::One(Queue::Default), self.default);
            }
            Class::Waiting | Class::Free => {}
            Class::Foreign => self.join(now),
        }
    }

    /// An event is recorded behind the work of a stream, as number `now`.
    pub fn record(&mut self, event: ObjId, queue: Queue, now: u32) {
        let mut known = self.of(queue);
        known.push((Of::One(queue), now));
        known.push((Of::Waiting, 0));
        for (of, number) in known {
            // What an earlier record stood for stays: which of them a path has come by is not followed.
            self.lost |= !raise(&mut self.events, event, of, number);
        }
    }

    /// A stream waits for an event; `false` where nobody knows what has been recorded.
    pub fn wait(&mut self, queue: Queue, event: ObjId) -> bool {
        let known: Vec<(Of, u32)> =
            self.events.iter().filter(|known| known.0 == event).map(|known| (known.1, known.2)).collect();
        for (of, number) in &known {
            self.learn(queue, *of, *number);
        }
        !known.is_empty()
    }

    /// Whether work is done once an event has happened; nothing where nobody knows what has been recorded.
    pub fn is_behind(&self, event: ObjId, (number, queue, class): (u32, Queue, Class)) -> Option<bool> {
        let is_of = |of: Of| of == Of::One(queue) || (of == Of::Waiting && class == Class::Waiting);
        let mut known = self.events.iter().filter(|known| known.0 == event).peekable();
        known.peek()?;
        let done = self.lost || number < self.joined || class == Class::Foreign;
        Some(done || known.any(|known| is_of(known.1) && number < known.2))
    }

    /// Whether work is done before what a stream is given next.
    pub fn is_before(&self, (number, queue, class): (u32, Queue, Class), then: Queue) -> bool {
        let is_of = |of: Of| of == Of::One(queue) || (of == Of::Waiting && class == Class::Waiting);
        self.lost
            || number < self.joined
            || queue == then
            || class == Class::Foreign
            || self.before.iter().any(|known| known.0 == then && is_of(known.1) && number < known.2)
    }

    fn of(&self, queue: Queue) -> Vec<(Of, u32)> {
        self.before.iter().filter(|known| known.0 == queue).map(|known| (known.1, known.2)).collect()
    }

    fn learn(&mut self, queue: Queue, of: Of, number: u32) {
        self.lost |= !raise(&mut self.before, queue, of, number);
    }
}

/// Keeps the higher number; `false` where there is no room for it.
fn raise<K: Copy + PartialEq>(all: &mut Vec<(K, Of, u32)>, key: K, of: Of, number: u32) -> bool {
    if let Some(known) = all.iter_mut().find(|known| known.0 == key && known.1 == of) {
        known.2 = known.2.max(number);
        return true;
    }
    let room = all.len() < MAX_KNOWN;
    if room {
        all.push((key, of, number));
    }
    room
}
