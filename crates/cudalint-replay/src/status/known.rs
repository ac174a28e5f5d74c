//! What a function out of sight can do to error state, as far as its name says.

use cudalint_program::api::ApiId;

/// The namespace of the standard library.
pub const STANDARD: &str = "std";

/// Whether a function out of sight is known to check no CUDA error: the C library, POSIX, OpenMP and MPI.
pub fn checks_nothing(path: &[&str]) -> bool {
    match path {
        [STANDARD, ..] | ["steady_clock" | "system_clock" | "high_resolution_clock", _] => true,
        [.., "duration_cast" | "time_point_cast"] => true,
        [.., last] => {
            let of_tests = ["EXPECT_", "ASSERT_", "REQUIRE"].iter().any(|prefix| last.starts_with(prefix));
            of_tests || ApiId::named(last).is_some_and(|api| api.checks_nothing())
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
