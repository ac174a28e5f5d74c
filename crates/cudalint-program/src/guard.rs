//! A fault of cudalint in one file does not end the run: it becomes a sentence that says, for whoever mends it, which line
//! of cudalint failed.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    /// Where this thread failed last.
    static FAILED_AT: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Keeps panics from printing: [`guarded`] hands them on. For programs, once at their start.
pub fn keep_panics_quiet() {
    std::panic::set_hook(Box::new(|panic| {
        let at = panic.location().map(|at| format!("{}:{}: ", at.file(), at.line())).unwrap_or_default();
        FAILED_AT.with_borrow_mut(|failed| *failed = at);
    }));
}

/// Does work on one file.
///
/// # Errors
/// When it panics: with the place in cudalint and the first line of what the panic said.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let said = payload
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("no message");
        let at = FAILED_AT.with_borrow_mut(std::mem::take);
        format!("{at}{}", said.lines().next().unwrap_or(""))
    })
}
