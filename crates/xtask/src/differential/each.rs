//! Work on many programs, several at a time, and what came of all.

use std::fmt::Display;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What came of one program, or of many.
pub trait Total: Default + Display {
    /// Adds another's.
    fn add(&mut self, other: Self);
    /// How much of what was said is not what ran.
    fn wrong(&self) -> usize;
}

/// Does a piece of work for each number below `count`, on so many threads; the results, in the order of the numbers.
pub fn each<R: Send>(count: usize, jobs: usize, work: &(dyn Fn(usize) -> R + Sync)) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, R)>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| {
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
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_default();
    results.sort_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Prints what came of all programs: `what` says how many of which.
///
/// # Errors
/// When one did not build or run, or something that was said is not what ran.
pub fn conclude<T: Total>(what: &str, results: impl IntoIterator<Item = Result<T, String>>) -> Result<(), String> {
    let (mut total, mut failures) = (T::default(), 0);
    for result in results {
        match result {
            Ok(tally) => total.add(tally),
            Err(why) => {
                println!("{why}");
                failures += 1;
            }
        }
    }
    println!("{what}: {total}; {failures} did not build or run");
    if total.wrong() == 0 && failures == 0 { Ok(()) } else { Err("what was said is not what ran".into()) }
}
