//! What a function out of sight can do to error state, as far as its name says.

use cudalint_program::api::ApiId;
use cudalint_program::api::effects::{Library, Returns};

/// The namespace of the standard library.
pub const STANDARD: &str = "std";

/// Whether a function out of sight is known to check no CUDA error: the C library, POSIX, OpenMP and MPI.
pub fn checks_nothing(path: &[&str]) -> bool {
    match path {
        [STANDARD, ..] | ["steady_clock" | "system_clock" | "high_resolution_clock", _] => true,
        [.., "duration_cast" | "time_point_cast"] => true,
        [.., last] => {
            let of_tests = ["EXPECT_", "ASSERT_", "REQUIRE"].iter().any(|prefix| last.starts_with(prefix));
            // Who asks for the name of an error has it already.
            let names = |api: ApiId| api.returns == Returns::Text;
            of_tests || ApiId::named(last).is_some_and(|api| api.checks_nothing() || names(api))
        }
        [] => false,
    }
}

/// Whether a method out of sight is one of the standard library's containers, strings, streams or clocks.
pub fn method_checks_nothing(name: &str) -> bool {
    const METHODS: [&str; 40] = [
        "size",
        "data",
        "begin",
        "end",
        "cbegin",
        "cend",
        "rbegin",
        "rend",
        "push_back",
        "emplace_back",
        "pop_back",
        "resize",
        "reserve",
        "clear",
        "empty",
        "front",
        "back",
        "at",
        "c_str",
        "str",
        "substr",
        "length",
        "append",
        "insert",
        "erase",
        "find",
        "count",
        "get",
        "open",
        "close",
        "is_open",
        "good",
        "fail",
        "read",
        "write",
        "precision",
        "width",
        "fill",
        "what",
        "fetch_add",
    ];
    METHODS.contains(&name)
}

/// Whether a name is written as those of macros are.
pub fn looks_like_macro(name: &str) -> bool {
    name.len() > 1 && !name.contains(|letter: char| letter.is_ascii_lowercase())
}

/// Whether what has a name may be a macro that looks at errors: written as macros are, and not named after messages.
pub fn may_be_checking_macro(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    looks_like_macro(name)
        && (sounds_like_check(name) || !says(&["log", "print", "debug", "dbg", "trace", "info", "warn", "msg"]))
}

/// Whether the name of a function out of sight says that it looks at errors.
pub fn sounds_like_check(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    ["error", "check", "err", "safe", "verify", "assert"].iter().any(|word| lower.contains(word))
}

/// Whether the name of a macro or function says that it looks at CUDA's last error, rather than at a status that it is given or at
/// results.
pub fn sounds_like_last_error(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if says(&["stderr", "cerr", "perror", "errno", "geterror", "errorstring", "error_string", "interr"])
        || lower == "error"
        || lower == "err"
        || lower.starts_with("cudaerror")
    {
        return false;
    }
    says(&["err", "lasterr"]) && says(&["check", "cuda", "gpu", "hip", "kernel", "launch", "last"])
        || says(&["check"]) && says(&["cuda", "gpu", "cu_", "hip", "kernel", "launch", "last", "sync"])
        || ["CUERR", "CubDebug", "CubDebugExit"].contains(&name)
}

/// Whether a namespace is that of Thrust, whose algorithms and vectors look at the last error and throw what the runtime reports.
pub fn is_of_thrust(namespace: &str) -> bool {
    namespace == "thrust"
}

/// Whether a path leads to a function or class of Thrust that looks at the last error: not to what works on the host alone.
pub fn throws_errors(path: &str) -> bool {
    const ON_HOST: [&str; 19] = [
        "raw_pointer_cast",
        "device_pointer_cast",
        "raw_reference_cast",
        "device_ptr",
        "device_reference",
        "min",
        "max",
        "swap",
        "complex",
        "pair",
        "make_pair",
        "tuple",
        "make_tuple",
        "get",
        "tie",
        "host",
        "device",
        "distance",
        "advance",
    ];
    // Template arguments name other things.
    let path = path.split('<').next().unwrap_or("");
    let (first, last) = (path.split("::").next(), path.rsplit("::").next().unwrap_or("").trim());
    first.is_some_and(is_of_thrust) && !ON_HOST.contains(&last) && !last.ends_with("_iterator")
}

/// Whether a class is a container of Thrust's whose memory is the device's: where an object ends, it gives that back, which waits for the
/// device, and throws what that reports.
pub fn waits_at_end(class: &str) -> bool {
    matches!(class, "thrust::device_vector" | "thrust::universal_vector")
}

/// Whether the name of a class out of sight says that its objects may look at errors.
pub fn may_know_errors(class: &str) -> bool {
    let name = class.rsplit("::").next().unwrap_or(class);
    // Those of the runtime's own header are spelled small.
    if class.starts_with("std::") || name.starts_with(|first: char| first.is_ascii_lowercase()) {
        return false;
    }
    let lower = name.to_ascii_lowercase();
    sounds_like_check(name)
        || ["cuda", "gpu", "launch", "sync", "kernel", "guard"].iter().any(|word| lower.contains(word))
}

/// Whether control does not come back.
pub fn never_returns(name: &str) -> bool {
    ApiId::named(name).is_some_and(|api| api.ends())
}

/// Whether calls of a library return what has stopped the device before.
pub(super) fn returns_earlier(library: Library) -> bool {
    library.is_runtime() || library == Library::Driver
}

/// Whether the name of a function says that it compares results with what they should be, and not that it looks at a call or at what
/// somebody gave it.
pub(super) fn sounds_like_comparison(name: &str) -> bool {
    const WORDS: [&str; 9] =
        ["verif", "validat", "compare", "allclose", "all_close", "issorted", "is_sorted", "iscorrect", "correctness"];
    const OF_RESULTS: [&str; 9] =
        ["result", "output", "answer", "equal", "solution", "sort", "residual", "accuracy", "match"];
    const MACROS: [&str; 3] = ["CHECK_NEAR", "CHECK_EQ", "CHECK_CLOSE"];
    // How far results are from what they should be is an error of another kind.
    const DISTANCES: [&str; 8] =
        ["relative_err", "relativeerr", "rel_err", "max_err", "maxerr", "abs_err", "rms_err", "l2_err"];
    const OTHERS: [&str; 15] = [
        "err", "cuda", "kernel", "launch", "status", "call", "arg", "param", "input", "bound", "device", "file",
        "alloc", "config", "version",
    ];
    let says = |text: &str, words: &[&str]| words.iter().any(|word| text.contains(word));
    if MACROS.iter().any(|prefix| name.starts_with(prefix)) {
        return true;
    }
    let mut lower = name.to_ascii_lowercase();
    // Most names have none of these.
    if !says(&lower, &WORDS) && !says(&lower, &DISTANCES) && !lower.contains("check") {
        return false;
    }
    for distance in DISTANCES {
        lower = lower.replace(distance, "compare_");
    }
    !says(&lower, &OTHERS) && (says(&lower, &WORDS) || lower.contains("check") && says(&lower, &OF_RESULTS))
}

/// Whether a text is what a program prints that has compared its results: not a message about a call that failed or a wrong input.
pub(super) fn reports_comparison(text: &str) -> bool {
    const PHRASES: [&str; 19] = [
        "absolute error",
        "error in the output",
        "error in the result",
        "max error",
        "maximum error",
        "mismatch",
        "relative error",
        "wrong output",
        "incorrect",
        "not match",
        "results match",
        "result match",
        "wrong result",
        " differ",
        "test passed",
        "test failed",
        "tests passed",
        "verification",
        "validation",
    ];
    const OTHERS: [&str; 15] = [
        "cuda",
        "arch",
        "alloc",
        "memory",
        "device",
        "kernel",
        "launch",
        "file",
        "open",
        "argument",
        "size",
        "dimension",
        "type",
        "status",
        "line",
    ];
    let lower = text.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let mut words = text.split(|letter: char| !letter.is_ascii_alphabetic());
    !says(&OTHERS) && (says(&PHRASES) || words.any(|word| ["PASS", "PASSED", "FAIL", "FAILED"].contains(&word)))
}

/// Whether a text that is printed where an element is not what it should be speaks of a mistake.
pub(super) fn blames(text: &str) -> bool {
    const WORDS: [&str; 7] = ["error", "wrong", "fail", "false", "incorrect", "expected", "instead of"];
    let lower = text.to_ascii_lowercase();
    WORDS.iter().any(|word| lower.contains(word)) || reports_comparison(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_compare() {
        assert!(sounds_like_comparison("verifyResult"));
        assert!(sounds_like_comparison("check_results"));
        assert!(sounds_like_comparison("CHECK_NEAR"));
        assert!(sounds_like_comparison("relative_error_compare"));
        assert!(!sounds_like_comparison("compare_error_codes"));
        // What a test expects is asked by itself.
        assert!(!sounds_like_comparison("EXPECT_TRUE"));
        assert!(!sounds_like_comparison("checkCudaErrors"));
        assert!(!sounds_like_comparison("CHECK"));
        assert!(!sounds_like_comparison("correct_field"));
        assert!(!sounds_like_comparison("validate_input"));
    }

    #[test]
    fn texts_of_comparisons() {
        assert!(reports_comparison("Result = PASS\n"));
        assert!(reports_comparison("Mismatch at %d\n"));
        assert!(reports_comparison("Max error: %f\n"));
        assert!(!reports_comparison("cudaMalloc failed: %s\n"));
        assert!(!reports_comparison("architecture mismatch"));
        assert!(!reports_comparison("Error at %s:%d\n"));
        assert!(!reports_comparison("Failed to launch the kernel (error code %s)!\n"));
    }
}
