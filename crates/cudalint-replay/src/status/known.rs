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

/// Namespaces of libraries whose functions throw what the runtime reports, and look at the last error.
const THROWING: [&str; 1] = ["thrust"];

/// Whether a path leads into a library whose functions and classes look at the last error and throw.
pub fn throws_errors(path: &str) -> bool {
    path.split("::").next().is_some_and(|first| THROWING.contains(&first))
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
