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

/// Takes the headers of files, and of those that they include.
fn follow(folders: &[&Utf8Path], found: &mut Vec<String>, mut wanted: Vec<Utf8PathBuf>) {
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
}

/// Takes the headers of a text, and the files beside it that it includes.
fn look(text: &str, folder: &Utf8Path, folders: &[&Utf8Path], found: &mut Vec<String>, wanted: &mut Vec<Utf8PathBuf>) {
    for include in scan_directives(text, Span::new(0, text.len())).includes {
        let name = include.path.as_str();
        if FAMILIES.iter().any(|family| name.starts_with(family)) {
            if !found.iter().any(|other| other == name) {
                found.push(name.to_owned());
            }
        } else {
            let places = std::iter::once(folder).chain(folders.iter().copied());
            wanted.extend(places.map(|place| place.join(name)).find(|path| path.is_file()));
        }
    }
}
