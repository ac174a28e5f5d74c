//! Which function a call means: the class of the object that a method is called on, and the types of arguments, say that some functions of
//! a name are called by nobody. These are *possible* only.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Sandbox, told};

/// Functions that drop a status, in a program whose `main` does `uses`.
fn dropped(parts: &str, uses: &str) -> Vec<String> {
    let main =
        format!("#include \"part.h\"\n#include <vector>\nint main(int argc, char **argv) {{ {uses} return 0; }}\n");
    let header = format!("#pragma once\n#include <cuda_runtime.h>\n{parts}");
    told(&Sandbox::new(&[
        ("part.h", &*header),
        ("main.cu", &*main),
        ("Makefile", "app: main.cu\n\tnvcc main.cu -o app\n"),
    ]))
}

/// A class whose method of a name drops a status.
fn class(name: &str, bases: &str, method: &str) -> String {
    format!("struct {name}{bases} {{\n    void *p;\n    void {method}() {{ cudaMalloc(&p, 4); }}\n}};\n")
}

#[test]
fn methods_are_those_of_their_object() {
    let both = [
        class("One", "", "init"),
        "struct Two { void init() {} int n; };\nTwo two(int);\nusing Other = Two;\n".to_owned(),
    ]
    .concat();
    let with = |uses: &str| dropped(&both, &format!("One one; {uses}"));
    for uses in [
        "Two t; t.init();",
        "Two *t = new Two; t->init();",
        "two(1).init();",
        "Other t; t.init();",
        "Two all[3]; all[argc].init();",
    ] {
        assert_eq!(with(uses), ["init?"], "{uses}");
    }
    for uses in [
        "one.init();",
        "auto &it = one; it.init();",
        "get().init();",
        "auto f = [&] { one.init(); }; f();",
        "(&one)->init();",
    ] {
        assert_eq!(with(uses), ["init"], "{uses}");
    }
}

#[test]
fn methods_of_classes_that_are_made_from_others() {
    let base = "struct Base { virtual void init() = 0; virtual ~Base() {} };\n";
    let parts = [base, &class("One", " : Base", "init"), "struct Two { void init() {} };\n"].concat();
    assert_eq!(dropped(&parts, "One one; Base *it = &one; it->init();"), ["init"]);
    assert_eq!(dropped(&parts, "One one; Two two; two.init();"), ["init?"]);
    // Nobody knows what the class of the object is made from.
    let open = parts.replace("struct Two {", "struct Two : Unseen {");
    assert_eq!(dropped(&open, "One one; Two two; two.init();"), ["init"]);
    // Without an object it is one of the class around.
    let of_others = [&*parts, "struct Three { void init() {} void go() { init(); } };\n"].concat();
    assert_eq!(dropped(&of_others, "One one; Three three; three.go();"), ["init?"]);
    let of_it = parts.replace("void *p;", "void *p;\n    void go() { init(); }");
    assert_eq!(dropped(&of_it, "One one; one.go();"), ["init"]);
}

#[test]
fn methods_of_templates() {
    let one = class("One", "", "init").replace("struct One", "template <class T> struct One");
    let parts =
        [&*one, "struct Two { void init() {} };\ntemplate <class T> struct Has { T it; void go() { it.init(); } };\n"]
            .concat();
    assert_eq!(dropped(&parts, "One<int> one; Two two; two.init();"), ["init?"]);
    // What stands for `T` is not asked.
    assert_eq!(dropped(&parts, "One<int> one; Has<One<int>> has; has.go();"), ["init"]);
}

#[test]
fn overloads_by_the_types_of_arguments() {
    let parts = "inline void get(float *p, float **d, int n) { cudaMalloc((void **)d, n); }\n\
                 inline void get(float **p, float **d, int n) { d[0] = p[0]; }\n";
    assert_eq!(dropped(parts, "float *p = 0, *d = 0; get(&p, &d, 1);"), ["get?"]);
    assert_eq!(dropped(parts, "float *p = 0, *d = 0; get(p, &d, 1);"), ["get"]);
    assert_eq!(dropped(parts, "float *d = 0; get(0, &d, 1); get(other(), &d, 1);"), ["get"]);
    assert_eq!(dropped(parts, "double *p = 0; float *d = 0; get(p, &d, 1);"), ["get?"]);
    // One that runs calls the other.
    let both = parts.replace("d[0] = p[0];", "get(p[0], d, n);");
    assert_eq!(dropped(&both, "float *p = 0, *d = 0; get(&p, &d, 1);"), ["get"]);
    assert_eq!(dropped(&both, ""), ["get?"]);
}

#[test]
fn functions_of_a_namespace_that_are_defined_by_their_full_name() {
    let told = |uses: &str| {
        let main = format!("#include \"part.h\"\nint main() {{ {uses} return 0; }}\n");
        let part = "#include \"part.h\"\nvoid one::run(void **p) { cudaMalloc(p, 4); }\nvoid two::run(void **p) {}\n";
        let header =
            "#include <cuda_runtime.h>\nnamespace one { void run(void **p); }\nnamespace two { void run(void **p); }\n";
        let build = "app: main.cu part.cu\n\tnvcc main.cu part.cu -o app\n";
        told(&Sandbox::new(&[("part.h", header), ("part.cu", part), ("main.cu", &main), ("Makefile", build)]))
    };
    assert_eq!(told("void *p; two::run(&p);"), ["run?"]);
    assert_eq!(told("void *p; one::run(&p);"), ["run"]);
}

#[test]
fn macros_that_say_where_functions_run() {
    let told = |body: &str| {
        let main = "#include \"part.h\"\nint main() { return 0; }\n";
        let part = "#include \"part.h\"\nHOST void run(void **p) { cudaMalloc(p, 4); }\n";
        let header = format!("#include <cuda_runtime.h>\n#define HOST {body}\nHOST void run(void **p);\n");
        let build = "app: main.cu part.cu\n\tnvcc main.cu part.cu -o app\n";
        told(&Sandbox::new(&[("part.h", &header), ("part.cu", part), ("main.cu", main), ("Makefile", build)]))
    };
    assert_eq!(told("__host__ inline"), ["run?"]);
    assert_eq!(told("__declspec(dllexport)"), ["run"]);
}

#[test]
fn builds_in_a_folder_beside_the_sources() {
    let told = |path: &str, build: &str| {
        let main = "#include \"part.h\"\nint main() { void *p; used(&p); return 0; }\n";
        let part = "#include \"part.h\"\nvoid used(void **p) { cudaMalloc(p, 4); }\nvoid run(void **p) { cudaMalloc(p, 4); }\n";
        let header = "#include <cuda_runtime.h>\nvoid used(void **p);\nvoid run(void **p);\n";
        told(&Sandbox::new(&[("src/part.h", header), ("src/part.cu", part), ("src/main.cu", main), (path, build)]))
    };
    let cmake = "set(S ${CMAKE_CURRENT_SOURCE_DIR}/../../src)\nadd_executable(app ${S}/main.cu ${S}/part.cu)\n";
    assert_eq!(told("build/cmake/CMakeLists.txt", cmake), ["run?", "used"]);
    assert_eq!(told("build/cmake/CMakeLists.txt", &cmake.replace("add_executable", "add_library")), ["run", "used"]);
    let studio = "<ConfigurationType>Application</ConfigurationType>\n<ClCompile Include=\"..\\src\\part.cu\" />\n<ClCompile Include=\"..\\src\\main.cu\" />\n";
    assert_eq!(told("app/app.vcxproj", studio), ["run?", "used"]);
}

#[test]
fn templates_with_another_number_of_parameters() {
    let parts = "template <typename T> T *get(T *to, int n) { cudaMalloc(&to, n); return to; }\n\
                 template <typename T> void get(T *&more, T *from, int n) { more = from + n; }\n";
    let named = |uses: &str| dropped(parts, &format!("float *p = nullptr, *q; {uses}"));
    assert_eq!(named("p = get<float>(p, 4);"), ["get"]);
    assert_eq!(named("get(q, p, 4);"), ["get?"]);
    assert_eq!(named("get<float>(q, p, 4);"), ["get?"]);
    // What a macro stands for may be several arguments.
    assert_eq!(named("\n#define BOTH p, 4\n get(BOTH);"), ["get"]);
}

/// A launch without template arguments means no template whose parameters nothing else says: here it is the other kernel.
#[test]
fn templates_that_nothing_completes_are_not_launched() {
    let race = "int i = threadIdx.x; s[i] = x[i]; x[i] = s[(i + 1) % 64];";
    let program = |template: &str, size: &str| {
        format!(
            "__global__ void turn(float *x);\n{template}\n__global__ void turn(float *x) {{ __shared__ float s[{size}]; {race} }}\nint main() {{ float *x; cudaMalloc(&x, 256); cudaMemset(x, 0, 256); turn<<<1, 64>>>(x); float h; cudaMemcpy(&h, x, 4, cudaMemcpyDeviceToHost); return h > 0; }}\n"
        )
    };
    for (template, size, found) in
        [("template <int n>", "n", false), ("template <int n = 64>", "n", true), ("", "64", true)]
    {
        let sandbox = Sandbox::new(&[]);
        sandbox.write("a.cu", program(template, size).as_bytes());
        let ran = sandbox.run(&["--select", "shared-memory-race", "--output-format", "concise", "a.cu"]);
        // Without a launch it is told with an assumption.
        assert_eq!(ran.stdout.contains("error[shared-memory-race]"), found, "{template}: {ran:?}");
    }
}
