//! A fault of cudalint in one file does not end the run: it becomes a message that names the file and, for whoever
//! mends it, the line of cudalint that failed.

use crate::lint::Source;
use crate::outcome::Fault;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    /// Where this thread failed last.
    static FAILED_AT: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Keeps panics from printing: faults are told by [`crate::Outcome::faults`]. For programs, once at their start.
pub fn keep_panics_quiet() {
    std::panic::set_hook(Box::new(|panic| {
        let at = panic.location().map(|at| format!("{}:{}: ", at.file(), at.line())).unwrap_or_default();
        FAILED_AT.with_borrow_mut(|failed| *failed = at);
    }));
}

/// Runs work on one file; a panic becomes a fault of that file.
pub(crate) fn guarded<T>(source: &Source, work: impl FnOnce() -> T) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let said = payload
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("no message");
        let at = FAILED_AT.with_borrow_mut(std::mem::take);
        Fault::internal(&source.path, &format!("{at}{}", said.lines().next().unwrap_or("")))
    })
}
