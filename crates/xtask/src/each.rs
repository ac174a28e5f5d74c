//! Work on many things, several at a time.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of a thread's stack.
const STACK: usize = 32 << 20;

/// Does a piece of work for each number below `count`, on so many threads; the results, in the order of the numbers. Sources may be
/// parsed on the threads' stacks.
pub fn each<R: Send>(count: usize, jobs: usize, work: &(dyn Fn(usize) -> R + Sync)) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, R)>> = Mutex::default();
    let take_numbers = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                break;
            }
            let result = work(number);
            if let Ok(mut results) = results.lock() {
                results.push((number, result));
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, count.max(1)) {
            let _ = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, take_numbers);
        }
    });
    let mut results = results.into_inner().unwrap_or_default();
    results.sort_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}
