//! Who writes which bytes of shared memory first: what a read can find there.

use super::log::{Logged, Memory};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// A byte of a block's shared memory in a launch.
type Byte = (u32, [u64; 3], u64);

/// The first writes of each byte.
pub(super) struct Writes {
    bytes: HashMap<Byte, First>,
    /// Where in the log a thread first writes a byte.
    own: HashMap<(Byte, [u64; 3]), usize>,
}

/// The first writes of a byte.
struct First {
    /// The barrier interval in which they are made.
    interval: u32,
    /// Threads that write there without reading first, two at most.
    plain: Vec<[u64; 3]>,
}

impl Writes {
    /// The writes of a log.
    pub fn of(accesses: &[Logged]) -> Self {
        let mut writes = Self { bytes: HashMap::new(), own: HashMap::new() };
        for (position, access) in accesses.iter().enumerate() {
            if !access.writes || access.memory != Memory::Shared {
                continue;
            }
            for byte in bytes(access) {
                writes.own.entry((byte, access.thread)).or_insert(position);
                let first = match writes.bytes.entry(byte) {
                    Entry::Vacant(entry) => entry.insert(First { interval: access.interval, plain: Vec::new() }),
                    Entry::Occupied(entry) => entry.into_mut(),
                };
                if access.interval < first.interval {
                    *first = First { interval: access.interval, plain: Vec::new() };
                }
                let counts = access.interval == first.interval && !access.reads;
                if counts && first.plain.len() < 2 && !first.plain.contains(&access.thread) {
                    first.plain.push(access.thread);
                }
            }
        }
        writes
    }

    /// Whether a thread of the block may have written some of what an access reads, which stands at a position of the log. In
    /// one barrier interval only a thread's own accesses have an order, that of the log; and who reads what he then writes
    /// finds what was there.
    pub fn before(&self, position: usize, read: &Logged) -> bool {
        bytes(read).any(|byte| {
            let Some(first) = self.bytes.get(&byte) else { return false };
            match first.interval.cmp(&read.interval) {
                Ordering::Less => true,
                Ordering::Greater => false,
                Ordering::Equal => {
                    first.plain.iter().any(|thread| *thread != read.thread)
                        || self.own.get(&(byte, read.thread)).is_some_and(|own| *own < position)
                }
            }
        })
    }
}

fn bytes(access: &Logged) -> impl Iterator<Item = Byte> + use<> {
    let (launch, block, from) = (access.launch, access.block, access.address);
    (from..from.saturating_add(u64::from(access.size))).map(move |byte| (launch, block, byte))
}
