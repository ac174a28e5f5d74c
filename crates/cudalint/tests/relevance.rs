//! What stands in nobody's program is *possible* only: files that no build lists, functions that nobody calls, code that never runs.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Sandbox, at_lines, dropping, project, told};

const MAKEFILE: (&str, &str) = ("Makefile", "app: main.o a.o b.o c.o d.o\n\tnvcc $^ -o $@\n%.o: %.cu\n\tnvcc -c $<\n");
const STUDIO: (&str, &str) = ("all.vcxproj", "<ConfigurationType>Application</ConfigurationType>\n");
const LIBRARY_OF_STUDIO: (&str, &str) = ("all.vcxproj", "<ConfigurationType>StaticLibrary</ConfigurationType>\n");
/// A library, so that nobody knows who calls its functions.
const LIBRARY: (&str, &str) = ("CMakeLists.txt", "add_library(all main.cu a.cu b.cu c.cu d.cu)\n");

/// A source that a project of Visual Studio lists as a header is compiled only where a file includes it, or another project compiles it.
#[test]
fn sources_that_are_listed_as_headers() {
    let part = dropping("part").replace("void part", "#include \"all.h\"\nvoid part");
    let listed_as = |item: &str, more: &[(&str, &str)]| {
        let build = format!(
            "<ConfigurationType>StaticLibrary</ConfigurationType>\n<CudaCompile Include=\"main.cu\" />\n<{item} Include=\"part.cu\" />\n"
        );
        let files = [more, &[("part.cu", &*part), ("use.h", "void part(void **p);\n")]].concat();
        let mut all = told(&project(("all.vcxproj", build.as_str()), &files));
        all.retain(|name| name.starts_with("part"));
        all
    };
    let note = ("x.txt", "");
    assert_eq!(listed_as("CudaCompile", &[note]), ["part"]);
    assert_eq!(listed_as("ClInclude", &[note]), ["part?"]);
    let filters = ("all.vcxproj.filters", "<ClInclude Include=\"part.cu\">\n");
    assert_eq!(listed_as("ClInclude", &[filters]), ["part?"]);
    let other = ("other.vcxproj", "<CudaCompile Include=\"part.cu\" />\n");
    assert_eq!(listed_as("ClInclude", &[other]), ["part"]);
    assert_eq!(listed_as("ClInclude", &[("Makefile", "all: part.cu\n\tnvcc part.cu\n")]), ["part"]);
    // A program under the name of a header.
    let program = format!("{part}int main() {{ void *p; part(&p); }}\n");
    let listed = |item: &str| {
        let build = format!(
            "<ConfigurationType>Application</ConfigurationType>\n<CudaCompile Include=\"main.cu\" />\n<{item} Include=\"part.cuh\" />\n"
        );
        let mut all = told(&project(("all.vcxproj", build.as_str()), &[("part.cuh", &*program)]));
        all.retain(|name| name.starts_with("part"));
        all
    };
    assert_eq!(listed("ClInclude"), ["part?"]);
    assert_eq!(listed("CudaCompile"), ["part"]);
}

#[test]
fn files_that_no_build_lists() {
    let part = dropping("part").replace("void part", "#include \"all.h\"\nvoid part");
    let told = |build, more: &[(&str, &str)]| {
        let mut all =
            told(&project(build, &[more, &[("part.cu", &*part), ("use.h", "void part(void **p);\n")]].concat()));
        all.retain(|name| name.starts_with("part"));
        all
    };
    let listing = |text| ("CMakeLists.txt", text);
    assert_eq!(told(LIBRARY, &[]), ["part?"]);
    // What includes it is as little built.
    assert_eq!(told(LIBRARY, &[("whole.cu", "#include \"part.cu\"\n__global__ void k() {}\n")]), ["part?"]);
    for (build, more) in [
        (listing("add_library(all main.cu a.cu b.cu c.cu d.cu part.cu)\n"), ("x.txt", "")),
        (listing("file(GLOB SOURCES *.cu)\nadd_library(all ${SOURCES} a.cu b.cu c.cu d.cu)\n"), ("x.txt", "")),
        (listing("add_library(all main.cu a.cu b.cu c.cu d.cu pa${R}.cu)\n"), ("x.txt", "")),
        // Too little is listed to say anything.
        (listing("add_library(all a.cu b.cu)\n"), ("x.txt", "")),
        (LIBRARY, ("README.md", "Build it with `nvcc part.cu`.\n")),
        (LIBRARY, ("tools/build.sh", "for f in part other; do nvcc -c $f.cu; done\n")),
        (LIBRARY, ("load.py", "load(name='x', sources=['part.cu'])\n")),
        (LIBRARY, ("a.cpp", "#include \"part.cu\"\n")),
    ] {
        assert_eq!(told(build, &[more]), ["part"], "{build:?} {more:?}");
    }
    let commented = listing("add_library(all main.cu a.cu b.cu c.cu d.cu)\n# part.cu\n");
    assert_eq!(told(commented, &[]), ["part?"]);
    // Whoever builds a program by hand, as somebody is told, may build what is beside it.
    let program = ("test.cu", "__global__ void k() {}\nint main() { return 0; }\n");
    let by_hand = |more| {
        let files = [("part.cu", &*part), ("use.h", "void part(void **p);\n"), program, more];
        self::told(&project(LIBRARY, &files)).into_iter().filter(|name| name.starts_with("part")).collect::<Vec<_>>()
    };
    assert_eq!(by_hand(("README.md", "Try it with `nvcc test.cu all.o`.\n")), ["part"]);
    assert_eq!(by_hand(("README.md", "There are tests.\n")), ["part?"]);
    // A build file that has commented a file out.
    let program = "#include <cuda_runtime.h>\nint main() { void *p; cudaMalloc(&p, 4); return 0; }\n";
    let commented_out = |text: &str, more| {
        let build = listing("add_library(all a.cu b.cu)\n");
        let mut all = self::told(&project(build, &[("try/a_try.cu", program), ("try/CMakeLists.txt", text), more]));
        all.retain(|name| name.starts_with("main"));
        all
    };
    let out = "#add_executable(a_try a_try.cu)\n";
    assert_eq!(commented_out(out, ("x.txt", "")), ["main?"]);
    assert_eq!(commented_out(out, ("cmake/FindMPI.cmake", "file(GLOB all RELATIVE \"${P}\" \"${P}/*\")\n")), ["main?"]);
    assert_eq!(commented_out(out, ("README.md", "Or take `try/a_try.cu`.\n")), ["main"]);
    assert_eq!(commented_out("add_executable(a_try a_try.cu) # a_try.cu\n", ("x.txt", "")), ["main"]);
    assert_eq!(commented_out("# Nothing yet\n", ("x.txt", "")), ["main"]);
    // Such a program itself, where the build lists all others and nobody names it.
    let program = "#include \"all.h\"\nint main() { void *p; cudaMalloc(&p, 4); return 0; }\n";
    let mains = |build, more| {
        let mut all = self::told(&project(build, &[("part.cu", program), more]));
        all.retain(|name| name.starts_with("main"));
        all
    };
    assert_eq!(mains(LIBRARY, ("x.txt", "")), ["main?"]);
    assert_eq!(mains(LIBRARY, ("README.md", "`part.cu` measures it.\n")), ["main"]);
    assert_eq!(mains(listing("add_library(all a.cu b.cu)\n"), ("x.txt", "")), ["main"]);
}

#[test]
fn headers_that_no_file_includes() {
    let header = format!("#pragma once\n#include <cuda_runtime.h>\n{}", dropping("inline old"));
    let told = |build, name: &str, more: &[(&str, &str)]| {
        let sandbox = project(build, &[more, &[(name, &*header)]].concat());
        told(&sandbox).into_iter().find(|name| name.starts_with("old")).unwrap_or_default()
    };
    assert_eq!(told(MAKEFILE, "old.cuh", &[]), "old?");
    assert_eq!(told(MAKEFILE, "include/old.cuh", &[]), "old");
    assert_eq!(told(LIBRARY, "old.cuh", &[]), "old");
    // A library that is part of the project's own program hands on no header, unless the build installs some.
    let within = "add_library(all a.cu b.cu c.cu d.cu)\nadd_executable(app main.cu)\n";
    assert_eq!(told(("CMakeLists.txt", within), "old.cuh", &[]), "old?");
    let installed = format!("{within}install(DIRECTORY . DESTINATION include)\n");
    assert_eq!(told(("CMakeLists.txt", &installed), "old.cuh", &[]), "old");
    let user = "#include \"old.cuh\"\nint main() { void *p; old(&p); return 0; }\n";
    let notes = ("README.md", "Test with `nvcc test.cu`.\n");
    assert_eq!(told(MAKEFILE, "old.cuh", &[("test.cu", user), notes]), "old");
}

/// A header that nothing includes, and which cannot find what it includes since that has moved, is left over.
#[test]
fn headers_that_include_what_has_moved() {
    let told = |part: &str, main: &str| {
        let header =
            format!("#pragma once\n#include <cuda_runtime.h>\n#include \"deep/part.h\"\n{}", dropping("inline old"));
        let user = format!("#include <cuda_runtime.h>\n{main}__global__ void k() {{}}\nint main() {{ return 0; }}\n");
        let files = [("include/old.h", &*header), (part, "#pragma once\n"), ("tests/test.cu", &*user)];
        let build = ("CMakeLists.txt", "add_library(all INTERFACE)\nadd_executable(tests tests/test.cu)\n");
        told(&Sandbox::new(&[&files[..], &[build]].concat())).into_iter().find(|name| name.starts_with("old"))
    };
    assert_eq!(told("include/other/part.h", "").as_deref(), Some("old?"));
    assert_eq!(told("include/deep/part.h", "").as_deref(), Some("old"));
    let uses = "#include \"old.h\"\nvoid use(void **p) { old(p); }\n";
    assert_eq!(told("include/other/part.h", uses).as_deref(), Some("old"));
}

#[test]
fn functions_that_nobody_calls() {
    let told = |build, text: &str, more: &[(&str, &str)]| {
        let text = format!("#include \"all.h\"\n{text}");
        let mut all = told(&project(build, &[more, &[("a.cu", &*(text + &dropping("a")))]].concat()));
        all.retain(|name| name.starts_with("get"));
        all
    };
    let get = dropping("get");
    let through = format!("{get}void again(void **p) {{ get(p); }}\nvoid more(void **p) {{ again(p); }}\n");
    let generic = dropping("get").replace("void get(void", "template <typename T> void get(T");
    for (build, text) in [
        (MAKEFILE, get.clone()),
        (LIBRARY, get.clone()),
        (MAKEFILE, through.clone()),
        (MAKEFILE, format!("{generic}template void get<int>(int **);\n")),
        (MAKEFILE, format!("extern \"C\" {get}")),
        // Others would have to declare it themselves.
        (LIBRARY, format!("extern \"C\" {get}")),
        (MAKEFILE, format!("{get}void use(void **p) {{ if (false) get(p); }}\n")),
        // Nobody writes what would make the name of this.
        (MAKEFILE, format!("#define CALL(x) g##x\n{get}")),
        (MAKEFILE, format!("#define CALL(x, y) x##y\n{get}")),
    ] {
        assert_eq!(told(build, &text, &[]), ["get?"], "{build:?} {text}");
    }
    // Nor is a program that somebody has built one who uses what it is made of.
    assert_eq!(told(MAKEFILE, &get, &[("app", "\x7fELF\0get\0")]), ["get?"]);
    // Where headers would go is no list of them.
    let binding = "#include <pybind11/pybind11.h>\nPYBIND11_MODULE(app, m) {}\n";
    let module = |install: &str| {
        let build = format!("pybind11_add_module(app main.cu a.cu b.cu c.cu d.cu bind.cpp)\n{install}");
        let files = [("bind.cpp", binding), ("include/get.h", "void get(void **p);\n")];
        told(("CMakeLists.txt", Box::leak(build.into_boxed_str())), &get, &files)
    };
    assert_eq!(module("install(TARGETS app LIBRARY DESTINATION x PUBLIC_HEADER DESTINATION x)\n"), ["get?"]);
    assert_eq!(
        module(
            "set_target_properties(app PROPERTIES PUBLIC_HEADER include/get.h)\ninstall(TARGETS app LIBRARY DESTINATION x)\n"
        ),
        ["get"]
    );
    // A file that is not linted has words all the same.
    assert_eq!(told(MAKEFILE, &get, &[("odd.cpp", "int odd; // \0\n")]), ["get?"]);
    let with_odd = ("Makefile", &*MAKEFILE.1.replace("d.o", "d.o odd.o"));
    assert_eq!(told(with_odd, &get, &[("odd.cpp", "void f() { get(p); } // \0\n")]), ["get"]);
    // One that no build makes uses nothing.
    assert_eq!(told(MAKEFILE, &get, &[("odd.cpp", "void f() { get(p); }\n")]), ["get?"]);
    // Visual Studio says what it makes, too.
    assert_eq!(told(STUDIO, &get, &[]), ["get?"]);
    assert_eq!(told(LIBRARY_OF_STUDIO, &get, &[("x.h", "void get(void **p);\n")]), ["get"]);
    // A header without GPU code declares it: in a program that is no use.
    let declared = ("get.h", "void get(void **p);\n");
    assert_eq!(told(MAKEFILE, &get, &[declared]), ["get?"]);
    assert_eq!(told(LIBRARY, &get, &[declared]), ["get"]);
    let uses = "#include \"get.h\"\nvoid use(void **p) { get(p); }\n";
    let with_use = ("Makefile", &*MAKEFILE.1.replace("d.o", "d.o use.o"));
    for (build, text, more) in [
        (with_use, get.clone(), ("use.cpp", uses)),
        (with_use, get.clone(), ("use.cpp", "void get(void **p);\nvoid (*pointer)(void **) = get;\n")),
        (MAKEFILE, format!("extern \"C\" {get}"), ("load.py", "ctypes.CDLL('a.so').get(p)\n")),
        (LIBRARY, format!("extern \"C\" {get}"), declared),
        (LIBRARY, format!("extern \"C\" {get}"), ("main.f90", "call get(p)\n")),
        (MAKEFILE, format!("#define CALL(x) get##x\n{get}"), ("x.txt", "")),
        (MAKEFILE, format!("#define CALL(x) g##x\n{get}void use(void **p) {{ CALL(et)(p); }}\n"), ("x.txt", "")),
        (MAKEFILE, format!("#define CALL(x) x##t\n{get}void use(void **p) {{ CALL(ge)(p); }}\n"), ("x.txt", "")),
        (MAKEFILE, format!("#define CALL(x, y) g##x##y\n{get}"), ("x.txt", "")),
        (MAKEFILE, format!("#define CALL(x, y) x##y\n{get}void use(void **p) {{ CALL(g, et)(p); }}\n"), ("x.txt", "")),
        (MAKEFILE, format!("#define EXPORTED\nEXPORTED {get}"), ("x.txt", "")),
        (MAKEFILE, through.replace("void more", "__attribute__((constructor)) void more"), ("x.txt", "")),
    ] {
        assert_eq!(told(build, &text, &[more]), ["get"], "{build:?} {text} {more:?}");
    }
}

#[test]
fn files_that_are_kept_for_reference() {
    let was = format!("{}int main() {{ void *p; was(&p); return 0; }}\n", dropping("was"));
    let told = |path: &str, build: &str| {
        let mut all = told(&project(("Makefile", build), &[(path, &was)]));
        all.retain(|name| name.starts_with("was"));
        all
    };
    let others = "app: main.cu a.cu b.cu c.cu d.cu\n\tnvcc $^ -o $@\n";
    assert_eq!(told("legacy/was.cu", others), ["was?"]);
    assert_eq!(told("tools/was.cu", "app: main.cu a.cu\n\tnvcc $^ -o $@\n"), ["was"]);
    assert_eq!(told("legacy/was.cu", &format!("{others}before: legacy/was.cu\n\tnvcc $^ -o $@\n")), ["was"]);
    // What reads all sources to describe them builds none.
    let notes = "patterns: \"*.cu *.h\"\n";
    let files = project(("Makefile", others), &[("legacy/was.cu", &was), ("docs.yml", notes)]);
    assert!(self::told(&files).contains(&"was?".to_owned()));
    // So is what only such files include.
    let part = format!("#include <cuda_runtime.h>\n{}", dropping("inline part"));
    let user = "#include \"part.cuh\"\nint main() { void *p; part(&p); return 0; }\n";
    let parts = |path: &str, text: &str| {
        let notes = ("README.md", "Try it: `nvcc user.cu`.\n");
        let files = project(("Makefile", others), &[("legacy/part.cuh", &part), (path, text), notes]);
        self::told(&files).into_iter().filter(|name| name.starts_with("part")).collect::<Vec<_>>()
    };
    assert_eq!(parts("legacy/user.cu", user), ["part?"]);
    assert_eq!(parts("user.cu", &user.replace("part.cuh", "legacy/part.cuh")), ["part"]);
    // Of all files of a kind a build takes those around it.
    for (path, expected) in [("part/CMakeLists.txt", "was?"), ("CMakeLists.txt", "was")] {
        let all = (path, "file(GLOB_RECURSE ALL *.cu)\nadd_executable(app ${ALL})\n");
        let files = project(("Makefile", others), &[("legacy/was.cu", &was), all]);
        assert!(self::told(&files).contains(&expected.to_owned()), "{path}");
    }
    // Upwards and down again it comes by the names of folders, unless it takes all.
    for (glob, expected) in [("file(GLOB ALL *.cu)", "was?"), ("file(GLOB_RECURSE ALL ../*.cu)", "was")] {
        let text = format!("{glob}\ninclude_directories(../include)\nadd_executable(app ${{ALL}})\n");
        let all = ("part/CMakeLists.txt", &*text);
        let files = project(("Makefile", others), &[("legacy/was.cu", &was), all]);
        assert!(self::told(&files).contains(&expected.to_owned()), "{glob}");
    }
    // Its own build is kept with it.
    let kept = project(("Makefile", others), &[("legacy/was.cu", &was), ("legacy/Makefile", "was: was.cu\n")]);
    assert!(self::told(&kept).contains(&"was?".to_owned()));
}

#[test]
fn programs_that_a_build_does_not_make() {
    let program = |name: &str| format!("{}int main() {{ void *p; {name}(&p); return 0; }}\n", dropping(name));
    let [one, two, rest] = ["one", "two", "rest"].map(program);
    let told = |build: &str, folder: &str| {
        let rest_path = format!("{folder}rest.cu");
        let files = [("one.cu", &*one), ("two.cu", &*two), (&*rest_path, &*rest)];
        let mut all = told(&project(("Makefile", build), &files));
        all.retain(|name| name.starts_with("rest"));
        all
    };
    let both = "one: one.cu\n\tnvcc one.cu -o one\ntwo: two.cu\n\tnvcc two.cu -o two\n";
    assert_eq!(told(both, ""), ["rest?"]);
    // One program says nothing of the next, nor does another folder's build, and a pattern may mean it.
    assert_eq!(told("one: one.cu\n\tnvcc one.cu -o one\n", ""), ["rest"]);
    assert_eq!(told(both, "tools/"), ["rest"]);
    assert_eq!(told(&format!("{both}%: %.cu\n\tnvcc $< -o $@\n"), ""), ["rest"]);
}

#[test]
fn kernels_of_programs_with_the_same_names() {
    let racy = |name: &str| {
        format!(
            "__global__ void {name}(int *d) {{\n    __shared__ int s[64];\n    s[threadIdx.x] = d[threadIdx.x];\n    d[threadIdx.x] = s[63 - threadIdx.x];\n}}\n"
        )
    };
    let main = |launch: &str| {
        format!("int main() {{\n    int *d;\n    cudaMalloc(&d, 256);\n    {launch}\n    return 0;\n}}\n")
    };
    let one = format!("{}{}", racy("step"), main("// step<<<1, 64>>>(d);"));
    let told = |head: &str| {
        let launches = main("step<<<1, 64>>>(d);");
        let two = format!("{head}__global__ void step(int *d) {{ d[threadIdx.x] = 1; }}\n{launches}");
        let sandbox = Sandbox::new(&[("one.cu", &one), ("two.cu", &two)]);
        let args = ["--select", "shared-memory-race", "--min-confidence", "possible", "--output-format", "json", "."];
        let report: serde_json::Value = serde_json::from_str(&sandbox.run(&args).stdout).unwrap();
        let all = report["findings"].as_array().unwrap().clone();
        assert!(!all.is_empty());
        all.iter().all(|finding| finding["confidence"] == "possible")
    };
    assert!(told(""));
    // There may be another one of that name.
    assert!(!told("__global__ void step(int *d, int n);\n"));
}

#[test]
fn kernels_of_scripts_that_are_launched_where_nothing_runs() {
    let text = |flag: &str, more: &str| {
        format!(
            "import numpy as np\nfrom numba import cuda\n\n{flag}\n\n\n@cuda.jit\ndef kernel(out):\n    \
             s = cuda.shared.array(64, np.int32)\n    t = cuda.threadIdx.x\n    s[t] = t\n    out[t] = s[63 - t]\n\n\n\
             out = cuda.device_array(64, np.int32)\nif debug:\n    print(out)\nelse:\n    kernel[1, 64](out)\n{more}"
        )
    };
    let told = |flag: &str, more: &str| at_lines(&text(flag, more), "shared-memory-race", "a.py");
    let sure = |all: &[String]| all.iter().filter(|it| !it.ends_with("possible")).count();
    assert_eq!(sure(&told("debug = False", "")), 1);
    assert_eq!(sure(&told("debug = True", "")), 0);
    assert_eq!(sure(&told("debug = True", "# kernel[1, 64](out)\n")), 0);
    assert_eq!(sure(&told("debug = True", "kernel[1, 64](out)\n")), 1);
    // Of a module that somebody may import nothing is known.
    let module = text("", "").split("\n\n\nout").next().unwrap().to_owned();
    assert_eq!(sure(&at_lines(&module, "shared-memory-race", "a.py")), 1);
    let script = format!("{module}\n\n# kernel[1, 64](out)\n");
    assert_eq!(sure(&at_lines(&script, "shared-memory-race", "a.py")), 0);
}

#[test]
fn headers_beside_a_program_whose_build_lists_nothing() {
    let header = "#include <cuda_runtime.h>\ninline void part(void **p) { cudaMalloc(p, 4); }\ninline void more(void **p) { part(p); }\n";
    let all = |build, more: &[(&str, &str)]| {
        let mut all = told(&project(build, &[&[("part.h", header)], more].concat()));
        all.retain(|name| name.starts_with("part"));
        all
    };
    let use_of_it = "#include \"part.h\"\nint main() { void *p; more(&p); return 0; }\n";
    let none = ("notes.txt", "");
    assert_eq!(all(none, &[]), ["part?"]);
    assert_eq!(all(none, &[("use.cu", use_of_it)]), ["part"]);
    assert_eq!(all(none, &[("README.md", "Write `#include \"part.h\"`.\n")]), ["part"]);
}

#[test]
fn code_under_a_name_that_nobody_defines() {
    let old = format!("#ifdef OLD_WAY\n#include \"all.h\"\n{}__global__ void k() {{}}\n#endif\n", dropping("old"));
    let told = |more: &[(&str, &str)]| {
        let build = ("Makefile", "app: use.o a.o b.o c.o d.o old.o\n\tnvcc $^ -o $@\n");
        let used = (
            "use.cu",
            "#include \"all.h\"\n__global__ void used(int *p) { *p = 1; }\nvoid old(void **p);\n\
                               int main() { int *p; used<<<1, 1>>>(p); old((void **)p); return 0; }\n",
        );
        let all = told(&project(build, &[more, &[used, ("old.cu", &*old)]].concat()));
        all.into_iter().filter(|name| name.starts_with("old")).collect::<Vec<_>>()
    };
    assert_eq!(told(&[]), ["old?"]);
    // Another group that asks the name has code for both.
    let asks =
        "#include \"all.h\"\n__global__ void two(int *p) {\n#ifdef OLD_WAY\n*p = 1;\n#else\n*p = 2;\n#endif\n}\n";
    assert_eq!(told(&[("asks.cu", asks), ("notes.h", "// #undef OLD_WAY\n")]), ["old?"]);
    for speaks in [
        ("README.md", "Build it with `-DOLD_WAY`.\n"),
        ("config.h.in", "#undef OLD_WAY\n"),
        ("b.cmake", "option(OLD_WAY \"The old way\" OFF)\n"),
    ] {
        assert_eq!(told(&[speaks]), ["old"], "{speaks:?}");
    }
}

#[test]
fn code_under_a_name_where_there_is_no_other() {
    let text =
        format!("#ifdef USE_GPU\n#include <cuda_runtime.h>\n{}__global__ void k() {{}}\n#endif\n", dropping("on"));
    let main = "void on(void **p);\nint main() { void *p; on(&p); return 0; }\n";
    assert_eq!(told(&Sandbox::new(&[("on.cu", &text), ("main.cu", main)])), ["on"]);
}

/// Where nothing builds a project or says where its headers are, a source in a folder called `old` whose headers lie elsewhere is one that
/// nobody compiles as it is.
#[test]
fn sources_apart_from_their_headers() {
    let code = "#include \"lib.h\"\nint main() {\n    cudaSetDevice(2);\n    void *p;\n    cudaMalloc(&p, N);\n}\n";
    let up = code.replace("lib.h", "../src/./lib.h");
    let header = "#pragma once\n#include <cuda_runtime.h>\n#define N 4\n__device__ inline int one() { return 1; }\n";
    let told = |path: &str, code: &str, beside: (&str, &str)| {
        let root = [("README.md", "A program.\n"), (".git/HEAD", "ref: refs/heads/main\n"), ("src/lib.h", header)];
        told(&Sandbox::new(&[&root[..], &[(path, code), beside]].concat()))
    };
    let notes = ("notes.txt", "nothing\n");
    assert_eq!(told("old/a.cu", code, notes), ["main?"]);
    for (path, code, beside) in [
        ("src/a.cu", code, notes),
        ("new/a.cu", code, notes),
        ("old/a.cu", &up, notes),
        ("old/a.cu", code, ("old/lib.h", header)),
        ("old/a.cu", code, ("notes.txt", "nvcc -Isrc old/a.cu\n")),
        ("old/a.cu", code, ("Makefile", "a: old/a.cu\n\tnvcc old/a.cu\n")),
    ] {
        assert_eq!(told(path, code, beside), ["main"], "{path} {beside:?}");
    }
}

/// What a program would need is nowhere: a source that a file includes, a header out of its folder, a kernel that it launches.
#[test]
fn programs_without_a_part() {
    let main = "int main() { void *p; was(&p); return 0; }\n";
    let told = |path: &str, head: &str, tail: &str, more: &[(&str, &str)]| {
        let was = format!("{head}#include <cuda_runtime.h>\n{}{tail}{main}", dropping("was"));
        let files = project(("Makefile", "app: main.cu a.cu\n\tnvcc $^ -o $@\n"), &[more, &[(path, &*was)]].concat());
        let all = told(&files);
        all.into_iter().filter(|name| name.starts_with("was")).collect::<Vec<_>>()
    };
    assert_eq!(told("was.cu", "", "", &[]), ["was"]);
    assert_eq!(told("was.cu", "#include \"part.cu\"\n", "", &[]), ["was?"]);
    assert_eq!(told("was.cu", "#include \"part.cu\"\n", "", &[("more/part.cu", "")]), ["was"]);
    assert_eq!(told("was.cu", "#ifdef WITH\n#include \"part.cu\"\n#endif\n", "", &[]), ["was"]);
    assert_eq!(told("was.cu", "#include \"part.cuh\"\n", "", &[]), ["was"]);
    assert_eq!(told("x/was.cu", "#include \"../part.cuh\"\n", "", &[]), ["was?"]);
    assert_eq!(told("x/was.cu", "#include \"../part.cuh\"\n", "", &[("part.cuh", "")]), ["was"]);
    // A folder that is not here at all may be another repository.
    assert_eq!(told("x/was.cu", "#include \"../lib/part.cuh\"\n", "", &[]), ["was"]);
    assert_eq!(told("x/was.cu", "#include \"../lib/part.cuh\"\n", "", &[("lib/other.cuh", "")]), ["was?"]);
    // A header that nobody includes, and which needs one of a folder that is here.
    let kept = |head: &str, more: (&str, &str)| {
        let was = format!("#pragma once\n{head}#include <cuda_runtime.h>\n{}", dropping("inline was"));
        let files =
            project(LIBRARY, &[("include/lib/part/was.cuh", &was), ("include/lib/all.cuh", "#pragma once\n"), more]);
        self::told(&files).into_iter().find(|name| name.starts_with("was"))
    };
    let lost = "#include \"lib/part/sum.hu\"\n";
    assert_eq!(kept("", ("x.txt", "")).as_deref(), Some("was"));
    assert_eq!(kept(lost, ("x.txt", "")).as_deref(), Some("was?"));
    assert_eq!(kept(lost, ("include/lib/part/sum.hu", "")).as_deref(), Some("was"));
    assert_eq!(kept(lost, ("include/lib/part/sum.hu.in", "")).as_deref(), Some("was"));
    assert_eq!(kept("#include \"other/sum.hu\"\n", ("x.txt", "")).as_deref(), Some("was"));
    let launch = "__global__ void k(int *v);\nvoid run(int *v) { k<<<1, 1>>>(v); }\n";
    assert_eq!(told("was.cu", "", launch, &[]), ["was?"]);
    assert_eq!(told("was.cu", "", launch, &[("k.cu", "__global__ void k(int *v) { *v = 1; }\n")]), ["was"]);
    let made = "#define KERNEL(name) __global__ void name(int *v) { *v = 1; }\nKERNEL(k)\n";
    assert_eq!(told("was.cu", "", launch, &[("k.cu", made)]), ["was"]);
}

#[test]
fn copies_that_are_kept_beside_their_original() {
    let was = format!("#include <cuda_runtime.h>\n{}int main() {{ void *p; was(&p); return 0; }}\n", dropping("was"));
    let plain = was.replace("was(", "now(");
    let told = |path: &str, more: &[(&str, &str)]| {
        let files = project(("Makefile", "app: main.cu a.cu\n\tnvcc $^ -o $@\n"), &[more, &[(path, &was)]].concat());
        let mut all = told(&files);
        all.retain(|name| name.starts_with("was"));
        all
    };
    assert_eq!(told("solver_old.cu", &[("solver.cu", &*plain)]), ["was?"]);
    assert_eq!(told("solver_COPY_BACKUP.cu", &[("solver.cu", &*plain)]), ["was?"]);
    for kept in ["solver_old2.cu", "solver_deprecated.cu", "bak_solver.cu", "bak3_solver.cu", "baksolver.cu"] {
        assert_eq!(told(kept, &[("solver.cu", &*plain)]), ["was?"], "{kept}");
    }
    assert_eq!(told("solver copy.cu", &[("solver.cu", &*plain)]), ["was?"]);
    assert_eq!(told("oldest.cu", &[("solver.cu", &*plain)]), ["was"]);
    assert_eq!(told("solver_old.cu", &[]), ["was"]);
    assert_eq!(told("solver_new.cu", &[("solver.cu", &*plain)]), ["was"]);
    assert_eq!(told("solver_old.cu", &[("solver.cu", &*plain), ("run.sh", "nvcc solver_old.cu\n")]), ["was"]);
    // A part of a program that is built by hand is kept so as well.
    let parts = |kept: &str| {
        let main = "#include \"part.cu\"\nvoid was(void **p);\nint main() { void *p; was(&p); return 0; }\n";
        let part = dropping("now");
        let was = format!("#include <cuda_runtime.h>\n{}", dropping("was"));
        let files = [("main.cu", main), ("part.cu", &*part), (kept, &*was), ("build.sh", "nvcc main.cu -o app\n")];
        let mut all = self::told(&Sandbox::new(&files));
        all.retain(|name| name.starts_with("was"));
        all
    };
    assert_eq!(parts("part copy.cu"), ["was?"]);
    assert_eq!(parts("part_two.cu"), ["was"]);
}

/// What the host copies to a variable that no code for the device names is of no use anyhow.
#[test]
fn variables_of_the_device_that_nothing_reads() {
    let told = |kernel: &str| {
        let text = format!(
            "#include <cuda_runtime.h>\n__constant__ unsigned long long count;\n\
             __global__ void k(unsigned long long *v) {{ {kernel} }}\n\
             int main(int argc, char **argv) {{\n    unsigned long long n = argc, *v;\n    cudaMalloc(&v, 8);\n    \
             cudaMemcpyToSymbol(count, &n, sizeof(int));\n    k<<<1, 1>>>(v);\n    return 0;\n}}\n"
        );
        at_lines(&text, "element-count-as-bytes", "a.cu")
    };
    assert_eq!(told("*v = count;"), ["7 definite"]);
    assert_eq!(told("*v = 1; /* count */"), ["7 possible"]);
    // Nor is a copy missed that fails.
    let dropped = |kernel: &str| {
        let text = format!(
            "#include <cuda_runtime.h>\n__constant__ int count;\n\
             __global__ void k(int *v) {{ {kernel} }}\n\
             void set(int n) {{\n    cudaMemcpyToSymbol(count, &n, sizeof(int));\n}}\n"
        );
        at_lines(&text, "unchecked-api-call", "a.cu")
    };
    assert_eq!(dropped("*v = count;"), ["5 definite"]);
    assert_eq!(dropped("*v = 1;"), ["5 possible"]);
}

/// Eclipse keeps the build files of a program in a folder beside the sources.
#[test]
fn builds_of_an_editor() {
    let told = |makefile: &str| {
        let files = project(
            ("Debug/makefile", makefile),
            &[("idle.cu", &*dropping("idle")), ("idle.h", "void idle(void **p);\n")],
        );
        let all = told(&files);
        all.into_iter().filter(|name| name.starts_with("idle")).collect::<Vec<_>>()
    };
    assert_eq!(told("app: $(OBJS)\n\tnvcc -link -o app $(OBJS)\n"), ["idle?"]);
    assert_eq!(told("libapp.a: $(OBJS)\n\tar -r libapp.a $(OBJS)\n"), ["idle"]);
}

/// A script is read whole before any of it runs.
#[test]
fn scripts_that_are_no_python() {
    let told = |tail: &str| {
        let text = format!("import cupy\n\nvalues = cupy.zeros(4).astype(cupy.float)\nprint(values)\n{tail}");
        at_lines(&text, "nonexistent-gpu-api", "a.py")
    };
    assert_eq!(told(""), ["3 definite"]);
    assert_eq!(told("def late():\n    c = \n"), ["3 possible"]);
}

/// A compiler takes neither a function that a source and one that it includes define, nor a call in front of all declarations.
#[test]
fn sources_that_are_refused_for_their_order() {
    let told = |main: &str| {
        let part = format!("#include <cuda_runtime.h>\n{}void error(const char *what) {{}}\n", dropping("was"));
        let main = format!("#include \"part.cu\"\n{main}");
        let mut all = told(&Sandbox::new(&[("main.cu", &*main), ("part.cu", &*part)]));
        all.retain(|name| name.starts_with("was"));
        all
    };
    let run = "int main() { void *p; was(&p); return 0; }\n";
    assert_eq!(told(run), ["was"]);
    assert_eq!(told(&format!("void error(const char *what) {{}}\n{run}")), ["was?"]);
    assert_eq!(told(&format!("void error(int number) {{}}\n{run}")), ["was"]);
    assert_eq!(told(&format!("#ifdef OWN\nvoid error(const char *what) {{}}\n#endif\n{run}")), ["was"]);
    let early = "int main() { void *p; set_up(4); was(&p); return 0; }\nvoid set_up(int) {}\n";
    assert_eq!(told(early), ["was?"]);
    assert_eq!(told(&format!("void set_up(int);\n{early}")), ["was"]);
    assert_eq!(told(&early.replace("set_up(4)", "void set_up(int); set_up(4)")), ["was"]);
}

/// Where nothing else builds a project, the scripts that call the compiler say what is in its programs.
#[test]
fn sources_that_no_script_compiles() {
    let was = format!("#include <cuda_runtime.h>\n{}int main() {{ void *p; was(&p); return 0; }}\n", dropping("was"));
    let told = |script: &str| {
        let main = |name: &str| format!("#include <cuda_runtime.h>\n{}int main() {{ return 0; }}\n", dropping(name));
        let [a, b, c, d] = ["a", "b", "c", "d"].map(main);
        let all = [("a.cu", &*a), ("b.cu", &*b), ("c.cu", &*c), ("d.cu", &*d), ("was.cu", &*was), ("all.sh", script)];
        told(&Sandbox::new(&all)).into_iter().find(|name| name.starts_with("was"))
    };
    let script = "nvcc a.cu -o a\nnvcc b.cu -o b\nnvcc c.cu -o c\nnvcc d.cu -o d\n";
    assert_eq!(told(script).as_deref(), Some("was?"));
    assert_eq!(told(&format!("{script}nvcc was.cu -o was\n")).as_deref(), Some("was"));
    assert_eq!(told("echo a.cu b.cu c.cu d.cu\n").as_deref(), Some("was"));
}

/// A name that nobody defines is supposed for code for a GPU that stands under it alone, and not where other groups have such code without it,
/// or where somebody has switched it off.
#[test]
fn branches_that_the_file_can_do_without() {
    let told = |more: &str| {
        let text = format!(
            "#include <cuda_runtime.h>\n{more}\n__global__ void k(int *v) {{ *v = 1; }}\nvoid was(void **p, int *v) {{\n#ifdef TRIAL\n\
             cudaMalloc(p, 4);\nk<<<1, 1>>>(v);\n#else\n*p = v;\n#endif\n}}\n\
             int main() {{ void *p; int v; was(&p, &v); return 0; }}\n"
        );
        told(&Sandbox::new(&[("a.cu", &*text)])).contains(&"was".to_owned())
    };
    assert!(told(""));
    assert!(!told("// #define TRIAL"));
    assert!(!told("__global__ void j();\nvoid i() {\n#ifndef TRIAL\nj<<<1, 1>>>();\n#else\nj<<<2, 1>>>();\n#endif\n}"));
}
