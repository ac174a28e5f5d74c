//! Names of functions and files as tools write them.

/// What stands before a function's own name in the clones that the compiler makes: `[clone kernel(int *)] put(int)`.
const CLONE: &str = "[clone ";
const OPERATOR: &str = "operator";

/// A function's name alone: without return type, namespaces, template arguments and parameters. Of a mangled name (Numba
/// leaves them where they cannot be read) the last identifier, of a Numba kernel the Python function's, also where that is
/// the function of a ufunc.
pub fn base_name(full: &str) -> String {
    let name = plain_name(full);
    let function = UFUNCS.iter().find_map(|kernel| name.strip_prefix(kernel)).filter(|function| !function.is_empty());
    function.map_or(name.clone(), str::to_owned)
}

/// How the names of the kernels begin that Numba writes around the functions of `@vectorize` and `@guvectorize`.
const UFUNCS: [&str; 2] = ["__vectorized_", "__gufunc_"];

fn plain_name(full: &str) -> String {
    let full = full.trim();
    if let Some(rest) = full.strip_prefix(CLONE)
        && let Some(end) = closing(rest, '[', ']')
    {
        return plain_name(rest.get(end..).unwrap_or(""));
    }
    if let Some(name) = full.strip_prefix("_Z").and_then(mangled_base) {
        return name;
    }
    let anonymous = full.replace("(anonymous namespace)::", "").replace("<unnamed>::", "");
    let head = without_parameters(&anonymous);
    let name = last_component(head);
    // Numba's tags: `scale[abi:v1,cw51…]`.
    let name = name.split("[abi:").next().unwrap_or(name);
    let cut = if is_operator(name, 0) { name } else { name.split('<').next().unwrap_or(name) };
    cut.trim().trim_start_matches(['*', '&']).to_owned()
}

/// Bytes up to and with the bracket that closes one opened just before `text`.
fn closing(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 1u32;
    for (at, letter) in text.char_indices() {
        if letter == open {
            depth += 1;
        } else if letter == close {
            depth -= 1;
            if depth == 0 {
                return Some(at + letter.len_utf8());
            }
        }
    }
    None
}

/// Whether the word `operator` stands here, and not a part of a longer name.
fn is_operator(text: &str, at: usize) -> bool {
    let word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let behind = text.get(at..).and_then(|rest| rest.strip_prefix(OPERATOR));
    behind.is_some_and(|behind| !behind.starts_with(word)) && !text.get(..at).unwrap_or("").ends_with(word)
}

/// A function's name up to its parameters.
fn without_parameters(full: &str) -> &str {
    let mut depth = 0i32;
    let mut at = 0;
    while let Some(rest) = full.get(at..).filter(|rest| !rest.is_empty()) {
        if depth == 0 && is_operator(full, at) {
            // The signs of an operator are no brackets: `operator<`, `operator ()`.
            let signs = rest.get(OPERATOR.len()..).unwrap_or("");
            let space = signs.len() - signs.trim_start().len();
            let trimmed = signs.trim_start();
            let length = ["()", "[]", "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "<", ">"]
                .iter()
                .find(|sign| trimmed.starts_with(**sign))
                .map_or(0, |sign| space + sign.len());
            at += OPERATOR.len() + length;
            continue;
        }
        let letter = rest.chars().next().unwrap_or(' ');
        match letter {
            '(' if depth == 0 => return full.get(..at).unwrap_or(full),
            '<' | '(' | '[' | '{' => depth += 1,
            '>' | ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        at += letter.len_utf8();
    }
    full
}

/// What stands behind the last `::`, or the last space outside brackets.
fn last_component(head: &str) -> &str {
    if let Some(at) = head.rfind(OPERATOR).filter(|at| is_operator(head, *at)) {
        return head.get(at..).unwrap_or(head);
    }
    let mut depth = 0i32;
    let mut start = 0;
    let mut before = ' ';
    for (at, letter) in head.char_indices() {
        match letter {
            '<' | '(' | '[' | '{' => depth += 1,
            '>' | ')' | ']' | '}' => depth -= 1,
            ':' if depth == 0 && before == ':' => start = at + 1,
            ' ' if depth == 0 => start = at + 1,
            _ => {}
        }
        before = letter;
    }
    head.get(start..).unwrap_or(head)
}

/// The last identifier of a mangled name behind its `_Z`: `_ZN8geometry4blurIfEEvPT_` gives `blur`. Itanium C++ ABI,
/// section Mangling.
fn mangled_base(rest: &str) -> Option<String> {
    let nested = rest.strip_prefix('N');
    let mut text = nested.unwrap_or(rest).trim_start_matches(['K', 'V', 'r', 'L']);
    let mut last = None;
    while let Some((name, behind)) = identifier(text) {
        text = behind;
        // ABI tags belong to the identifier before them.
        while let Some((_, behind)) = text.strip_prefix('B').and_then(identifier) {
            text = behind;
        }
        last = Some(name.to_owned());
        if nested.is_none() {
            break;
        }
    }
    last
}

/// An identifier with its length before it, and what follows it.
fn identifier(text: &str) -> Option<(&str, &str)> {
    let digits = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let length: usize = text.get(..digits)?.parse().ok()?;
    let end = digits.checked_add(length)?;
    Some((text.get(digits..end)?, text.get(end..)?))
}

/// Whether two paths name one file as far as both say: all components of the shorter one are the last ones of the other.
pub fn same_path(one: &str, other: &str) -> bool {
    let mut one = components(one);
    let mut other = components(other);
    let mut shared = 0usize;
    loop {
        match (one.next(), other.next()) {
            (Some(a), Some(b)) if a == b => shared += 1,
            (Some(_), Some(_)) => return false,
            _ => return shared > 0,
        }
    }
}

/// Components from the last to the first, without `.` and without what `..` takes back.
fn components(path: &str) -> impl Iterator<Item = &str> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    // A path that begins above where it is counted from says nothing of what stands there.
    parts.into_iter().rev().take_while(|part| *part != "..")
}

/// Headers of the toolkit that host code is built with, wherever they are.
const HEADERS: &[&str] = &["cuda_runtime.h", "cuda_runtime_api.h", "device_functions.h", "host_runtime.h"];
/// How its headers with device functions are named: `sm_30_intrinsics.hpp`, `device_atomic_functions.hpp`.
const HEADER_BEGINNINGS: &[&str] = &["sm_", "device_", "cuda_fp", "cuda_bf"];

/// Headers of the toolkit, installed Python packages, files that nvcc writes on its way, and this tool's own.
pub fn is_toolkit_file(file: &str) -> bool {
    let file = file.replace('\\', "/");
    let python = ["/site-packages/", "/dist-packages/"].iter().any(|folder| file.contains(folder));
    if python || file.starts_with('<') || file.rsplit('.').next() == Some("pyx") {
        return true;
    }
    let name = file.rsplit('/').next().unwrap_or("");
    if name.contains(".cudafe") || name.starts_with("tmpxft_") || name.starts_with("cudalint_") {
        return true;
    }
    // `/usr/local/cuda/targets/…/include/`, `/usr/local/cuda-13.0/include/`.
    let folders = ["/cuda/", "/cuda-", "/targets/x86_64-linux/", "/targets/sbsa-linux/", "/targets/aarch64-linux/"];
    let installed = file.contains("/include/") && folders.iter().any(|folder| file.contains(folder));
    let header =
        name.strip_suffix(".hpp").is_some_and(|stem| HEADER_BEGINNINGS.iter().any(|start| stem.starts_with(start)));
    installed || header || HEADERS.contains(&name)
}

/// Libraries that no user's frame stands in.
pub(super) fn is_toolkit_module(module: &str) -> bool {
    let name = module.rsplit(['/', '\\']).next().unwrap_or(module);
    ["libcuda.so", "libcudart", "libc.so", "ld-linux", "nvcuda", "cudart"].iter().any(|start| name.starts_with(start))
}
