//! What came of all programs.

use std::fmt::Display;

/// What came of one program, or of many.
pub trait Total: Default + Display {
    /// Adds another's.
    fn add(&mut self, other: Self);
    /// How much of what was said is not what ran.
    fn wrong(&self) -> usize;
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
