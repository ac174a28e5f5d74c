//! The catalogue is the one place that says what a function of CUDA does: no other source file spells one to decide that.
#![allow(clippy::unwrap_used, clippy::panic)]

use cudalint_program::api::ApiId;
use cudalint_program::api::effects::Library;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Files that may spell functions, with the reason.
const MAY: [(&str, &str); 7] = [
    ("crates/cudalint-program/src/api/", "the catalogue"),
    ("crates/cudalint-program/build/", "its reader"),
    ("crates/cudalint-pages/", "what runs the pages' examples"),
    ("crates/xtask/", "writes and reads programs: the differential test, mutants, the corpus"),
    ("crates/cudalint-gpu/", "calls the driver and NVRTC, and names in messages what failed"),
    ("verify/src/spelled.rs", "what the programs that are run on a GPU are made of"),
    ("crates/cudalint-syntax/", "the masks know specifiers and words, no functions"),
];

/// Words of messages and help, in quotes or not: text for people decides nothing.
fn is_sentence(literal: &str) -> bool {
    literal.contains(' ') || literal.contains('`')
}

/// Rust files of the workspace, tests apart.
fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().filter_map(Result::ok) {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() {
            if !["target", "tests", "examples", "benches", "fuzz"].contains(&name.as_str()) {
                sources(&path, into);
            }
        } else if path.extension().is_some_and(|end| end == "rs") {
            into.push(path);
        }
    }
}

/// The string literals of a file in front of its tests, with their lines; comments are left out.
fn literals(text: &str) -> Vec<(usize, &str)> {
    let code = text.split("#[cfg(test)]").next().unwrap_or(text);
    let mut found = Vec::new();
    for (number, line) in code.lines().enumerate() {
        let line = line.split("//").next().unwrap_or("");
        let mut parts = line.split('"').skip(1);
        while let Some(literal) = parts.next() {
            found.push((number + 1, literal));
            parts.next();
        }
    }
    found
}

/// Whether a literal is the name of a function of CUDA, or the beginning of many.
fn spells(literal: &str) -> bool {
    let of_cuda =
        |id: ApiId| !matches!(id.library, Library::C | Library::Cpp | Library::Math) && !id.name().ends_with('*');
    ApiId::named(literal).is_some_and(of_cuda) || PREFIXES.contains(&literal)
}

/// Beginnings by which functions of CUDA could be told.
const PREFIXES: [&str; 14] = [
    "cu",
    "cuda",
    "cudaMalloc",
    "cudaMemcpy",
    "cudaLaunch",
    "cuMem",
    "cuMemcpy",
    "cublas",
    "cufft",
    "cudnn",
    "nccl",
    "nvrtc",
    "atomic",
    "__syncthreads",
];

#[test]
fn no_other_file_spells_a_function_of_cuda() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let mut files = Vec::new();
    for folder in ["crates", "rules", "verify"] {
        sources(&root.join(folder), &mut files);
    }
    let mut told: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in files {
        let name = file.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
        if MAY.iter().any(|(path, _)| name.starts_with(path)) {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        for (line, literal) in literals(&text) {
            let known = STILL.iter().any(|(path, words, _)| name.contains(path) && words.contains(&literal));
            if !is_sentence(literal) && spells(literal) && !known {
                told.entry(name.clone()).or_default().push(format!("{line}: {literal:?}"));
            }
        }
    }
    assert!(told.is_empty(), "ask the catalogue instead (docs/adding-an-api.md): {told:#?}");
}

/// Words that are something else in their place, or only told to people, with the reason.
const STILL: [(&str, &[&str], &str); 36] = [
    (
        "engine/src/misfits.rs",
        &["cuda", "cu"],
        "beginnings of the enumerators and variables that headers of CUDA declare",
    ),
    ("engine/src/undeclared.rs", &["cuda", "cu"], "beginnings of what headers of CUDA declare"),
    ("replay/src/status/known.rs", &["cuda"], "a part of names that projects give to their checks"),
    ("verify/src/experiment/probed.rs", &["cu"], "the language of nvcc's `-x`, and the ending of files"),
    ("verify/src/experiment/watchpoint/mod.rs", &["cu"], "the ending of files"),
    (
        "verify/src/project/compiler/attempts.rs",
        &["cu", "cuda"],
        "the language of nvcc's `-x`, and what a source with CUDA mentions",
    ),
    ("verify/src/project/compiler/words.rs", &["cu"], "the ending of files"),
    ("verify/src/run/ledger.rs", &["cu"], "the ending of files"),
    ("cudalint-program/src/dialect.rs", &["cuda"], "how CUDA's headers begin, and names in words that become HIP's"),
    (
        "cudalint-replay/src/python/",
        &["numba.cuda.device_array", "numpy.empty", "cupy.ElementwiseKernel", "cupy.ReductionKernel"],
        "what messages call the maker of an array that a launch or a method brings into being",
    ),
    ("cudalint-replay/src/python/status.rs", &["cuda"], "a package"),
    ("cudalint-replay/src/python/apis.rs", &["cuda"], "the target of a compiler"),
    ("cudalint-program/src/python/lower/kernels.rs", &["cuda"], "the target of a compiler"),
    ("cudalint-kernel/src/python/meaning.rs", &["atomic"], "a namespace"),
    (
        "rules/correctness/nonexistent-gpu-api.rs",
        &["cupy.cuda.malloc", "cupy.cuda.mem_alloc"],
        "names that do not exist",
    ),
    ("cudalint-program/src/includes.rs", &["cu", "cuda", "curand"], "names of headers and ends of file names"),
    ("cudalint-program/src/cuda/", &["cuda"], "names of types"),
    ("cudalint-kernel/src/lower/calls.rs", &["cuda"], "a namespace"),
    ("cudalint-kernel/src/lower/library_types.rs", &["atomic"], "a class"),
    (
        "cudalint-kernel/src/execute/warp.rs",
        &[
            "__shfl_sync",
            "__shfl_up_sync",
            "__shfl_down_sync",
            "__shfl_xor_sync",
            "__any_sync",
            "__all_sync",
            "__ballot_sync",
            "__match_any_sync",
            "__match_all_sync",
        ],
        "what messages call an operation",
    ),
    ("cudalint-kernel/src/execute/intrinsics.rs", &["__syncwarp"], "what messages call an operation"),
    ("cudalint-replay/src/spaces.rs", &["cu"], "the end of a file name"),
    ("cudalint-findings/src/claim.rs", &["atomic"], "a word of the findings document"),
    ("cudalint-findings/src/format/sarif.rs", &["cuda"], "a language"),
    ("rules/correctness/wrong-copy-direction.rs", &["cudaMemcpy"], "the spelling of a fix"),
    ("verify/src/experiment/clean.rs", &["cuGetProcAddress"], "a look-up that fails is an answer: no effect says so"),
    ("verify/src/experiment/sanitizer/api.rs", &["cudaLaunchKernel"], "what messages call a launch"),
    (
        "verify/src/kernel/child.rs",
        &["cuFuncSetAttribute", "cuLaunchKernel", "cuCtxSynchronize"],
        "calls that it makes itself",
    ),
    (
        "verify/src/harness/cuda/",
        &["cu", "cublas", "cufft", "curand", "cudnn", "nccl"],
        "headers and ends of file names",
    ),
    ("verify/src/probe/headers.rs", &["cu", "cublas", "cufft", "curand", "cudnn", "nccl"], "names of headers"),
    ("verify/src/harness/python/", &["cuda", "atomic"], "modules of Python"),
    ("verify/src/lab/", &["cu", "cuda"], "ends of file names and folders"),
    ("verify/src/machine/", &["nvrtc", "curand"], "parts of a machine"),
    ("verify/src/subject/neighbours.rs", &["cu"], "the end of a file name"),
    ("verify/src/tools/sanitizer/classify.rs", &["atomic"], "a tool's word"),
    ("rules/src/runs/", &["atomic", "__shfl_down_sync", "atomicAdd"], "members and the text of help"),
];
