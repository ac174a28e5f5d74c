//! A file is read for `verify` with what linting reads it with.
#![allow(clippy::unwrap_used)]

use camino::Utf8Path;
use cudalint_program::ProjectOptions;
use cudalint_syntax::{Build, BuildMacros};
use cudalint_verify::probe::headers;
use cudalint_verify::subject::Subject;
use std::sync::Arc;

#[test]
fn declaration_macros_and_macros_of_the_build_are_those_of_linting() {
    let folder = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(folder.path()).unwrap();
    let text = "LIBRARY_CALL(fast) int first;\n#if CUDART_VERSION >= 12080 && defined(WIDE)\nint wide;\n#else\nint narrow;\n#endif\n";
    std::fs::write(root.join("a.cu"), text).unwrap();
    let names = |subject: &Subject| -> Vec<String> {
        let modules = subject.project.modules().map(|id| subject.project.module(id));
        modules.flat_map(|module| &module.globals).map(|global| global.name.to_string()).collect()
    };
    let flags = ["-DWIDE".to_owned()];
    let by_flags = Subject::read(root, "a.cu", &flags).unwrap();
    assert!(names(&by_flags).contains(&"narrow".to_owned()));
    let build = Build { toolkit: Some((12, 8)), defines: vec!["WIDE".to_owned()], ..Build::default() };
    let options = ProjectOptions {
        build: Arc::new(BuildMacros::new(&build)),
        declaration_macros: vec!["LIBRARY_CALL".to_owned()],
        ..ProjectOptions::default()
    };
    let as_linted = Subject::read_as(root, "a.cu", &flags, &options).unwrap();
    assert_eq!(names(&as_linted), ["first", "wide"]);
    assert!(as_linted.stretches.iter().all(|stretch| stretch.parsed.damage.is_empty()));
}

#[test]
fn a_header_of_the_program_s_own_is_none_of_the_toolkit_s_whatever_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(folder.path()).unwrap();
    let write = |name: &str, text: &str| {
        let file = root.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        file
    };
    let source = write(
        "src/a.cu",
        "#include <cuda_tools.h>\n#include <cublas_v2.h>\n#include <cub/cub.cuh>\n#include \"cuda/quad.cuh\"\n",
    );
    let own = write("own/cuda_tools.h", "#include <curand_kernel.h>\n");
    let quad = write("own/cuda/quad.cuh", "__global__ void quad() {}\n");
    write("toolkit/cuda_runtime.h", "");
    write("toolkit/cublas_v2.h", "");
    write("own/cub/cub.cuh", "");
    let words = ["own", "toolkit"].map(|name| format!("-I{}", root.join(name)));
    // What the program's own header calls is seen by the macros that come before it.
    let found = headers::in_sources(std::slice::from_ref(&source), &words);
    assert_eq!(found, ["cublas_v2.h", "cub/cub.cuh", "curand_kernel.h"]);
    assert_eq!(headers::own_files(std::slice::from_ref(&source), &words), [source, quad, own]);
}
