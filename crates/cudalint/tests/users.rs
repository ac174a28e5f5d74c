//! Who uses a function: what nobody calls, and whose status somebody else looks at, is *possible* only.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Sandbox, at_lines, dropping, project, told};

#[test]
fn functions_of_a_module_that_only_prototypes_name() {
    let bound = "#include <torch/extension.h>\nvoid get(void **p);\nvoid a(void **p);\nPYBIND11_MODULE(all, m) { m.def(\"a\", &a); }\n";
    let setup = ("setup.py", "setup(ext_modules=[CUDAExtension('all', ['a.cu', 'get.cu', 'bind.cpp'])])\n");
    let get = format!("#include <cuda_runtime.h>\n{}", dropping("get"));
    let told = |build, bind: &str, more: &[(&str, &str)]| {
        let a = format!("#include <cuda_runtime.h>\n{}", dropping("a"));
        let files = [("a.cu", &*a), ("get.cu", &*get), ("bind.cpp", bind), build];
        let mut all = told(&Sandbox::new(&[&files, more].concat()));
        all.retain(|name| name.starts_with("get"));
        all
    };
    let header = ("include/get.h", "void get(void **p);\n");
    let none = ("x.txt", "");
    assert_eq!(told(setup, bound, &[none]), ["get?"]);
    // Headers of a module are its own.
    assert_eq!(told(setup, bound, &[header]), ["get?"]);
    for (build, bind, more) in [
        (setup, bound.replace("\"a\", &a", "\"get\", &get"), none),
        (
            setup,
            format!("{bound}void use(void **p) {{ get(p); }}\nPYBIND11_MODULE(two, m) {{ m.def(\"u\", &use); }}\n"),
            none,
        ),
        // Nothing is known of who loads it.
        (setup, bound.replace("PYBIND11_MODULE(all, m)", "void all(Module &m)"), none),
        // Others are handed the header.
        (("setup.py", "setup(package_data={'all': ['include/*.h']})\n"), bound.to_owned(), header),
        (setup, bound.to_owned(), ("use.pyx", "cdef extern from 'get.h':\n    void get(void **p)\n")),
    ] {
        assert_eq!(told(build, &bind, &[more, header]), ["get"], "{build:?} {bind} {more:?}");
    }
}

#[test]
fn a_function_that_the_version_for_the_processor_has_as_well() {
    let get = format!("#include <cuda_runtime.h>\n{}int main() {{ return 0; }}\n", dropping("get"));
    let told = |other: &str| {
        let build =
            ("Makefile", "all: gpu cpu\ngpu: gpu.cu\n\tnvcc -o gpu gpu.cu\ncpu: cpu.cpp\n\tg++ -o cpu cpu.cpp\n");
        told(&Sandbox::new(&[build, ("gpu.cu", &*get), ("cpu.cpp", other)]))
    };
    let main = "int main() { void *p; get(&p); return 0; }\n";
    assert_eq!(told(&format!("static void get(void **p) {{ *p = 0; }}\n{main}")), ["get?"]);
    // A method is called otherwise.
    assert_eq!(
        told(&format!("void get(void **p);\nstruct It {{ void get(void **p) {{ *p = 0; }} }};\n{main}")),
        ["get"]
    );
    assert_eq!(told(&format!("void get(void **p);\n{main}")), ["get"]);
}

#[test]
fn functions_of_a_library_that_only_its_own_program_is_linked_with() {
    let get = format!("#include \"all.h\"\n{}", dropping("get"));
    let told = |path: &str, build: &str, more: &[(&str, &str)]| {
        let files = [("get.cu", &*get), (path, "void get(void **p);\n")];
        let mut all = told(&project(("CMakeLists.txt", build), &[&files, more].concat()));
        all.retain(|name| name.starts_with("get"));
        all
    };
    let build = "add_library(all a.cu b.cu c.cu d.cu get.cu)\nadd_executable(app main.cu)\n";
    assert_eq!(told("get.h", build, &[]), ["get?"]);
    assert_eq!(told("get.h", &build.replace("add_executable", "CUDA_ADD_EXECUTABLE"), &[]), ["get?"]);
    // Where a program is made, hardly anybody else uses its library, wherever the headers are and go.
    let installing = format!("{build}install(FILES get.h DESTINATION include)\n");
    assert_eq!(told("include/all/get.h", build, &[]), ["get?"]);
    assert_eq!(told("get.h", &installing, &[]), ["get?"]);
    assert_eq!(told("part/include/get.h", build, &[("part/CMakeLists.txt", "add_library(all ../get.cu)\n")]), ["get?"]);
    // Trials are no such program: they have what is made for others.
    let trying = |path: &str, build: &str, note: &str| {
        let build = build.replace("main.cu", "tests/main.cu");
        let begins = "#include <cuda_runtime.h>\n__global__ void t() {}\nint main() { return 0; }\n";
        let files = [("get.cu", &*get), (path, "void get(void **p);\n"), ("tests/main.cu", begins), ("BUILD.md", note)];
        let files = [&files[..], &[("CMakeLists.txt", &*build), ("all.h", "#include <cuda_runtime.h>\n")]].concat();
        let mut all = common::told(&Sandbox::new(&files));
        all.retain(|name| name.starts_with("get"));
        all
    };
    assert_eq!(trying("get.h", build, "You need not install it to include others."), ["get?"]);
    assert_eq!(trying("include/get.h", build, ""), ["get"]);
    assert_eq!(trying("get.h", &installing, ""), ["get"]);
    // Documents are no headers, and what a part of other people installs are its own.
    assert_eq!(told("get.h", &format!("{build}install(DIRECTORY docs/ DESTINATION share)\n"), &[]), ["get?"]);
    let part = "project(part)\ninstall(FILES ${HEADERS} DESTINATION include)\n";
    assert_eq!(told("get.h", build, &[("part/CMakeLists.txt", part)]), ["get?"]);
    assert_eq!(told("get.h", build, &[("README.md", "Include `get.h`.\n")]), ["get"]);
    let uses = "#include \"get.h\"\nvoid use(void **p) { get(p); }\n";
    let listing = build.replace("main.cu", "main.cu use.cpp");
    assert_eq!(told("get.h", &listing, &[("use.cpp", uses)]), ["get"]);
}

/// Of a class there is no object where it is only announced, pointed to, spoken of, and defined; functions that only call each other run as
/// little as others.
#[test]
fn classes_of_which_no_object_is_made() {
    let told = |more: &str, main: &str| {
        let class = "struct Kept {\n    Kept();\n    void get();\n    static int made;\n    void *p;\n};\n";
        let get = "int Kept::made = 0;\nvoid again(Kept *of);\nKept::Kept() { cudaMalloc(&p, 4); made += [] { return Kept::made + 1; }(); }\n\
                   void Kept::get() { cudaMalloc(&p, 4); again(this); }\nvoid again(Kept *of) { of->get(); }\n";
        let files = [
            ("kept.h", &*format!("struct Kept;\n#include <vector>\n{class}extern std::vector<Kept*> all;\n{more}")),
            ("get.cu", &*format!("#include \"all.h\"\n#include \"kept.h\"\nstd::vector<Kept*> all;\n{get}")),
            ("use.cu", &*format!("#include \"all.h\"\n#include \"kept.h\"\n{main}")),
        ];
        let build = "add_executable(app main.cu a.cu b.cu c.cu d.cu get.cu use.cu)\n";
        let mut all = told(&project(("CMakeLists.txt", build), &files));
        all.retain(|name| name.starts_with("get") || name.starts_with("Kept"));
        all
    };
    assert_eq!(told("", ""), ["Kept?", "get?"]);
    assert_eq!(told("", "void say() { printf(\"Kept is no more\\n\"); }\n"), ["Kept?", "get?"]);
    assert_eq!(told("", "int one = Kept().made;\n"), ["Kept", "get?"]);
    assert_eq!(told("", "int one = Kept::made;\n"), ["Kept", "get?"]);
    assert_eq!(
        told("", "void use() { Kept it; it.get(); }\nint main(int count, char **words) { use(); return 0; }\n"),
        ["Kept", "get"]
    );
}

/// A program that `automake` builds has no callers but its own, whatever it installs.
#[test]
fn functions_of_a_program_of_automake() {
    let get = format!("#include \"all.h\"\n{}", dropping("get"));
    let told = |build: &str, more: (&str, &str)| {
        let mut all =
            told(&project(("Makefile.am", build), &[("get.cu", &*get), ("get.h", "void get(void **p);\n"), more]));
        all.retain(|name| name.starts_with("get"));
        all
    };
    let none = ("x.txt", "");
    let program = "bin_PROGRAMS = app\napp_SOURCES = main.cu a.cu b.cu c.cu d.cu get.cu\ninclude_HEADERS = get.h\n";
    assert_eq!(told(program, none), ["get?"]);
    let listing = program.replace("get.cu", "get.cu use.cpp");
    assert_eq!(told(&listing, ("use.cpp", "#include \"get.h\"\nvoid use(void **p) { get(p); }\n")), ["get"]);
    let library = program.replace("bin_PROGRAMS", "lib_LTLIBRARIES");
    assert_eq!(told(&library, none), ["get"]);
}

#[test]
fn inline_functions_in_headers_of_a_program() {
    let told = |header: &str, source: &str, begins: &str| {
        let text = dropping("get").replace("void get", "inline void get");
        let main = format!("#include \"../{header}\"\n__global__ void k() {{}}\n{begins}\n");
        let makefile = ("Makefile", "app: main.o\n\tnvcc $^ -o $@\n%.o: %.cu\n\tnvcc -c $<\n");
        told(&Sandbox::new(&[(header, &*text), (source, &*main), makefile]))
    };
    let begins = "int main() { return 0; }";
    assert_eq!(told("include/ui.h", "src/main.cu", begins), ["get?"]);
    assert_eq!(told("common/ui.h", "app/main.cu", begins), ["get?"]);
    assert_eq!(told("common/ui.h", "app/main.cu", "int main() { void *p; get(&p); return 0; }"), ["get"]);
    // By hand: what lies below the program's folder, and nobody is told of.
    let by_hand = |header: &str, more: (&str, &str)| {
        let text = dropping("get").replace("void get", "inline void get");
        let main = format!("#include \"{header}\"\n__global__ void k() {{}}\n{begins}\n");
        crate::told(&Sandbox::new(&[(header, &*text), ("main.cu", &*main), more]))
    };
    assert_eq!(by_hand("kernels/steps.cuh", ("x.txt", "")), ["get?"]);
    assert_eq!(by_hand("kernels/steps.cuh", ("README.md", "Include `steps.cuh`.\n")), ["get"]);
    assert_eq!(by_hand("kernels/steps.cuh", ("README.md", "A header-only library: `steps.cuh`.\n")), ["get"]);
    // A list of a project's files hands nothing on.
    assert_eq!(by_hand("kernels/steps.cuh", ("README.md", "|- include/steps.cuh   the steps\n")), ["get?"]);
    assert_eq!(by_hand("include/steps.cuh", ("x.txt", "")), ["get"]);
    // What trials use may be made for others.
    assert_eq!(told("include/ui.h", "tests/main.cu", begins), ["get"]);
    assert_eq!(told("common/ui.h", "examples/main.cu", begins), ["get"]);
}

#[test]
fn functions_whose_name_means_others() {
    let told = |text: &str, uses: &str| {
        let main = format!(
            "#include \"all.h\"\n#include \"part.h\"\nint main() {{ void *p; a(&p); b(&p); c(&p); d(&p); {uses} return 0; }}\n"
        );
        let header = "#define BOTH p, 1\nnamespace one { void part(void **p); }\nnamespace two { void part(void **p); void part(void **p, int n = 1); }\nvoid part(void **p, int n, int m);\n";
        let part = ["#include \"all.h\"\n#include \"part.h\"\n", text].concat();
        let more = [("main.cu", &*main), ("part.h", header), ("part.cu", &*part)];
        let makefile = ("Makefile", "app: main.o a.o b.o c.o d.o part.o\n\tnvcc $^ -o $@\n%.o: %.cu\n\tnvcc -c $<\n");
        let mut all = told(&project(makefile, &more));
        all.retain(|name| name.starts_with("part"));
        all
    };
    let free = dropping("part").replace("(void **p)", "(void **p, int n, int m)");
    let of_two = format!("namespace two {{ {} }}\n", dropping("part"));
    let with_default = format!("namespace two {{ {} }}\n", dropping("part").replace("(void **p)", "(void **p, int n)"));
    assert_eq!(told(&free, ""), ["part?"]);
    assert_eq!(told(&free, "part(&p, 1);"), ["part?"]);
    assert_eq!(told(&free, "s.part(&p, 1, 2); q->part(&p, 1, 2);"), ["part?"]);
    assert_eq!(told(&free, "part(&p, 1, 2);"), ["part"]);
    assert_eq!(told(&free, "part(BOTH, 2);"), ["part"]);
    assert_eq!(told(&free, "run(part);"), ["part"]);
    assert_eq!(told(&free, "// Does it.\n part(&p, 1, 2);"), ["part"]);
    assert_eq!(told(&of_two, "one::part(&p);"), ["part?"]);
    assert_eq!(told(&of_two, "two::part(&p);"), ["part"]);
    assert_eq!(told(&with_default, "two::part(&p);"), ["part"]);
    assert_eq!(told(&with_default, "two::part();"), ["part?"]);
    // One that runs calls the other.
    let both = format!("{free}void part(void **p, int n) {{ part(p, n, 1); }}\n");
    assert_eq!(told(&both, "part(&p, 1);"), ["part"]);
    assert_eq!(told(&both, ""), ["part?"]);
}

#[test]
fn callers_without_gpu_code_that_look_at_the_last_error() {
    let told = |divide: &str| {
        let kernels = "#include \"kernels.h\"\n__global__ void k(int *c) { c[threadIdx.x] = 1; }\n\
                       void sort(int n, int *c) { k<<<1, n>>>(c); }\n";
        let base = "#include \"base.h\"\n#include <cuda_runtime.h>\nvoid Base::look(int line) const {\n    \
                    if (cudaGetLastError() != cudaSuccess) throw line;\n}\n";
        let cells = format!(
            "#include \"base.h\"\n#include \"kernels.h\"\nvoid Cells::first() {{ sort(8, c); }}\nvoid Cells::divide() {{ {divide} }}\n"
        );
        let sandbox = Sandbox::new(&[
            ("kernels.h", "void sort(int n, int *c);\n"),
            ("kernels.cu", kernels),
            (
                "base.h",
                "struct Base { void look(int line) const; };\n#define LOOK() look(__LINE__)\n\
                 struct Cells : Base { int *c; void first(); void divide(); };\n",
            ),
            ("base.cpp", base),
            ("cells.cpp", &cells),
            ("main.cpp", "#include \"base.h\"\nint main() { Cells c; c.divide(); return 0; }\n"),
        ]);
        let ran = sandbox.run(&["--select", "unchecked-launch", "--output-format", "json", "."]);
        let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        report["findings"].as_array().unwrap().len()
    };
    assert_eq!(told("first();"), 1);
    assert_eq!(told("first(); LOOK();"), 0);
    // Whoever calls it once more looks then.
    assert_eq!(told("LOOK(); first();"), 0);
    // What is out of sight has other things to look at.
    assert_eq!(told("first(); draw(c);"), 1);
}

#[test]
fn statuses_of_tests_that_say_what_they_expect() {
    let told = |test: &str, behind: &str| {
        let text = format!(
            "#include <cuda_runtime.h>\n{test} {{\n    int v = 0, *p = make();\n    cudaMemcpy(&v, p, 4, cudaMemcpyDeviceToHost);\n    {behind}\n}}\n"
        );
        told(&Sandbox::new(&[("a.cu", &*text)])).concat().ends_with('?')
    };
    for (test, behind) in [
        ("TEST(Copies, works)", "EXPECT_EQ(v, 1);"),
        ("TEST(Copies, works)", "for (int i = 0; i < 1; i++) { ASSERT_NEAR(f(v, i), 1, 0.1); }"),
        ("TEST_CASE(\"copies, works\", \"[gpu]\")", "REQUIRE(v == 1);"),
    ] {
        assert!(told(test, behind), "{test} {behind}");
    }
    for (test, behind) in [
        ("void copies()", "EXPECT_EQ(v, 1);"),
        ("TEST(Copies, works)", ""),
        ("TEST(Copies, works)", "EXPECT_TRUE(true);"),
        ("TEST(Copies, works)", "// EXPECT_EQ(v, 1);"),
        ("TEST(Copies, works)", "cudaError_t e = stop(); EXPECT_EQ(e, cudaSuccess);"),
        ("TEST(Copies, works)", "cudaError_t e = stop(); EXPECT_FALSE(e);"),
        ("TEST(Copies, works)", "EXPECT_EQ(v, 1); cudaMemset(p, 0, 4);"),
    ] {
        assert!(!told(test, behind), "{test} {behind}");
    }
}

/// Whether nobody waits for a kernel is not known where files without GPU code that are not read call the function around the launch.
#[test]
fn callers_that_are_not_read_may_wait() {
    let told = |caller: &str| {
        let sums = "#include <cuda_runtime.h>\n__global__ void k(int *c) { c[threadIdx.x] = 1; }\n\
                    bool sum(int *c) {\n    k<<<1, 8>>>(c);\n    return cudaGetLastError() == cudaSuccess;\n}\n";
        let sandbox = Sandbox::new(&[
            ("sum.cu", sums),
            ("sum.h", "bool sum(int *c);\n"),
            ("model.cpp", &*format!("#include \"sum.h\"\n#include \"model.h\"\nvoid Model::step() {{ {caller} }}\n")),
        ]);
        let ran = sandbox.run(&["--select", "async-error-never-observed", "--output-format", "json", "."]);
        let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        report["findings"].as_array().unwrap().len()
    };
    assert_eq!(told("sum(points.data()); points.read();"), 0);
    assert_eq!(told("points.read();"), 1);
}

#[test]
fn statuses_in_folders_of_tests_and_measurements() {
    let told = |folder: &str, more: (&str, &str)| {
        let path = format!("{folder}/a.cu");
        let text =
            format!("#include <cuda_runtime.h>\n{}int main() {{ void *p; get(&p); return 0; }}\n", dropping("get"));
        let sandbox = Sandbox::new(&[(&path, &*text), more]);
        told(&sandbox).into_iter().find(|name| name.starts_with("get")).unwrap_or_default()
    };
    let other = ("src/b.cu", "__global__ void k() {}\nint main() { k<<<1, 1>>>(); return 0; }\n");
    for folder in ["tests", "bench/one", "gpu_benchmarks", "unit-test"] {
        assert_eq!(told(folder, other), "get?", "{folder}");
    }
    for folder in ["examples", "latest", "contest", "src"] {
        assert_eq!(told(folder, other), "get", "{folder}");
    }
    // A project that is nothing else.
    assert_eq!(told("tests", ("tests/b.cu", other.1)), "get");
    assert_eq!(told("tests", ("src/b.cpp", "int main() { return 0; }\n")), "get");
}

/// A class template whose method drops a status, in a header.
fn keeping(class: &str, method: &str) -> String {
    format!(
        "#pragma once\n#include <cuda_runtime.h>\ntemplate <class T> struct {class} {{\n    \
         void {method}({class} other) {{ {method}(&other.p, 1); }}\n    \
         void {method}(T **p, int n) {{ cudaMalloc(p, n); }}\n    T *p;\n}};\n"
    )
}

#[test]
fn methods_of_templates_that_nobody_calls() {
    let told = |method: &str, uses: &str| {
        let header = keeping("Keep", method);
        let main = format!(
            "#include \"all.cuh\"\n__global__ void one() {{}}\nint main() {{ Keep<int> k; int *p; {uses} return 0; }}\n"
        );
        let files = [
            ("include/util/keep.cuh", &*header),
            ("include/all.cuh", "#include \"util/keep.cuh\"\n"),
            ("src/main.cu", &*main),
            ("CMakeLists.txt", "add_executable(app src/main.cu)\ninclude_directories(include)\n"),
        ];
        told(&Sandbox::new(&files))
    };
    assert_eq!(told("fill", ""), ["fill?"]);
    assert_eq!(told("fill", "k.fill(&p, 1);"), ["fill"]);
    assert_eq!(told("fill", "k.fill(k);"), ["fill"]);
    // Containers call these of classes that they take for allocators.
    assert_eq!(told("allocate", ""), ["allocate?"]);
    assert_eq!(told("begin", ""), ["begin"]);
}

/// Each file that includes a header has a `static` function of it by itself: there is no code of one that nobody names.
#[test]
fn static_functions_of_a_header_that_nobody_names() {
    let told = |before: &str, uses: &str| {
        let header = format!("#pragma once\n#include <cuda_runtime.h>\n{before}{}", dropping("part"));
        let main = format!("#include \"part.cuh\"\nint main() {{ void *p; {uses} return p == nullptr; }}\n");
        let files = [
            ("include/part.cuh", &*header),
            ("src/main.cu", &*main),
            ("CMakeLists.txt", "add_library(all src/main.cu)\ninstall(DIRECTORY include DESTINATION include)\n"),
        ];
        told(&Sandbox::new(&files))
    };
    assert_eq!(told("static ", ""), ["part?"]);
    assert_eq!(told("static ", "part(&p);"), ["part"]);
    // Whoever is handed the header may call this.
    assert_eq!(told("inline ", ""), ["part"]);
}

#[test]
fn classes_that_nobody_names_beside_a_program() {
    let told = |uses: &str, more: (&str, &str)| {
        let header = keeping("Keep", "fill");
        let main = format!("#include \"mid.h\"\n__global__ void k() {{}}\nint main() {{ {uses} return 0; }}\n");
        let files = [
            ("src/keep.h", &*header),
            ("src/mid.h", "#include \"keep.h\"\n"),
            ("src/main.cu", &*main),
            ("CMakeLists.txt", "add_executable(app src/main.cu)\nadd_library(part src/part.cu)\n"),
            more,
        ];
        told(&Sandbox::new(&files))
    };
    let none = ("x.txt", "");
    assert_eq!(told("", none), ["fill?"]);
    assert_eq!(told("Keep<int> k; k.fill(k);", none), ["fill"]);
    // Whoever is handed the header: nobody shows a use of this one, or tells of it.
    assert_eq!(told("", ("README.md", "Include `keep.h`.\n")), ["fill?"]);
    assert_eq!(told("", ("install.sh", "cp src/keep.h /usr/include\n")), ["fill?"]);
    assert_eq!(told("", ("README.md", "Include `keep.h` and call `Keep<T>::fill`.\n")), ["fill"]);
    // What only a file names of which nothing is read, since another one has its guard.
    let guarded = |text: &str| format!("#ifndef GUARD_H\n#define GUARD_H\n{text}#endif\n");
    let user = guarded("#include \"keep.h\"\ninline void use(int **p) { Keep<int> k; k.fill(p, 1); }\n");
    let first = guarded("__global__ void other() {}\n");
    let both = "#include \"first.h\"\n#include \"use.h\"\nint main() { return 0; }\n";
    let header = keeping("Keep", "fill");
    let files = [
        ("src/keep.h", &*header),
        ("src/first.h", &*first),
        ("src/use.h", &*user),
        ("src/main.cu", both),
        ("src/other.cu", "#include \"keep.h\"\n__global__ void k() {}\n"),
        ("CMakeLists.txt", "add_executable(app src/main.cu src/other.cu)\nadd_library(part src/part.cu)\n"),
    ];
    assert_eq!(common::told(&Sandbox::new(&files)), ["fill"]);
}

#[test]
fn ways_that_begin_in_functions_that_nobody_calls() {
    let told = |uses: &str| {
        let text = format!(
            "__global__ void one(int *v) {{ v[threadIdx.x] = 1; }}\n\
             template <class T> void fill(T *v, int n) {{ one<<<1, n>>>(v); }}\n\
             template <class T> void make() {{ T *v; cudaMalloc(&v, 8192); fill<T>(v, 2048); }}\n\
             template void make<int>();\n\
             int main(int argc, char **argv) {{ int *v; cudaMalloc(&v, 4096); fill<int>(v, argc); {uses} return 0; }}\n"
        );
        at_lines(&text, "launch-exceeds-device-limit", "a.cu")
    };
    assert_eq!(told("make<int>();"), ["2 definite"]);
    assert_eq!(told(""), ["2 possible"]);
}

/// Of several ways to one defect, that which somebody goes is told, also where it has other numbers.
#[test]
fn ways_beside_those_that_nobody_goes() {
    let told = |idle: &str, live: &str| {
        let text = format!(
            "#include <cuda_runtime.h>\n__global__ void shift(int *v) {{ v[threadIdx.x] = v[threadIdx.x + 1]; }}\n\
             void run(int n) {{ int *v; cudaMalloc(&v, n * 4); cudaMemset(v, 0, n * 4); shift<<<1, n>>>(v); }}\n\
             void old(void) {{ {idle} }}\n\
             int main() {{ {live} return 0; }}\n"
        );
        let makefile = ("Makefile", "app: main.cu\n\tnvcc $^ -o $@\n");
        let sandbox = Sandbox::new(&[("main.cu", &*text), makefile]);
        let args = ["--select", "missing-bounds-guard", "--min-confidence", "possible", "--output-format", "json", "."];
        let report: serde_json::Value = serde_json::from_str(&sandbox.run(&args).stdout).unwrap();
        let all = report["findings"].as_array().unwrap().clone();
        let words = |it: &serde_json::Value| {
            let threads = it["witness"]["launch"]["block"][0].as_u64().unwrap();
            format!("{} {threads}", it["confidence"].as_str().unwrap())
        };
        all.iter().map(words).collect::<Vec<_>>()
    };
    assert_eq!(told("run(64);", ""), ["possible 64"]);
    assert_eq!(told("run(64);", "run(64);"), ["definite 64"]);
    assert_eq!(told("run(64);", "run(128);"), ["definite 128"]);
    assert_eq!(told("run(64); run(32);", ""), ["possible 64"]);
}

#[test]
fn variables_with_the_name_of_a_function() {
    let told = |uses: &str| {
        let text = format!(
            "#include <cuda_runtime.h>\n{}__global__ void mix(float *out, float a) {{ {uses} }}\n\
             int main() {{ float *d; if (cudaMalloc(&d, 4)) return 1; mix<<<1, 1>>>(d, 1); return cudaGetLastError(); }}\n",
            dropping("blend")
        );
        let makefile = ("Makefile", "app: main.cu\n\tnvcc $^ -o $@\n");
        told(&Sandbox::new(&[("main.cu", &*text), makefile]))
    };
    assert_eq!(told("float blend = a + 1; *out = blend;"), ["blend?"]);
    assert_eq!(told("float other = a + 1; *out = other; run(blend);"), ["blend"]);
}

#[test]
fn methods_of_classes_that_nobody_makes() {
    let told = |main: &str, header: &str| {
        let class = format!(
            "#pragma once\nclass Search : public Base {{\npublic:\n    Search(int n);\n    void select(void **p) override;\n}};\n{header}"
        );
        let source = format!(
            "#include \"search.h\"\n#include <cuda_runtime.h>\nSearch::Search(int n) {{}}\n{}",
            dropping("Search::select")
        );
        let main =
            format!("#include \"search.h\"\nint main() {{ Base *one = nullptr; {main} return one != nullptr; }}\n");
        let build = ("CMakeLists.txt", "add_library(all search.cu)\nadd_executable(app main.cpp)\n");
        told(&Sandbox::new(&[("search.h", &*class), ("search.cu", &*source), ("main.cpp", &*main), build]))
    };
    assert_eq!(told("", ""), ["select?"]);
    assert_eq!(told("// one = new Search(4);\n", ""), ["select?"]);
    assert_eq!(told("one = new Search(4);", ""), ["select"]);
    let make = "inline Base *make() { return new Search(1); }\n";
    assert_eq!(told("", make), ["select?"]);
    assert_eq!(told("one = make();", make), ["select"]);
}

#[test]
fn kernels_of_a_library_that_launches_others() {
    let racy = |name: &str| {
        format!(
            "__global__ void {name}(int *out) {{\n    __shared__ int s[64];\n    s[threadIdx.x] = threadIdx.x;\n    \
             out[threadIdx.x] = s[63 - threadIdx.x];\n}}\n"
        )
    };
    let told = |more: (&str, &str)| {
        let text = format!(
            "#include \"kernels.cuh\"\n{}{}extern \"C\" void run(int *d) {{ used<<<1, 64>>>(d); }}\n",
            racy("used"),
            racy("idle")
        );
        let header = "__global__ void used(int *out);\n__global__ void idle(int *out);\n";
        let makefile = ("Makefile", "liball.so: kernels.cu\n\tnvcc -shared kernels.cu -o $@\n");
        let args = ["--select", "shared-memory-race", "--min-confidence", "possible", "--output-format", "json", "."];
        let sandbox = Sandbox::new(&[("kernels.cu", &*text), ("kernels.cuh", header), makefile, more]);
        let report: serde_json::Value = serde_json::from_str(&sandbox.run(&args).stdout).unwrap();
        let all = report["findings"].as_array().unwrap().clone();
        let line = |finding: &serde_json::Value| {
            format!("{} {}", finding["function"].as_str().unwrap(), finding["confidence"].as_str().unwrap())
        };
        all.iter().map(line).collect::<Vec<_>>()
    };
    assert_eq!(told(("x.txt", "")), ["used definite", "idle possible"]);
    assert_eq!(told(("load.py", "module.get_function('idle')\n")), ["used definite", "idle possible"]);
    assert_eq!(told(("test.cu", "#include \"kernels.cuh\"\nvoid t(int *d) { idle<<<1, 64>>>(d); }\n")).len(), 2);
}

#[test]
fn statuses_of_operations_for_pytorch() {
    let told = |include: &str| {
        let text = format!(
            "{include}#include <cuda_runtime.h>\n__global__ void k(float *v) {{ v[threadIdx.x] = 1; }}\n\
             void forward(float *v) {{ k<<<1, 32>>>(v); }}\n"
        );
        at_lines(&text, "unchecked-launch", "a.cu")
    };
    assert_eq!(told("").len(), 1);
    assert!(told("").concat().ends_with("definite"));
    assert!(told("#include <torch/extension.h>\n").concat().ends_with("possible"));
}

#[test]
fn virtual_methods_of_a_variable() {
    let told = |object: &str| {
        let header = "#pragma once\n#include <cuda_runtime.h>\nclass Filter { public: virtual void run() {} };\n\
                      class One : public Filter { public: void run() override; };\n\
                      class Two : public Filter { public: void run() override; };\n";
        let source = |name: &str| {
            format!(
                "#include \"filter.h\"\n__global__ void k{name}() {{ printf(\"here\"); }}\nvoid {name}::run() {{ k{name}<<<1, 32>>>(); }}\n"
            )
        };
        let main = format!(
            "#include \"filter.h\"\n__global__ void k() {{}}\nint main() {{ {object}\n    \
             if (cudaGetLastError() != cudaSuccess) return 1; return cudaDeviceSynchronize(); }}\n"
        );
        let files =
            [("filter.h", header), ("one.cu", &*source("One")), ("two.cu", &*source("Two")), ("main.cu", &*main)];
        let args = ["--select", "unchecked-launch", "--min-confidence", "likely", "--output-format", "json", "."];
        let report: serde_json::Value = serde_json::from_str(&Sandbox::new(&files).run(&args).stdout).unwrap();
        report["findings"].as_array().unwrap().len()
    };
    assert_eq!(told("One one; one.run(); Two two; two.run();"), 0);
    // What comes after it is known: nobody looks.
    assert_eq!(told("One one; one.run(); return 0;"), 1);
}

/// Where no file builds the project, the sources that share a header with its `main` are the program.
#[test]
fn functions_beside_a_main_that_nothing_builds() {
    let part = format!("#include \"part.h\"\n{}", dropping("part"));
    let (header, plain) = (("part.h", "#pragma once\nvoid part(void **p);\n"), "int main() { return 0; }\n");
    let gpu = "__global__ void k() {}\nint main() { k<<<1, 1>>>(); return 0; }\n";
    for (path, main) in [("main.cpp", plain), ("main.cu", gpu)] {
        let told_with = |before: &str, more: (&str, &str)| {
            let main = format!("{before}{main}");
            told(&Sandbox::new(&[("part.cu", &*part), header, (path, &*main), more]))
        };
        let note = ("x.txt", "");
        let of_part = |all: Vec<String>| all.into_iter().filter(|name| name.starts_with("part")).collect::<Vec<_>>();
        assert_eq!(of_part(told_with("#include \"part.h\"\n", note)), ["part?"], "{path}");
        // It may be of another program.
        assert_eq!(of_part(told_with("", note)), ["part"], "{path}");
        let uses = ("use.cpp", "#include \"part.h\"\nvoid use(void **p) { part(p); }\n");
        assert_eq!(of_part(told_with("#include \"part.h\"\n", uses)), ["part"], "{path}");
    }
}

/// The operators of a class that nothing names, and that no other class is made from, are called by nothing.
#[test]
fn operators_of_a_class_without_objects() {
    let header = "#pragma once\n#include <cuda_runtime.h>\n#include <cstddef>\nclass Kept {\npublic:\n    void *operator new(size_t size) {\n        \
                  void *p;\n        cudaMalloc(&p, size);\n        return p;\n    }\n};\n";
    let told = |more: &str| {
        let main = format!("#include \"kept.h\"\n{more}int main() {{ return 0; }}\n");
        let mut all = told(&Sandbox::new(&[
            ("kept.h", header),
            ("main.cu", &*main),
            ("Makefile", "app: main.cu\n\tnvcc main.cu\n"),
        ]));
        all.retain(|name| name.contains("new"));
        all
    };
    assert_eq!(told(""), ["operatornew?"]);
    for uses in ["class Table : public Kept {};\n", "void *make() { return new Kept; }\nvoid *made = make();\n"] {
        assert_eq!(told(uses), ["operatornew"], "{uses}");
    }
}
