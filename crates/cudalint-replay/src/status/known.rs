//! What a function out of sight can do to error state, as far as its name says.

use cudalint_program::api::ApiId;

/// The namespace of the standard library.
pub const STANDARD: &str = "std";

/// Whether a function out of sight is known to check no CUDA error: the C library, POSIX, OpenMP and MPI.
pub fn checks_nothing(path: &[&str]) -> bool {
    match path {
        [STANDARD, ..] | ["steady_clock" | "system_clock" | "high_resolution_clock", _] => true,
        [.., "duration_cast" | "time_point_cast"] => true,
        [.., last] => ApiId::named(last).is_some_and(|api| api.checks_nothing()),
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

/// Whether the name of a function out of sight says that it looks at errors.
pub fn sounds_like_check(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    ["error", "check", "err", "safe", "verify", "assert"].iter().any(|word| lower.contains(word))
}

/// Whether control does not come back.
pub fn never_returns(name: &str) -> bool {
    ApiId::named(name).is_some_and(|api| api.ends())
}
