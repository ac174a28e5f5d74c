//! Which files may hold CUDA or GPU Python, by name and by a scan that is much cheaper than parsing.

use std::path::Path;

/// What a file is by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// `.cu`, `.cuh`: CUDA C++ whatever it contains.
    Cuda,
    /// C and C++ sources and headers: linted only when they contain CUDA ([`contains_cuda`]).
    CFamily,
    /// `.py`, `.pyi`: linted only when it uses the GPU ([`contains_gpu_python`]).
    Python,
    /// `.md`, `.markdown`: only when named explicitly; its fences are the regions.
    Markdown,
}

impl FileKind {
    /// The kind of a path by its extension; `None` for files that cudalint does not read.
    pub fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?;
        Some(match extension {
            "cu" | "cuh" | "CU" | "CUH" => Self::Cuda,
            "c" | "cc" | "cpp" | "cxx" | "c++" | "C" | "h" | "hh" | "hpp" | "hxx" | "h++" | "H" | "inl" | "inc"
            | "ipp" | "tpp" | "txx" | "impl" | "ixx" | "cppm" => Self::CFamily,
            "py" | "pyi" => Self::Python,
            "md" | "markdown" => Self::Markdown,
            _ => return None,
        })
    }
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
    candidate && crate::lexer::has_cuda_token(text)
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
pub(crate) fn is_cuda_function(word: &[u8]) -> bool {
    CALL_PREFIXES
        .iter()
        .any(|prefix| word.strip_prefix(*prefix).and_then(<[u8]>::first).is_some_and(u8::is_ascii_uppercase))
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Whether Python text uses the GPU: imports of Numba's CUDA target, `cupy`, `pycuda`, the `cuda` packages or Triton-like
/// kernels' launch syntax.
pub fn contains_gpu_python(text: &str) -> bool {
    const MARKS: [&[u8]; 6] = [b"cupy", b"pycuda", b"numba", b"<<<", b"import cuda", b"from cuda"];
    let bytes = text.as_bytes();
    MARKS.iter().any(|mark| match *mark {
        b"numba" => memchr::memmem::find(bytes, mark).is_some() && memchr::memmem::find(bytes, b"cuda").is_some(),
        _ => memchr::memmem::find(bytes, mark).is_some(),
    })
}
