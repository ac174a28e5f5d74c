//! The headers of CUDA's libraries that a program includes. They come before the probe's macros, since they define
//! functions by the names that the macros stand for.

use crate::scenario::CudaProgram;
use camino::{Utf8Path, Utf8PathBuf};
use cudalint_syntax::{Span, scan_directives};

/// Files that are looked into.
const MAX_FILES: usize = 300;

/// How the names of such headers begin.
const FAMILIES: &[&str] = &[
    "thrust/",
    "cub/",
    "cuda/",
    "cuda_",
    "cooperative_groups",
    "cublas",
    "cufft",
    "curand",
    "cusparse",
    "cusolver",
    "cudnn",
    "cutensor",
    "nccl",
    "nvtx",
    "nvToolsExt",
    "npp",
    "mma.h",
];

/// How the names of those begin whose code is for kernels alone.
const OF_KERNELS: &[&str] = &["cub/", "cooperative_groups", "curand_kernel", "mma.h"];

/// Whether a header of CUDA's libraries is for CUDA C++ alone.
pub(super) fn holds_kernels(name: &str) -> bool {
    OF_KERNELS.iter().any(|family| name.starts_with(family))
}

/// The names of these headers, each once, in the order in which they are met.
pub fn of(program: &CudaProgram) -> Vec<String> {
    let folders: Vec<&Utf8Path> =
        program.flags.iter().filter_map(|flag| flag.strip_prefix("-I")).map(Utf8Path::new).collect();
    let mut found: Vec<String> = Vec::new();
    let mut wanted: Vec<Utf8PathBuf> = Vec::new();
    for file in &program.files {
        look(&file.text, Utf8Path::new(""), &folders, &mut found, &mut wanted);
    }
    let sources =
        |flag: &&String| matches!(Utf8Path::new(flag.as_str()).extension(), Some("cu" | "cpp" | "cc" | "cxx"));
    wanted.push(program.unit.clone());
    wanted.extend(program.flags.iter().filter(sources).map(Utf8PathBuf::from));
    follow(&folders, &mut found, wanted);
    found
}

/// The same for sources, with a compiler's words, which name folders of headers.
pub fn in_sources(sources: &[Utf8PathBuf], words: &[String]) -> Vec<String> {
    let folders: Vec<&Utf8Path> = words.iter().filter_map(|flag| flag.strip_prefix("-I")).map(Utf8Path::new).collect();
    let mut found: Vec<String> = Vec::new();
    follow(&folders, &mut found, sources.to_vec());
    found
}

/// Sources and the program's own files that they include.
pub fn own_files(sources: &[Utf8PathBuf], words: &[String]) -> Vec<Utf8PathBuf> {
    let folders: Vec<&Utf8Path> = words.iter().filter_map(|flag| flag.strip_prefix("-I")).map(Utf8Path::new).collect();
    follow(&folders, &mut Vec::new(), sources.to_vec())
}

/// Takes the headers of files, and of those that they include, and gives these files.
fn follow(folders: &[&Utf8Path], found: &mut Vec<String>, mut wanted: Vec<Utf8PathBuf>) -> Vec<Utf8PathBuf> {
    let mut seen: Vec<Utf8PathBuf> = Vec::new();
    while let Some(file) = wanted.pop() {
        if seen.contains(&file) || seen.len() >= MAX_FILES {
            continue;
        }
        if let Ok(text) = cudalint_files::read_text(file.as_std_path()) {
            look(&text, file.parent().unwrap_or(Utf8Path::new("")), folders, found, &mut wanted);
        }
        seen.push(file);
    }
    seen
}

/// Whether a folder is one of the toolkit's headers, or of a library's beside them.
fn is_toolkit(folder: &Utf8Path) -> bool {
    let known = ["cuda_runtime.h", "cudnn.h", "nccl.h", "cutensor.h", "nvToolsExt.h", "cuda/std"];
    known.iter().any(|name| folder.join(name).exists())
}

/// Takes the headers of a text, and the files beside it that it includes.
fn look(text: &str, folder: &Utf8Path, folders: &[&Utf8Path], found: &mut Vec<String>, wanted: &mut Vec<Utf8PathBuf>) {
    for include in scan_directives(text, Span::new(0, text.len())).includes {
        let name = include.path.as_str();
        let places = std::iter::once(folder).chain(folders.iter().copied());
        let beside = places.map(|place| (place, place.join(name))).find(|(_, path)| path.is_file());
        // A header of the program's own may be named as a library's are: before the macros, its calls would not be seen.
        let family = FAMILIES.iter().find(|family| name.starts_with(**family));
        let is_own = |family: &str, place: &Utf8Path| !matches!(family, "thrust/" | "cub/") && !is_toolkit(place);
        match (family, beside) {
            (Some(family), Some((place, path))) if is_own(family, place) => wanted.push(path),
            (Some(_), _) => {
                if !found.iter().any(|other| other == name) {
                    found.push(name.to_owned());
                }
            }
            (None, beside) => wanted.extend(beside.map(|(_, path)| path)),
        }
    }
}
