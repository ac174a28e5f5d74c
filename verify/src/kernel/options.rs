//! Options for the run-time compiler, out of flags for nvcc, and stand-ins for headers of the host's C library.

use camino::Utf8PathBuf;

/// Options and the flags that have no counterpart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    pub options: Vec<String>,
    pub left_out: Vec<String>,
}

/// The language where nothing says another: nvcc's own since CUDA 12.
const LANGUAGE: &str = "-std=c++17";

/// The run-time compiler's options for a program's flags. Sections of its manual: *Supported Compile Options*.
pub(super) fn options(flags: &[String], headers: &[Utf8PathBuf]) -> Options {
    let mut found = Options { options: vec!["-lineinfo".to_owned()], left_out: Vec::new() };
    let mut language = LANGUAGE.to_owned();
    let mut flags = flags.iter();
    while let Some(flag) = flags.next() {
        // `-D X` is `-DX`.
        let joined = match flag.as_str() {
            "-D" | "-U" | "-I" => flags.next().map(|value| format!("{flag}{value}")),
            "-std" | "--std" => flags.next().map(|value| format!("-std={value}")),
            _ => Some(flag.clone()),
        };
        let Some(flag) = joined else {
            found.left_out.push(flag.clone());
            continue;
        };
        let taken = ["-D", "-U", "-I"].iter().any(|kind| flag.starts_with(kind) && flag.len() > 2)
            || ["--define-macro=", "--undefine-macro=", "--include-path="].iter().any(|kind| flag.starts_with(kind))
            || ["-use_fast_math", "--use_fast_math", "-default-device"].contains(&flag.as_str())
            || ["-ftz=", "--ftz=", "-fmad=", "--fmad=", "-prec-div=", "--prec-div=", "-prec-sqrt=", "--prec-sqrt="]
                .iter()
                .any(|kind| flag.starts_with(kind));
        if let Some(value) = flag.strip_prefix("--std=").or_else(|| flag.strip_prefix("-std=")) {
            match standard(value) {
                Some(value) => language = format!("-std={value}"),
                None => found.left_out.push(flag),
            }
        } else if taken {
            found.options.push(flag);
        } else if !flag.trim().is_empty() {
            found.left_out.push(flag);
        }
    }
    found.options.push(language);
    found.options.extend(headers.iter().map(|folder| format!("-I{folder}")));
    found
}

/// A standard that the run-time compiler has, with which the table of parameters compiles too.
fn standard(value: &str) -> Option<&str> {
    let year = value.strip_prefix("c++").or_else(|| value.strip_prefix("gnu++"))?;
    match year {
        "11" => Some("c++11"),
        "14" => Some("c++14"),
        "17" => Some("c++17"),
        "20" => Some("c++20"),
        _ => None,
    }
}

/// What nvcc includes before a program's first line, as far as device code can use it.
pub(super) const BEFORE: &str = "#include <stdint.h>\n#include <limits.h>\n#include <stddef.h>\n#include <math.h>\n";

/// Headers of the host's C library that device code includes out of habit, as far as device code can use them, and the
/// driver's, which declares functions of the host. The run-time compiler declares `printf`, `assert`, `malloc`, `memcpy`
/// and the mathematical functions by itself.
const STAND_INS: &[(&[&str], &str)] = &[
    (&["stdint.h", "cstdint", "inttypes.h", "cinttypes"], include_str!("headers/stdint.h")),
    (&["limits.h", "climits"], include_str!("headers/limits.h")),
    (&["float.h", "cfloat"], include_str!("headers/float.h")),
    (&["math.h", "cmath"], include_str!("headers/math.h")),
    (&["stddef.h", "cstddef"], include_str!("headers/stddef.h")),
    (
        &[
            "cuda.h",
            "stdio.h",
            "cstdio",
            "stdlib.h",
            "cstdlib",
            "string.h",
            "cstring",
            "assert.h",
            "cassert",
            "stdbool.h",
            "cstdbool",
        ],
        include_str!("headers/nothing.h"),
    ),
];
/// Headers whose declarations the run-time compiler has by itself; for where CUDA's own are not installed.
const BUILT_IN: &[&str] = &[
    "cuda_runtime.h",
    "cuda_runtime_api.h",
    "device_launch_parameters.h",
    "device_functions.h",
    "vector_types.h",
    "vector_functions.h",
    "math_constants.h",
];

/// The stand-ins by the names under which they are included.
pub(super) fn stand_ins(headers_found: bool) -> Vec<(&'static str, &'static str)> {
    let of_host = STAND_INS.iter().flat_map(|(names, text)| names.iter().map(move |name| (*name, *text)));
    let of_cuda = BUILT_IN.iter().filter(|_| !headers_found).map(|name| (*name, include_str!("headers/nothing.h")));
    of_host.chain(of_cuda).collect()
}

#[cfg(test)]
mod tests {
    use super::options;

    #[test]
    fn flags_of_nvcc_become_options_or_are_left_out() {
        let flags = [
            "-DN=4",
            "-D",
            "M",
            "-I",
            "inc",
            "-O3",
            "-std=gnu++14",
            "-Xcompiler=-fopenmp",
            "-lcuda",
            "--use_fast_math",
        ];
        let found = options(&flags.map(str::to_owned), &["/cuda/include".into()]);
        let wanted = ["-lineinfo", "-DN=4", "-DM", "-Iinc", "--use_fast_math", "-std=c++14", "-I/cuda/include"];
        assert_eq!(found.options, wanted);
        assert_eq!(found.left_out, ["-O3", "-Xcompiler=-fopenmp", "-lcuda"]);
    }

    #[test]
    fn a_language_that_it_does_not_have_is_left_out() {
        let found = options(&["-std=c++03".to_owned()], &[]);
        assert_eq!(found.options, ["-lineinfo", "-std=c++17"]);
        assert_eq!(found.left_out, ["-std=c++03"]);
    }
}
