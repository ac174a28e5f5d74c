//! Who may build or run now: a few builds at a time, a few runs on each GPU, a port of its own for each watcher.

use crate::machine::Device;
use crate::stop::Stop;
use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often a waiting thread looks for a wish to stop.
pub(super) const LOOK: Duration = Duration::from_millis(50);

/// A lock whose holder cannot leave half a change behind: a panic elsewhere does not matter.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Places, some of each kind, that are taken and given back.
#[derive(Debug)]
pub(super) struct Slots {
    free: Mutex<Vec<usize>>,
    freed: Condvar,
}

/// A place, given back when dropped.
#[derive(Debug)]
pub(super) struct Slot<'slots> {
    /// Its kind: for GPUs, their place in the machine's list.
    pub kind: usize,
    slots: &'slots Slots,
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        if let Some(free) = lock(&self.slots.free).get_mut(self.kind) {
            *free += 1;
        }
        self.slots.freed.notify_one();
    }
}

impl Slots {
    /// So many places of each kind.
    pub fn new(free: Vec<usize>) -> Self {
        Self { free: Mutex::new(free), freed: Condvar::new() }
    }

    /// Waits for a place of the kind that has the most. None when there are no kinds, or the run was interrupted.
    pub fn take(&self, stop: &Stop) -> Option<Slot<'_>> {
        let mut free = lock(&self.free);
        loop {
            if stop.requested() || free.is_empty() {
                return None;
            }
            // The first of equals: the user's first GPU is the one that others expect to be used.
            let best = free.iter().enumerate().rev().max_by_key(|(_, free)| **free);
            if let Some((kind, 1..)) = best.map(|(kind, free)| (kind, *free)) {
                free[kind] -= 1;
                return Some(Slot { kind, slots: self });
            }
            free = self.freed.wait_timeout(free, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// A GPU is busy when, as far as that was asked (it is never quite 0), less than this share of its memory is free: others work there, and a failed allocation would look
/// like a defect of the program.
const FREE_SHARE: u64 = 4;

/// Places on each GPU. A busy one gets none while there is another.
pub(super) fn of_devices(devices: &[Device], each: usize) -> Vec<usize> {
    let busy = |device: &Device| device.free_memory > 0 && device.free_memory < device.memory / FREE_SHARE;
    let all = devices.iter().all(busy);
    devices.iter().map(|device| if all || !busy(device) { each.max(1) } else { 0 }).collect()
}

/// Ports of compute-sanitizer: it takes up to this many from its `--port` on (`--max-connections`).
const PORTS: u16 = 10;

/// Ranges of ports, each in one watcher's hands.
#[derive(Debug, Default)]
pub(super) struct Ports {
    taken: Mutex<BTreeSet<u16>>,
}

/// A range of ports, given back when dropped.
#[derive(Debug)]
pub(super) struct Port<'ports> {
    /// Its first.
    pub number: u16,
    ports: &'ports Ports,
}

impl Drop for Port<'_> {
    fn drop(&mut self) {
        lock(&self.ports.taken).remove(&self.number);
    }
}

impl Ports {
    /// A range that nobody in this lab has, and whose first port nobody on this machine listens on.
    pub fn take(&self) -> Port<'_> {
        /// Where to look: compute-sanitizer's own default and up.
        const FIRST: u16 = 49152;
        const RANGES: u16 = (u16::MAX - FIRST) / PORTS;
        // Another run on this machine most likely begins elsewhere.
        let begin = (std::process::id() % u32::from(RANGES)) as u16;
        let mut taken = lock(&self.taken);
        let candidate = |step: u16| FIRST + (begin + step) % RANGES * PORTS;
        let free = |port: u16| std::net::TcpListener::bind(("127.0.0.1", port)).is_ok();
        let number = (0..RANGES).map(candidate).find(|port| !taken.contains(port) && free(*port)).unwrap_or(FIRST);
        taken.insert(number);
        Port { number, ports: self }
    }
}
