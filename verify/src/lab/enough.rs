//! A run that is ended when what it has written so far is enough: a program that repeats its kernel ten thousand times need
//! not come to its end.

use super::process::head_of;
use camino::Utf8PathBuf;
use std::time::{Duration, Instant};

/// How often is looked, at most.
const EVERY: Duration = Duration::from_millis(500);
/// Of the time, a look takes no more than one part in so many.
const SHARE: u32 = 10;
/// How long a run goes on once it is enough. Most end by themselves in that time, and leave all that they have to say.
const SETTLE: Duration = Duration::from_secs(2);
/// A file that is larger is not looked at any more.
const MAX_BYTES: u64 = 16 << 20;

/// Whether what a run has written into its file is enough.
pub(crate) type Decided<'d> = dyn Fn(&str) -> bool + 'd;

/// Looks at what a run writes, now and then.
pub(super) struct Enough<'d> {
    file: Utf8PathBuf,
    decided: &'d Decided<'d>,
    next: Instant,
    seen: u64,
    since: Option<Instant>,
}

impl<'d> Enough<'d> {
    pub fn new(file: Utf8PathBuf, decided: &'d Decided<'d>) -> Self {
        Self { file, decided, next: Instant::now() + EVERY, seen: 0, since: None }
    }

    /// Whether the run shall end now.
    pub fn ends(&mut self) -> bool {
        if let Some(since) = self.since {
            return since.elapsed() >= SETTLE;
        }
        let begun = Instant::now();
        if begun < self.next {
            return false;
        }
        let bytes = self.file.metadata().map_or(0, |about| about.len());
        if bytes != self.seen && bytes <= MAX_BYTES {
            self.seen = bytes;
            if (self.decided)(&head_of(&self.file, MAX_BYTES)) {
                self.since = Some(Instant::now());
            }
        }
        self.next = Instant::now() + EVERY.max(begun.elapsed() * SHARE);
        false
    }
}
