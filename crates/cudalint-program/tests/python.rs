//! What is read out of Python files, beyond what the rules' pages show.
#![allow(clippy::unwrap_used, missing_docs)]

use cudalint_program::python::{Framework, LocalPackages, PythonNames, tables};
use cudalint_syntax::{Language, MacroTable, ParserPool, Region, Span, parse_region};

fn read(text: &str, local: &LocalPackages) -> PythonNames {
    let region = Region { language: Language::Python, span: Span::new(0, text.len()) };
    let parsed = parse_region(text, &region, &MacroTable::default(), &[], &mut ParserPool::new());
    PythonNames::read(parsed.root().unwrap(), text, local)
}

#[test]
fn the_tables_name_their_versions_and_hold_sorted_names() {
    let versions: Vec<_> = tables::versions().collect();
    for package in ["cupy ", "numba ", "numba-cuda "] {
        assert!(versions.iter().any(|version| version.starts_with(package)), "{package} in {versions:?}");
    }
    for (path, names) in tables::namespaces() {
        let names: Vec<_> = names.iter().collect();
        assert!(names.is_sorted() && !names.is_empty(), "{path}");
    }
}

#[test]
fn the_tables_hold_what_users_need_and_not_what_they_invent() {
    let has = |path: &str, name: &str| tables::namespace(path).unwrap().contains(name);
    for name in ["jit", "grid", "float32x2", "to_device", "shared", "libdevice", "random", "cudadrv", "syncthreads"] {
        assert!(has("numba.cuda", name), "{name}");
    }
    for name in ["alloc", "Device", "Stream", "runtime", "cublas", "memory", "nvtx"] {
        assert!(has("cupy.cuda", name), "{name}");
    }
    assert!(has("numba.cuda.atomic", "add") && has("numba.cuda.fp16", "hadd") && has("cupyx.jit", "rawkernel"));
    assert!(!has("cupy.cuda", "grid") && !has("cupy.cuda", "malloc") && !has("numba.cuda", "launch_kernel"));
    assert!(!has("numba.cuda.jit()", "launch_config") && has("numba.cuda.jit()", "max_registers"));
    // Filled at run time: nothing is known of it.
    assert!(tables::namespace("cupy.cuda.runtime").is_none());
}

#[test]
fn imports_are_followed_and_packages_of_the_project_are_not() {
    let text = "import cupy as cp\nfrom numba import cuda\ncp.cuda.malloc(4)\ncuda.grids(1)\n";
    let names = read(text, &LocalPackages::default());
    assert_eq!((names.imports["cp"].as_str(), names.imports["cuda"].as_str()), ("cupy", "numba.cuda"));
    assert_eq!(names.unknown.iter().map(|unknown| unknown.name.as_str()).collect::<Vec<_>>(), ["malloc", "grids"]);
    let local = LocalPackages::of(["src/numba.py", "tests/test_cupy.py"]);
    assert_eq!(read(text, &local).unknown.len(), 1);
    let local = LocalPackages::of(["numba/__init__.py", "cupy/__init__.py"]);
    assert!(read(text, &local).unknown.is_empty());
}

#[test]
fn a_launch_in_cuda_spelling_knows_its_kernel_and_its_function() {
    let text = "from numba import cuda\n@cuda.jit\ndef k(x):\n    x[0] = 1\ndef run(x):\n    if x:\n        k<<<1,\n            32>>>(x)\n    cuda.nothing()\n";
    let names = read(text, &LocalPackages::default());
    let launch = &names.chevrons[0];
    assert_eq!((launch.framework, launch.function.as_str()), (Some(Framework::Numba), "run"));
    assert_eq!(&text[launch.parts.span().range()], "k<<<1,\n            32>>>(x)");
    // What stands after it is read all the same.
    assert_eq!(names.unknown.len(), 1);
}

#[test]
fn a_star_import_makes_a_name_less_sure() {
    let names = read("import cupy\nfrom helpers import *\ncupy.cuda.malloc(4)\n", &LocalPackages::default());
    assert_eq!(names.unknown[0].assumption.as_deref(), Some("`from helpers import *` does not rebind `cupy`"));
}

#[test]
fn deep_and_broken_files_are_read() {
    let deep = format!("import cupy\nx = {}cupy{}\n", "-".repeat(5_000), ".a".repeat(5_000));
    read(&deep, &LocalPackages::default());
    read("import cupy\nclass A(:\n  def f(self:\n cupy.cuda.malloc(\nk<<<1, 2>>>(", &LocalPackages::default());
}
