//! What becomes of statuses: calls, launches, checkers.

use super::Site;
use cudalint_program::Name;
use cudalint_program::ir::FunctionId;
use cudalint_syntax::Span;

/// What becomes of the status of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StatusUse {
    /// Dropped in statement position, or stored and never read before it is overwritten or dies.
    Dropped,
    /// Cast to void: explicit.
    Voided,
    /// Compared, returned, handed to a checker or to code out of sight, stored where others can read it.
    Consumed,
}

/// How much a dropped status matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StatusWeight {
    /// Allocations, copies, synchronizations, library calls: warn.
    Matters,
    /// Frees, destroys, resets, queries, waits whose error comes again at once: info.
    Teardown,
}

/// What may bring to light later on that something failed whose status nobody looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SeenLater {
    /// Somebody looks at the last error, on some way that the program may take.
    LastError,
    /// The status of another call of the runtime is looked at, which fails for the same reason or by what then is missing.
    Call,
    /// Callers' next calls: all that is lost in the function are waits, whose errors the runtime returns again and again.
    Callers,
    /// The program compares its results with what they should be.
    Results,
    /// The next operation of `PyTorch`, which asks for the last error behind each launch of its own (its `C10_CUDA_KERNEL_LAUNCH_CHECK`) and
    /// throws.
    PyTorch,
    /// Nobody needs to: the program uses nothing of what its kernels compute.
    Unneeded,
}

/// One call that returns a status.
#[derive(Clone, Debug, PartialEq)]
pub struct StatusCall {
    /// The function called.
    pub api: Name,
    /// The library: `CUDA runtime`, `cuBLAS`.
    pub library: &'static str,
    /// The call.
    pub span: Span,
    /// What becomes of the status.
    pub usage: StatusUse,
    /// How much it matters.
    pub weight: StatusWeight,
    /// The variable it was stored in, when [`StatusUse::Dropped`] after an assignment.
    pub stored: Option<Name>,
    /// By what its loss may be seen later.
    pub later: Option<SeenLater>,
}

/// What becomes of a launch's own error.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchStatus {
    /// The launch.
    pub span: Span,
    /// The kernel as written.
    pub kernel: String,
    /// Whether on every path a checked `cudaGetLastError`/`cudaPeekAtLastError` (by whatever wrapper) follows before
    /// the function's next launch of another statement list, or code out of sight may do so.
    pub checked: bool,
    /// Whether only a later checked synchronizing call sees it.
    pub only_by_sync: bool,
    /// By what a refused launch may be seen later.
    pub later: Option<SeenLater>,
    /// Whether such a check follows on some paths, but not on all.
    pub checked_on_some_path: bool,
    /// When [`Self::checked`] only because functions out of sight might check it, though their names do not say so:
    /// these functions.
    pub unseen: Vec<Name>,
}

/// Error handling of one host function.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionStatus {
    /// The function.
    pub function: FunctionId,
    /// Calls with a status, in order.
    pub calls: Vec<StatusCall>,
    /// Launches, in order.
    pub launches: Vec<LaunchStatus>,
    /// The last launch after which nothing checked synchronizes on some path to the function's end, when the function
    /// is `main` or frees or reads the launch's results itself; with the dropped synchronizing call where there is one.
    pub unobserved: Option<Unobserved>,
    /// A macro by which this function (or else another of its module) checks statuses of the CUDA runtime.
    pub wrapper: Option<Name>,
    /// Whether the grammar lost part of the function: what is said of it is *likely* at best.
    pub damaged: bool,
}

/// An asynchronous error that nobody can see.
#[derive(Clone, Debug, PartialEq)]
pub struct Unobserved {
    /// The launch; `None` where it is elided but a synchronizing call's status is dropped.
    pub launch: Option<Span>,
    /// A synchronizing call whose status is dropped.
    pub dropped_sync: Option<(Name, Span)>,
}

/// A macro or function that checks statuses, recognized by its body.
#[derive(Clone, Debug, PartialEq)]
pub struct Checker {
    /// Its name.
    pub name: Name,
    /// The definition.
    pub site: Site,
    /// What is wrong with it, if anything.
    pub defects: Vec<CheckerDefect>,
}

/// Ways in which a checker fails its purpose.
#[derive(Clone, Debug, PartialEq)]
pub enum CheckerDefect {
    /// The call itself stands inside `assert`, which `NDEBUG` removes.
    CallInsideAssert {
        /// The `assert`.
        span: Span,
    },
    /// The parameter is evaluated again on the failure path or outside any test.
    EvaluatesTwice {
        /// The second evaluation.
        span: Span,
        /// Whether the failure is shown all the same: the call fails again, and the program ends.
        shown: bool,
    },
    /// In some configuration (`NDEBUG`, `#ifdef DEBUG`) the macro expands to nothing, call included.
    CompiledOut {
        /// The configuration.
        condition: String,
        /// The empty definition.
        span: Span,
    },
    /// It reads the last error twice: the first read clears it, so the second prints "no error".
    ReadsLastErrorTwice {
        /// The read that clears it.
        first: Span,
        /// The read that comes too late.
        second: Span,
    },
}

/// A call that compiles a program at run time, whose status is looked at, though nobody asks for what the compiler says.
#[derive(Clone, Debug, PartialEq)]
pub struct UnreadLog {
    /// The function that calls.
    pub function: FunctionId,
    /// What is called.
    pub api: Name,
    /// The call.
    pub span: Span,
}
