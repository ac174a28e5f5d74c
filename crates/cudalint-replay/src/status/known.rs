//! What a function out of sight can do to error state, as far as its name says.

/// Whether a function out of sight is known to check no CUDA error: the C library, POSIX, OpenMP and MPI.
pub fn checks_nothing(path: &[&str]) -> bool {
    const C_LIBRARY: [&str; 120] = [
        "printf",
        "fprintf",
        "sprintf",
        "snprintf",
        "vprintf",
        "vfprintf",
        "puts",
        "fputs",
        "putchar",
        "fputc",
        "putc",
        "fflush",
        "fopen",
        "fclose",
        "fread",
        "fwrite",
        "fscanf",
        "scanf",
        "sscanf",
        "fgets",
        "fgetc",
        "getc",
        "getchar",
        "gets",
        "feof",
        "fseek",
        "ftell",
        "rewind",
        "perror",
        "remove",
        "malloc",
        "calloc",
        "realloc",
        "free",
        "memcpy",
        "memset",
        "memmove",
        "memcmp",
        "strcmp",
        "strncmp",
        "strcpy",
        "strncpy",
        "strcat",
        "strlen",
        "strstr",
        "strchr",
        "strrchr",
        "strtok",
        "strdup",
        "strtol",
        "strtoul",
        "strtod",
        "strtof",
        "strerror",
        "strcasecmp",
        "atoi",
        "atol",
        "atoll",
        "atof",
        "rand",
        "srand",
        "rand_r",
        "random",
        "srandom",
        "drand48",
        "srand48",
        "lrand48",
        "time",
        "clock",
        "difftime",
        "gettimeofday",
        "clock_gettime",
        "localtime",
        "ctime",
        "strftime",
        "getenv",
        "setenv",
        "getopt",
        "getopt_long",
        "exit",
        "abort",
        "atexit",
        "assert",
        "qsort",
        "bsearch",
        "sqrt",
        "sqrtf",
        "pow",
        "powf",
        "exp",
        "expf",
        "log",
        "logf",
        "log2",
        "log10",
        "fabs",
        "fabsf",
        "abs",
        "labs",
        "min",
        "max",
        "floor",
        "floorf",
        "ceil",
        "ceilf",
        "round",
        "sin",
        "sinf",
        "cos",
        "cosf",
        "tan",
        "fmin",
        "fmax",
        "fminf",
        "fmaxf",
        "fmod",
        "swap",
        "sleep",
        "usleep",
        "signal",
    ];
    match path {
        ["std", ..] => true,
        [.., last] => {
            C_LIBRARY.contains(last)
                || last.starts_with("omp_")
                || last.starts_with("MPI_")
                || last.starts_with("make_")
                || last.starts_with("__builtin_")
                || last.starts_with("aligned_")
                || last.starts_with("posix_")
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

/// Whether the name of a function out of sight says that it looks at errors.
pub fn sounds_like_check(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    ["error", "check", "err", "safe", "verify", "assert"].iter().any(|word| lower.contains(word))
}

/// Whether control does not come back.
pub fn never_returns(name: &str) -> bool {
    matches!(
        name,
        "exit"
            | "abort"
            | "_exit"
            | "_Exit"
            | "quick_exit"
            | "terminate"
            | "__builtin_unreachable"
            | "__builtin_trap"
            | "longjmp"
    )
}
