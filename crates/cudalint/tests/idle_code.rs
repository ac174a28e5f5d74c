//! Code that never runs, kernels that nobody launches, and what is computed for nobody: *possible* only.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Sandbox, at_lines};

#[test]
fn code_that_never_runs() {
    let lines = |head: &str, body: &str| {
        let text = format!("#include <cuda_runtime.h>\n{head}\nvoid f(void **p, int n) {{\n{body}\n}}\n");
        at_lines(&text, "unchecked-api-call", "a.cu")
    };
    for (head, body) in [
        ("", "if (0) { cudaMalloc(p, 4); }"),
        ("", "if (true) { n++; } else { cudaMalloc(p, 4); }"),
        ("", "while (0) { cudaMalloc(p, 4); }"),
        ("#define DEBUG 0", "if (DEBUG) cudaMalloc(p, 4);"),
        ("const bool debug = false;", "if (debug && n > 2) cudaMalloc(p, 4);"),
        ("#include <cstdlib>", "exit(1); cudaMalloc(p, 4);"),
        ("", "return; cudaMalloc(p, 4);"),
    ] {
        // What no path of the function leads to is not told at all.
        let told = lines(head, body);
        assert!(told.iter().all(|line| line == "4 possible"), "{head} {body}: {told:?}");
    }
    for (head, body) in [
        ("", "if (1) { cudaMalloc(p, 4); }"),
        ("bool debug = false;", "if (debug) cudaMalloc(p, 4);"),
        ("", "do { cudaMalloc(p, 4); } while (0);"),
        ("", "if (n) return; cudaMalloc(p, 4);"),
        ("", "if (n) goto end; return; end: cudaMalloc(p, 4);"),
        ("#define ZERO 0", "if (ZERO) { n++; } else { cudaMalloc(p, 4); }"),
    ] {
        assert_eq!(lines(head, body), ["4 definite"], "{head} {body}");
    }
    // Only one of two branches of `#if` ends the function.
    let lines = lines("#include \"config.h\"", "#ifdef NO_GPU\nreturn;\n#endif\ncudaMalloc(p, 4);");
    assert_eq!(lines, ["7 definite"]);
}

/// What decides that nothing comes to some code may be a value that a variable has whenever it is asked.
#[test]
fn code_that_no_run_comes_to() {
    let told = |head: &str, body: &str| {
        let text = format!(
            "#include <cuda_runtime.h>\n#include <stdlib.h>\n\
             __global__ void k(int *v) {{ __shared__ int s[64]; s[threadIdx.x] = v[0]; v[threadIdx.x] = s[63 - threadIdx.x]; }}\n\
             {head}\nint main(int argc, char **argv) {{\n    int *v; cudaMalloc(&v, 256);\n    {body}\n    return 0;\n}}\n"
        );
        at_lines(&text, "shared-memory-race", "a.cu")
    };
    let launch = "k<<<1, 64>>>(v);";
    for (head, body) in [
        ("", format!("int rounds = 1; for (int i = 0; i < rounds; i++) {{ if (i > 0) {launch} }}")),
        ("", format!("bool old = false; if (old) {{ {launch} }}")),
        ("size_t room();", format!("size_t left = room(); if (left > 8 && false) {{ {launch} }}")),
        ("", format!("int way = 2; if (way == 1) {{ {launch} }} else {{ cudaFree(v); }}")),
        ("", format!("for (int n = 2048; n <= 512; n *= 2) {launch}")),
        ("", format!("bool old = false; if (old) {{ {launch} }} while (argc) {{ cudaFree(v); }} exit(0);")),
    ] {
        let all = told(head, &body);
        assert!(!all.is_empty() && all.iter().all(|it| it.ends_with("possible")), "{head} {body}: {all:?}");
    }
    for (head, body) in [
        ("", format!("int rounds = 2; for (int i = 0; i < rounds; i++) {{ if (i > 0) {launch} }}")),
        ("", format!("int rounds = 900; for (int i = 0; i < rounds; i++) {{ if (i > 700) {launch} }}")),
        ("", format!("bool old = argc > 1; if (old) {{ {launch} }}")),
        ("", format!("bool old = false; if (argc > 1) old = atoi(argv[1]); if (old) {{ {launch} }}")),
        (
            "",
            format!(
                "bool old = false; for (int i = 0; i < 9; i++) {{ if (old) {{ {launch} }} if (i == 7) old = true; }}"
            ),
        ),
        ("void ask(bool *old);", format!("bool old = false; ask(&old); if (old) {{ {launch} }}")),
        ("bool old = false; void ask() { old = true; }", format!("ask(); if (old) {{ {launch} }}")),
        (
            "bool old = false; void ask() { old = true; } void call(void (*f)());",
            format!("call(ask); if (old) {{ {launch} }}"),
        ),
        ("", format!("for (int n = argc; n <= 512; n *= 2) {launch}")),
        ("", format!("bool old = false; again: if (old) {{ {launch} }} else {{ old = true; goto again; }}")),
    ] {
        let all = told(head, &body);
        assert!(all.iter().any(|it| !it.ends_with("possible")), "{head} {body}: {all:?}");
    }
    // What a function remembers from call to call.
    let later = format!("void draw(int *v) {{ static bool first = true; if (!first) {{ {launch} }} first = false; }}");
    let all = told(&later, "draw(v); draw(v);");
    assert!(all.iter().any(|it| !it.ends_with("possible")), "{all:?}");
}

#[test]
fn races_in_what_is_computed_to_be_timed() {
    let with = |head: &str, inside: &str, end: &str| {
        let text = format!(
            "#include <cuda_runtime.h>\n#include <stdio.h>\n{head}__device__ void last(volatile int *s, int i) {{ s[i] += s[i + 32]; s[i] += s[i + 16]; }}\n\
             __global__ void sum(int *in, int *out) {{\n    __shared__ int s[64];\n    s[threadIdx.x] = in[threadIdx.x];\n    \
             if (threadIdx.x < 32) last(s, threadIdx.x);\n    if (threadIdx.x == 0) out[0] = s[0];\n    {inside}\n}}\n\
             int main() {{\n    int *in, *out, *more, host[64], total = 0; float ms;\n    cudaEvent_t a, b;\n    cudaMalloc(&in, 256); \
             cudaMalloc(&out, 256); cudaMalloc(&more, 256);\n    cudaMemcpy(in, host, 256, cudaMemcpyHostToDevice);\n    sum<<<1, 64>>>(in, out);\n    \
             sum<<<1, 64>>>(out, more);\n    cudaEventElapsedTime(&ms, a, b);\n    printf(\"%f %d\", ms, total);\n    {end}\n    return 0;\n}}\n"
        );
        at_lines(&text, "shared-memory-race", "a.cu")
    };
    let confidences = |end: &str| with("", "", end);
    assert!(confidences("").iter().all(|it| it.ends_with("possible")), "{:?}", confidences(""));
    let shown = confidences("cudaMemcpy(&total, more, 4, cudaMemcpyDeviceToHost); printf(\"%d\", total);");
    assert!(shown.iter().any(|it| it.ends_with("definite")), "{shown:?}");
    // Somebody else may look.
    let given = confidences("look(more);");
    assert!(given.iter().any(|it| it.ends_with("definite")), "{given:?}");
    // What a function of the device is given is written there.
    let seen =
        with("__device__ int seen;\n__device__ void note(int &to, int v) { to = v; }\n", "note(seen, s[0]);", "");
    assert!(seen.iter().any(|it| it.ends_with("definite")), "{seen:?}");
}

#[test]
fn kernels_that_nobody_launches() {
    let kernel = |name: &str| {
        format!(
            "__global__ void {name}(int *out) {{\n    __shared__ int s[64];\n    s[threadIdx.x] = threadIdx.x;\n    \
             out[threadIdx.x] = s[63 - threadIdx.x];\n}}\n"
        )
    };
    let text = |main: &str| {
        let [old, new] = ["old", "recent"].map(kernel);
        format!(
            "{old}{new}int main() {{\n    int *d;\n    cudaMalloc(&d, 256);\n    recent<<<1, 64>>>(d);\n    {main}\n    return 0;\n}}\n"
        )
    };
    let told = |main: &str| at_lines(&text(main), "shared-memory-race", "a.cu");
    let both = told("old<<<1, 64>>>(d);");
    assert!(both.len() == 2 && both.iter().all(|it| it.ends_with("definite")), "{both:?}");
    let passed_over = [
        "#if 0\n    old<<<1, 64>>>(d);\n#endif",
        "#if 1\n    recent<<<1, 64>>>(d);\n#else\n    old<<<1, 64>>>(d);\n#endif",
    ];
    for main in ["", "// old<<<1, 64>>>(d);", "if (0) old<<<1, 64>>>(d);"].into_iter().chain(passed_over) {
        let told = told(main);
        let old: Vec<&String> = told.iter().filter(|it| it.starts_with("4 ") || it.starts_with("3 ")).collect();
        assert!(old.iter().all(|it| it.ends_with("possible")), "{main}: {told:?}");
        assert!(told.iter().any(|it| it.ends_with("definite")), "{main}: {told:?}");
    }
    // The driver is asked for it by its name.
    let named = told("cuModuleGetFunction(&f, module, \"_Z3oldPi\");");
    assert!(named.iter().filter(|it| !it.ends_with("possible")).count() == 2, "{named:?}");
}

#[test]
fn kernels_of_a_name_that_other_programs_have() {
    let kernel =
        "__shared__ int s[64];\n    s[threadIdx.x] = threadIdx.x;\n    out[threadIdx.x] = s[63 - threadIdx.x];\n}\n";
    let old = format!(
        "#include <cuda_runtime.h>\n__global__ void step(int *out) {{\n    {kernel}void old(int *d) {{ }}\nint main() {{ return 0; }}\n"
    );
    let other = "__global__ void step(int *out);\n__global__ void step(int *out) { out[threadIdx.x] = 1; }\n";
    let confidences = |head: &str, more: &[(&str, &str)]| {
        let user = format!(
            "#include <cuda_runtime.h>\n{head}int main() {{ int *d; cudaMalloc(&d, 256); step<<<1, 64>>>(d); }}\n"
        );
        let makefile = ("Makefile", "all: old.cu user.cu\n\tnvcc old.cu -o old\n\tnvcc user.cu -o user\n");
        let files = [("cudalint.toml", ""), makefile, ("old.cu", &*old), ("user.cu", &*user)];
        let args = ["--select", "shared-memory-race", "--min-confidence", "possible", "--output-format", "json", "."];
        let report: serde_json::Value =
            serde_json::from_str(&Sandbox::new(&[&files, more].concat()).run(&args).stdout).unwrap();
        let all = report["findings"].as_array().unwrap().clone();
        all.iter().map(|finding| finding["confidence"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    // Its own, declared before it, and one in a header of its own.
    assert_eq!(confidences(other, &[]), ["possible"]);
    assert_eq!(confidences("#include \"step.cuh\"\n", &[("step.cuh", other)]), ["possible"]);
    // What it declares alone may be the other file's.
    assert_ne!(confidences("__global__ void step(int *out);\n", &[]), ["possible"]);
}

#[test]
fn kernels_of_a_build_that_takes_all_files() {
    let kernels = "__global__ void step(int *out) {\n    __shared__ int s[64];\n    s[threadIdx.x] = threadIdx.x;\n    \
                   out[threadIdx.x] = s[63 - threadIdx.x];\n}\nvoid run(int *d, int n) { step<<<1, 64>>>(d); }\n";
    let told = |build: &str, call: &str| {
        let main = format!("#include \"all.h\"\nint main() {{ int *d; cudaMalloc(&d, 256); {call} return 0; }}\n");
        // What the header declares is another one.
        let header = "void run(int *d, double n, double m);\n";
        let files = [
            ("cudalint.toml", ""),
            ("CMakeLists.txt", build),
            ("run.h", header),
            ("run.cu", kernels),
            ("main.cu", &main),
        ];
        let args = ["--select", "shared-memory-race", "--min-confidence", "possible", "--output-format", "json", "."];
        let report: serde_json::Value = serde_json::from_str(&Sandbox::new(&files).run(&args).stdout).unwrap();
        let all = report["findings"].as_array().unwrap().clone();
        all.iter().map(|finding| finding["confidence"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let all = "file(GLOB SOURCES \"*.cu\")\ncuda_add_executable(app ${SOURCES})\n";
    assert_eq!(told(all, "/* run(d, 1); */"), ["possible"]);
    assert_eq!(told(all, "run(d, 1);"), ["definite"]);
    assert_eq!(told("file(GLOB SOURCES \"*.cu\")\nadd_library(app ${SOURCES})\n", "/* run(d, 1); */"), ["definite"]);
}

/// Of a function of the device that no kernel calls nothing is compiled.
#[test]
fn functions_of_the_device_that_no_kernel_calls() {
    let told = |kernel: &str, host: &str| {
        let text = format!(
            "from numba import cuda\n\n@cuda.jit(device=True)\ndef near(i):\n    found = []\n    found.append(i)\n    return found\n\n\
             @cuda.jit(device=True)\ndef between(i):\n    return near(i)\n\n\
             @cuda.jit\ndef fill(out):\n    i = cuda.grid(1)\n    if i < out.size:\n        out[i] = {kernel}\n\n\
             def main():\n    out = cuda.device_array(64)\n    fill[2, 32](out)\n    {host}\n\nmain()\n"
        );
        at_lines(&text, "unsupported-in-kernel", "a.py")
    };
    let is_possible = |told: &[String]| !told.is_empty() && told.iter().all(|it| it.ends_with("possible"));
    for host in ["print(out.copy_to_host())", "print(between(3))", "# near(1)"] {
        let told = told("i", host);
        assert!(is_possible(&told), "{host}: {told:?}");
    }
    for (kernel, host) in [("between(i)[0]", "pass"), ("near(i)[0]", "pass"), ("i", "compile_all([near])")] {
        let told = told(kernel, host);
        assert!(!told.is_empty() && !is_possible(&told), "{kernel} {host}: {told:?}");
    }
}

/// A race that only the launch of a function that nobody calls shows; the same kernel is launched otherwise by one that runs.
#[test]
fn a_launch_in_a_function_that_nobody_calls() {
    let gpu = "#include <cuda_runtime.h>
__global__ void scale(float *values) {
    int own = blockIdx.x * blockDim.x + threadIdx.x;
    values[own] *= 2;
}
void live(float *values) { scale<<<4, 32>>>(values); }
void dead(float *values) { scale<<<1, dim3(64, 8)>>>(values); }
";
    let main = |call: &str| {
        format!(
            "#include <cuda_runtime.h>
void live(float *values);
void dead(float *values);
int main() {{
    float *values, shown;
    cudaMalloc(&values, 4096);
    cudaMemset(values, 0, 4096);
    live(values);
    {call}
    cudaMemcpy(&shown, values, 4, cudaMemcpyDeviceToHost);
    return shown > 1;
}}
"
        )
    };
    let told = |call: &str| {
        let main = main(call);
        let build = ("Makefile", "app: main.o gpu.o\n\tnvcc $^ -o $@\n%.o: %.cu\n\tnvcc -c $<\n");
        let sandbox = Sandbox::new(&[build, ("main.cu", &*main), ("gpu.cu", gpu)]);
        let rules = "non-atomic-read-modify-write,global-memory-race";
        let ran = sandbox.run(&["--select", rules, "--min-confidence", "possible", "--output-format", "json", "."]);
        let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        let confidence = |finding: &serde_json::Value| finding["confidence"].as_str().unwrap().to_owned();
        report["findings"].as_array().unwrap().iter().map(confidence).collect::<Vec<_>>()
    };
    assert!(told("").iter().all(|confidence| confidence == "possible") && !told("").is_empty());
    assert!(told("dead(values);").contains(&"definite".to_owned()));
}

/// A launch with more shared memory than any device has is refused: the kernel does nothing, whatever is wrong in it.
#[test]
fn kernels_of_refused_launches_do_nothing() {
    let program = |bytes: u32| {
        format!(
            "__global__ void turn(float *x) {{ extern __shared__ float s[]; int i = threadIdx.x; s[i] = x[i]; x[i] = s[(i + 1) % 64]; }}\nint main() {{ float *x; cudaMalloc(&x, 256); cudaMemset(x, 0, 256); turn<<<1, 64, {bytes}>>>(x); float h; cudaMemcpy(&h, x, 4, cudaMemcpyDeviceToHost); return h > 0; }}\n"
        )
    };
    for (bytes, rule) in [(256, "shared-memory-race"), (1_464_320, "shared-memory-over-limit")] {
        let sandbox = Sandbox::new(&[]);
        sandbox.write("a.cu", program(bytes).as_bytes());
        let ran = sandbox.run(&["--ignore", "error-handling", "--output-format", "concise", "a.cu"]);
        for other in ["shared-memory-race", "shared-memory-over-limit"] {
            assert_eq!(ran.stdout.contains(other), other == rule, "{bytes}: {ran:?}");
        }
    }
}
