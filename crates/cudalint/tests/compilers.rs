//! What a compiler would say of a file decides what is told of it: text that none takes, and options that give functions another side.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Sandbox, dropping, told};

#[test]
fn files_that_no_compiler_takes() {
    let code = "#include <cuda_runtime.h>\nvoid f(void **p) {\n    cudaMalloc(p, 4);\n}\n";
    let call = "#include <cuda_runtime.h>\nvoid f(void **p) {\n    cudaMalloc(p, 4);\n    cudaFree(*p)\n}\n";
    let told = |text: &str| told(&Sandbox::new(&[("a.cu", text)]));
    assert_eq!(told(code), ["f"]);
    assert_eq!(told(&format!("EXPORTED API\n{code}NAMESPACE_END\n")), ["f"]);
    assert_eq!(told(&format!("#if 0\nThis code allocates memory.\n#endif\n{code}")), ["f"]);
    assert_eq!(told(&format!("#define cudaFree(p) (free)(p);\n{call}")), ["f"]);
    // CUDA's own headers, which are included by themselves, have no streams.
    let prints = code.replace("    cudaMalloc", "    std::cout << 1;\n    cudaMalloc");
    assert_eq!(told(&prints), ["f"]);
    assert_eq!(told(&prints.replace("#include <cuda_runtime.h>", "")), ["f?"]);
    for text in [
        call,
        &format!("c++\n{code}"),
        &code.replace("#include", "include"),
        &format!("{code}using std namespace;\n"),
        &format!("{code}This code allocates memory.\n"),
        &format!("{code}1\n"),
        &format!("{code}int main() {{ int n = 4 +"),
    ] {
        assert_eq!(told(text), ["f?"], "{text}");
    }
}

/// Several programs in one file are examples that somebody takes apart: nobody compiles it as it is.
#[test]
fn a_file_with_a_second_main_is_no_program() {
    let code =
        "#include <cuda_runtime.h>\n__device__ void g() {}\nvoid f(void **p) {\n    cudaMalloc(p, 4);\n    g();\n}\n";
    let main = "int main() {\n    f(nullptr);\n}\n";
    let crosses = |text: &str| {
        let sandbox = Sandbox::new(&[("a.cu", text)]);
        let ran = sandbox.run(&["--select", "execution-space-mismatch", "--output-format", "json", "."]);
        ran.stdout.contains("which exists on the device only")
    };
    let told = |text: &str| told(&Sandbox::new(&[("a.cu", text)]));
    for one in [
        format!("{code}{main}"),
        format!("{code}#ifdef TEST\n{main}#else\n{main}#endif\n"),
        format!("{code}namespace other {{\n{main}}}\n{main}"),
    ] {
        assert_eq!((told(&one), crosses(&one)), (vec!["f".to_owned()], true), "{one}");
    }
    let several = format!("{code}{main}{main}");
    assert_eq!((told(&several), crosses(&several)), (vec!["f?".to_owned()], false));
}

#[test]
fn files_whose_types_or_names_no_compiler_takes() {
    let told = |main: &str| {
        let kernels = "__global__ void k(int *p) { *p = 1; }\n__global__ void n(int n, float x) {}\n";
        let main =
            format!("int main() {{\n    int *d;\n    cudaMalloc(&d, 4);\n    {main}\n    return clock() > 0;\n}}\n");
        told(&Sandbox::new(&[("a.cu", &format!("#include <cuda_runtime.h>\n#include <cstdio>\n{kernels}{main}"))]))
    };
    for refused in [
        "int a[4][4]; k<<<1, 1>>>(a);",
        "float x = 1; k<<<1, 1>>>(&x);",
        "int **p = nullptr; k<<<1, 1>>>(p);",
        "n<<<1, 1>>>(d, 1);",
        "int a[4][4]; n<<<1, 1>>>(a[0], 1);",
        "n<<<1, 1>>>(1, d);",
        "int slot; cudaMalloc(&slot, 4);",
        "k<<<grid, 1>>>(d);",
        "cudaMemcpy(result, d, 4, cudaMemcpyDeviceToHost);",
        "threadIdx.x = 3;",
        "int *h = malloc(4);",
        "double *h = calloc(2, 4);",
        "k<<<1, 1>>>(d, 1);",
        "n<<<1, 1>>>(1);",
        "int i = 1; printf(\"%d\", i.y);",
        "const float x = 1; printf(\"%f\", x.y);",
        "n(1, 2);",
        "int a[ITEM_SIZE]; cudaMemcpy(a, d, 4, cudaMemcpyDeviceToHost);",
        "k<<<1, BLOCK_DIM>>>(d);",
    ] {
        assert!(told(refused).iter().all(|name| name == "main?"), "{refused}");
    }
    for taken in [
        "k<<<1, 1>>>(d);",
        "int a[4]; k<<<1, 1>>>(a);",
        "void *p = d; k<<<1, 1>>>((int *)p);",
        "int *h = (int *)malloc(4); void *v = malloc(4);",
        "long big = 4; double y = 2; n<<<1, 1>>>(big, y);",
        "int a[4][4]; k<<<1, 1>>>(a[0]);",
        "unsigned long long at; cudaMalloc((void **)&at, 4);",
        "dim3 grid(1); k<<<grid, 1>>>(d);",
        "int2 i; i.y = 1; printf(\"%d\", i.y);",
        "auto i = make_int2(1, 2); printf(\"%d\", i.y);",
        "Number i; printf(\"%d\", i.y);",
        "char a[PAGE_SIZE]; cudaMemcpy(a, d, 4, cudaMemcpyDeviceToHost);",
        "char a[FILENAME_MAX]; cudaMemcpy(a, d, 4, cudaMemcpyDeviceToHost);",
        "int a[ITEM_SIZE]; /* with -DITEM_SIZE=4 */ cudaMemcpy(a, d, 4, cudaMemcpyDeviceToHost);",
        "#define ITEM_SIZE 4\nint a[ITEM_SIZE]; cudaMemcpy(a, d, 4, cudaMemcpyDeviceToHost);",
        "auto grid = 1; k<<<grid, 1>>>(d); fprintf(stderr, \"%p\", (void *)d);",
    ] {
        assert!(told(taken).iter().all(|name| name == "main"), "{taken}");
    }
}

/// A macro without the marks at the ends of its lines leaves its body outside of all functions.
#[test]
fn a_macro_that_has_lost_its_body() {
    let told = |check: &str| {
        told(&Sandbox::new(&[(
            "a.cu",
            &format!(
                "#include <cstdlib>\n#include <cuda_runtime.h>\n\n{check}\nint main() {{\n    int *d;\n    cudaMalloc(&d, 4);\n    return clock() > 0;\n}}\n"
            ),
        )]))
    };
    assert_eq!(told("#define CHECK(call)\n{\n    cudaError_t err = call;\n    if (err) exit(1);\n}\n"), ["main?"]);
    assert_eq!(
        told("#define CHECK(call) \\\n{ \\\n    cudaError_t err = call; \\\n    if (err) exit(1); \\\n}\n"),
        ["main"]
    );
    assert_eq!(told("#define NOTHING(x)\n"), ["main"]);
    assert_eq!(told("static void f()\n#define NOTHING(x)\n{\n}\n"), ["main"]);
}

/// A size that a build, a document or another file spells may come from there.
/// A variable that nothing in sight declares, where all that is included is in sight.
#[test]
fn variables_that_nothing_declares() {
    let told = |head: &str, body: &str, more: &[(&str, &str)]| {
        let text = format!(
            "#include <cuda_runtime.h>\n#include <cstdio>\n{head}\nvoid f(void **p) {{\n    cudaMalloc(p, 4);\n    {body}\n}}\n"
        );
        told(&Sandbox::new(&[&[("a.cu", text.as_str())], more].concat()))
    };
    let header = ("a.h", "struct Tensor { void grow(void **p); bool on_device; };\n");
    for body in
        ["time_taken = 1.5f;", "for (int i = 0; i < numRows; i++) printf(\"\");", "int n = 2 * numRows;", "++d_count;"]
    {
        assert_eq!(told("", body, &[]), ["f?"], "{body}");
    }
    let method = "#include \"a.h\"\nvoid Tensor::grow(void **p) { on_device = true; d_allocated = true; }";
    assert_eq!(told(method, "", &[header]), ["f?"]);
    for (head, body, more) in [
        ("float time_taken;", "time_taken = 1.5f;", &[][..]),
        ("#define DECLARE(name) float name", "DECLARE(time_taken); time_taken = 1.5f;", &[]),
        ("#define JOIN(a, b) a##b", "time_taken = 1.5f;", &[]),
        ("#include \"elsewhere.h\"", "time_taken = 1.5f;", &[]),
        ("", "int n = 2 * numRows;", &[("Makefile", "app: a.cu\n\tnvcc -DnumRows=4 a.cu\n")]),
        ("", "auto [numRows, numCols] = shape(); int n = 2 * numRows;", &[]),
        ("#include \"a.h\"\nvoid Tensor::grow(void **p) { on_device = true; }", "", &[header]),
        ("#include \"a.h\"\n", "time_taken = 1;", &[("a.h", "extern int time_taken;\n")]),
        ("template <typename T> void g(T t) { time_taken = t; }", "", &[]),
        ("", "printf(\"\", stdout == stderr);", &[]),
    ] {
        assert_eq!(told(head, body, more), ["f"], "{head} {body}");
    }
}

#[test]
fn sizes_that_nothing_defines() {
    let told = |include: &str, more: (&str, &str)| {
        let text = "#include <cuda_runtime.h>\n__global__ void k(int *v) { __shared__ int s[ITEM_SIZE]; s[0] = *v; *v = s[0]; }\n\
                    void f(void **p) { cudaMalloc(p, 4); }\n";
        told(&Sandbox::new(&[("a.cu", &format!("{include}{text}")), more]))
    };
    assert_eq!(told("", ("x.txt", "")), ["f?"]);
    // A header of the project says nothing of it, either; one that is not here may.
    assert_eq!(told("#include \"other.h\"\n", ("other.h", "#include <cstdio>\n#define OTHER_SIZE 4\n")), ["f?"]);
    for (include, more) in [
        ("#include \"other.h\"\n", ("x.txt", "")),
        ("#include \"other.h\"\n", ("other.h", "#include <far/sizes.h>\n")),
        ("#include <curand_kernel.h>\n", ("x.txt", "")),
        ("#include \"other.h\"\n", ("other.h", "#include <curand_kernel.h>\n")),
        ("#include \"other.h\"\n", ("other.h", "#define ITEM_SIZE 4\n")),
    ] {
        assert_eq!(told(include, more), ["f"], "{include} {more:?}");
    }
    for more in [
        ("README.md", "Build with `nvcc -DITEM_SIZE=64 a.cu`.\n"),
        ("run.sh", "nvcc -D ITEM_SIZE=64 a.cu\n"),
        ("sizes.h", "#define ITEM_SIZE 64\n"),
        ("tune.py", "compile('-DITEM_SIZE=%d' % size)\n"),
    ] {
        assert_eq!(told("", more), ["f"], "{more:?}");
    }
}

/// Nobody calls a kernel in a file that a build compiles.
#[test]
fn files_that_call_a_kernel_as_a_function() {
    let told = |call: &str, more: (&str, &str)| {
        let text = format!(
            "#include <cuda_runtime.h>\n__global__ void k(int n) {{}}\nvoid f(void **p) {{ cudaMalloc(p, 4); }}\n{call}\n"
        );
        told(&Sandbox::new(&[("a.cu", &text), more]))
    };
    let none = ("x.txt", "");
    assert_eq!(told("void g() { k(1); }", none), ["f?"]);
    assert_eq!(told("void g() { k<<<1, 1>>>(1); }", none), ["f"]);
    assert_eq!(told("template <typename T> void g(T n) { k(n); }", none), ["f"]);
    assert_eq!(told("void k(float x); void g() { k(1); }", none), ["f"]);
    assert_eq!(told("void g() { k(1); }", ("Makefile", "a: a.cu\n\tnvcc $^ -o $@\n")), ["f"]);
}

#[test]
fn calls_that_no_function_takes() {
    let told = |header: &str, call: &str| {
        let main = format!(
            "#include <cuda_runtime.h>\n#include <cmath>\n#include \"solve.h\"\n\
             int main() {{ void *p; double x[4]; cudaMalloc(&p, 16); {call}; return 0; }}\n"
        );
        let ran = Sandbox::new(&[("solve.h", header), ("main.cu", &*main)]).run(&["--output-format", "json", "."]);
        let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        report["findings"].as_array().unwrap().len()
    };
    let solve = "inline double solveAll(const double *x, int n, int rounds) { return x[0] + n + rounds; }\n";
    assert_eq!(told(solve, "solveAll(x, 4, 2)"), 1);
    assert_eq!(told(solve, "solveAll(x, 4)"), 0);
    assert_eq!(told(solve, "solveSome(x, 4, 2)"), 0);
    // Another one may be meant, or what is left out has a value.
    let both = format!("{solve}inline double solveAll(const double *x, int n) {{ return x[0] + n; }}\n");
    assert_eq!(told(&both, "solveAll(x, 4)"), 1);
    assert_eq!(told(&solve.replace("int rounds", "int rounds = 1"), "solveAll(x, 4)"), 1);
    assert_eq!(told(&format!("#define solveSome(a, b, c) solveAll(a, b, c)\n{solve}"), "solveSome(x, 4, 2)"), 1);
    let plain = solve.replace("solveAll", "solve_all");
    assert_eq!(told(&format!("#include <unistd.h>\n#include <getopt.h>\n{plain}"), "solve_all(x, 4)"), 0);
    // A library may have it.
    assert_eq!(told(&format!("#include <solve_all.h>\n{plain}"), "solve_all(x, 4)"), 1);
    assert_eq!(told(&format!("#include <Solver.h>\n{solve}"), "solveSome(x, 4, 2)"), 1);
}

#[test]
fn what_is_refused_is_refused_in_a_file_that_no_compiler_takes() {
    let text = "c++\n#include <cuda_runtime.h>\n__global__ void k(int n) {}\nint main() { k(9); return 0; }\n";
    let ran = Sandbox::new(&[("a.cu", text)]).run(&["--output-format", "json", "."]);
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let rules: Vec<&str> =
        report["findings"].as_array().unwrap().iter().map(|finding| finding["rule"].as_str().unwrap()).collect();
    assert_eq!(rules, ["kernel-called-without-launch"]);
}

#[test]
fn functions_that_an_option_makes_the_devices() {
    let kernel = "void add(int *count, int value) { atomicAdd(count, value); }\n\
        extern \"C\" __global__ void sum(int *count, const int *values) { add(count, values[threadIdx.x]); }\n";
    let told = |programs: &str| {
        let sandbox = Sandbox::new(&[("kernels/sum.cu", kernel), ("programs.cpp", programs)]);
        let ran = sandbox.run(&["--select", "execution-space-mismatch", "--output-format", "json", "."]);
        let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        report["findings"].as_array().unwrap().len()
    };
    let programs = |option: &str| {
        format!(
            "#include <nvrtc.h>\n#include <vector>\nnvrtcResult compile(nvrtcProgram program) {{\n    \
            std::vector<const char *> options = {{\"-std=c++17\", \"{option}\"}};\n    \
            return nvrtcCompileProgram(program, static_cast<int>(options.size()), options.data());\n}}\n"
        )
    };
    assert_eq!(told(&programs("-lineinfo")), 2);
    assert_eq!(told(&programs("-default-device")), 0);
    assert_eq!(told(&programs("--device-as-default-execution-space")), 0);
}

/// NVRTC, unlike nvcc, makes a kernel that another one calls a part of it.
#[test]
fn kernels_that_call_kernels_in_what_is_compiled_at_run_time() {
    let kernel = "template <class T> __global__ void add(T *p) { p[threadIdx.x] += 1; }\n\
        extern \"C\" __global__ void add_int(int *p) { add<int>(p); }\n";
    let told = |text: &str, program: (&str, &str)| {
        let sandbox = Sandbox::new(&[("src/kernel.cu", text), program]);
        let ran = sandbox.run(&["--select", "kernel-called-without-launch", "--output-format", "json", "."]);
        let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        report["findings"].as_array().unwrap().len()
    };
    let loads = ("src/lib.rs", "const TEXT: &str = include_str!(\"kernel.cu\");\n");
    assert_eq!(told(kernel, loads), 0);
    assert_eq!(told(kernel, ("src/lib.rs", "const TEXT: &str = include_str!(\"other.cu\");\n")), 1);
    // What has code for the host goes through nvcc.
    assert_eq!(told(&format!("{kernel}void run(int *p) {{ add<int><<<1, 32>>>(p); }}\n"), loads), 1);
}

/// A file that defines a method of no class is refused.
#[test]
fn methods_that_no_class_declares() {
    let told = |header: &str, name: &str| {
        let text = format!(
            "#include \"solver.h\"\n#include <cuda_runtime.h>\nvoid {name}(void **p) {{ cudaMalloc(p, 4); }}\n"
        );
        told(&Sandbox::new(&[("solver.h", header), ("solver.cu", &*text)]))
    };
    let class = "#pragma once\nclass Solver { public: void run(void **p); };\n";
    assert_eq!(told(class, "Solver::run"), ["run"]);
    assert_eq!(told(class, "Solver::runAll"), ["runAll?"]);
    assert_eq!(told(class, "Solve::run"), ["run?"]);
    assert_eq!(told("", "Solver::run"), ["run?"]);
    assert_eq!(told("namespace Solver { void run(void **p); }\n", "Solver::run"), ["run"]);
    // A base, or what pastes names, may have it; so may what is not in sight.
    assert_eq!(told(&class.replace("class Solver", "class Solver : public Base"), "Solver::runAll"), ["runAll"]);
    assert_eq!(told(&format!("{class}#define METHOD(x) void run##x(void **p);\n"), "Solver::runAll"), ["runAll"]);
    assert_eq!(told("#include <Solver.h>\n", "Solver::run"), ["run"]);
}

/// A kernel that is launched has to be declared where it is.
#[test]
fn launches_of_nothing() {
    let told = |head: &str, launch: &str| {
        let text = format!(
            "#include <cuda_runtime.h>\n#include <cstdio>\n{head}\n__global__ void fills(int *p) {{ *p = 1; }}\n\
             void run(int *p) {{ cudaMalloc(&p, 4); {launch}<<<1, 1>>>(p); }}\n"
        );
        told(&Sandbox::new(&[("a.cu", &*text), ("b.cu", "__global__ void fill(int *p) { *p = 1; }\n")]))
    };
    assert_eq!(told("", "fills"), ["run"]);
    assert_eq!(told("// fill", "fill"), ["run?"]);
    assert_eq!(told("__global__ void fill(int *p);", "fill"), ["run"]);
    assert_eq!(told("#define fill fills", "fill"), ["run"]);
    assert_eq!(told("#include \"fill.cuh\"", "fill"), ["run"]);
}

/// Nothing can be called what a macro makes a number.
#[test]
fn variables_with_the_name_of_a_number() {
    let told = |head: &str, more: &str| {
        let text = format!("#include <cuda_runtime.h>\n{head}{}{more}", dropping("was"));
        told(&Sandbox::new(&[("a.cu", &*text)]))
    };
    let more = "__global__ void fill(int *v, int N) { v[threadIdx.x] = N; }\n";
    assert_eq!(told("#define N 16\n", more), ["was?"]);
    assert_eq!(told("#define N (1 << 4)\n", more), ["was?"]);
    assert_eq!(told("", &format!("{more}#define N 16\n")), ["was"]);
    assert_eq!(told("#define N count\n", more), ["was"]);
    assert_eq!(told("#ifdef SMALL\n#define N 16\n#endif\n", more), ["was"]);
    assert_eq!(told("#define N 16\n", &format!("#undef N\n{more}")), ["was"]);
}

/// Directives of a caller make addresses of the host those of the device.
#[test]
fn pointers_that_directives_of_another_file_hand_over() {
    let wrapper = "#include <cuda_runtime.h>\n__global__ void add(int *v) { v[threadIdx.x] += 1; }\n\
                   void add_all(int *v) { add<<<1, 32>>>(v); }\n";
    let told = |directive: &str| {
        let main = format!("void add_all(int *v);\nint main() {{\n    int a[32];\n{directive}\n    add_all(a);\n}}\n");
        let sandbox = Sandbox::new(&[("add.cu", wrapper), ("main.cu", &*main)]);
        let ran = sandbox.run(&[".", "--output-format", "concise", "--select", "wrong-address-space"]);
        ran.stdout.lines().filter(|line| line.contains("wrong-address-space]")).count()
    };
    assert_eq!(told(""), 1);
    assert_eq!(told("#pragma acc host_data use_device(a)"), 0);
}
