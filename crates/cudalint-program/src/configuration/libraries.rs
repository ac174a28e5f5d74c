//! Names that headers define which are out of sight: those of libraries, and those of the program that are not here.

use cudalint_syntax::Include;
use std::rc::Rc;

/// Headers that are not here, in the words of their directives.
pub(super) type Lost = Rc<[LostHeader]>;

/// An `#include` of a header that is not here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LostHeader {
    pub(super) path: Box<str>,
    system: bool,
}

impl LostHeader {
    pub(super) fn of(include: &Include) -> Self {
        Self { path: include.path.as_str().into(), system: include.system }
    }

    /// Whether the header may define a name. One in quotes is a part of the program, which may define anything. One in angle
    /// brackets is a library's: it defines names that begin as its folder or file is called, and others if it is there to hold
    /// settings.
    pub(super) fn may_define(&self, name: &str) -> bool {
        if !self.system {
            return true;
        }
        let name = name.to_ascii_lowercase();
        let mut words = self.path.split(['/', '.']).filter(|word| word.len() > 1).map(str::to_ascii_lowercase);
        words.any(|word| word.contains("config") || name.starts_with(&word))
    }
}

/// Whether a name may come from a header of the system or of a library, which are out of sight: one that is reserved for
/// them, a version, or an include guard.
pub(super) fn may_be_of_a_library(name: &str) -> bool {
    let reserved =
        name.starts_with("__") || name.starts_with('_') && name[1..].starts_with(|c: char| c.is_ascii_uppercase());
    let ends = ["_H", "_H_", "_HPP", "_HPP_", "_MAJOR", "_MINOR", "_INCLUDED", "_MAX", "_MIN", "_FILENO"];
    reserved
        || name.contains("VERSION")
        || ends.iter().any(|end| name.ends_with(end))
        || STANDARD.contains(&name)
        || STANDARD_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
}

/// Macros of the headers of C, C++ and POSIX that have no beginning of their family.
const STANDARD: [&str; 20] = [
    "BUFSIZ",
    "CHAR_BIT",
    "CLOCKS_PER_SEC",
    "EAGAIN",
    "EDOM",
    "EINTR",
    "EINVAL",
    "ENOENT",
    "ENOMEM",
    "EOF",
    "ERANGE",
    "HUGE_VAL",
    "INFINITY",
    "NAN",
    "NULL",
    "TIME_UTC",
    "assert",
    "errno",
    "offsetof",
    "va_copy",
];

/// How the macros of families of headers begin: those of C, C++ and POSIX, of MPI, and of CUDA and its libraries.
const STANDARD_BEGINNINGS: [&str; 32] = [
    "AF_", "CLOCK_", "CUBLAS_", "CUDART_", "CUDNN_", "CUFFT_", "CU_", "DBL_", "EXIT_", "FE_", "FLT_", "FP_", "INT16_",
    "INT32_", "INT64_", "INT8_", "LC_", "LDBL_", "MAP_", "MPI_", "M_", "NCCL_", "O_", "POSIX_", "PRI", "PROT_",
    "PTHREAD_", "SCN", "SEEK_", "SIG", "SOCK_", "cudaDev",
];
