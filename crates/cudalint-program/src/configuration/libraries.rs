//! Names that headers define which are out of sight: those of libraries, and those of the program that are not here.

use cudalint_syntax::{Directives, Include};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Headers that are not here, by their numbers in [`LostHeaders`]: sorted.
pub(super) type Lost = Rc<[u32]>;

/// The headers that files of a program include and that are not here.
#[derive(Debug, Default)]
pub(super) struct LostHeaders {
    all: Vec<LostHeader>,
    /// By file, the number of the include and that of the header.
    by_file: Vec<Vec<(u32, u32)>>,
}

impl LostHeaders {
    /// `files` are all files' directives, each with which of its includes lead out of sight.
    pub(super) fn of<'a>(files: impl Iterator<Item = (&'a Directives, &'a [u32])>) -> Self {
        let mut headers = Self::default();
        let mut known: FxHashMap<(&str, bool), u32> = FxHashMap::default();
        for (directives, lost) in files {
            let mut own = Vec::with_capacity(lost.len());
            for number in lost {
                let Some(include) = directives.includes.get(*number as usize) else { continue };
                let header = *known.entry((&include.path, include.system)).or_insert_with(|| {
                    headers.all.push(LostHeader::of(include));
                    headers.all.len() as u32 - 1
                });
                own.push((*number, header));
            }
            headers.by_file.push(own);
        }
        headers
    }

    /// The header that an include of a file leads to.
    pub(super) fn header(&self, file: u32, include: u32) -> Option<u32> {
        let own = self.by_file.get(file as usize)?;
        own.iter().find(|(number, _)| *number == include).map(|(_, header)| *header)
    }

    /// Whether a header may define a name, given without capitals.
    pub(super) fn may_define(&self, header: u32, lowercase: &str) -> bool {
        self.all.get(header as usize).is_some_and(|header| header.may_define(lowercase))
    }
}

/// What a header that is not here may define.
#[derive(Debug)]
enum LostHeader {
    /// One in quotes is a part of the program; others are there to hold settings.
    Anything,
    /// One of a library: names that begin as its folder or file is called.
    Beginning(Vec<String>),
}

impl LostHeader {
    fn of(include: &Include) -> Self {
        let words = include.path.split(['/', '.']).filter(|word| word.len() > 1);
        let words: Vec<String> = words.map(str::to_ascii_lowercase).collect();
        if !include.system || words.iter().any(|word| word.contains("config")) {
            Self::Anything
        } else {
            Self::Beginning(words)
        }
    }

    fn may_define(&self, lowercase: &str) -> bool {
        match self {
            Self::Anything => true,
            Self::Beginning(words) => words.iter().any(|word| lowercase.starts_with(word.as_str())),
        }
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
