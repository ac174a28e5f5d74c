//! Which files may hold CUDA or GPU Python, by name and by a scan that is much cheaper than parsing.

use crate::lexer::{Kind, Lexer, Step, code};
use std::path::Path;

/// What a file is by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// `.cu`, `.cuh`, `.hip`: CUDA C++ whatever it contains.
    Cuda,
    /// C and C++ sources and headers: linted only when they contain CUDA ([`contains_cuda`]).
    CFamily,
    /// `.py`, `.pyi`: linted only when it uses the GPU ([`contains_gpu_python`]).
    Python,
    /// `.ipynb`: its cells of code are the program; linted only when that uses the GPU.
    Notebook,
    /// `.md`, `.markdown`: only when named explicitly; its fences are the regions.
    Markdown,
}

impl FileKind {
    /// The kind of a path by its extension; `None` for files that cudalint does not read.
    pub fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?;
        if path.file_name().and_then(|name| name.to_str()).is_some_and(is_left_behind) {
            return None;
        }
        Some(match extension {
            "cu" | "cuh" | "CU" | "CUH" | "hip" => Self::Cuda,
            "c" | "cc" | "cpp" | "cxx" | "c++" | "C" | "h" | "hh" | "hpp" | "hxx" | "h++" | "H" | "inl" | "inc"
            | "ipp" | "tpp" | "txx" | "impl" | "ixx" | "cppm" => Self::CFamily,
            "py" | "pyi" => Self::Python,
            "ipynb" => Self::Notebook,
            "md" | "markdown" => Self::Markdown,
            _ => return None,
        })
    }
}

/// Whether a name is that of a file which nvcc (`--keep`) or `CMake`'s tests of compilers leave behind.
fn is_left_behind(name: &str) -> bool {
    name.contains(".cudafe1.")
        || name.ends_with(".fatbin.c")
        || name.starts_with("CMake") && name.split('.').next().is_some_and(|stem| stem.ends_with("CompilerId"))
}

/// Words after which C family text counts as CUDA. Each is searched as bytes, then checked to start a word.
const CUDA_MARKS: [&[u8]; 5] = [b"<<<", b"__global__", b"__device__", b"__shared__", b"cuda"];

/// Prefixes of library and driver calls: an identifier that starts so, followed by a capital, counts.
const CALL_PREFIXES: [&[u8]; 9] =
    [b"cuda", b"cublas", b"cufft", b"cudnn", b"curand", b"cusparse", b"cusolver", b"nccl", b"cu"];

/// Whether C or C++ text contains kernels, launches or calls of the CUDA runtime, driver or libraries.
///
/// Comments and literals are not looked at where that is cheap: the text is scanned for candidate words first, and only
/// a text with a candidate is lexed.
pub fn contains_cuda(text: &str) -> bool {
    let bytes = text.as_bytes();
    let candidate = CUDA_MARKS.iter().any(|mark| memchr::memmem::find(bytes, mark).is_some())
        || memchr::memmem::find_iter(bytes, b"cu").any(|at| is_call(bytes, at))
        || memchr::memmem::find_iter(bytes, b"nccl").any(|at| is_call(bytes, at));
    candidate && has_cuda_token(text)
}

/// Whether the text has a launch, a CUDA qualifier or a call of a CUDA interface outside comments and literals.
fn has_cuda_token(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut lexer = Lexer::new(bytes, 0);
    let mut call = false;
    while let Some(step) = lexer.next() {
        let Step::Token(token) = step else { continue };
        let spelled = &bytes[token.span().range()];
        match token.kind {
            Kind::Punct if token.code == code::LAUNCH => return true,
            Kind::Punct if call && token.code == u16::from(b'(') => return true,
            Kind::Word if matches!(spelled, b"__global__" | b"__device__" | b"__shared__" | b"__constant__") => {
                return true;
            }
            // Macros that wrap CUDA code are seen by what their bodies say.
            Kind::Directive if directive_has_cuda(spelled) => return true,
            _ => {}
        }
        call = token.kind == Kind::Word && is_cuda_function(spelled);
    }
    false
}

fn directive_has_cuda(spelled: &[u8]) -> bool {
    let rest = spelled.get(1..).unwrap_or(&[]).trim_ascii_start();
    rest.starts_with(b"define")
        && (memchr::memmem::find(rest, b"<<<").is_some()
            || memchr::memmem::find(rest, b"__global__").is_some()
            || memchr::memmem::find(rest, b"__device__").is_some())
}

/// Whether an identifier that starts at `at` is spelled like a call of a CUDA interface and is followed by `(`.
fn is_call(bytes: &[u8], at: usize) -> bool {
    if at > 0 && is_word(bytes[at - 1]) {
        return false;
    }
    let end = bytes[at..].iter().position(|b| !is_word(*b)).map_or(bytes.len(), |n| at + n);
    let next = bytes[end..].iter().find(|b| !b.is_ascii_whitespace());
    next == Some(&b'(') && is_cuda_function(&bytes[at..end])
}

/// Whether an identifier has the shape of a CUDA function: a known prefix and then a capital letter.
fn is_cuda_function(word: &[u8]) -> bool {
    CALL_PREFIXES
        .iter()
        .any(|prefix| word.strip_prefix(*prefix).and_then(<[u8]>::first).is_some_and(u8::is_ascii_uppercase))
}

pub(crate) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Whether Python text uses the GPU: it imports Numba and says `cuda`, imports `cupy`, `cupyx`, `pycuda` or one of the `cuda`
/// packages, imports `torch` and compiles C++ with `load_inline`, or launches a kernel as C++ does.
///
/// Words in comments and literals do not count: each is looked for as bytes first, and only the lines around those that are
/// found are looked at.
pub fn contains_gpu_python(text: &str) -> bool {
    let bytes = text.as_bytes();
    let has = |word: &[u8]| memchr::memmem::find(bytes, word).is_some();
    // Nearly every file without GPU code ends here: both are parts of all names that matter but few.
    let cuda = has(b"cuda");
    (cuda && (imports(bytes, b"cuda", true) || imports(bytes, b"pycuda", false) || imports(bytes, b"numba", false)))
        || imports(bytes, b"cupy", false)
        || imports(bytes, b"cupyx", false)
        || has(b"load_inline") && (imports(bytes, b"torch", false) || imports(bytes, b"load_inline", false))
        || has(b"<<<") && !crate::python_mask::python_chevrons(text, crate::Span::new(0, bytes.len())).is_empty()
}

/// Whether the bytes of a notebook, which are JSON, have a word that one with GPU code must have.
pub fn notebook_may_use_gpu(json: &[u8]) -> bool {
    const MARKS: [&[u8]; 6] = [b"cuda", b"cupy", b"<<<", b"load_inline", b"__global__", b"%%cu"];
    MARKS.iter().any(|mark| memchr::memmem::find(json, mark).is_some())
}

/// Whether a line imports a name, or has it imported by `importorskip` and its kin. `first`: as the package, since many
/// packages have something of that name inside.
fn imports(bytes: &[u8], name: &[u8], first: bool) -> bool {
    memchr::memmem::find_iter(bytes, name).any(|at| {
        let word = |at: Option<usize>| at.and_then(|at| bytes.get(at)).copied().is_some_and(is_word);
        if word(at.checked_sub(1)) || word(Some(at + name.len())) {
            return false;
        }
        let start = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |line| line + 1);
        let before = &bytes[start..at];
        if [&b"importorskip("[..], b"import_module("].iter().any(|call| {
            before.strip_suffix(b"\"").or(before.strip_suffix(b"'")).is_some_and(|rest| rest.ends_with(call))
        }) {
            return true;
        }
        if before.iter().any(|byte| matches!(byte, b'#' | b'"' | b'\'')) {
            return false;
        }
        let trimmed = before.trim_ascii_end();
        let follows = |keyword: &[u8]| {
            trimmed.strip_suffix(keyword).is_some_and(|rest| !rest.last().copied().is_some_and(is_word))
        };
        if before.len() > trimmed.len() && (follows(b"import") || follows(b"from")) {
            // `from x import name` brings something of x.
            let brings = follows(b"import") && memchr::memmem::find(trimmed, b"from ").is_some();
            return !first || !brings;
        }
        let statement = before.trim_ascii_start();
        !first && (statement.starts_with(b"import ") || statement.starts_with(b"from "))
    })
}

#[cfg(test)]
mod tests {
    use super::FileKind;
    use std::path::Path;

    #[test]
    fn what_compilers_leave_behind_is_no_source() {
        for name in ["tree.cudafe1.cpp", "tree.cudafe1.stub.c", "tree.fatbin.c", "CMakeCUDACompilerId.cu"] {
            assert_eq!(FileKind::of(Path::new(name)), None, "{name}");
        }
        for name in ["tree.cpp", "CMakeTree.cu", "cudafe1.cpp"] {
            assert!(FileKind::of(Path::new(name)).is_some(), "{name}");
        }
    }
}
